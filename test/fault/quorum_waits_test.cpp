// SPDX-License-Identifier: Apache-2.0
// What waits for a quorum, and what may happen to it meanwhile.
#include "pending_result.hpp"
#include "read_only_server.hpp"
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::quorum_waits_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

enum class event : std::uint8_t {
    none,
    cut,
    terminal,
    total,
    ended,    ///< the session, by the server
    expired,  ///< the session, by the client's clock
};

struct scene {
    client& zk;
    client& other;
    fault_proxy& proxy;
    const std::string path;
    const event what;
    lost_quorum quorum{proxy};

    bool total_is_ignored = false;

    bool cancelled() const { return what == event::terminal || what == event::total; }
    bool session_ends() const { return what == event::ended || what == event::expired; }

    error_code expected() const {
        if (session_ends())
            return zk_errc::session_expired;
        if (what == event::terminal || (what == event::total && !total_is_ignored))
            return boost::asio::error::operation_aborted;
        return {};
    }

    awaitable<void> lose_quorum() {
        quorum.begin();
        proxy.cut();
        co_await eventually_async([&] { return zk.state() == session_state::read_only; }, 30s);
    }
};

/// `body(scene)` with each event; with the last one, which takes seconds, only if it `expires`, too.
template <class Body>
void whatever_happens(bool expires, Body body) {
    for (const event what :
         {event::none, event::cut, event::terminal, event::total, event::ended, event::expired}) {
        CAPTURE(static_cast<int>(what));
        if (what == event::expired && !expires)
            continue;
        with_proxy(
            [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                client other = co_await connect_to(shared_server().hosts(), steady_session);
                scene s{.zk = zk, .other = other, .proxy = proxy, .path = path, .what = what};
                co_await body(s);
                co_await other.close();
            },
            60s,
            what == event::expired ? usual_session_timeout : steady_session,
            true);
    }
}

awaitable<void> rest(client& zk) {
    for (int i = 0; i < 8; ++i)
        co_await zk.exists("/", as_tuple());
}

/// Something is refused, after those before, and not asked for again and again.
awaitable<void> refused_again(scene& s, int before = 0) {
    co_await eventually_async([&] { return s.quorum.refused() > before; }, 30s, "a refusal");
    co_await rest(s.zk);
    const int refused = s.quorum.refused();
    co_await rest(s.zk);
    CHECK(s.quorum.refused() == refused);
    CHECK(s.zk.state() == session_state::read_only);
}

/// The event happens while the operation waits, which ends at once if it is cancelled.
template <class Value>
awaitable<void> meet(scene& s, pending_result<Value>& waits) {
    co_await refused_again(s);
    CHECK_FALSE(waits.done());
    if (s.what == event::cut) {
        for (int i = 0; i < 2; ++i) {
            const int before = s.quorum.refused();
            s.proxy.cut();
            co_await refused_again(s, before);
        }
    } else if (s.what == event::ended) {
        expire(s.proxy.session());
    } else if (s.what == event::expired) {
        co_await eventually_async([&] { return s.zk.generation() > 1; }, 30s);
    } else if (s.cancelled()) {
        waits.cancel(s.what == event::total ? boost::asio::cancellation_type::total
                                            : boost::asio::cancellation_type::terminal);
        if (s.expected())
            CHECK(co_await finished(waits) == s.expected());
    }
    if (!s.expected()) {
        co_await rest(s.zk);
        CHECK_FALSE(waits.done());
    }
}

auto lost(bool applied) {
    return applied ? swallow_reply_and_cut() : drop_request_and_cut();
}

/// Whoever was next gets the lock, and nothing stays behind.
awaitable<void> goes_to(pending_result<ownership>& next, scene& s) {
    CHECK(!co_await finished(next));
    CHECK(next.value().valid());
    co_await next.value().release();
    co_await nothing_left(s.path);
}

std::size_t nodes_in(const std::string& folder) {
    return observer().children(folder).size();
}

awaitable<void> nodes_become(std::string folder, std::size_t count) {
    co_await eventually_async([&] { return nodes_in(folder) == count; }, 30s, "so many nodes");
}

void ask(lock& l, pending_result<ownership>& result) {
    l.acquire(result.handler());
}

void ask(priority_lock& l, pending_result<ownership>& result) {
    l.acquire(0, result.handler());
}

}  // namespace

TEST_CASE("without a quorum: a release waits") {
    enum class behind : std::uint8_t { nobody, ours, others };
    for (const behind who : {behind::nobody, behind::ours, behind::others}) {
        CAPTURE(static_cast<int>(who));
        whatever_happens(who == behind::others, [who](scene& s) -> awaitable<void> {
            s.total_is_ignored = true;
            lock mine(s.zk, s.path);
            lock theirs(s.other, s.path);
            ownership held = co_await mine.acquire();
            pending_result<ownership> next;
            if (who != behind::nobody) {
                ask(who == behind::ours ? mine : theirs, next);
                co_await nodes_become(s.path, 2);
                co_await settle(s.zk);
                co_await settle(s.other);
            }
            co_await s.lose_quorum();
            pending_result<> released;
            held.release(released.handler());
            co_await meet(s, released);
            if (!s.session_ends())
                CHECK_FALSE(next.done());
            s.quorum.end();
            CHECK(co_await finished(released) == s.expected());
            CHECK(released.calls() == 1);
            if (who == behind::ours && s.session_ends())
                CHECK(co_await finished(next) == s.expected());
            pending_result<ownership> last;
            ask(theirs, last);
            if (who != behind::nobody && !next.error()) {
                CHECK(!co_await finished(next));
                CHECK_FALSE(last.done());
                co_await next.value().release();
            }
            co_await goes_to(last, s);
        });
    }
}

