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

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <deque>
#include <future>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

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

std::size_t index(direction way) {
    return way == direction::to_server ? 0 : 1;
}

/** Where a connection ends. */
struct cut_at {
    direction way;
    std::size_t left;
    std::optional<cut_style> how;  // none: it stays open, and nothing passes
};

/** Both ends of a connection. */
struct pair {
    explicit pair(tcp::socket from_client)
        : client{std::move(from_client)}, server{client.get_executor()} {}

    void close() {
        boost::system::error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }

    /** Whether the chosen end has come, which is then brought about. */
    bool over() {
        if (!end || end->left > 0) {
            return false;
        }
        ended = true;
        if (!end->how) {
            return true;
        }
        boost::system::error_code ignored;
        server.close(ignored);
        if (*end->how == cut_style::reset) {
            client.set_option(tcp::socket::linger{true, 0}, ignored);
            client.close(ignored);
        } else {
            client.shutdown(tcp::socket::shutdown_send, ignored);
        }
        return true;
    }

    tcp::socket client;
    tcp::socket server;
    std::optional<cut_at> end;
    bool ended = false;  // as `end` says
};

using pair_ptr = std::shared_ptr<pair>;

/** What has come in one direction of a connection and is not to arrive yet. */
struct late_bytes {
    using clock = std::chrono::steady_clock;

    struct part {
        clock::time_point due;
        std::string bytes;  // none: the end
    };

    explicit late_bytes(const tcp::socket::executor_type& executor)
        : changed{executor, clock::time_point::max()} {}

    void add(part next) {
        parts.push_back(std::move(next));
        changed.cancel();
    }

    std::deque<part> parts;
    asio::steady_timer changed;
};

/** Until the client closes: what is not read by then would turn the connection's end into a reset. */
asio::awaitable<void> drain(pair_ptr link) {
    std::array<char, piece> bytes;
    for (bool more = true; more;) {
        auto [failure, count] =
            co_await link->client.async_read_some(asio::buffer(bytes), in_tuple);
        more = !failure;
    }
    link->close();
}

}  // namespace

