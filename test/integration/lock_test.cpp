// SPDX-License-Identifier: Apache-2.0
// ctest: CHROOT
#include "own_requests.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <stdexcept>

namespace corozk::testing::lock_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

namespace {

/// Where a path of the client is at the server.
std::string at_server(const std::string& path) {
    const char* chroot = std::getenv("COROZK_TEST_CHROOT");
    return (chroot ? chroot : "") + path;
}

std::string rooted(const std::string& hosts) {
    const char* chroot = std::getenv("COROZK_TEST_CHROOT");
    if (!chroot)
        return hosts;
    static bool made = false;
    if (!made)
        admin(shared_server().port()).plant(chroot);
    made = true;
    return hosts + chroot;
}

awaitable<client> make_client(std::string at = shared_server().hosts()) {
    client c = co_await connect_to(rooted(at));
    co_return c;
}

/// Runs a coroutine with two clients and a path; sees that nothing is left in the end.
/// @param first_at where the first one connects to
template <class Body>
void with_two(Body body, std::string first_at = shared_server().hosts()) {
    boost::asio::io_context context;
    std::string path = fresh_path() + "/deep/lock";
    run(context, [&]() -> awaitable<void> {
        client one = co_await make_client(first_at);
        client two = co_await make_client();
        co_await body(one, two, path);
        admin look(shared_server().port());
        co_await eventually_async(
            [&] { return look.children(at_server(path)).empty(); }, 10s, "no node is left");
        co_await eventually_async(
            [&] { return watches_below(at_server(path)) == 0; }, 10s, "no watch is left");
        co_await one.close(as_tuple());
        co_await two.close(as_tuple());
    });
    run_to_idle(context);
}

template <class Function>
awaitable<error_code> error_of(Function f) {
    error_code result;
    try {
        co_await f();
    } catch (const boost::system::system_error& e) {
        result = e.code();
    }
    co_return result;
}

}  // namespace

TEST_CASE("lock: acquire and release, and the folder is made") {
    with_two([](client& zk, client&, std::string path) -> awaitable<void> {
        lock_options options("it is me");
        lock l(zk, path, options);
        CHECK(l.path() == path);
        ownership o = co_await l.acquire();
        CHECK(o);
        CHECK(o.valid());
        CHECK(o.fencing_token() > 0);
        CHECK(o.path().starts_with(path + "/"));
        admin look(shared_server().port());
        auto record = look.stat(at_server(o.path()));
        REQUIRE(record);
        CHECK(record->ephemeral_owner == zk.status().session_id);
        CHECK(record->czxid == o.fencing_token());
        CHECK(look.data(at_server(o.path())) == "it is me");
        co_await o.release();
        CHECK_FALSE(o);
        CHECK_FALSE(o.valid());
        CHECK(o.path().empty());
        CHECK(o.fencing_token() == 0);
    });
}

TEST_CASE("lock: one at a time, in order, over sessions and objects") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        int inside = 0;
        int turns = 0;
        std::int64_t last = 0;
        auto worker = [&](client& c) -> awaitable<void> {
            lock l(c, path);
            for (int i = 0; i < 20; ++i) {
                ownership o = co_await l.acquire();
                CHECK(++inside == 1);
                CHECK(o.fencing_token() > last);
                last = o.fencing_token();
                co_await boost::asio::post(executor, boost::asio::use_awaitable);
                --inside;
                ++turns;
                co_await o.release();
            }
        };
        co_await (worker(one) && worker(two) && worker(one) && worker(two) && worker(one));
        CHECK(turns == 100);
    });
}

TEST_CASE("lock: try, deadline and budget") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock a(one, path);
        lock b(two, path);
        lock same_session(one, path);
        ownership held = co_await a.try_acquire();
        CHECK(held.valid());
        for (lock* l : {&a, &b, &same_session}) {
            auto [tried, none] = co_await l->try_acquire(as_tuple());
            CHECK(tried == errc::would_block);
            CHECK_FALSE(none);
            auto [timed, none_either] = co_await l->acquire_for(30ms, as_tuple());
            CHECK(timed == errc::deadline_exceeded);
            auto before = std::chrono::steady_clock::now() - 1s;
            auto [late, nothing] = co_await l->acquire_until(before, as_tuple());
            CHECK(late == errc::deadline_exceeded);
        }
        CHECK(held.valid());
        co_await held.release();
        ownership next = co_await b.acquire_for(10s);
        co_await next.release();
        next = co_await b.acquire_until(std::chrono::steady_clock::now() + 10s);
        co_await next.release();
    });
}

