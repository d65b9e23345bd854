// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/proxy_frame.hpp"
#include "corozk/testing/proxy_rule.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing {

/** @brief What a fault_proxy does with new connections. */
enum class acceptance : std::uint8_t {
    normal,         ///< connect them to the server
    close_at_once,  ///< accept and close
    not_listening,  ///< the kernel refuses them
};

/** @brief How a fault_proxy ends a connection towards the client. */
enum class cut_style : std::uint8_t {
    orderly,  ///< the client reads what was sent before and then the end of the stream
    reset,    ///< the client gets a reset, and may lose what it has not read yet
};

/** @brief How a fault_proxy is set up. */
struct fault_proxy_options {
    /// Give numbers to pings, too.
    bool number_pings = false;
    /// What happens, when a black hole ends, to frames whose sender has closed its connection in
    /// the meantime: thrown away, or delivered late (as a network that comes back may do).
    bool late_delivery = false;
    cut_style style = cut_style::orderly;
    /// The log keeps this many frames.
    std::size_t log_capacity = 10'000;
};

/**
 * @brief A TCP proxy on a free port of 127.0.0.1 that understands ZooKeeper's frames and breaks the
 * traffic between a client and the server at a chosen frame.
 *
 * Runs on a thread of its own. *Rules* are armed beforehand and wait for a frame (see trigger and
 * action); the other members act at once. Request frames are numbered 1, 2, 3, ... over the
 * proxy's life, across reconnects, so that a test can run once, look at requests(), and run again
 * with a fault at each number.
 *
 * Frames of a connection are never reordered: whatever holds or delays one holds those behind it.
 *
 * Several proxies may stand before one server, and many connections may run through one.
 *
 * Thread safety: all members may be called from any thread, and from the proxy's own callbacks
 * (except wait_for() there). When a member returns, its effect is in place.
 */
class fault_proxy {
public:
    /** @brief Listens on a free port for the server at 127.0.0.1:server_port. */
    explicit fault_proxy(std::uint16_t server_port, fault_proxy_options options = {});

    /** @brief Cuts all connections. */
    ~fault_proxy();

    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    /** @brief The port for clients; the same for the proxy's life. */
    std::uint16_t port() const noexcept;

    /** @brief "127.0.0.1:port", as a client wants it. */
    std::string hosts() const;

    /** @brief Connects new connections to this port from now on; old ones stay. */
    void retarget(std::uint16_t server_port);

    /** @brief Closes all connections, both ways; what is under way is lost. */
    void cut();

    /** @brief Closes the connections of one session; false if there is none. */
    bool cut_session(std::int64_t session_id);

    /** @brief Changes what happens to new connections; old ones stay. */
    void set_acceptance(acceptance mode);

    /**
     * @brief Begins or ends a black hole: nothing passes either way, the sockets stay open, new
     * connections are accepted and hear nothing.
     *
     * When it ends, connections that both sides still have go on where they were; a connection
     * that one side has closed in the meantime is closed on the other side (see
     * fault_proxy_options::late_delivery).
     */
    void black_hole(bool on);

    /** @brief A black hole in one direction only. */
    void black_hole(bool on, direction way);

    /** @brief Delays every frame in this direction from now on; zero ends it. */
    void set_delay(direction way, std::chrono::milliseconds duration);

    /**
     * @brief Arms a rule. Several rules may be armed; of those that wait for the same frame the
     * one that was armed first fires.
     * @throws std::invalid_argument if the action cannot be applied to what the trigger waits for.
     */
    rule_id arm(trigger when, action what);

    /** @brief Removes a rule. What it holds stays held. */
    void disarm(rule_id rule);

    /** @brief Removes all rules, and lets go of everything that is held. */
    void disarm_all();

    /** @brief Removes a rule and lets go of the frames that it holds, or would have held. */
    void release(rule_id rule);

    /** @brief How often the rule has fired. Also known after it was removed. */
    std::uint64_t fired(rule_id rule) const;

    /** @brief Sends every frame in this direction through the function; null ends it. */
    void edit(direction way, frame_editor editor);

    /** @brief The next numbered request gets number 1. */
    void reset_numbering();

    /** @brief The number of the last numbered request. */
    std::uint64_t requests() const;

    /** @brief A copy of the counters. */
    proxy_statistics statistics() const;

    /** @brief The sessions that were made or continued, in order. */
    std::vector<session_record> sessions() const;

    /**
     * @brief The last of sessions(): what expire_session() needs.
     * @throws std::logic_error if there is none.
     */
    session_record session() const;

    /** @brief A copy of the log, oldest first. */
    std::vector<frame_record> log() const;

    /** @brief The last lines of the log as text. */
    std::string describe_log(std::size_t last = 40) const;

    /**
     * @brief Blocks until the predicate holds; asked at once and after every change of the
     * counters.
     *
     * Must not be called on the thread that runs the client under test, which would stand still:
     * there, wait with eventually_async() and statistics().
     *
     * @throws timeout_error with the end of the log when the limit passes first.
     */
    void wait_for(const std::function<bool(const proxy_statistics&)>& predicate,
                  std::chrono::milliseconds limit = std::chrono::seconds{10}) const;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace corozk::testing
