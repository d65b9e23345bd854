// SPDX-License-Identifier: Apache-2.0
#include "session_addresses.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

namespace corozk::program {

namespace asio = boost::asio;

namespace {

/// "a:1,[::1]:2/app": the names and ports.
std::vector<std::pair<std::string, std::string>> split_hosts(std::string_view hosts) {
    std::vector<std::pair<std::string, std::string>> result;
    hosts = hosts.substr(0, hosts.find('/'));
    while (!hosts.empty()) {
        auto comma = hosts.find(',');
        std::string_view one = hosts.substr(0, comma);
        hosts.remove_prefix(comma == std::string_view::npos ? hosts.size() : comma + 1);
        auto bracket = one.find(']');
        auto colon = one.rfind(':');
        bool port = colon != std::string_view::npos &&
                    (bracket == std::string_view::npos || colon > bracket);
        std::string_view name = one.substr(0, port ? colon : one.size());
        if (name.starts_with('[') && name.ends_with(']'))
            name = name.substr(1, name.size() - 2);
        result.emplace_back(name, port ? one.substr(colon + 1) : "2181");
    }
    return result;
}

asio::awaitable<std::string> ask(std::string name, std::string port) {
    auto tuple = asio::as_tuple(asio::use_awaitable);
    auto executor = co_await asio::this_coro::executor;
    std::string answer;
    asio::ip::tcp::resolver resolver(executor);
    auto [resolved, addresses] = co_await resolver.async_resolve(name, port, tuple);
    if (resolved)
        co_return answer;
    asio::ip::tcp::socket socket(executor);
    auto [connected, where] = co_await asio::async_connect(socket, addresses, tuple);
    if (connected)
        co_return answer;
    std::string word("cons\n");
    auto [written, sent] = co_await asio::async_write(socket, asio::buffer(word), tuple);
    if (written)
        co_return answer;
    // Up to the end of the connection, which is the answer's; or of our patience.
    constexpr std::size_t largest_answer = 16 * 1024 * 1024;
    co_await asio::async_read(socket, asio::dynamic_buffer(answer, largest_answer), tuple);
    co_return answer;
}

}  // namespace

void parse_connections(std::string_view answer, std::map<std::int64_t, std::string>& found) {
    // " /127.0.0.1:41718[1](queued=0,recved=6,sent=6,sid=0x1000d3f0c0b0001,lop=PING,...)"
    while (!answer.empty()) {
        auto end = answer.find('\n');
        std::string_view line = answer.substr(0, end);
        answer.remove_prefix(end == std::string_view::npos ? answer.size() : end + 1);
        auto slash = line.find('/');
        auto bracket = line.rfind('[', line.find('('));
        auto sid = line.find("sid=0x");
        if (slash == std::string_view::npos || bracket == std::string_view::npos ||
            sid == std::string_view::npos || bracket < slash)
            continue;
        std::uint64_t id = 0;
        const char* digits = line.data() + sid + 6;
        if (std::from_chars(digits, line.data() + line.size(), id, 16).ec == std::errc())
            found[static_cast<std::int64_t>(id)] = line.substr(slash + 1, bracket - slash - 1);
    }
}

asio::awaitable<std::map<std::int64_t, std::string>> session_addresses(std::string hosts) {
    using namespace asio::experimental::awaitable_operators;
    std::map<std::int64_t, std::string> found;
    auto executor = co_await asio::this_coro::executor;
    for (auto& [name, port] : split_hosts(hosts)) {
        asio::steady_timer limit(executor, std::chrono::seconds(1));
        auto first =
            co_await (ask(name, port) || limit.async_wait(asio::as_tuple(asio::use_awaitable)));
        if (first.index() == 0)
            parse_connections(std::get<0>(first), found);
    }
    co_return found;
}

}  // namespace corozk::program
