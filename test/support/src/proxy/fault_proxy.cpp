// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/fault_proxy.hpp"

#include "close_on_exec.hpp"
#include "corozk/testing/port.hpp"
#include "link.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fmt/format.h>

#include <condition_variable>
#include <csignal>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <utility>

namespace corozk::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr int listen_attempts = 20;

}  // namespace

class fault_proxy::impl {
public:
    impl(std::uint16_t server_port, fault_proxy_options options) : state_{options, server_port} {
        state_.begin_black_hole = [this](milliseconds duration) {
            set_holes(true, std::nullopt);
            schedule(hole_timer_, duration, [this] { set_holes(false, std::nullopt); });
        };
        state_.begin_refusal = [this](milliseconds duration) {
            apply(acceptance::close_at_once);
            schedule(refusal_timer_, duration, [this] { apply(acceptance::normal); });
        };
        choose_port();
        start_thread();
    }

    ~impl() {
        on_loop([this] {
            close_acceptor();
            cut([](const detail::link&) { return true; });
        });
        loop_.stop();
        thread_.join();
    }

    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;

    std::uint16_t port() const noexcept { return port_.port(); }
    detail::journal& log() noexcept { return state_.log; }

    void retarget(std::uint16_t server_port) {
        on_loop([&] { state_.server_port = server_port; });
    }

    template <class Choice>
    bool cut_where(Choice choose) {
        bool any = false;
        on_loop([&] { any = cut(choose); });
        return any;
    }

    void set_acceptance(acceptance mode) {
        on_loop([&] {
            refusal_timer_.cancel();
            apply(mode);
        });
    }

    void black_hole(bool on, std::optional<direction> way) {
        on_loop([&] {
            hole_timer_.cancel();
            set_holes(on, way);
        });
    }

    void set_delay(direction way, milliseconds duration) {
        on_loop([&] { state_.delay(way) = duration; });
    }

    rule_id arm(trigger when, action what) {
        rule_id id{};
        on_loop([&] { id = state_.rules.arm(std::move(when), std::move(what)); });
        return id;
    }

    void disarm(rule_id rule) {
        on_loop([&] { state_.rules.disarm(rule); });
    }

    void release(std::optional<rule_id> rule) {
        on_loop([&] {
            if (rule) {
                state_.rules.disarm(*rule);
            } else {
                state_.rules.disarm_all();
            }
            for_each_link([&](detail::link& one) { one.release(rule); });
        });
    }

    void edit(direction way, frame_editor editor) {
        on_loop([&] { state_.editor(way) = std::move(editor); });
    }

