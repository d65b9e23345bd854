// SPDX-License-Identifier: Apache-2.0
#include "systems/json_connection.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <stdexcept>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

}  // namespace

struct json_connection::state {
    state(const asio::any_io_executor& executor, std::uint16_t p) : socket(executor), port(p) {}

    tcp::socket socket;
    std::uint16_t port;
    boost::beast::flat_buffer buffer;
};

json_connection::json_connection(const asio::any_io_executor& executor, std::uint16_t port)
    : state_(std::make_shared<state>(executor, port)) {}

json_connection::~json_connection() {
    close();
}

void json_connection::close() {
    boost::system::error_code ignored;
    state_->socket.close(ignored);
    state_->buffer.clear();
}

asio::awaitable<boost::json::object> json_connection::post(std::string path,
                                                           boost::json::object body) {
    return exchange(state_, std::move(path), std::move(body));
}

asio::awaitable<boost::json::object> json_connection::exchange(std::shared_ptr<state> s,
                                                               std::string path,
                                                               boost::json::object body) {
    if (!s->socket.is_open()) {
        tcp::endpoint server(asio::ip::address_v4::loopback(), s->port);
        co_await s->socket.async_connect(server, asio::use_awaitable);
        s->socket.set_option(tcp::no_delay(true));
    }
    http::request<http::string_body> request(http::verb::post, path, 11);
    request.set(http::field::host, "127.0.0.1");
    request.set(http::field::content_type, "application/json");
    request.body() = boost::json::serialize(body);
    request.prepare_payload();
    co_await http::async_write(s->socket, request, asio::use_awaitable);
    http::response<http::string_body> response;
    co_await http::async_read(s->socket, s->buffer, response, asio::use_awaitable);
    if (response.result() != http::status::ok)
        throw std::runtime_error(fmt::format("{}: {}", path, response.body()));
    boost::json::value answer = boost::json::parse(response.body());
    co_return std::move(answer.as_object());
}

}  // namespace corozk::bench
