// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "operation/linked.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/retry.hpp"

#include <boost/asio/error.hpp>
#include <boost/intrusive/list.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace corozk::detail {

/// Type-erased `waiting_call`.
class waiting_call_base : public linked {
public:
    /// Completes the call at once; its driver cleans up afterwards.
    virtual void give_up(error_code reason) noexcept = 0;

protected:
    ~waiting_call_base() = default;
};

/// Logs what is wrong with a path. @return false
inline bool refuse_path(port& p, const char* recipe, const std::string& path, const char* problem) {
    p.reject(errc::bad_path, recipe, ": the path \"", path, "\" ", problem);
    return false;
}

/// Whether it is a valid path.
inline bool node_path_is_good(port& p, const char* recipe, const std::string& path) {
    const char* problem = path_problem(path);
    return !problem || refuse_path(p, recipe, path, problem);
}

/// Whether it is a valid path for a recipe: the root is not.
inline bool path_is_good(port& p, const char* recipe, const std::string& path) {
    if (path == "/")
        return refuse_path(p, recipe, path, "is the root: a recipe needs a node of its own");
    return node_path_is_good(p, recipe, path);
}

/// Base of the implementations of recipe objects: the port, and the calls that end with the object.
/// Drivers may keep it alive after the object was destroyed, but it never outlives the port.
class recipe_core {
public:
    explicit recipe_core(port& p, const char* recipe = "", std::string path = std::string())
        : port_(p), executor_(p.executor()), recipe_(recipe), path_(std::move(path)) {}
    recipe_core(const recipe_core&) = delete;
    recipe_core& operator=(const recipe_core&) = delete;
    virtual ~recipe_core() = default;

    /// Only before `stop`, or in a driver.
    port& get_port() const noexcept { return port_; }
    const boost::asio::any_io_executor& executor() const noexcept { return executor_; }

    const std::string& path() const noexcept { return path_; }
    bool path_is_good() const { return detail::path_is_good(port_, recipe_, path_); }

    /// Logs why a call is refused. @return the code
    template <class... Parts>
    error_code reject(errc reason, const Parts&... parts) const {
        return port_.reject(reason, recipe_, " ", path_, ": ", parts...);
    }

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
    port& port_;

private:
    boost::asio::any_io_executor executor_;
    const char* recipe_;  ///< its name, for the log
    const std::string path_;
    boost::intrusive::list<waiting_call_base, boost::intrusive::constant_time_size<false>> calls_;
    bool stopped_ = false;
};

/// Of a core; without one, the system executor.
template <class Core>
boost::asio::any_io_executor executor_of(const Core* core) noexcept {
    return core ? core->executor() : executor_of(nullptr);
}

/// Whether a recipe object can be used; if not, completes the handler. It may have been destroyed
/// before an operation was started, which `asio::deferred` does late; its client may be closed.
template <class Core, class... Values>
bool usable(const std::shared_ptr<Core>& core, handler_of<Values...>& handler) {
    bool destroyed = core && core->stopped();
    if (core && !destroyed && core->get_port().status().state != session_state::closed)
        return true;
    error_code reason = errc::closed;
    if (destroyed)
        reason = boost::asio::error::operation_aborted;
    refuse(core, std::move(handler), reason);
    return false;
}

/// Same as `usable`, for operations that require a valid path.
template <class Core, class... Values>
bool usable_at_path(const std::shared_ptr<Core>& core, handler_of<Values...>& handler) {
    if (!usable(core, handler))
        return false;
    if (core->path_is_good())
        return true;
    refuse(core, std::move(handler), errc::bad_path);
    return false;
}

/// Starts `driver(core, handler, arguments...)` if the object can be used.
template <class Core, class... Values, class Driver, class... Arguments>
void run_at_path(const std::shared_ptr<Core>& core,
                 handler_of<Values...> handler,
                 Driver driver,
                 Arguments&&... arguments) {
    if (usable_at_path(core, handler))
        core->get_port().spawn(
            driver(core, std::move(handler), std::forward<Arguments>(arguments)...));
}

/// A pending call that also ends when its object is destroyed or the client is closed. The driver
/// checks `over` after every step.
template <class... Values>
class waiting_call final : public pending_call<Values...>,
                           private waiting_call_base,
                           private session_observer {
public:
    waiting_call(recipe_core& core,
                 handler_of<Values...> handler,
                 signal& wake,
                 time_limit limit = time_limit::for_ever())
        : pending_call<Values...>(core.get_port(), wake, std::move(handler), limit) {
        core.add(*this);
        core.get_port().subscribe(*this);
    }

    /// Whether the driver should stop.
    bool over() const noexcept { return !this->waiting(); }

private:
    void give_up(error_code reason) noexcept override {
        if (this->waiting())
            pending_call<Values...>::give_up(reason);
    }
    void session_changed(const session_status& status) noexcept override {
        if (status.state == session_state::closed)
            give_up(errc::closed);
    }
};

/// Serves a call by attempts, `attempt(core, arguments..., values...)`, until one of them succeeds or
/// fails permanently. The arguments are the same objects in all attempts. Those that change something
/// get the call behind the core, and send nothing that nobody waits for (`request::only_for`).
template <class Core, class... Values, class Attempt, class... Arguments>
task<> serve(std::shared_ptr<Core> core,
             handler_of<Values...> handler,
             time_limit limit,
             Attempt attempt,
             Arguments... arguments) {
    port& p = core->get_port();
    signal wake(p);
    waiting_call<Values...> call(*core, std::move(handler), wake, limit);
    while (!call.over()) {
        std::tuple<Values...> values;
        auto begin = [&](Values&... v) {
            using changes =
                std::is_invocable<Attempt, Core&, const interest&, Arguments&..., Values&...>;
            if constexpr (changes::value)
                return attempt(*core, call.users_call(), arguments..., v...);
            else
                return attempt(*core, arguments..., v...);
        };
        task<error_code> attempted = std::apply(begin, values);
        error_code ec = co_await attempted;
        if (retry(p).again(ec))
            continue;
        auto complete = [&](Values&... v) { call.complete(ec, std::move(v)...); };
        std::apply(complete, values);
    }
}

/// Serves a call if the object can be used.
template <class Core, class... Values, class Attempt, class... Arguments>
void serve_at_path(const std::shared_ptr<Core>& core,
                   handler_of<Values...> handler,
                   time_limit limit,
                   Attempt attempt,
                   Arguments... arguments) {
    if (usable_at_path(core, handler))
        core->get_port().spawn(
            serve(core, std::move(handler), limit, attempt, std::move(arguments)...));
}

/// Removes a watch on a node that may exist for long, here and at the server, unless the arming
/// request is in flight: its completion handles that. A watch that was disarmed by a failed read
/// may still exist at the server, which has one list for those of data and of existence.
inline void forget_watch(port& p,
                         watch_node& watch,
                         const std::string& path,
                         watch_kind kind = watch_kind::data) {
    if (watch.arming())
        return;
    watch.disarm();
    p.watch_dropped(kind, path);
}

/// Waits until there is a session for requests, the client is closed, or the call is over.
template <class Call>
task<> session_alive(port& p, signal& wake, const Call& call) {
    while (call.waiting() && !p.alive(p.status().generation) &&
           p.status().state != session_state::closed) {
        co_await wake.wait();
    }
}

}  // namespace corozk::detail