TEST_CASE("lock: the destructor gives back, and moving does not") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock a(one, path);
        lock b(two, path);
        {
            ownership o = co_await a.acquire();
            ownership moved = std::move(o);
            CHECK_FALSE(o);
            CHECK(moved.valid());
            o = std::move(moved);
            CHECK(o.valid());
            lock elsewhere = std::move(a);
            CHECK(a.path().empty());
            auto [ec, none] = co_await a.acquire(as_tuple());
            CHECK(ec == errc::closed);
            a = std::move(elsewhere);
        }
        ownership o = co_await b.acquire_for(10s);
        o = co_await lock(one, path + "/other").acquire();  // the first one is given back
        ownership again = co_await a.acquire_for(10s);
        {
            // Never awaited.
            [[maybe_unused]] auto forgotten = again.release(boost::asio::deferred);
            CHECK_FALSE(again);
        }
        again = co_await b.acquire_for(10s);
        auto [nothing] = co_await ownership().release(as_tuple());
        CHECK(nothing == errc::ownership_lost);
        co_await o.release();
        co_await again.release();
        co_await one.erase(path + "/other");
    });
}

TEST_CASE("lock: the loss is waited for twice, cancelled, released") {
    with_two([](client& zk, client&, std::string path) -> awaitable<void> {
        lock l(zk, path);
        ownership o = co_await l.acquire();
        pending_result<error_code> first;
        pending_result<error_code> second;
        o.wait_lost(first.handler());
        o.wait_lost(second.handler());
        first.cancel();
        co_await finished(first);
        CHECK(first.error() == boost::asio::error::operation_aborted);
        CHECK_FALSE(second.done());
        pending_result<error_code> third;
        o.wait_lost(third.handler());
        co_await o.release();
        for (auto* waiting : {&second, &third}) {
            co_await finished(*waiting);
            CHECK(waiting->error() == boost::asio::error::operation_aborted);
        }
    });
}

TEST_CASE("lock: run gives the body's result, and its exception") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock l(one, path);
        lock other(two, path);
        auto answer = [&](ownership& o) -> awaitable<int> {
            CHECK(o.valid());
            auto [ec, none] = co_await other.try_acquire(as_tuple());
            CHECK(ec == errc::would_block);
            co_return 42;
        };
        int value = co_await l.run(answer);
        CHECK(value == 42);
        ownership free = co_await other.try_acquire();  // awaited: it was given back before
        co_await free.release();
        bool ran = false;
        auto nothing = [&](ownership&) -> awaitable<void> {
            ran = true;
            co_return;
        };
        co_await l.run(nothing);
        CHECK(ran);
        auto failing = [](ownership&) -> awaitable<std::string> {
            throw std::runtime_error("the body's own");
            co_return std::string();
        };
        std::string text;
        try {
            co_await l.run(failing);
        } catch (const std::runtime_error& e) {
            text = e.what();
        }
        CHECK(text == "the body's own");
        free = co_await other.acquire_for(10s);
        co_await free.release();
    });
}

TEST_CASE("lock: the body of run may release the lock, or move it elsewhere, and goes on") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock l(one, path);
        lock other(two, path);
        auto release = [&](ownership& o) -> awaitable<int> {
            co_await o.release();
            ownership next = co_await other.acquire();
            co_await next.release();
            co_return 5;
        };
        int value = co_await l.run(release);
        CHECK(value == 5);
        auto drop = [&](ownership& o) -> awaitable<int> {
            o = ownership();
            ownership next = co_await other.acquire();
            co_await next.release();
            co_return 6;
        };
        value = co_await l.run(drop);
        CHECK(value == 6);
        ownership kept;
        auto keep = [&](ownership& o) -> awaitable<void> {
            kept = std::move(o);
            co_return;
        };
        co_await l.run(keep);
        CHECK(kept.valid());
        auto [ec, none] = co_await other.try_acquire(as_tuple());
        CHECK(ec == errc::would_block);
        co_await kept.release();
    });
}

