// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/port.hpp"
#include "corozk/testing/process_guard.hpp"
#include "corozk/testing/temporary_directory.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <vector>

namespace corozk::testing {

/**
 * @brief A Java property of servers that do not delete containers without children, which they
 * otherwise do a minute after their start, and every minute. Nodes with a TTL stay as well.
 */
inline constexpr const char* containers_stay = "znode.container.checkIntervalMs=86400000";

/** @brief How a server is set up. */
struct server_options {
    /// ZooKeeper's unit of time. A session's timeout is at least two ticks, so short ticks make
    /// tests of expiry quick; the server expires sessions at multiples of a tick.
    std::chrono::milliseconds tick_time{500};
    /// The longest session timeout that a client may ask for.
    std::chrono::milliseconds max_session_timeout{120'000};
    /// The Java heap, as an argument of the virtual machine.
    std::string heap = "-Xmx512m";
    /// Java system properties as "name=value", for example
    /// "znode.container.checkIntervalMs=100" or "zookeeper.extendedTypesEnabled=true". One that
    /// begins with '-' is handed to the virtual machine as it is.
    std::vector<std::string> java_properties = {};
    /// Further lines of zoo.cfg.
    std::vector<std::string> config_lines = {};
    /// Keep data and log on tmpfs (memory), or on a disk where fsync costs what it costs.
    storage where = storage::memory;
    /// Compile quickly instead of well: the server is up sooner. Turn it off for benchmarks.
    bool quick_start = true;
    /// Level of the server's log.
    std::string log_level = "INFO";
    /// How long a start may take.
    std::chrono::milliseconds start_limit{60'000};
    /// The Java program; empty means $COROZK_TEST_JAVA, else /usr/bin/java, else java in PATH.
    std::string java = {};
    /// Where the jars of Debian's packages are; empty means $COROZK_TEST_JARS, else
    /// /usr/share/java.
    std::filesystem::path jar_directory = {};
    /// What write_class_archive() has written; empty means $COROZK_TEST_CLASS_ARCHIVE. Java starts
    /// without it if it is not there, or is one of other classes.
    std::filesystem::path class_archive = {};
    /// The number of this member of an ensemble; 0 for a standalone server.
    int member_id = 0;
};

/** @brief The server could not be started; the text holds the end of its log. */
class server_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/**
 * @brief A real ZooKeeper server on a free port of 127.0.0.1, for as long as the object lives.
 *
 * Runs the server of Debian's `zookeeper` package with data in a temporary directory of its own,
 * which survives kill() and restart() and is removed with the object. All four-letter words are
 * enabled; there is no admin web server and no limit of connections per client.
 *
 * The process never outlives this one and does not see Ctrl-C (see process_guard).
 *
 * Thread safety: port(), hosts(), pid(), kill(), terminate(), stop(), cont(), running(),
 * log_tail() may be called from any thread, the others need outside synchronisation.
 */
class server {
public:
    /**
     * @brief Starts a server and waits until it serves.
     * @throws server_error if Java or the jars are missing (says which package to install), if the
     * server ends, or if it does not serve within the limit.
     */
    explicit server(server_options options = {});

    /** @brief Kills the server and removes its data. */
    ~server();

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /** @brief The port for clients; the same over restarts. */
    std::uint16_t port() const noexcept { return port_.port(); }

    /** @brief "127.0.0.1:port", as a client wants it. */
    std::string hosts() const;

    /** @brief The id of the current (or last) process. */
    pid_t pid() const;

    /** @brief True while there is a process, even a stopped one. */
    bool running() const;

    /** @brief SIGKILL; returns when the process is gone. Does nothing if it is gone already. */
    void kill();

    /** @brief SIGTERM, SIGKILL after ten seconds; returns when the process is gone. */
    void terminate();

    /** @brief SIGSTOP; returns when the process stands still. */
    void stop();

    /** @brief SIGCONT. */
    void cont();

    /** @brief Kills the server if it runs, then starts it on the same data and port and waits. */
    void restart();

    /** @brief Starts the process (which must not run) and does not wait until it serves. */
    void launch();

    /**
     * @brief Waits until the server serves, alone or as a member of an ensemble.
     * @throws server_error if it ends or does not serve in time.
     */
    void wait_until_serving();

    /** @brief True if the server answers that it serves; never throws for a dead server. */
    bool serving() const;

    /** @brief The last lines of the server's log. */
    std::string log_tail(std::size_t lines = 40) const;

    /** @brief The whole log's file. */
    std::filesystem::path log_path() const;

    /** @brief The folder with configuration, log and data. */
    const std::filesystem::path& directory() const noexcept { return directory_.path(); }

    const server_options& options() const noexcept { return options_; }

private:
    friend class ensemble;
    struct deferred {};  // for an ensemble: set up, do not start

    server(server_options options, deferred);

    void write_configuration() const;
    std::vector<std::string> command_line() const;
    bool address_taken() const;
    [[noreturn]] void fail(const std::string& what) const;
    process_guard& process() const;

    server_options options_;
    port_reservation port_;
    temporary_directory directory_;
    mutable std::mutex mutex_;  // guards the pointer
    std::shared_ptr<process_guard> process_;
};

/**
 * @brief One standalone server for the whole test program, started when first asked for.
 *
 * Tests that share it work below paths of their own. It deletes no container (containers_stay).
 * Thread safety: any thread.
 */
server& shared_server();

}  // namespace corozk::testing