    void reset_numbering() {
        on_loop([this] {
            state_.last_number = 0;
            state_.log.count([](auto& statistics) { statistics.requests = 0; });
        });
    }

private:
    /** Runs the action on the proxy's thread and waits for it; rethrows what it throws. */
    template <class Action>
    void on_loop(Action what) {
        if (loop_.get_executor().running_in_this_thread()) {
            what();
            return;
        }
        std::mutex mutex;
        std::condition_variable changed;
        bool done = false;
        std::exception_ptr failure;
        asio::post(loop_, [&] {
            std::exception_ptr error;
            try {
                what();
            } catch (...) {
                error = std::current_exception();
            }
            const std::lock_guard lock{mutex};
            failure = std::move(error);
            done = true;
            changed.notify_one();  // with the lock: the other side destroys all this
        });
        std::unique_lock lock{mutex};
        changed.wait(lock, [&done] { return done; });
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

    void start_thread() {
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the others
        thread_ = std::thread{[this] { loop_.run(); }};
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    void choose_port() {
        for (int attempt = 1;; ++attempt) {
            try {
                listen();
                accept();
                return;
            } catch (const boost::system::system_error&) {
                if (attempt == listen_attempts) {
                    throw;
                }
                close_acceptor();
                port_ = port_reservation{};
            }
        }
    }

    void listen() {
        const tcp::endpoint address{asio::ip::address_v4::loopback(), port_.port()};
        detail::open_close_on_exec(acceptor_, address.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address{true});
        acceptor_.bind(address);
        acceptor_.listen();
    }

    void close_acceptor() {
        error_code ignored;
        acceptor_.close(ignored);
    }

    void accept() {
        acceptor_.async_accept([this](const error_code& error, tcp::socket client) {
            if (error == asio::error::operation_aborted || !acceptor_.is_open()) {
                return;
            }
            if (!error) {
                detail::close_on_exec(client);
                welcome(std::move(client));
            }
            accept();
        });
    }

    void welcome(tcp::socket client) {
        const bool refused = mode_ != acceptance::normal;
        state_.log.count([refused](auto& statistics) {
            ++(refused ? statistics.connections_refused : statistics.connections_accepted);
            statistics.connections_open += refused ? 0U : 1U;
        });
        if (refused) {
            return;  // and the socket is closed
        }
        const auto id = ++last_link_;
        auto one = std::make_shared<detail::link>(
            state_, std::move(client), id, [this](std::uint64_t gone) { links_.erase(gone); });
        links_.emplace(id, one);
        one->start();
    }

    void apply(acceptance mode) {
        const auto before = std::exchange(mode_, mode);
        if (mode == acceptance::not_listening) {
            close_acceptor();
        } else if (before == acceptance::not_listening) {
            listen();
            accept();
        }
    }

    /** Calls the function for each link; it may close links. */
    template <class Action>
    void for_each_link(Action what) {
        const auto all = links_;
        for (const auto& [id, one] : all) {
            what(*one);
        }
    }

    template <class Choice>
    bool cut(Choice choose) {
        bool any = false;
        for_each_link([&](detail::link& one) {
            if (choose(std::as_const(one))) {
                any = true;
                one.cut();
            }
        });
        return any;
    }

    void set_holes(bool on, std::optional<direction> way) {
        for (const auto one : {direction::to_server, direction::to_client}) {
            if (!way || *way == one) {
                state_.hole(one) = on;
            }
        }
        if (!on) {
            for_each_link([](detail::link& one) { one.heal(); });
        }
    }

    template <class Action>
    void schedule(asio::steady_timer& timer, milliseconds duration, Action what) {
        timer.cancel();
        if (duration != until_told) {
            timer.expires_after(duration);
            timer.async_wait([what = std::move(what)](const error_code& error) {
                if (!error) {
                    what();
                }
            });
        }
    }

    detail::proxy_state state_;  // before the loop, whose handlers refer to it until the end
    port_reservation port_;
    asio::io_context loop_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
    tcp::acceptor acceptor_{loop_};
    asio::steady_timer hole_timer_{loop_};
    asio::steady_timer refusal_timer_{loop_};
    acceptance mode_ = acceptance::normal;
    std::map<std::uint64_t, std::shared_ptr<detail::link>> links_;
    std::uint64_t last_link_ = 0;
    std::thread thread_;
};

fault_proxy::fault_proxy(std::uint16_t server_port, fault_proxy_options options)
    : impl_{std::make_unique<impl>(server_port, options)} {}

fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const noexcept {
    return impl_->port();
}

std::string fault_proxy::hosts() const {
    return fmt::format("127.0.0.1:{}", port());
}

void fault_proxy::retarget(std::uint16_t server_port) {
    impl_->retarget(server_port);
}

void fault_proxy::cut() {
    impl_->cut_where([](const detail::link&) { return true; });
}

bool fault_proxy::cut_session(std::int64_t session_id) {
    return impl_->cut_where(
        [session_id](const detail::link& one) { return one.session_id() == session_id; });
}

void fault_proxy::set_acceptance(acceptance mode) {
    impl_->set_acceptance(mode);
}

void fault_proxy::black_hole(bool on) {
    impl_->black_hole(on, std::nullopt);
}

void fault_proxy::black_hole(bool on, direction way) {
    impl_->black_hole(on, way);
}

void fault_proxy::set_delay(direction way, milliseconds duration) {
    impl_->set_delay(way, duration);
}

rule_id fault_proxy::arm(trigger when, action what) {
    return impl_->arm(std::move(when), std::move(what));
}

void fault_proxy::disarm(rule_id rule) {
    impl_->disarm(rule);
}

void fault_proxy::disarm_all() {
    impl_->release(std::nullopt);
}

void fault_proxy::release(rule_id rule) {
    impl_->release(rule);
}

std::uint64_t fault_proxy::fired(rule_id rule) const {
    return statistics().fired(rule);
}

void fault_proxy::edit(direction way, frame_editor editor) {
    impl_->edit(way, std::move(editor));
}

void fault_proxy::reset_numbering() {
    impl_->reset_numbering();
}

std::uint64_t fault_proxy::requests() const {
    return statistics().requests;
}

proxy_statistics fault_proxy::statistics() const {
    return impl_->log().statistics();
}

std::vector<session_record> fault_proxy::sessions() const {
    return impl_->log().sessions();
}

session_record fault_proxy::session() const {
    auto all = sessions();
    if (all.empty()) {
        throw std::logic_error{"no session was made through the proxy yet"};
    }
    return std::move(all.back());
}

std::vector<frame_record> fault_proxy::log() const {
    return impl_->log().log();
}

std::string fault_proxy::describe_log(std::size_t last) const {
    return impl_->log().describe_log(last);
}

void fault_proxy::wait_for(const std::function<bool(const proxy_statistics&)>& predicate,
                           milliseconds limit) const {
    impl_->log().wait_for(predicate, limit);
}

}  // namespace corozk::testing
