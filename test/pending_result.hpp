// SPDX-License-Identifier: Apache-2.0
// For tests with several participants: operations that are under way beside the test's coroutine.
#pragma once

#include "recipe_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <variant>

namespace corozk::testing {

/// The result of an operation that was started with `handler()` as its token.
template <class Value = std::monostate>
class pending_result {
public:
    pending_result() = default;
    pending_result(const pending_result&) = delete;
    pending_result& operator=(const pending_result&) = delete;

    /// A completion handler for `void(error_code)` or `void(error_code, Value)`, cancelled by the
    /// signal of this slot.
    auto handler(boost::asio::cancellation_slot slot) {
        auto f = [state = state_](error_code ec, Value v = Value()) {
            ++state->calls;
            state->ec = ec;
            state->value = std::move(v);
        };
        return boost::asio::bind_cancellation_slot(slot, std::move(f));
    }

    /// The same, cancelled by `cancel`.
    auto handler() { return handler(state_->cancel.slot()); }

    bool done() const { return state_->calls > 0; }
    /// Done, and without an error.
    bool good() const { return state_->calls == 1 && !state_->ec; }
    int calls() const { return state_->calls; }
    error_code error() const { return state_->ec; }
    Value& value() { return state_->value; }
    void cancel(boost::asio::cancellation_type type = boost::asio::cancellation_type::terminal) {
        state_->cancel.emit(type);
    }

private:
    struct shared {
        int calls = 0;
        error_code ec;
        Value value{};
        boost::asio::cancellation_signal cancel;
    };
    std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

/// Waits for the end of an operation and returns its error.
template <class Value>
boost::asio::awaitable<error_code> finished(
    pending_result<Value>& r, std::source_location where = std::source_location::current()) {
    co_await eventually_async(
        [&r] { return r.done(); }, std::chrono::seconds(20), "an operation's end", where);
    co_return r.error();
}

inline boost::asio::awaitable<client> connect_to(
    std::string hosts, std::chrono::milliseconds session_timeout = usual_session_timeout) {
    auto executor = co_await boost::asio::this_coro::executor;
    client_options options = options_for(std::move(hosts), session_timeout);
    co_return co_await client::connect(executor, options);
}

inline boost::asio::awaitable<client> one_more_client() {
    client c = co_await connect_to(shared_server().hosts());
    co_return c;
}

/// An outage begins: connections are cut, and new ones are closed at once.
inline boost::asio::awaitable<void> lose_servers(client& zk, fault_proxy& proxy) {
    proxy.set_acceptance(acceptance::close_at_once);
    proxy.cut();
    co_await eventually_async([&] { return zk.state() == session_state::suspended; });
}

/// Ends a refusal that a rule begins with its cut, not before it has begun: the client sees it later.
inline boost::asio::awaitable<void> accept_again(fault_proxy& proxy, client& cut_off) {
    co_await eventually_async([&] { return cut_off.state() != session_state::connected; });
    proxy.set_acceptance(acceptance::normal);
}

/// Lets what was started come to rest: several round trips on the client's session. Those that a
/// fault hits do not matter.
inline boost::asio::awaitable<void> settle(client& c) {
    for (int i = 0; i < 8; ++i)
        co_await c.sync("/", as_tuple());
}

/// How an operation ends that was asked for (`ask(object)`, with the token `deferred`) and begins only
/// when its object is gone.
template <class Value, class Object, class Ask>
boost::asio::awaitable<error_code> begun_too_late(client& c, Object& object, Ask ask) {
    auto operation = ask(object);
    { Object last(std::move(object)); }
    co_await settle(c);
    pending_result<Value> result;
    std::move(operation)(result.handler());
    error_code ec = co_await finished(result);
    co_return ec;
}

/// Ends a client's session at the server, as if it had expired.
inline void expire(const session_record& session) {
    raw_session_options victim;
    victim.session_id = session.session_id;
    victim.password = session.password;
    raw_session(shared_server().port(), victim).close();
}

/// Waits until there are so many watches at the shared server, whoever has set them.
inline boost::asio::awaitable<void> watches_at_server(
    std::int64_t count, std::source_location where = std::source_location::current()) {
    std::string what = std::to_string(count) + " watches at the server";
    co_await eventually_async([&] { return watch_count(shared_server().port()) == count; },
                              eventually_limit,
                              what,
                              where);
}

/// The paths below `path` (and itself) that anybody watches.
inline std::size_t watches_below(const std::string& path) {
    return watches_below(shared_server().port(), path);
}

inline admin observer() {
    return admin(shared_server().port());
}

/// Nothing of anybody's is left below a folder. The sessions are still there.
inline boost::asio::awaitable<void> nothing_left(std::string folder) {
    admin observer(shared_server().port());
    co_await eventually_async([&] { return observer.children(folder).empty(); },
                              std::chrono::seconds(15),
                              "no node is left");
    co_await eventually_async(
        [&] { return watches_below(folder) == 0; }, std::chrono::seconds(15), "no watch is left");
}

}  // namespace corozk::testing
