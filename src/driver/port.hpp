// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/task.hpp"
#include "operation/linked.hpp"
#include "operation/operation.hpp"
#include <corozk/counters.hpp>
#include <corozk/logger.hpp>
#include <corozk/session_state.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>

namespace corozk::detail {

/// Runs once, soon, each time it is scheduled. Unlinks itself when destroyed.
class deferred : public linked {
public:
    virtual void run() noexcept = 0;

protected:
    ~deferred() = default;
};

/// Runs at a given time. Unlinks itself when destroyed.
class timer_node : public boost::intrusive::set_base_hook<
                       boost::intrusive::optimize_size<true>,
                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    timer_node() = default;
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;
    virtual void expired() noexcept = 0;

    bool armed() const noexcept { return is_linked(); }
    void cancel() noexcept { unlink(); }

    time_point when{};
    friend bool operator<(const timer_node& a, const timer_node& b) noexcept {
        return a.when < b.when;
    }

protected:
    ~timer_node() = default;
};

/// Receives every change of the session's state, in order. Unlinks itself when destroyed.
class session_observer : public linked {
public:
    virtual void session_changed(const session_status& status) noexcept = 0;

protected:
    ~session_observer() = default;
};

/// A singleton owned by a session: the background deleter, the contention queues, ...
class service {
public:
    service() = default;
    service(const service&) = delete;
    service& operator=(const service&) = delete;
    virtual ~service() = default;
};

/// The outermost coroutine frame of a spawned driver; see `port::spawn`.
class driver_root : public linked {
public:
    virtual void destroy() noexcept = 0;

protected:
    ~driver_root() = default;
};

/// Who wants a request to be sent: see `request::only_for`.
class interest {
public:
    interest() = default;
    interest(const interest&) = delete;
    interest& operator=(const interest&) = delete;

    /// Whether all that it is sent for still wait for it. Asked just before it is sent.
    virtual bool waiting() const noexcept = 0;

    /// It is sent now.
    virtual void sent() const noexcept {}

protected:
    ~interest() = default;
};

/// A pending user call, see `user_call`. When an io_context is destroyed, handlers own coroutines
/// that own objects that own calls; the port breaks these cycles.
class unfinished_call : public interest, public linked {
public:
    /// Destroys the handler without calling it.
    virtual void drop() noexcept = 0;

protected:
    ~unfinished_call() = default;
};

/// The port's view of a `local_copy`. Unlinks itself when destroyed.
class copy_hook : public linked {
public:
    /// A change by this client got its response, or lost it.
    virtual void own_change(const operation& op) noexcept = 0;

    /// Whether the copy does not show all changes by this client yet.
    virtual bool owes() const noexcept = 0;

    /// Keeps a completion alive, which delays it, until the copy shows them.
    virtual void hold(std::shared_ptr<void> held) = 0;

protected:
    ~copy_hook() = default;
};

/// A user's handler with its result, in memory of the handler's allocator; see `bound_result`. Frees
/// itself in both functions.
class bound_handler : public boost::intrusive::list_base_hook<> {
public:
    /// Calls the handler on its associated executor, by default on this one.
    virtual void call(const boost::asio::any_completion_executor& executor) = 0;

    /// Destroys the handler without calling it.
    virtual void drop() noexcept = 0;

protected:
    ~bound_handler() = default;
};

struct drop_handler {
    void operator()(bound_handler* h) const noexcept { h->drop(); }
};
using completion = std::unique_ptr<bound_handler, drop_handler>;

/// The interface between recipes and a session. `session` implements it on one connection at a time,
/// and `test/scripted_port.hpp` with a script of responses, to test a shipped driver step by step.
///
/// Used by one thread at a time. No function calls back into its caller: operations finish,
/// deferred functions run, timers expire and observers are notified later.
class port {
public:
    port() = default;
    port(const port&) = delete;
    port& operator=(const port&) = delete;

    /// Queues an operation. Operations are sent, and finish, in this order (`add_auth` may
    /// finish earlier).
    virtual void start(operation& op) noexcept = 0;

    /// Removes an operation that has not been sent from the queue, so that it never finishes.
    /// @return false if it was sent: it will finish.
    virtual bool withdraw(operation& op) noexcept = 0;

    /// Runs `d` in this iteration of the loop or the next, in the order of calls.
    virtual void defer(deferred& d) noexcept = 0;

    /// Calls a user's handler, never from within the caller: in this iteration of the loop, so that
    /// the requests it starts are sent together with others, or soon.
    virtual void complete(completion handler) = 0;

