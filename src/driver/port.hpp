// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/task.hpp"
#include "operation/operation.hpp"
#include <corozk/counters.hpp>
#include <corozk/logger.hpp>
#include <corozk/session_state.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>

namespace corozk::detail {

/// Something to run soon, once for each time it is scheduled. Unlinks itself when destroyed.
class deferred : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    deferred() = default;
    deferred(const deferred&) = delete;
    deferred& operator=(const deferred&) = delete;
    virtual void run() noexcept = 0;

protected:
    ~deferred() = default;
};

/// Something to run at a time. Unlinks itself when destroyed.
class timer_node : public boost::intrusive::set_base_hook<
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

/// Told of every change of the session's state, in order. Unlinks itself when destroyed.
class session_observer : public boost::intrusive::list_base_hook<
                             boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    session_observer() = default;
    session_observer(const session_observer&) = delete;
    session_observer& operator=(const session_observer&) = delete;
    virtual void session_changed(const session_status& status) noexcept = 0;

protected:
    ~session_observer() = default;
};

/// What belongs to a session and lives as long: the janitor, the lines of contenders, ...
class service {
public:
    service() = default;
    service(const service&) = delete;
    service& operator=(const service&) = delete;
    virtual ~service() = default;
};

/// The outermost frame of a driver that runs by itself; see `port::spawn`.
class driver_root : public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    virtual void destroy() noexcept = 0;

protected:
    ~driver_root() = default;
};

/// A user's call that waits. Where an io_context is destroyed handlers own the coroutines that own
/// the objects that own the calls: the port breaks these rings.
class unfinished_call : public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    /// Destroys the handler without calling it.
    virtual void drop() noexcept = 0;

protected:
    ~unfinished_call() = default;
};

/// What a client shows of the servers' state without asking: `local_copy`. Unlinks itself when
/// destroyed.
class copy_hook : public boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    copy_hook() = default;
    copy_hook(const copy_hook&) = delete;
    copy_hook& operator=(const copy_hook&) = delete;

    /// A change was answered, or its answer was lost.
    virtual void own_change(const operation& op) noexcept = 0;

    /// Whether it does not show a change yet that this client has made.
    virtual bool owes() const noexcept = 0;

    /// Keeps what completes a call when it is let go of, until that change is shown.
    virtual void hold(std::shared_ptr<void> held) = 0;

protected:
    ~copy_hook() = default;
};

/// A user's handler with its result, bound to where it is to run.
using completion = boost::asio::any_completion_handler<void()>;

/// All that a recipe may ask of a session. The session core implements it on the C client, and
/// `test/scripted_port.hpp` by a script of answers, so that a shipped driver is tested step by step.
///
/// Everything happens on one thread at a time. No function calls back into its caller: operations
/// finish, deferred things run, timers expire and observers are told later.
class port {
public:
    port() = default;
    port(const port&) = delete;
    port& operator=(const port&) = delete;

    /// Queues an operation; they are sent in this order, and answered in this order.
    virtual void start(operation& op) noexcept = 0;

    /// Takes an operation back that was not sent yet; it will not finish then.
    /// @return false if it was sent: it will finish.
    virtual bool withdraw(operation& op) noexcept = 0;

    /// Runs something in this turn of the loop or the next, after what was scheduled before.
    virtual void defer(deferred& d) noexcept = 0;

    /// Calls a user's handler, never inside the caller: in this turn of the loop, so that what it
    /// starts is sent together with what the turn sends, or soon.
    virtual void complete(completion handler) = 0;

    /// Runs something at a time (again, if it was armed).
    virtual void start_timer(timer_node& timer, time_point when) noexcept = 0;

    virtual time_point now() const noexcept = 0;

    virtual const session_status& status() const noexcept = 0;

    /// Keeps the port alive: for what a user holds, never for what the port itself owns.
    virtual std::shared_ptr<void> keep_alive() noexcept = 0;

    /// When the session must be taken for lost unless the server answers before.
    virtual time_point expiry_deadline() const noexcept = 0;

    virtual void subscribe(session_observer& observer) noexcept = 0;

    /// A watch was disarmed that may still be set at the server: takes it from there too, if nobody
    /// else waits for it. Only worth it where the watched node may stay for long.
    virtual void watch_dropped(watch_kind, const std::string&) noexcept {}

    /// 32 hexadecimal digits, new at each call.
    virtual std::string new_guid() = 0;

    virtual client_counters& counters() noexcept = 0;

    /// The largest request that the servers accept. Bytes.
    virtual std::size_t max_request_size() const noexcept = 0;

    /// Where completion handlers without an executor of their own run.
    virtual boost::asio::any_io_executor executor() const = 0;

    virtual bool logs(log_level level) const noexcept = 0;
    virtual void log(log_level level, std::string_view text) noexcept = 0;

    /// Drops the call with the port if it has not ended by then.
    void watch_over(unfinished_call& call) noexcept { calls_.push_back(call); }

    void add_copy(copy_hook& copy) noexcept { copies_.push_back(copy); }

    /// Whether a good result has to wait: somewhere a change of this client's is not shown yet.
    bool copies_owe() const noexcept;

    /// As `complete`, when all copies show what this client has changed; at the deadline, and when
    /// the user cancels, at once.
    void complete_after_copies(completion handler,
                               boost::asio::cancellation_slot slot,
                               time_point deadline);

    /// Runs a driver until it ends; it is destroyed with the port if it has not ended by then.
    void spawn(task<> driver);

    /// The one service of its kind of this session, made at first use with `Service(port&)`.
    template <class Service>
    Service& use_service() {
        auto& slot = services_[typeid(Service)];
        if (!slot)
            slot = std::make_unique<Service>(*this);
        return static_cast<Service&>(*slot);
    }

    /// Whether requests can be answered now.
    bool connected() const noexcept { return status().state == session_state::connected; }

    /// Whether this generation's ephemeral nodes may still exist at the server.
    bool alive(std::uint64_t generation) const noexcept {
        const session_status& s = status();
        return s.generation == generation &&
               (s.state == session_state::connected || s.state == session_state::suspended ||
                s.state == session_state::read_only);
    }

protected:
    ~port();

    /// Before an operation that changes something finishes.
    void note_change(const operation& op) noexcept {
        for (copy_hook& copy : copies_)
            copy.own_change(op);
    }

    /// Destroys what is left of drivers, services and users' calls; an implementation calls it first in its
    /// destructor, while the rest of it still works.
    void destroy_drivers() noexcept;

private:
    // What is left of the drivers must not outlive the services that they use.
    boost::intrusive::list<driver_root, boost::intrusive::constant_time_size<false>> drivers_;
    std::unordered_map<std::type_index, std::unique_ptr<service>> services_;
    boost::intrusive::list<unfinished_call, boost::intrusive::constant_time_size<false>> calls_;
    boost::intrusive::list<copy_hook, boost::intrusive::constant_time_size<false>> copies_;
};

class session;

/// What a recipe sees of the session that its client holds.
port& port_of(session& s) noexcept;

}  // namespace corozk::detail