TEST_CASE("lock: partial and total cancellation of run reach the body, and release the lock") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        using boost::asio::cancellation_type;
        const auto type = GENERATE(cancellation_type::partial, cancellation_type::total);
        auto executor = co_await boost::asio::this_coro::executor;
        lock l(one, path);
        bool inside = false;
        bool body_ended = false;
        auto body = [&](ownership&) -> awaitable<void> {
            boost::asio::steady_timer never(executor, boost::asio::steady_timer::time_point::max());
            inside = true;
            co_await never.async_wait(as_tuple());
            body_ended = true;
        };
        error_code how;
        auto run = [&]() -> awaitable<void> {
            co_await boost::asio::this_coro::reset_cancellation_state(
                boost::asio::enable_total_cancellation());
            how = co_await error_of([&] { return l.run(body); });
        };
        boost::asio::cancellation_signal stop;
        bool done = false;
        auto finish = [&](std::exception_ptr) { done = true; };
        boost::asio::co_spawn(
            executor, run, boost::asio::bind_cancellation_slot(stop.slot(), finish));
        co_await eventually_async([&] { return inside; });
        stop.emit(type);
        co_await eventually_async([&] { return done; });
        CHECK(body_ended);
        CHECK(how == boost::asio::error::operation_aborted);
        ownership free = co_await l.acquire_for(10s);
        co_await free.release();
    });
}

TEST_CASE("lock: run cancels the body when the lock is lost, or from outside") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        lock l(one, path);
        admin look(shared_server().port());
        bool inside = false;
        bool cancelled = false;
        pending_result<error_code> lost;
        auto sleeper = [&](ownership& held) -> awaitable<void> {
            inside = true;
            held.wait_lost(lost.handler());  // as `run` itself does
            boost::asio::steady_timer timer(executor, std::chrono::hours(1));
            auto [ec] = co_await timer.async_wait(as_tuple());
            cancelled = ec == boost::asio::error::operation_aborted;
        };
        auto breaker = [&]() -> awaitable<void> {
            co_await eventually_async([&] { return inside; });
            std::vector<contender_info> line = co_await l.list_contenders();
            REQUIRE(line.size() == 1);
            co_await l.break_contender(line[0].path);
        };
        auto running = [&]() -> awaitable<void> {
            error_code ec = co_await error_of([&] { return l.run(sleeper); });
            CHECK(ec == errc::ownership_lost);
        };
        co_await (running() && breaker());
        CHECK(cancelled);
        CHECK(lost.good());
        CHECK(lost.value() == errc::ownership_lost);

        inside = cancelled = false;
        boost::asio::cancellation_signal stop;
        bool ended = false;
        auto outer = [&]() -> awaitable<void> {
            error_code ec = co_await error_of([&] { return l.run(sleeper); });
            CHECK(ec == boost::asio::error::operation_aborted);
        };
        boost::asio::co_spawn(executor,
                              outer(),
                              boost::asio::bind_cancellation_slot(
                                  stop.slot(), [&](std::exception_ptr) { ended = true; }));
        co_await eventually_async([&] { return inside; });
        stop.emit(boost::asio::cancellation_type::terminal);
        co_await eventually_async([&] { return ended; });
        CHECK(cancelled);
        ownership next = co_await l.acquire_for(10s);
        co_await next.release();
    });
}

