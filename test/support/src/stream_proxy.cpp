// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/stream_proxy.hpp"

#include "close_on_exec.hpp"
#include "corozk/testing/port.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <csignal>
#include <future>
#include <pthread.h>
#include <stdexcept>
#include <thread>

namespace corozk::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int listen_attempts = 20;
constexpr std::size_t piece = 16'384;
constexpr auto in_tuple = asio::as_tuple(asio::use_awaitable);

tcp::endpoint local(std::uint16_t port) {
    return {asio::ip::address_v4::loopback(), port};
}

/** Both ends of a connection. */
struct pair {
    explicit pair(tcp::socket from_client)
        : client{std::move(from_client)}, server{client.get_executor()} {}

    void close() {
        boost::system::error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }

    tcp::socket client;
    tcp::socket server;
};

}  // namespace

class stream_proxy::impl {
public:
    impl() {
        listen();
        asio::co_spawn(loop_, accept(), asio::detached);
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the others
        thread_ = std::thread{[this] { loop_.run(); }};
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    ~impl() {
        loop_.stop();
        thread_.join();
    }

    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;

    std::uint16_t port() const noexcept { return port_.port(); }

    void forward_to(std::uint16_t server_port) {
        on_loop([&] { server_port_ = server_port; });
    }

    void hold_answers(bool on) {
        on_loop([&] {
            holding_ = on;
            if (!on) {
                released_.cancel();
            }
        });
    }

private:
    void listen() {
        for (int attempt = 1;; ++attempt) {
            boost::system::error_code failure;
            acceptor_.open(tcp::v4());
            detail::close_on_exec(acceptor_);
            acceptor_.set_option(tcp::acceptor::reuse_address{true});
            acceptor_.bind(local(port_.port()), failure);
            if (!failure) {
                acceptor_.listen();
                return;
            }
            if (attempt == listen_attempts) {
                throw std::runtime_error{"no port for a proxy: " + failure.message()};
            }
            acceptor_.close();
            port_ = port_reservation{};
        }
    }

    template <class Function>
    void on_loop(Function f) {
        std::promise<void> done;
        asio::post(loop_, [&] {
            f();
            done.set_value();
        });
        done.get_future().get();
    }

    asio::awaitable<void> accept() {
        for (;;) {
            auto [failure, socket] = co_await acceptor_.async_accept(in_tuple);
            if (!failure) {
                detail::close_on_exec(socket);
                auto link = std::make_shared<pair>(std::move(socket));
                asio::co_spawn(loop_, serve(std::move(link)), asio::detached);
            }
        }
    }

    asio::awaitable<void> serve(std::shared_ptr<pair> link) {
        auto target = local(server_port_);
        boost::system::error_code failed;  // said by the connecting
        link->server.open(target.protocol(), failed);
        detail::close_on_exec(link->server);
        auto [failure] = co_await link->server.async_connect(target, in_tuple);
        if (failure || server_port_ == 0) {
            link->close();
            co_return;
        }
        boost::system::error_code ignored;
        link->client.set_option(tcp::no_delay{true}, ignored);
        link->server.set_option(tcp::no_delay{true}, ignored);
        asio::co_spawn(loop_, pump(link, false), asio::detached);
        co_await pump(link, true);
    }

    asio::awaitable<void> pump(std::shared_ptr<pair> link, bool answers) {
        tcp::socket& from = answers ? link->server : link->client;
        tcp::socket& to = answers ? link->client : link->server;
        std::array<char, piece> bytes;
        for (;;) {
            auto [read_failure, count] =
                co_await from.async_read_some(asio::buffer(bytes), in_tuple);
            if (read_failure) {
                break;
            }
            while (answers && holding_) {
                co_await released_.async_wait(in_tuple);
            }
            auto [write_failure, written] =
                co_await asio::async_write(to, asio::buffer(bytes.data(), count), in_tuple);
            if (write_failure) {
                break;
            }
        }
        link->close();
    }

    port_reservation port_;
    asio::io_context loop_;
    asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
    tcp::acceptor acceptor_{loop_};
    asio::steady_timer released_{loop_, asio::steady_timer::time_point::max()};
    std::uint16_t server_port_ = 0;
    bool holding_ = false;
    std::thread thread_;
};

stream_proxy::stream_proxy() : impl_{std::make_unique<impl>()} {}
stream_proxy::~stream_proxy() = default;

std::uint16_t stream_proxy::port() const noexcept {
    return impl_->port();
}

void stream_proxy::forward_to(std::uint16_t server_port) {
    impl_->forward_to(server_port);
}

void stream_proxy::hold_answers(bool on) {
    impl_->hold_answers(on);
}

}  // namespace corozk::testing
