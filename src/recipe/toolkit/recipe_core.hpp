// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "recipe/toolkit/path_check.hpp"
#include "recipe/toolkit/pending_call.hpp"
#include "recipe/toolkit/retry.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/intrusive/list.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

/// A call that a driver works for, whatever its values.
class waiting_call_base : public boost::intrusive::list_base_hook<
                              boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    waiting_call_base() = default;
    waiting_call_base(const waiting_call_base&) = delete;
    waiting_call_base& operator=(const waiting_call_base&) = delete;

    /// Completes the call at once; its driver cleans up behind it.
    virtual void give_up(error_code reason) noexcept = 0;

protected:
    ~waiting_call_base() = default;
};

/// What every recipe object has behind it: the port, and the calls that end with the object.
/// It outlives the object while drivers work for it, but never the port.
class recipe_core {
public:
    explicit recipe_core(port& p) : port_(p), executor_(p.executor()) {}
    recipe_core(const recipe_core&) = delete;
    recipe_core& operator=(const recipe_core&) = delete;

    /// Only before `stop`, or in a driver.
    port& get_port() const noexcept { return port_; }
    const boost::asio::any_io_executor& executor() const noexcept { return executor_; }

    bool stopped() const noexcept { return stopped_; }

    /// The public object is destroyed.
    virtual void stop() noexcept {
        stopped_ = true;
        while (!calls_.empty()) {
            waiting_call_base& call = calls_.front();
            calls_.pop_front();
            call.give_up(boost::asio::error::operation_aborted);
        }
    }

    void add(waiting_call_base& call) noexcept { calls_.push_back(call); }

protected:
    ~recipe_core() = default;

    port& port_;

private:
    boost::asio::any_io_executor executor_;
    boost::intrusive::list<waiting_call_base, boost::intrusive::constant_time_size<false>> calls_;
    bool stopped_ = false;
};

/// Completes a call that is not begun.
template <class Core, class... Values>
void refuse(const std::shared_ptr<Core>& core,
            any_handler<void(error_code, Values...)> handler,
            error_code reason) {
    boost::asio::any_io_executor executor = boost::asio::system_executor();
    if (core)
        executor = core->executor();
    immediate_result<Values...>(executor, std::move(handler), reason, Values()...);
}

/// Whether the object behind a public handle can work; if not, the handler has been completed.
template <class Core, class... Values>
bool usable(const std::shared_ptr<Core>& core, any_handler<void(error_code, Values...)>& handler) {
    if (core && !core->stopped())
        return true;
    error_code reason = errc::closed;
    if (core)
        reason = boost::asio::error::operation_aborted;
    refuse(core, std::move(handler), reason);
    return false;
}

/// The same where the object's path has to be a good one, too.
template <class Core, class... Values>
bool usable_at_path(const std::shared_ptr<Core>& core,
                    any_handler<void(error_code, Values...)>& handler) {
    if (!usable(core, handler))
        return false;
    if (core->path_is_good())
        return true;
    refuse(core, std::move(handler), errc::bad_path);
    return false;
}

/// Starts `driver(core, handler, arguments...)` if the object can work.
template <class Core, class... Values, class Driver, class... Arguments>
void run_at_path(const std::shared_ptr<Core>& core,
                 any_handler<void(error_code, Values...)> handler,
                 Driver driver,
                 Arguments&&... arguments) {
    if (usable_at_path(core, handler))
        core->get_port().spawn(
            driver(core, std::move(handler), std::forward<Arguments>(arguments)...));
}

inline constexpr time_point no_deadline = time_point::max();

/// A user's call that a driver works for, over several steps: a pending call that also ends when
/// its object is destroyed, and when the client closes. The driver asks `over` after every step.
template <class... Values>
class waiting_call final : public waiting_call_base {
public:
    waiting_call(recipe_core& core,
                 any_handler<void(error_code, Values...)> handler,
                 signal& wake,
                 time_point deadline = no_deadline)
        : call_(core.get_port(), wake, std::move(handler), deadline), observer_(*this) {
        core.add(*this);
        core.get_port().subscribe(observer_);
    }

    /// Whether the user still waits for an answer.
    bool waiting() const noexcept { return call_.waiting(); }

    void ahead_of_copies() noexcept { call_.ahead_of_copies(); }

    /// Whether to stop working for it.
    bool over() const noexcept { return !waiting(); }

    void complete(error_code ec, Values... values) { call_.complete(ec, std::move(values)...); }
    void fail(error_code ec) { call_.fail(ec); }
    void set_late_error(error_code ec) noexcept { call_.set_late_error(ec); }

    void give_up(error_code reason) noexcept override {
        if (waiting())
            call_.give_up(reason);
    }

private:
    class state_observer final : public session_observer {
    public:
        explicit state_observer(waiting_call& owner) noexcept : owner_(owner) {}

    private:
        void session_changed(const session_status& status) noexcept override {
            if (status.state == session_state::closed)
                owner_.give_up(errc::closed);
        }
        waiting_call& owner_;
    };

    pending_call<Values...> call_;
    state_observer observer_;
};

/// Disarms a watch of a node that may stay for long, here and at the server. Not one whose answer is
/// on its way: then whoever asked sees to it. A watch that was disarmed for a look that failed may be
/// at the server, too.
inline void forget_watch(port& p, watch_node& watch, watch_kind kind, const std::string& path) {
    if (watch.arming())
        return;
    watch.disarm();
    p.watch_dropped(kind, path);
}

/// Waits until there is a session to which requests can be bound (or the client is closed).
inline task<> session_alive(port& p, signal& wake) {
    while (!p.alive(p.status().generation) && p.status().state != session_state::closed) {
        co_await wake.wait();
    }
}

}  // namespace corozk::detail
