// SPDX-License-Identifier: Apache-2.0
// HTTP on Boost.Beast, in the io_context of the ZooKeeper client.
#pragma once

#include "router.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <set>
#include <string>

namespace service {

class server {
public:
    server(asio::ip::tcp::acceptor& acceptor, router& routes, board& shown)
        : acceptor_(acceptor), router_(routes), board_(shown), idle_(acceptor.get_executor()) {}

    /// Accepts connections, for ever.
    awaitable<void> serve() {
        for (;;) {
            auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
            asio::co_spawn(acceptor_.get_executor(), talk(std::move(socket)), asio::detached);
        }
    }

    /// Waits until the requests that are under way have been answered, and closes all connections.
    awaitable<void> finish() {
        ending_ = true;
        board_.changed.ring();
        auto answered = [this] { return busy_ == 0; };
        co_await idle_.until(answered);
        for (boost::beast::tcp_stream* stream : open_)
            stream->close();
    }

private:
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
            if (ec)
                co_return;
            request asked = parser.release();
            if (asked.target() == "/events") {
                co_await send_events(stream);
                co_return;
            }
            work under_way(*this);
            response reply = co_await router_.answer(asked);
            reply.keep_alive(reply.keep_alive() && !ending_);
            auto [failed, written] = co_await http::async_write(stream, reply, quietly);
            go_on = reply.keep_alive() && !failed;
        }
    }

    /// Server-sent events: the status whenever it has changed, until the browser goes.
    awaitable<void> send_events(boost::beast::tcp_stream& stream) {
        std::string text =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            "Connection: close\r\n\r\n";
        stream.expires_never();
        co_await asio::async_write(stream, asio::buffer(text), asio::use_awaitable);
        for (std::string shown; !ending_;) {
            shown = board_.text();
            text = "data: " + shown + "\n\n";
            co_await asio::async_write(stream, asio::buffer(text), asio::use_awaitable);
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
