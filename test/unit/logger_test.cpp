// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"
#include <corozk/logger.hpp>

#include <boost/asio/io_context.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::logger_test {

using namespace corozk;

TEST_CASE("logger: names of levels") {
    CHECK(to_string(log_level::off) == "off");
    CHECK(to_string(log_level::error) == "error");
    CHECK(to_string(log_level::warning) == "warning");
    CHECK(to_string(log_level::info) == "info");
    CHECK(to_string(log_level::debug) == "debug");
}

TEST_CASE("logger: a level includes those above it and nothing below") {
    const std::vector<log_level> levels = {
        log_level::error, log_level::warning, log_level::info, log_level::debug};
    for (log_level configured : {log_level::off,
                                 log_level::error,
                                 log_level::warning,
                                 log_level::info,
                                 log_level::debug}) {
        INFO(to_string(configured));
        boost::asio::io_context context;
        std::vector<std::pair<log_level, std::string>> lines;
        client_options options("127.0.0.1:1");
        options.logger = logger(configured, [&lines](log_level level, std::string_view text) {
            lines.emplace_back(level, std::string(text));
        });
        auto session = detail::session::make(context.get_executor(), options);
        for (log_level level : levels) {
            CHECK(session->logs(level) == (level <= configured));
            session->log(level, "text");
        }
        CHECK_FALSE(session->logs(log_level::off));
        session->log(log_level::off, "never");
        REQUIRE(lines.size() == static_cast<std::size_t>(configured));
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CHECK(lines[i].first == levels[i]);
            CHECK(lines[i].second == "text");
        }
    }
}

TEST_CASE("logger: a message is one line of text, whatever is in it") {
    using namespace std::string_literals;
    boost::asio::io_context context;
    std::vector<std::string> lines;
    client_options options("127.0.0.1:1");
    options.logger = logger(
        log_level::error, [&lines](log_level, std::string_view text) { lines.emplace_back(text); });
    auto session = detail::session::make(context.get_executor(), options);
    session->log(log_level::error, "/a\0b\n\xff\xc3\xa4"s);
    CHECK(lines == std::vector<std::string>{"/a?b??\xc3\xa4"});
}

TEST_CASE("logger: errors and warnings by default") {
    CHECK(logger().level == log_level::warning);
    CHECK_FALSE(logger().write);
    CHECK(logger(log_level::off).level == log_level::off);
}

}  // namespace corozk::testing::logger_test