TEST_CASE("without a quorum: the node of a waiter that gave up is deleted later") {
    whatever_happens(true, [](scene& s) -> awaitable<void> {
        if (s.cancelled())
            co_return;
        lock mine(s.zk, s.path);
        lock theirs(s.other, s.path);
        ownership held = co_await theirs.acquire();
        pending_result<ownership> waits, next, nothing;
        ask(mine, waits);
        co_await nodes_become(s.path, 2);
        ask(theirs, next);
        co_await nodes_become(s.path, 3);
        co_await settle(s.zk);
        co_await s.lose_quorum();
        waits.cancel();
        CHECK(co_await finished(waits) == boost::asio::error::operation_aborted);
        co_await meet(s, nothing);
        if (!s.session_ends())
            CHECK(nodes_in(s.path) == 3);
        s.quorum.end();
        co_await nodes_become(s.path, 2);
        CHECK(held.valid());
        CHECK_FALSE(next.done());
        co_await held.release();
        co_await goes_to(next, s);
    });
}

TEST_CASE("without a quorum: a downgrade in doubt waits") {
    for (const bool applied : {false, true}) {
        CAPTURE(applied);
        whatever_happens(applied, [applied](scene& s) -> awaitable<void> {
            s.total_is_ignored = true;
            shared_lock mine(s.zk, s.path);
            shared_lock theirs(s.other, s.path);
            ownership held = co_await mine.acquire_write();
            pending_result<ownership> next;
            theirs.acquire_write(next.handler());
            co_await nodes_become(s.path, 2);
            s.quorum.begin();
            s.proxy.arm(at_op(op_code::multi), lost(applied));
            pending_result<> change;
            mine.downgrade(held, change.handler());
            co_await meet(s, change);
            if (!s.session_ends())
                CHECK_FALSE(next.done());
            s.quorum.end();
            CHECK(co_await finished(change) == s.expected());
            CHECK(change.calls() == 1);
            CHECK(held.valid() != s.session_ends());
            if (held.valid()) {
                std::vector<contender_info> line = co_await theirs.list_contenders();
                while (line.front().kind != "read" || line.front().path != held.path())
                    line = co_await theirs.list_contenders();
                CHECK(line.size() == 2);
                CHECK_FALSE(next.done());
                co_await held.release();
            }
            co_await goes_to(next, s);
        });
    }
}

namespace {

template <class Lock>
void acquires_in_doubt(std::size_t nodes_of_holder) {
    for (const bool applied : {false, true}) {
        CAPTURE(applied);
        whatever_happens(applied, [=](scene& s) -> awaitable<void> {
            co_await s.other.ensure_path(s.path);
            Lock mine(s.zk, s.path);
            Lock theirs(s.other, s.path);
            s.quorum.begin();
            s.proxy.arm(at_op(op_code::create2), lost(applied));
            pending_result<ownership> asked, next;
            ask(mine, asked);
            co_await meet(s, asked);
            s.quorum.end();
            CHECK(co_await finished(asked) == s.expected());
            CHECK(asked.calls() == 1);
            if (asked.good()) {
                CHECK(nodes_in(s.path) == nodes_of_holder);
                ask(theirs, next);
                co_await nodes_become(s.path, nodes_of_holder + 1);
                co_await settle(s.other);
                CHECK_FALSE(next.done());
                CHECK(asked.value().valid());
                co_await asked.value().release();
            } else {
                ask(theirs, next);
            }
            co_await goes_to(next, s);
        });
    }
}

}  // namespace

TEST_CASE("without a quorum: a lock's create in doubt waits") {
    acquires_in_doubt<lock>(1);
}

TEST_CASE("without a quorum: a priority_lock's create in doubt waits") {
    acquires_in_doubt<priority_lock>(2);
}

TEST_CASE("without a quorum: a publication in doubt waits") {
    auto parts_of = [](const std::string& value) {
        return configuration_parts{{"a", value}, {"b", value}};
    };
    for (const bool applied : {false, true}) {
        CAPTURE(applied);
        whatever_happens(applied, [=](scene& s) -> awaitable<void> {
            configuration_options options;
            options.keep = 0;
            versioned_configuration mine(s.zk, s.path, options);
            versioned_configuration theirs(s.other, s.path, options);
            co_await theirs.publish(parts_of("one"));
            s.quorum.begin();
            // Its folder, its parts, and that it is current.
            s.proxy.arm(at_op(op_code::multi, 3), lost(applied));
            pending_result<> asked;
            mine.publish(parts_of("two"), asked.handler());
            co_await meet(s, asked);
            s.quorum.end();
            const bool published = applied || !s.session_ends();
            // Without the session the last step cannot be repeated, but its outcome is found out.
            error_code expected = s.session_ends() ? error_code() : s.expected();
            if (!published)
                expected = zk_errc::connection_loss;
            CHECK(co_await finished(asked) == expected);
            CHECK(asked.calls() == 1);
            auto version = [&] { return observer().stat(s.path + "/current")->version; };
            if (published)
                co_await eventually_async([&] { return version() == 1; }, 30s);
            co_await settle(s.zk);
            CHECK(version() == (published ? 1 : 0));
            versioned_configuration reader(s.other, s.path);
            configuration_version v = co_await reader.next();
            REQUIRE(v.status == configuration_status::published);
            CHECK(*v.parts == parts_of(published ? "two" : "one"));
            // Nothing of what was given up is left by the next writer.
            co_await theirs.publish(parts_of("three"));
            CHECK(nodes_in(s.path + "/versions") == 1);
        });
    }
}

}  // namespace corozk::testing::quorum_waits_test
