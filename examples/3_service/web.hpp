// SPDX-License-Identifier: Apache-2.0
// The service's HTTP side, on Boost.Beast, in the same io_context.
#pragma once

#include "node.hpp"
#include "page.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace service {

namespace http = boost::beast::http;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

inline response answer(const request& to,
                       http::status status,
                       std::string body,
                       const char* type = "text/plain; charset=utf-8") {
    response result(status, to.version());
    result.set(http::field::content_type, type);
    result.set(http::field::cache_control, "no-store");
    result.keep_alive(to.keep_alive());
    result.body() = std::move(body);
    result.prepare_payload();
    return result;
}

/// "/accounts/NAME/deposit/AMOUNT"
inline awaitable<response> deposit(node& self, const request& asked, std::string_view rest) {
    auto slash = rest.find('/');
    std::string name(rest.substr(0, slash));
    constexpr std::string_view verb = "/deposit/";
    if (slash == std::string_view::npos || name.empty() || !rest.substr(slash).starts_with(verb))
        co_return answer(asked, http::status::not_found, "no such place\n");
    std::string amount(rest.substr(slash + verb.size()));
    long balance = co_await self.deposit(std::move(name), std::stol(amount));
    co_return answer(asked, http::status::ok, std::to_string(balance) + "\n");
}

inline awaitable<response> route(node& self, const request& asked) {
    std::string_view target(asked.target().data(), asked.target().size());
    constexpr std::string_view accounts = "/accounts/";
    bool post = asked.method() == http::verb::post;
    if (target == "/")
        co_return answer(asked, http::status::ok, status_page, "text/html; charset=utf-8");
    if (target == "/status") {
        boost::json::object status = co_await self.status();
        co_return answer(
            asked, http::status::ok, boost::json::serialize(status) + "\n", "application/json");
    }
    if (target == "/metrics")
        co_return answer(asked, http::status::ok, self.metrics(), "text/plain; version=0.0.4");
    if (target == "/health") {
        auto status = self.healthy() ? http::status::ok : http::status::service_unavailable;
        co_return answer(asked, status, self.healthy() ? "healthy\n" : "no session\n");
    }
    if (post && target == "/jobs") {
        co_await self.put_job(asked.body());
        co_return answer(asked, http::status::accepted, "queued\n");
    }
    if (post && target.starts_with(accounts)) {
        response result = co_await deposit(self, asked, target.substr(accounts.size()));
        co_return result;
    }
    co_return answer(asked, http::status::not_found, "no such place\n");
}

/// What goes wrong in a request is that request's answer, and nobody else's trouble.
inline awaitable<response> safely(node& self, const request& asked) {
    std::string problem;
    try {
        response result = co_await route(self, asked);
        co_return result;
    } catch (const boost::system::system_error& e) {
        problem = e.what();
    } catch (const std::exception&) {
        co_return answer(asked, http::status::bad_request, "not understood\n");
    }
    co_return answer(asked, http::status::service_unavailable, problem + "\n");
}

/// Server-sent events: the status, whenever it has changed, until the browser goes.
inline awaitable<void> send_events(node& self, boost::beast::tcp_stream& stream) {
    stream.expires_never();
    std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "Connection: close\r\n\r\n";
    std::string last;
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (;;) {
        boost::json::object status = co_await self.status();
        std::string now = boost::json::serialize(status);
        if (now != last)
            text += "data: " + now + "\n\n";
        last = std::move(now);
        if (!text.empty())
            co_await asio::async_write(stream, asio::buffer(text), asio::use_awaitable);
        text.clear();
        pause.expires_after(std::chrono::milliseconds(300));
        co_await pause.async_wait(asio::use_awaitable);
    }
}

inline awaitable<void> serve_one(node& self, asio::ip::tcp::socket socket) {
    boost::beast::tcp_stream stream(std::move(socket));
    boost::beast::flat_buffer buffer;
    for (bool go_on = true; go_on;) {
        stream.expires_after(std::chrono::seconds(60));
        http::request_parser<http::string_body> parser;
        parser.body_limit(64 * 1024);
        auto [ec, read] =
            co_await http::async_read(stream, buffer, parser, asio::as_tuple(asio::use_awaitable));
        if (ec)
            co_return;
        request asked = parser.release();
        if (asked.target() == "/events") {
            co_await send_events(self, stream);
            co_return;
        }
        response reply = co_await safely(self, asked);
        go_on = reply.keep_alive();
        auto [failed, written] =
            co_await http::async_write(stream, reply, asio::as_tuple(asio::use_awaitable));
        go_on = go_on && !failed;
    }
}

}  // namespace service