TEST_CASE("lock: who holds and who waits") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock a(one, path, lock_options("first"));
        lock b(two, path, lock_options("second"));
        std::vector<contender_info> line = co_await a.list_contenders();
        CHECK(line.empty());
        ownership held = co_await a.acquire();
        pending_result<ownership> waiting;
        b.acquire(waiting.handler());
        co_await eventually_async([&] { return two.counters().watches > 0; });
        line = co_await b.list_contenders();
        REQUIRE(line.size() == 2);
        CHECK(line[0].path == held.path());
        CHECK(line[0].kind == "lock");
        CHECK(line[0].holds);
        CHECK(line[0].data == "first");
        CHECK(line[0].session_id == one.status().session_id);
        CHECK(line[0].fencing_token == held.fencing_token());
        CHECK(line[0].waits_for.empty());
        CHECK_FALSE(line[1].holds);
        CHECK(line[1].data == "second");
        CHECK(line[1].waits_for == std::vector<std::string>{line[0].path});
        CHECK(line[1].sequence == line[0].sequence + 1);

        auto [not_ours] = co_await a.break_contender(path, as_tuple());
        CHECK(not_ours == errc::bad_path);
        auto [elsewhere] = co_await a.break_contender("/somewhere" + line[0].path, as_tuple());
        CHECK(elsewhere == errc::bad_path);
        co_await a.break_contender(line[1].path);
        co_await finished(waiting);
        auto [gone] = co_await a.break_contender(line[1].path, as_tuple());
        CHECK(gone == zk_errc::no_node);
        CHECK(held.valid());
        co_await held.release();
    });
}

TEST_CASE("lock: the fencing token grows over the folder's end") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        lock l(one, path);
        std::int64_t last = 0;
        for (int i = 0; i < 3; ++i) {
            ownership o = co_await l.acquire();
            CHECK(o.fencing_token() > last);
            last = o.fencing_token();
            co_await o.release();
            co_await one.erase(path);
        }
    });
}

TEST_CASE("lock: writes that only an owner may do, and reads that see them") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock a(one, path);
        lock b(two, path);
        std::string resource = path.substr(0, path.find('/', 1)) + "/resource";
        ownership held = co_await a.acquire();
        transaction create;
        create.create(resource, "by the first");
        co_await held.commit(std::move(create));
        pending_result<ownership> waiting;
        b.acquire(waiting.handler());
        co_await a.break_contender(held.path());
        transaction late;
        late.set(resource, "too late");
        auto [ec, results] = co_await held.commit(std::move(late), as_tuple());
        CHECK(ec == errc::ownership_lost);
        co_await finished(waiting);
        REQUIRE(waiting.good());
        node_data seen = co_await waiting.value().read(resource);
        CHECK(seen.data == "by the first");
        auto [bad, none] = co_await waiting.value().read("relative", as_tuple());
        CHECK(bad == errc::bad_path);
        co_await waiting.value().release();
        co_await one.erase(resource);
    });
}

TEST_CASE("lock: other libraries' names") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        for (compatibility style :
             {compatibility::native, compatibility::curator, compatibility::kazoo}) {
            lock_options options;
            options.compatibility = style;
            lock a(one, path, options);
            lock b(two, path, options);
            ownership held = co_await a.acquire();
            auto [ec, none] = co_await b.try_acquire(as_tuple());
            CHECK(ec == errc::would_block);
            std::string name = held.path().substr(path.size() + 1);
            switch (style) {
                case compatibility::native: CHECK(name.substr(32, 6) == "-lock-"); break;
                case compatibility::curator:
                    CHECK(name.substr(0, 3) == "_c_");
                    CHECK(name.substr(3 + 36, 6) == "-lock-");
                    break;
                case compatibility::kazoo: CHECK(name.substr(32, 8) == "__lock__"); break;
            }
            co_await held.release();
        }
    });
}

TEST_CASE("lock: a format that does not exist") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        lock_options options;
        options.compatibility = compatibility(9);
        lock l(one, path, options);
        auto [ec, none] = co_await l.acquire(as_tuple());
        CHECK(ec == errc::bad_option);
        auto [unlisted, nobody] = co_await l.list_contenders(as_tuple());
        CHECK(unlisted == errc::bad_option);
    });
}