    /// Starts or restarts a timer.
    virtual void start_timer(timer_node& timer, time_point when) noexcept = 0;

    virtual time_point now() const noexcept = 0;

    virtual const session_status& status() const noexcept = 0;

    /// Shares ownership of the port: for objects held by users, never for those the port owns.
    virtual std::shared_ptr<void> keep_alive() noexcept = 0;

    /// When the session must be considered lost unless the server responds before.
    virtual time_point expiry_deadline() const noexcept = 0;

    virtual void subscribe(session_observer& observer) noexcept = 0;

    /// A watch was disarmed that may still exist at the server: removes it there, unless others use
    /// it. Only useful if the watched node may exist for long.
    virtual void watch_dropped(watch_kind, const std::string&) noexcept {}

    /// 32 random hexadecimal digits.
    virtual std::string new_guid() = 0;

    /// A random number from 0 to `end` - 1.
    std::uint32_t random_below(std::uint32_t end) {
        return static_cast<std::uint32_t>(std::stoul(new_guid().substr(0, 8), nullptr, 16)) % end;
    }

    virtual client_counters& counters() noexcept = 0;

    /// The largest request that the servers accept, in bytes.
    virtual std::size_t max_request_size() const noexcept = 0;

    /// Runs completion handlers that have no associated executor.
    virtual boost::asio::any_io_executor executor() const = 0;

    virtual bool logs(log_level level) const noexcept = 0;
    virtual void log(log_level level, std::string_view text) noexcept = 0;

    /// Logs the parts of a text, which are joined only if the level is enabled.
    template <class... Parts>
    void report(log_level level, const Parts&... parts) {
        if (!logs(level))
            return;
        std::string text;
        ((text += parts), ...);
        log(level, text);
    }

    /// Logs why a user's call is refused, in more words than its error code has. @return that code
    template <class... Parts>
    error_code reject(errc reason, const Parts&... parts) {
        report(log_level::warning, parts...);
        return reason;
    }

    /// The port of all paths, if those of this one are relative to a node; otherwise this one.
    virtual port& whole() noexcept { return *this; }

    /// A path as `whole` has it.
    virtual std::string absolute(std::string path) const { return path; }

    /// Drops the call if it is still pending when the port is destroyed.
    void watch_over(unfinished_call& call) noexcept { calls_.push_back(call); }

    /// Copies are notified with absolute paths (see `absolute`).
    void add_copy(copy_hook& copy) noexcept { whole().copies_.push_back(copy); }

    /// Whether a local copy does not show all changes by this client yet.
    bool copies_owe() noexcept;

    /// Like `complete`, but delayed until all copies show the changes by this client, the deadline
    /// passes, or the user cancels.
    void complete_after_copies(completion handler,
                               boost::asio::cancellation_slot slot,
                               time_point deadline);

    /// Runs a driver, which is destroyed with the port unless it has ended.
    void spawn(task<> driver);

    /// The session's instance of `Service`, created by the first call with `Service(port&)`.
    template <class Service>
    Service& use_service() {
        auto& slot = services_[typeid(Service)];
        if (!slot)
            slot = std::make_unique<Service>(*this);
        return static_cast<Service&>(*slot);
    }

    bool connected() const noexcept { return status().state == session_state::connected; }

    /// Whether the ephemeral nodes of this generation may still exist at the server.
    bool alive(std::uint64_t generation) const noexcept {
        const session_status& s = status();
        return s.generation == generation &&
               (s.state == session_state::connected || s.state == session_state::suspended ||
                s.state == session_state::read_only);
    }

protected:
    ~port();

    /// Called before an operation that changes something finishes.
    void note_change(const operation& op) noexcept {
        for (copy_hook& copy : copies_)
            copy.own_change(op);
    }

    /// Destroys all drivers, services and pending calls. Derived classes call it first in their
    /// destructor, while they are still usable.
    void destroy_drivers() noexcept;

private:
    boost::intrusive::list<driver_root, boost::intrusive::constant_time_size<false>> drivers_;
    std::unordered_map<std::type_index, std::unique_ptr<service>> services_;
    boost::intrusive::list<unfinished_call, boost::intrusive::constant_time_size<false>> calls_;
    boost::intrusive::list<copy_hook, boost::intrusive::constant_time_size<false>> copies_;
};

class session_view;

port& port_of(session_view& s) noexcept;

}  // namespace corozk::detail
