// SPDX-License-Identifier: Apache-2.0
// The library's log messages are passed to the program's logger: here spdlog.
//
//   8_logging 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <spdlog/spdlog.h>

namespace asio = boost::asio;

spdlog::level::level_enum level_of(corozk::log_level level) {
    switch (level) {
        case corozk::log_level::error: return spdlog::level::err;
        case corozk::log_level::warning: return spdlog::level::warn;
        case corozk::log_level::info: return spdlog::level::info;
        default: return spdlog::level::debug;
    }
}

// Called on the client's executor. Messages never contain credentials.
corozk::logger to_spdlog() {
    return corozk::logger(corozk::log_level::info,
                          [](corozk::log_level level, std::string_view line) {
                              spdlog::log(level_of(level), "zookeeper: {}", line);
                          });
}

asio::awaitable<void> work(std::string hosts) {
    corozk::client_options options(hosts);
    options.logger = to_spdlog();
    auto zk = co_await corozk::client::connect(options);
    spdlog::info("connected, session 0x{:x}", static_cast<std::uint64_t>(zk.session_id()));
    co_await zk.close();
}

int main(int argc, char** argv) try {
    asio::io_context context;
    auto done =
        asio::co_spawn(context, work(argc > 1 ? argv[1] : "127.0.0.1:2181"), asio::use_future);
    context.run();
    done.get();
} catch (const std::exception& e) {
    spdlog::error("{}", e.what());
    return 1;
}