TEST_CASE("lock: access control") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        std::string top = path.substr(0, path.find('/', 1));
        co_await one.ensure_path(top);
        // No create below: said at once, and nothing is left.
        acl no_create = {corozk::acl_entry(
            permission::read | permission::erase | permission::admin, "world", "anyone")};
        create_options how;
        how.acl = &no_create;
        co_await one.create(top + "/closed", std::string(), how);
        lock refused(one, top + "/closed");
        auto [ec, none] = co_await refused.acquire(as_tuple());
        CHECK(ec == zk_errc::no_auth);
        lock refused_below(one, top + "/closed/below");
        auto [below, nothing] = co_await refused_below.acquire(as_tuple());
        CHECK(below == zk_errc::no_auth);
        co_await one.erase(top + "/closed");
        // The nodes and the folders get what was asked for.
        co_await one.add_auth("digest", "user:secret");
        lock_options options;
        options.acl = creator_acl();
        lock l(one, path, options);
        ownership held = co_await l.acquire();
        auto [unreadable, content] = co_await two.get(held.path(), as_tuple());
        CHECK(unreadable == zk_errc::no_auth);
        lock stranger(two, path);
        auto [kept_out, no_lock] = co_await stranger.acquire(as_tuple());
        CHECK(kept_out == zk_errc::no_auth);
        co_await held.release();
        co_await one.erase(path);  // only its creator can look whether anything is left
    });
}

TEST_CASE("lock: bad paths, and clients that are closed") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        for (const char* bad : {"", "/", "relative", "/trailing/", "/a//b", "/a/../b", "/a/."}) {
            CAPTURE(bad);
            lock l(one, bad);
            auto [ec, none] = co_await l.acquire(as_tuple());
            CHECK(ec == errc::bad_path);
            auto [listed, nobody] = co_await l.list_contenders(as_tuple());
            CHECK(listed == errc::bad_path);
        }
        client third = co_await make_client();
        lock l(third, path);
        ownership held = co_await l.acquire();
        pending_result<ownership> waiting;
        l.acquire(waiting.handler());
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        co_await third.close(as_tuple());
        co_await finished(waiting);
        CHECK(waiting.error() == errc::closed);
        co_await finished(lost);
        CHECK(lost.value() == errc::closed);
        auto [ec, none] = co_await l.acquire(as_tuple());
        CHECK(ec == errc::closed);
        client empty;
        lock of_nobody(empty, path);
        auto [closed, nothing] = co_await of_nobody.acquire(as_tuple());
        CHECK(closed == errc::closed);
    });
}

TEST_CASE("lock: each is asked for its release in its own words") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        lock usual(one, path);
        ownership other = co_await usual.acquire();
        co_await other.release();
        lock_options options;
        options.release_request = "please";
        lock polite(one, path, options);
        ownership held = co_await polite.acquire();
        co_await polite.request_release(held.path());
        co_await held.wait_release_requested();
        co_await held.release();
    });
}

TEST_CASE("lock: an identity that looks like a request for release is shown as it is") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock mine(one, path, lock_options("host\nunlock"));
        lock theirs(two, path);
        ownership held = co_await mine.acquire();
        for (bool asked : {false, true}) {
            if (asked)
                co_await theirs.request_release(held.path());
            auto line = co_await theirs.list_contenders();
            REQUIRE(line.size() == 1);
            CHECK(line[0].data == "host\nunlock");
        }
        co_await held.wait_release_requested();
        co_await held.release();
    });
}

TEST_CASE("lock: cancelled while waiting, and at once") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        lock a(one, path);
        lock b(two, path);
        ownership held = co_await a.acquire();
        pending_result<ownership> waiting;
        b.acquire(waiting.handler());
        pending_result<ownership> at_once;
        b.acquire(at_once.handler());
        at_once.cancel();
        co_await finished(at_once);
        CHECK(at_once.error() == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return two.counters().watches > 0; });
        waiting.cancel();
        co_await finished(waiting);
        CHECK(waiting.error() == boost::asio::error::operation_aborted);
        // Nothing sticks: the next one waits as if nothing had been.
        pending_result<ownership> next;
        b.acquire(next.handler());
        co_await held.release();
        co_await finished(next);
        CHECK(next.good());
        co_await next.value().release();
    });
}

