// SPDX-License-Identifier: Apache-2.0
#include "watch/server_words.hpp"

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

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::string_view refusal = " is not executed because it is not in the whitelist";
constexpr std::string_view not_serving = "This ZooKeeper instance is not currently serving";

}  // namespace

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