class stream_proxy::impl {
public:
    explicit impl(std::size_t ports) : ports_(ports) {
        for (port_reservation& port : ports_) {
            listen(acceptors_.emplace_back(loop_), port);
        }
        for (tcp::acceptor& acceptor : acceptors_) {
            asio::co_spawn(loop_, accept(acceptor), asio::detached);
        }
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

    std::uint16_t port() const noexcept { return ports_.front().port(); }

    std::string hosts() const {
        std::string text;
        for (const port_reservation& port : ports_) {
            text += (text.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port.port());
        }
        return text;
    }

    void forward_to(std::uint16_t server_port) {
        on_loop([&] { server_port_ = server_port; });
    }

    void hold(direction way, bool on) {
        on_loop([&] {
            holding_[index(way)] = on;
            if (!on) {
                released_.cancel();
            }
        });
    }

    void set_delay(direction way, std::chrono::milliseconds duration) {
        on_loop([&] { delays_[index(way)] = duration; });
    }

    void cut() {
        on_loop([&] {
            for (const std::weak_ptr<pair>& one : std::exchange(links_, {})) {
                if (const pair_ptr link = one.lock()) {
                    link->close();
                }
            }
        });
    }

    void cut_next(const cut_at& where) {
        on_loop([&] { next_cut_ = where; });
    }

    std::size_t connections() {
        return on_loop([&] { return connections_; });
    }

    std::size_t cuts() {
        return on_loop([&] { return cuts_; });
    }

    std::size_t passed(direction way) {
        return on_loop([&] { return passed_[index(way)]; });
    }

private:
    void listen(tcp::acceptor& acceptor, port_reservation& port) {
        for (int attempt = 1;; ++attempt) {
            boost::system::error_code failure;
            detail::open_close_on_exec(acceptor, tcp::v4());
            acceptor.set_option(tcp::acceptor::reuse_address{true});
            // Little of what is held back is in the kernel.
            acceptor.set_option(tcp::socket::receive_buffer_size{64 * 1024});
            acceptor.bind(local(port.port()), failure);
            if (!failure) {
                acceptor.listen();
                return;
            }
            if (attempt == listen_attempts) {
                throw std::runtime_error{"no port for a proxy: " + failure.message()};
            }
            acceptor.close();
            port = port_reservation{};
        }
    }

    template <class Function>
    std::invoke_result_t<Function&> on_loop(Function f) {
        std::promise<std::invoke_result_t<Function&>> done;
        asio::post(loop_, [&] {
            if constexpr (std::is_void_v<std::invoke_result_t<Function&>>) {
                f();
                done.set_value();
            } else {
                done.set_value(f());
            }
        });
        return done.get_future().get();
    }

    asio::awaitable<void> accept(tcp::acceptor& acceptor) {
        for (;;) {
            auto [failure, socket] = co_await acceptor.async_accept(in_tuple);
            if (!failure) {
                detail::close_on_exec(socket);
                auto one = std::make_shared<pair>(std::move(socket));
                one->end = std::exchange(next_cut_, std::nullopt);
                ++connections_;
                std::erase_if(links_, [](const auto& other) { return other.expired(); });
                links_.push_back(one);
                asio::co_spawn(loop_, serve(std::move(one)), asio::detached);
            }
        }
    }

    asio::awaitable<void> serve(pair_ptr link) {
        auto target = local(server_port_);
        boost::system::error_code failed;  // said by the connecting
        detail::open_close_on_exec(link->server, target.protocol(), failed);
        auto [failure] = co_await link->server.async_connect(target, in_tuple);
        if (failure || server_port_ == 0) {
            link->close();
            co_return;
        }
        boost::system::error_code ignored;
        link->client.set_option(tcp::no_delay{true}, ignored);
        link->server.set_option(tcp::no_delay{true}, ignored);
        if (over(*link)) {
            co_await drain(link);
            co_return;
        }
        asio::co_spawn(loop_, pump(link, direction::to_server), asio::detached);
        co_await pump(link, direction::to_client);
    }

    asio::awaitable<void> pump(pair_ptr link, direction way) {
        const bool up = way == direction::to_server;
        tcp::socket& from = up ? link->client : link->server;
        tcp::socket& to = up ? link->server : link->client;
        const bool ends = link->end && link->end->way == way;
        if (const auto delay = delays_[index(way)]; delay.count() > 0) {
            auto late = std::make_shared<late_bytes>(from.get_executor());
            asio::co_spawn(loop_, pass_on_late(link, way, late), asio::detached);
            co_await read_for_later(from, late, delay);
            co_return;
        }
        std::array<char, piece> bytes;
        while (!link->ended && !over(*link)) {
            const std::size_t most = ends ? std::min(link->end->left, piece) : piece;
            auto [read_failure, count] =
                co_await from.async_read_some(asio::buffer(bytes.data(), most), in_tuple);
            if (link->ended) {
                break;
            }
            if (read_failure) {
                link->close();
                co_return;
            }
            while (holding_[index(way)]) {
                co_await released_.async_wait(in_tuple);
            }
            passed_[index(way)] += count;
            auto [write_failure, written] =
                co_await asio::async_write(to, asio::buffer(bytes.data(), count), in_tuple);
            if (write_failure && !link->ended) {
                link->close();
                co_return;
            }
            if (ends) {
                link->end->left -= count;
            }
        }
        if (up) {
            co_await drain(link);
        }
    }

    /** The reader does not wait for the writer, or else little could be on its way at a time. */
    static asio::awaitable<void> read_for_later(tcp::socket& from,
                                                std::shared_ptr<late_bytes> late,
                                                std::chrono::milliseconds delay) {
        std::array<char, piece> bytes;
        for (bool more = true; more;) {
            auto [failure, count] = co_await from.async_read_some(asio::buffer(bytes), in_tuple);
            more = !failure;
            late->add({late_bytes::clock::now() + delay, std::string(bytes.data(), count)});
        }
    }

    asio::awaitable<void> pass_on_late(pair_ptr link,
                                       direction way,
                                       std::shared_ptr<late_bytes> late) {
        tcp::socket& to = way == direction::to_server ? link->server : link->client;
        asio::steady_timer timer{loop_};
        for (;;) {
            while (late->parts.empty()) {
                co_await late->changed.async_wait(in_tuple);
            }
            const late_bytes::part next = std::move(late->parts.front());
            late->parts.pop_front();
            timer.expires_at(next.due);
            co_await timer.async_wait(in_tuple);
            while (holding_[index(way)]) {
                co_await released_.async_wait(in_tuple);
            }
            passed_[index(way)] += next.bytes.size();
            auto [failure, written] =
                co_await asio::async_write(to, asio::buffer(next.bytes), in_tuple);
            if (failure || next.bytes.empty()) {
                link->close();
                co_return;
            }
        }
    }

    bool over(pair& link) {
        if (!link.over()) {
            return false;
        }
        ++cuts_;
        return true;
    }

    std::vector<port_reservation> ports_;
    asio::io_context loop_;
    asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
    std::deque<tcp::acceptor> acceptors_;
    asio::steady_timer released_{loop_, asio::steady_timer::time_point::max()};
    std::vector<std::weak_ptr<pair>> links_;
    std::uint16_t server_port_ = 0;
    std::array<bool, 2> holding_{};
    std::array<std::chrono::milliseconds, 2> delays_{};
    std::optional<cut_at> next_cut_;
    std::size_t connections_ = 0;
    std::size_t cuts_ = 0;
    std::array<std::size_t, 2> passed_{};
    std::thread thread_;
};

stream_proxy::stream_proxy(std::size_t ports) : impl_{std::make_unique<impl>(ports)} {}
stream_proxy::~stream_proxy() = default;

std::uint16_t stream_proxy::port() const noexcept {
    return impl_->port();
}

std::string stream_proxy::hosts() const {
    return impl_->hosts();
}

void stream_proxy::forward_to(std::uint16_t server_port) {
    impl_->forward_to(server_port);
}

void stream_proxy::hold(direction way, bool on) {
    impl_->hold(way, on);
}

void stream_proxy::set_delay(direction way, std::chrono::milliseconds duration) {
    impl_->set_delay(way, duration);
}

void stream_proxy::cut() {
    impl_->cut();
}

void stream_proxy::cut_next(direction way, std::size_t after, cut_style how) {
    impl_->cut_next({way, after, how});
}

void stream_proxy::silence_next(direction way, std::size_t after) {
    impl_->cut_next({way, after, std::nullopt});
}

std::size_t stream_proxy::connections() const {
    return impl_->connections();
}

std::size_t stream_proxy::cuts() const {
    return impl_->cuts();
}

std::size_t stream_proxy::passed(direction way) const {
    return impl_->passed(way);
}

}  // namespace corozk::testing
