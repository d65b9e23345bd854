// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corozk::bench {

/// An answer of Redis's protocol (RESP2). A failure is thrown instead.
struct redis_answer {
    redis_answer() = default;

    bool null = false;
    std::int64_t number = 0;
    std::string text;
    std::vector<redis_answer> elements;
};

/// A command with its arguments.
template <class... Words>
std::vector<std::string> redis_words(const Words&... words) {
    return {std::string(words)...};
}

/// A connection to a Redis server of this machine. Answers come in the order of the commands.
class redis_connection {
public:
    redis_connection(const boost::asio::any_io_executor& executor, std::uint16_t port)
        : socket_(executor), port_(port) {}

    boost::asio::awaitable<void> connect();

    /// Sends it with the next `flush`.
    void append(const std::vector<std::string>& words);
    boost::asio::awaitable<void> flush();

    /// @throws std::runtime_error if it is a failure
    boost::asio::awaitable<redis_answer> receive();

    /// Sends a command and takes its answer.
    boost::asio::awaitable<redis_answer> ask(std::vector<std::string> words);

    /// Ends what is waited for, too.
    void close();

private:
    boost::asio::awaitable<std::string> line();
    boost::asio::awaitable<std::string> bytes(std::size_t count);

    boost::asio::ip::tcp::socket socket_;
    std::uint16_t port_;
    std::string unsent_;
    std::string unread_;
};

}  // namespace corozk::bench
