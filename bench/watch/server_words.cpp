// SPDX-License-Identifier: Apache-2.0
#include "watch/server_words.hpp"

#include "arguments.hpp"
#include "table.hpp"
#include "time_limit.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::string_view refusal = " is not executed because it is not in the whitelist";
constexpr std::string_view not_serving = "This ZooKeeper instance is not currently serving";

bool is_port(std::string_view text) {
    std::uint16_t number = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() && number > 0;
}

}  // namespace

std::string server_address::text() const {
    bool colons = host.find(':') != host.npos;
    return colons ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::vector<server_address> parse_hosts(std::string_view hosts) {
    hosts = hosts.substr(0, hosts.find('/'));
    std::vector<server_address> all;
    while (!hosts.empty()) {
        auto comma = hosts.find(',');
        std::string_view one = hosts.substr(0, comma);
        hosts = comma == hosts.npos ? std::string_view() : hosts.substr(comma + 1);
        auto colon = one.rfind(':');
        auto bracket = one.rfind(']');
        bool with_port = colon != one.npos && (bracket == one.npos || bracket < colon);
        std::string_view host = with_port ? one.substr(0, colon) : one;
        std::string_view port = with_port ? one.substr(colon + 1) : std::string_view("2181");
        if (host.starts_with('[') && host.ends_with(']'))
            host = host.substr(1, host.size() - 2);
        if (host.empty() || !is_port(port))
            throw usage_error(fmt::format("--hosts: '{}' is not HOST:PORT", one));
        server_address found{std::string(host), std::string(port)};
        bool known = std::any_of(all.begin(), all.end(), [&](const server_address& a) {
            return a.text() == found.text();
        });
        if (!known)
            all.push_back(std::move(found));
    }
    if (all.empty())
        throw usage_error("--hosts: it needs at least one HOST:PORT");
    return all;
}

asio::awaitable<std::string> ask_server(server_address server,
                                        std::string word,
                                        std::chrono::seconds limit,
                                        std::size_t longest) {
    auto executor = co_await asio::this_coro::executor;
    tcp::resolver resolver(executor);
    tcp::socket socket(executor);
    bool over = false;
    time_limit until(executor, limit, [&] {
        over = true;
        resolver.cancel();
        boost::system::error_code ignored;
        socket.close(ignored);
    });
    boost::system::error_code problem;
    auto token = asio::redirect_error(asio::use_awaitable, problem);
    auto found = co_await resolver.async_resolve(server.host, server.port, token);
    if (!problem)
        co_await asio::async_connect(socket, found, token);
    if (!problem)
        co_await asio::async_write(socket, asio::buffer(word), token);
    if (problem || over) {
        throw server_silent(fmt::format(
            "cannot connect to {}: {}", server.text(), over ? "no answer" : problem.message()));
    }
    std::string answer;
    co_await asio::async_read(socket, asio::dynamic_buffer(answer, longest + 1), token);
    if (answer.size() > longest)
        throw server_silent(fmt::format("{} answered more than {} to '{}': is this ZooKeeper?",
                                        server.text(),
                                        bytes_text(static_cast<double>(longest)),
                                        word));
    if (over)
        throw server_silent(
            fmt::format("{} did not answer '{}' within {} s: is this its port for TLS?",
                        server.text(),
                        word,
                        limit.count()));
    // The server closes at once after the answer, sometimes with a reset.
    if (answer.empty())
        throw server_silent(
            fmt::format("{} closed the connection without an answer: are there "
                        "maxClientCnxns from here, or is this its port for TLS?",
                        server.text()));
    if (answer.find(refusal) != answer.npos)
        throw word_refused(word);
    if (answer.starts_with(not_serving))
        throw server_silent(fmt::format("{} does not serve now", server.text()));
    co_return answer;
}

}  // namespace corozk::bench
