// SPDX-License-Identifier: Apache-2.0
// HTTP on Boost.Beast, in the io_context of the ZooKeeper client.
#pragma once

#include "router.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <tuple>

namespace service {

class server {
public:
    server(asio::ip::tcp::acceptor& acceptor, router& routes, board& shown)
        : acceptor_(acceptor), router_(routes), board_(shown), idle_(acceptor.get_executor()) {}

    /// Accepts connections, forever. After an error, for instance if there are no descriptors left,
    /// tries again after a pause.
    awaitable<void> serve(health::part& state) {
        for (;;) {
            state.works();
            auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
            asio::co_spawn(acceptor_.get_executor(), talk(std::move(socket)), say_why);
        }
    }

    /// Waits until pending requests have been answered, and closes all connections.
    awaitable<void> finish() {
        ending_ = true;
        board_.changed.ring();
        auto answered = [this] { return busy_ == 0; };
        co_await idle_.until(answered);
        for (boost::beast::tcp_stream* stream : open_)
            stream->close();
    }

private:
    /// Errors of a connection do not affect others.
    static void say_why(std::exception_ptr failure) {
        try {
            if (failure)
                std::rethrow_exception(failure);
        } catch (const std::exception& e) {
            std::cerr << "a connection: " << e.what() << '\n';
        }
    }

    /// The request was not HTTP, or too long.
    static bool is_bad_request(const boost::system::error_code& ec) {
        const boost::system::error_code of_http = http::error::bad_method;
        return ec.category() == of_http.category() && ec != http::error::end_of_stream &&
               ec != http::error::partial_message;
    }

    awaitable<void> talk(asio::ip::tcp::socket socket) {
        auto quietly = asio::as_tuple(asio::use_awaitable);
        boost::beast::tcp_stream stream(std::move(socket));
        entry open(open_, &stream);
        boost::beast::flat_buffer buffer;
        for (bool go_on = true; go_on && !ending_;) {
            stream.expires_after(std::chrono::seconds(60));
            http::request_parser<http::string_body> parser;
            parser.body_limit(64 * 1024);
            auto [ec, read] = co_await http::async_read(stream, buffer, parser, quietly);
            if (is_bad_request(ec)) {
                auto status = http::status::bad_request;
                if (ec == http::error::body_limit)
                    status = http::status::payload_too_large;
                if (ec == http::error::header_limit)
                    status = http::status::request_header_fields_too_large;
                response reply = router::text(request(), status, ec.message() + "\n");
                reply.keep_alive(false);
                co_await http::async_write(stream, reply, quietly);
            }
            if (ec)
                co_return;
            request asked = parser.release();
            if (asked.target() == "/events") {
                co_await send_events(stream);
                co_return;
            }
            work under_way(*this);
            response reply = co_await router_.answer(asked);
            if (asked.method() == http::verb::head)
                reply.body().clear();
            reply.keep_alive(reply.keep_alive() && !ending_);
            auto [failed, written] = co_await http::async_write(stream, reply, quietly);
            go_on = reply.keep_alive() && !failed;
        }
    }

    /// Server-sent events: the status after each change, until the browser disconnects.
    awaitable<void> send_events(boost::beast::tcp_stream& stream) {
        std::string text =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            "Connection: close\r\n\r\n";
        stream.expires_never();
        auto quietly = asio::as_tuple(asio::use_awaitable);
        auto [ec, begun] = co_await asio::async_write(stream, asio::buffer(text), quietly);
        for (std::string shown; !ec && !ending_;) {
            shown = board_.text();
            text = "data: " + shown + "\n\n";
            std::tie(ec, begun) = co_await asio::async_write(stream, asio::buffer(text), quietly);
            auto news = [&] { return ending_ || board_.text() != shown; };
            co_await board_.changed.until(news);
        }
    }

    struct entry {
        entry(std::set<boost::beast::tcp_stream*>& all_, boost::beast::tcp_stream* one_)
            : all(all_), one(one_) {
            all.insert(one);
        }
        ~entry() { all.erase(one); }
        std::set<boost::beast::tcp_stream*>& all;
        boost::beast::tcp_stream* one;
    };
    struct work {
        explicit work(server& of_) : of(of_) { ++of.busy_; }
        ~work() {
            if (--of.busy_ == 0)
                of.idle_.ring();
        }
        server& of;
    };

    asio::ip::tcp::acceptor& acceptor_;
    router& router_;
    board& board_;
    std::set<boost::beast::tcp_stream*> open_;
    std::size_t busy_ = 0;
    bell idle_;
    bool ending_ = false;
};

}  // namespace service
