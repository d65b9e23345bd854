// SPDX-License-Identifier: Apache-2.0
#include "systems/redis_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::string_view end_of_line = "\r\n";

}  // namespace

asio::awaitable<void> redis_connection::connect() {
    tcp::endpoint server(asio::ip::address_v4::loopback(), port_);
    co_await socket_.async_connect(server, asio::use_awaitable);
    socket_.set_option(tcp::no_delay(true));
}

void redis_connection::close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
}

void redis_connection::append(const std::vector<std::string>& words) {
    unsent_ += fmt::format("*{}\r\n", words.size());
    for (const auto& word : words)
        unsent_ += fmt::format("${}\r\n{}\r\n", word.size(), word);
}

asio::awaitable<void> redis_connection::flush() {
    std::string text = std::exchange(unsent_, {});
    co_await asio::async_write(socket_, asio::buffer(text), asio::use_awaitable);
}

asio::awaitable<redis_answer> redis_connection::ask(std::vector<std::string> words) {
    append(words);
    co_await flush();
    co_return co_await receive();
}

asio::awaitable<std::string> redis_connection::line() {
    auto buffer = asio::dynamic_buffer(unread_);
    std::size_t size =
        co_await asio::async_read_until(socket_, buffer, end_of_line, asio::use_awaitable);
    std::string text = unread_.substr(0, size - end_of_line.size());
    unread_.erase(0, size);
    co_return text;
}

asio::awaitable<std::string> redis_connection::bytes(std::size_t count) {
    std::size_t size = count + end_of_line.size();
    if (unread_.size() < size) {
        auto buffer = asio::dynamic_buffer(unread_);
        auto enough = asio::transfer_at_least(size - unread_.size());
        co_await asio::async_read(socket_, buffer, enough, asio::use_awaitable);
    }
    std::string text = unread_.substr(0, count);
    unread_.erase(0, size);
    co_return text;
}

asio::awaitable<redis_answer> redis_connection::receive() {
    std::string head = co_await line();
    char kind = head.empty() ? '-' : head.front();
    redis_answer answer;
    answer.text = head.empty() ? "an empty line" : head.substr(1);
    if (kind == '-')
        throw std::runtime_error("Redis: " + answer.text);
    if (kind == '+')
        co_return answer;
    answer.number = std::stoll(answer.text);
    answer.null = answer.number < 0 && kind != ':';
    if (answer.null || kind == ':')
        co_return answer;
    if (kind == '$') {
        answer.text = co_await bytes(static_cast<std::size_t>(answer.number));
        co_return answer;
    }
    for (std::int64_t i = 0; i < answer.number; ++i)
        answer.elements.push_back(co_await receive());
    co_return answer;
}

}  // namespace corozk::bench