TEST_CASE("lock: more come at once than are asked for at a time, and some of those give up") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        constexpr std::size_t asked_for = 1024;
        constexpr std::size_t count = asked_for + 8;
        lock mine(one, path);
        std::size_t granted = 0;
        std::map<std::size_t, pending_result<ownership>> impatient;
        // The first whose node nobody has asked for yet, one behind it, and the last one.
        for (std::size_t i : {asked_for, asked_for + 3, count - 1})
            impatient[i];
        for (std::size_t i = 0; i < count; ++i) {
            if (impatient.contains(i)) {
                mine.acquire(impatient[i].handler());
            } else {
                // What it is given it gives back at once.
                mine.acquire([&granted](error_code ec, ownership) { granted += ec ? 0 : 1; });
            }
        }
        for (auto& [i, waiting] : impatient)
            waiting.cancel();
        for (auto& [i, waiting] : impatient) {
            error_code ec = co_await finished(waiting);
            CHECK(ec == boost::asio::error::operation_aborted);
        }
        co_await eventually_async(
            [&] { return granted == count - impatient.size(); }, 20s, "all others were given it");
    });
}

TEST_CASE("lock: alone, two requests are enough; others are noticed") {
    fault_proxy proxy(shared_server().port());
    auto body = [&proxy](client& one, client& two, std::string path) -> awaitable<void> {
        lock mine(one, path);
        lock theirs(two, path);
        const rule_id requests = count(proxy, at_own_request(at_server(path)));
        auto cycle = [&]() -> awaitable<std::uint64_t> {
            std::uint64_t before = proxy.fired(requests);
            {
                ownership held = co_await mine.acquire();
                co_await held.release();
            }
            co_return proxy.fired(requests) - before;
        };
        for (int i = 0; i < 3; ++i)
            co_await cycle();
        std::uint64_t alone = co_await cycle();
        CHECK(alone == 2);

        // Somebody came and went between two of ours, and somebody came and stayed.
        {
            ownership held = co_await theirs.acquire();
            co_await held.release();
        }
        std::uint64_t after_another = co_await cycle();
        CHECK(after_another == 3);
        for (int i = 0; i < 3; ++i)
            co_await cycle();
        ownership held = co_await theirs.acquire();
        error_code busy =
            co_await error_of([&]() -> awaitable<void> { co_await mine.try_acquire(); });
        CHECK(busy == errc::would_block);
        co_await held.release();

        // The folder is made anew, and in it somebody waits at the place right before our next one.
        for (int i = 0; i < 3; ++i)
            co_await cycle();
        ownership last = co_await mine.acquire();
        std::string name = last.path();
        co_await last.release();
        std::int32_t next = std::stoi(name.substr(name.size() - 10)) + 1;
        co_await one.erase(path);
        co_await one.create(path);
        create_options sequential;
        sequential.mode = create_mode::ephemeral_sequential;
        for (int i = 0; i + 1 < next; ++i) {
            created_node made = co_await two.create(path + "/filler-", "", sequential);
            co_await two.erase(made.path);
        }
        held = co_await theirs.acquire();
        CHECK(std::stoi(held.path().substr(held.path().size() - 10)) == next - 1);
        busy = co_await error_of([&]() -> awaitable<void> { co_await mine.try_acquire(); });
        CHECK(busy == errc::would_block);
        co_await held.release();
    };
    with_two(body, proxy.hosts());
}

