// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/server.hpp"

#include "corozk/testing/error.hpp"
#include "corozk/testing/four_letter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace corozk::testing {
namespace {

namespace fs = std::filesystem;

constexpr int start_attempts = 5;
constexpr auto poll_interval = std::chrono::milliseconds{10};
constexpr auto answer_limit = std::chrono::milliseconds{1'000};
constexpr auto main_class = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

/** What the server needs at run time. Its own manifest names most of these; none is left to it. */
constexpr std::array jars{
    "zookeeper",
    "zookeeper-jute",
    "slf4j-api",
    "slf4j-log4j12",
    "log4j-1.2",
    "netty-buffer",
    "netty-common",
    "netty-handler",
    "netty-transport",
    "netty-codec",
    "netty-resolver",
    "netty-transport-native-unix-common",
    "snappy-java",
    "metrics-core",
    "commons-cli",
    "commons-io",
    "jackson-core",
    "jackson-annotations",
    "jackson-databind",
    "jetty9-server",
    "jetty9-servlet",
    "jetty9-util",
    "jetty9-http",
    "jetty9-io",
    "jetty9-security",
    "findbugs-annotations",
    "netty-transport-native-epoll",
};

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string find_java(const server_options& options) {
    if (!options.java.empty()) {
        return options.java;
    }
    if (auto configured = from_environment("COROZK_TEST_JAVA"); !configured.empty()) {
        return configured;
    }
    constexpr auto usual = "/usr/bin/java";
    return ::access(usual, X_OK) == 0 ? usual : "java";
}

fs::path class_archive(const server_options& options) {
    if (!options.class_archive.empty()) {
        return options.class_archive;
    }
    return from_environment("COROZK_TEST_CLASS_ARCHIVE");
}

std::string class_path(const server_options& options) {
    fs::path where = options.jar_directory;
    if (where.empty()) {
        where = from_environment("COROZK_TEST_JARS");
    }
    if (where.empty()) {
        where = "/usr/share/java";
    }
    if (!fs::exists(where / "zookeeper.jar")) {
        throw server_error{fmt::format(
            "no ZooKeeper server: {} does not exist; install the package 'zookeeper' (or set "
            "COROZK_TEST_JARS)",
            (where / "zookeeper.jar").native())};
    }
    std::string result;
    for (const auto* name : jars) {
        result += (result.empty() ? "" : ":") + (where / name).native() + ".jar";
    }
    return result;
}

bool answers_with(std::uint16_t port, std::string_view word, std::string_view text) {
    try {
        return four_letter(port, word, answer_limit).find(text) != std::string::npos;
    } catch (const std::system_error&) {
    } catch (const timeout_error&) {
    }
    return false;
}

}  // namespace

server::server(server_options options, deferred)
    : options_{std::move(options)}, directory_{options_.where} {}

server::server(server_options options) : server{std::move(options), deferred{}} {
    for (int attempt = 1;; ++attempt) {
        launch();
        try {
            wait_until_serving();
            return;
        } catch (const server_error&) {
            if (attempt == start_attempts || !address_taken()) {
                throw;
            }
        }
        kill();
        fs::remove(log_path());
        port_ = port_reservation{};
    }
}

server::~server() {
    kill();
}

std::string server::hosts() const {
    return fmt::format("127.0.0.1:{}", port());
}

process_guard& server::process() const {
    const std::lock_guard lock{mutex_};
    if (!process_) {
        throw server_error{"the server was never started"};
    }
    return *process_;
}

pid_t server::pid() const {
    return process().pid();
}

bool server::running() const {
    const std::lock_guard lock{mutex_};
    return process_ && process_->running();
}

void server::kill() {
    if (running()) {
        process().kill();
    }
}

void server::terminate() {
    if (running()) {
        process().terminate();
    }
}

void server::stop() {
    process().stop();
}

void server::cont() {
    process().cont();
}

void server::restart() {
    kill();
    launch();
    wait_until_serving();
}

void server::write_configuration() const {
    const auto& folder = directory();
    fs::create_directories(folder / "data");
    std::ofstream config{folder / "zoo.cfg"};
    config << fmt::format(
        "tickTime={}\nmaxSessionTimeout={}\ndataDir={}\nclientPort={}\n"
        "clientPortAddress=127.0.0.1\nmaxClientCnxns=0\n4lw.commands.whitelist=*\n"
        "admin.enableServer=false\n",
        options_.tick_time.count(),
        options_.max_session_timeout.count(),
        (folder / "data").native(),
        port());
    for (const auto& line : options_.config_lines) {
        config << line << '\n';
    }
    if (options_.member_id != 0) {
        std::ofstream{folder / "data" / "myid"} << options_.member_id << '\n';
    }
    std::ofstream{folder / "log4j.properties"} << fmt::format(
        "log4j.rootLogger={}, OUT\n"
        "log4j.appender.OUT=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.OUT.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.OUT.layout.ConversionPattern=%d{{ISO8601}} %-5p [%t:%c{{1}}] %m%n\n",
        options_.log_level);
    if (!config.flush()) {
        throw server_error{"cannot write " + (folder / "zoo.cfg").native()};
    }
}

std::vector<std::string> server::command_line() const {
    // No performance data file: it would be left in /tmp when the server is killed.
    std::vector<std::string> line{
        find_java(options_), options_.heap, "-XX:+UseSerialGC", "-Xshare:auto", "-XX:-UsePerfData"};
    if (options_.quick_start) {
        line.emplace_back("-XX:TieredStopAtLevel=1");
    }
    if (const fs::path archive = class_archive(options_); fs::is_regular_file(archive)) {
        line.push_back("-XX:SharedArchiveFile=" + archive.native());
    }
    line.push_back("-Dlog4j.configuration=file:" + (directory() / "log4j.properties").native());
    for (const auto& property : options_.java_properties) {
        line.push_back(property.starts_with('-') ? property : "-D" + property);
    }
    line.insert(line.end(),
                {"-cp", class_path(options_), main_class, (directory() / "zoo.cfg").native()});
    return line;
}

void server::launch() {
    if (running()) {
        throw server_error{"the server runs already"};
    }
    write_configuration();
    process_options what;
    what.command = command_line();
    what.output = log_path();
    what.directory = directory();  // a crash of the virtual machine leaves its report here
    try {
        auto process = std::make_shared<process_guard>(what);
        const std::lock_guard lock{mutex_};
        process_ = std::move(process);
    } catch (const std::system_error& error) {
        throw server_error{fmt::format(
            "no ZooKeeper server: {}; install the package 'zookeeper', which brings Java with it",
            error.what())};
    }
}

bool server::serving() const {
    // Another server could have taken the port: ask whose data it serves.
    return answers_with(port(), "srvr", "Mode: ") &&
           answers_with(port(), "conf", (directory() / "data").native());
}

void server::wait_until_serving() {
    const auto deadline = std::chrono::steady_clock::now() + options_.start_limit;
    while (!serving()) {
        if (!running()) {
            fail("the ZooKeeper server ended");
        }
        if (std::chrono::steady_clock::now() > deadline) {
            fail(fmt::format("the ZooKeeper server does not serve after {} ms",
                             options_.start_limit.count()));
        }
        std::this_thread::sleep_for(poll_interval);
    }
}

bool server::address_taken() const {
    return log_tail(200).find("Address already in use") != std::string::npos;
}

void server::fail(const std::string& what) const {
    throw server_error{fmt::format("{}; the end of its log:\n{}", what, log_tail())};
}

fs::path server::log_path() const {
    return directory() / "server.log";
}

std::string server::log_tail(std::size_t lines) const {
    std::ifstream log{log_path()};
    std::deque<std::string> kept;
    for (std::string line; std::getline(log, line);) {
        kept.push_back(std::move(line));
        if (kept.size() > lines) {
            kept.pop_front();
        }
    }
    return fmt::format("{}\n", fmt::join(kept, "\n"));
}

server& shared_server() {
    static server instance{{.java_properties = {containers_stay}}};
    return instance;
}

}  // namespace corozk::testing