TEST_CASE("lock: between two sessions, the one ahead says whose turn it is, and nobody lists") {
    with_two([](client& one, client& two, std::string path) -> awaitable<void> {
        client third = co_await make_client();
        lock first(third, path), ahead(one, path), behind(two, path);
        auto settled = [](const client& c, std::uint64_t requests) {
            client_counters now = c.counters();
            return now.requests >= requests && now.in_flight == 0;
        };
        ownership held = co_await first.acquire();
        // Each creates, lists, and leaves two watches: on the one ahead, and for its turn.
        std::uint64_t before = one.counters().requests;
        pending_result<ownership> next;
        ahead.acquire(next.handler());
        co_await eventually_async([&] { return settled(one, before + 4); });
        before = two.counters().requests;
        pending_result<ownership> last;
        // Counted when it is told: a holder that has waited looks behind itself a moment later.
        std::uint64_t listed = 0;
        behind.acquire([&, tell = last.handler()](error_code e, ownership o) mutable {
            listed = two.counters().listings;
            tell(e, std::move(o));
        });
        co_await eventually_async([&] { return settled(two, before + 4); });

        // Who was here before the others came does not know them, and goes without a word. The next
        // one has waited, so that somebody may wait for it: after a moment it looks who.
        std::uint64_t looks = one.counters().listings;
        co_await held.release();
        error_code ec = co_await finished(next);
        REQUIRE_FALSE(ec);
        held = std::move(next.value());
        co_await eventually_async([&] {
            client_counters now = one.counters();
            return now.listings > looks && now.in_flight == 0;
        });
        std::uint64_t listings = two.counters().listings;
        co_await held.release();
        ec = co_await finished(last);
        REQUIRE_FALSE(ec);
        held = std::move(last.value());
        CHECK(listed == listings);
        CHECK(held.valid());
        co_await held.release();
        co_await third.close();
    });
}

TEST_CASE("lock: completion tokens") {
    with_two([](client& one, client&, std::string path) -> awaitable<void> {
        lock l(one, path);
        error_code ec;
        ownership o =
            co_await l.acquire(boost::asio::redirect_error(boost::asio::use_awaitable, ec));
        CHECK_FALSE(ec);
        co_await o.release(boost::asio::redirect_error(boost::asio::use_awaitable, ec));
        CHECK_FALSE(ec);
        auto operation = l.acquire(boost::asio::deferred);
        o = co_await std::move(operation)(boost::asio::use_awaitable);
        co_await o.release();
        std::future<ownership> future = l.acquire(boost::asio::use_future);
        co_await eventually_async([&] { return future.wait_for(0s) == std::future_status::ready; });
        o = future.get();
        CHECK(o.valid());
        // A deadline by hand.
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 20ms);
        auto race = co_await (l.acquire() || timer.async_wait(boost::asio::use_awaitable));
        CHECK(race.index() == 1);
        co_await o.release();
        auto strand = boost::asio::make_strand(co_await boost::asio::this_coro::executor);
        bool there = false;
        bool done = false;
        l.acquire(boost::asio::bind_executor(strand, [&](error_code, ownership) {
            there = strand.running_in_this_thread();
            done = true;
        }));
        co_await eventually_async([&] { return done; });
        CHECK(there);
    });
}

TEST_CASE("lock: what is known to be lost is not committed, whatever has its name now") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock exclusive(zk, path + "/lock");
        ownership held = co_await exclusive.acquire();
        std::string node = held.path();
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        admin hand(shared_server().port());
        // The watch on the own node comes a little later than the grant.
        co_await eventually_async([&] { return watch_count(shared_server().port()) > 0; });
        hand.erase(node);
        hand.plant(node, "");
        co_await finished(lost);
        CHECK(lost.value() == errc::ownership_lost);
        CHECK_FALSE(held.valid());
        auto before = zk.counters().requests;
        transaction late;
        late.create(path + "/resource", "late");
        auto [ec, results] = co_await held.commit(late, as_tuple());
        CHECK(ec == errc::ownership_lost);
        CHECK(zk.counters().requests == before);
        CHECK_FALSE(hand.exists(path + "/resource"));
        hand.erase(node);
    });
}

TEST_CASE("lock: what an earlier session owned is not committed by the next one") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        lock exclusive(zk, path + "/lock");
        ownership held = co_await exclusive.acquire();
        std::string node = held.path();
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        session_record session = proxy.session();
        raw_session_options victim;
        victim.session_id = session.session_id;
        victim.password = session.password;
        raw_session(shared_server().port(), victim).close();
        co_await finished(lost);
        admin hand(shared_server().port());
        hand.plant(node, "");
        co_await zk.sync("/");
        transaction late;
        late.create(path + "/resource", "late");
        auto [ec, results] = co_await held.commit(late, as_tuple());
        CHECK(ec == errc::ownership_lost);
        CHECK_FALSE(hand.exists(path + "/resource"));
        hand.erase(node);
    });
}

}  // namespace corozk::testing::lock_test
