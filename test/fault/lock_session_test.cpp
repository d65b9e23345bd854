// SPDX-License-Identifier: Apache-2.0
// What becomes of a lock when its connection, its session, its client or the server goes.
#include "lock_scene.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/steady_timer.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace corozk::testing::lock_session_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::awaitable;

TEST_CASE("lock: a try is not refused because of an earlier one that is still leaving") {
    play([](scene& s) -> awaitable<void> {
        lock theirs(s.healthy, s.folder);
        ownership first = co_await theirs.acquire();
        lock mine(s.zk, s.folder);
        s.proxy.arm(at_op(op_code::erase), hold_reply());
        pending_result<ownership> refused;
        mine.try_acquire(refused.handler());
        error_code ec = co_await finished(refused);
        CHECK(ec == errc::would_block);
        co_await first.release();
        co_await eventually_async([&] { return s.observer.children(s.folder).empty(); });
        // So many requests are on their way that nothing more is sent: what the next one sends waits
        // here, and when the connection breaks the first one's end is made sure of behind it.
        constexpr int more_than_may_be_on_their_way = 3'000;
        int answered = 0;
        for (int i = 0; i < more_than_may_be_on_their_way; ++i)
            s.zk.exists("/", [&](error_code, std::optional<corozk::stat>) { ++answered; });
        pending_result<ownership> taken;
        mine.try_acquire(taken.handler());
        auto sent = [&] { return s.proxy.statistics().requests_of(op_code::exists); };
        co_await eventually_async([&] { return sent() > 1'000; });
        s.proxy.cut();
        ec = co_await finished(taken);
        CHECK_FALSE(ec);
        pending_result<> released;
        taken.value().release(released.handler());
        ec = co_await finished(released);
        CHECK_FALSE(ec);
        co_await eventually_async([&] { return answered == more_than_may_be_on_their_way; });
    });
}

TEST_CASE("lock: a commit that is cancelled before it was sent is not applied") {
    play([](scene& s) -> awaitable<void> {
        const std::string data = fresh_path();
        co_await s.zk.create(data, "before");
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        s.proxy.set_acceptance(acceptance::close_at_once);
        s.proxy.cut();
        co_await eventually_async([&] { return s.zk.state() == session_state::suspended; });
        transaction write;
        write.set(data, "after");
        pending_result<std::vector<transaction_result>> committing;
        held.commit(std::move(write), committing.handler());
        committing.cancel();
        CHECK(co_await finished(committing) == boost::asio::error::operation_aborted);
        s.proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return s.zk.state() == session_state::connected; });
        co_await settle(s.zk);
        CHECK(s.observer.data(data) == "before");
        co_await held.release();
    });
}

TEST_CASE("lock: all whose nodes were asked for give up before the connection is back") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        s.proxy.set_acceptance(acceptance::close_at_once);
        s.proxy.cut();
        co_await eventually_async([&] { return s.zk.state() == session_state::suspended; });
        constexpr std::size_t asked_for = 1024;
        std::vector<pending_result<ownership>> impatient(asked_for);
        for (auto& waiting : impatient)
            l.acquire(waiting.handler());
        pending_result<ownership> patient;
        l.acquire(patient.handler());
        for (auto& waiting : impatient)
            waiting.cancel();
        s.proxy.set_acceptance(acceptance::normal);
        error_code ec = co_await finished(patient);
        CHECK_FALSE(ec);
        co_await patient.value().release();
    });
}

TEST_CASE("lock: the session expires while the node is being created") {
    play([](scene& s) -> awaitable<void> {
        co_await s.zk.ensure_path(s.folder);
        lock l(s.zk, s.folder);
        s.proxy.arm(at_create(), hold_reply());
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
        s.expire();
        error_code ec = co_await finished(asked);
        CHECK(ec == zk_errc::session_expired);
        CHECK(asked.calls() == 1);
    });
}

TEST_CASE("lock: the session expires while waiting") {
    play([](scene& s) -> awaitable<void> {
        lock theirs(s.healthy, s.folder);
        ownership first = co_await theirs.acquire();
        lock l(s.zk, s.folder);
        pending_result<ownership> asked[3];
        for (auto& a : asked)
            l.acquire(a.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 4; });
        s.expire();
        for (auto& a : asked) {
            error_code ec = co_await finished(a);
            CHECK(ec == zk_errc::session_expired);
            CHECK(a.calls() == 1);
        }
        CHECK(first.valid());
        co_await first.release();
    });
}

TEST_CASE("lock: the session expires while holding") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        std::int64_t token = held.fencing_token();
        pending_result<ownership> behind;
        l.acquire(behind.handler());
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        CHECK(held.valid());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        s.expire();
        co_await finished(lost);
        CHECK_FALSE(held.valid());
        CHECK(lost.value() == zk_errc::session_expired);
        error_code ec = co_await finished(behind);
        CHECK(ec == zk_errc::session_expired);
        // What is left of it answers, whatever became of the line.
        co_await eventually_async([&] { return s.zk.state() == session_state::connected; });
        co_await settle(s.zk);
        auto [again, reason] = co_await held.wait_lost(as_tuple());
        CHECK_FALSE(again);
        CHECK(reason == zk_errc::session_expired);
        transaction steps;
        steps.create(s.folder + "/never");
        auto [refused, results] = co_await held.commit(std::move(steps), as_tuple());
        CHECK(refused == errc::ownership_lost);
        CHECK(held.fencing_token() == token);
        CHECK_FALSE(held.path().empty());
        auto [released] = co_await held.release(as_tuple());
        CHECK(released == zk_errc::session_expired);
        CHECK_FALSE(held);
        CHECK(lost.calls() == 1);
    });
}

/// What a release says whose request is held back while something happens.
awaitable<error_code> release_during(scene& s, void (*something)(scene&)) {
    lock l(s.zk, s.folder);
    ownership held = co_await l.acquire();
    s.proxy.arm(at_op(testing::op_code::erase), hold_request());
    pending_result<> released;
    held.release(released.handler());
    co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
    something(s);
    error_code ec = co_await finished(released);
    CHECK(released.calls() == 1);
    co_return ec;
}

TEST_CASE("lock: the session expires while releasing") {
    play([](scene& s) -> awaitable<void> {
        error_code ec = co_await release_during(s, [](scene& it) { it.expire(); });
        CHECK(ec == zk_errc::session_expired);
    });
}

// A process that got no processor time for a while hears of both in one turn, and of the connection
// first.
TEST_CASE("lock: the connection and the session end in the same turn") {
    auto body = [](scene& s) -> awaitable<void> {
        // The loop stands still: that is what is tested.
        auto stall = [](scene& it) {
            std::this_thread::sleep_for(it.zk.status().negotiated_timeout * 3 / 2);
        };
        error_code ec = co_await release_during(s, stall);
        CHECK(ec == zk_errc::session_expired);
    };
    play(body, shared_server(), 4'000ms);
}

TEST_CASE("lock: the session of the predecessor expires") {
    play([](scene& s) -> awaitable<void> {
        raw_session other(shared_server().port());
        co_await s.zk.ensure_path(s.folder);
        other.create(s.folder + "/" + some_guid + "-lock-", {}, node_kind::ephemeral_sequential);
        lock l(s.zk, s.folder);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.zk.counters().watches > 0; });
        CHECK(expire_session(shared_server().port(), other.session_id(), other.password()));
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: a release whose erasure is lost again and again") {
    bool carried_out = GENERATE(false, true);
    bool awaited = GENERATE(false, true);
    play([=](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        auto erase = at_op(testing::op_code::erase).times(3);
        s.proxy.arm(std::move(erase),
                    carried_out ? swallow_reply_and_cut() : drop_request_and_cut());
        if (awaited) {
            auto [ec] = co_await held.release(as_tuple());
            CHECK_FALSE(ec);
        } else {
            held = ownership();
        }
        // A new one is not confused by the old one's end.
        ownership again = co_await l.acquire();
        CHECK(again.valid());
        co_await again.release();
    });
}

TEST_CASE("lock: closed and destroyed while a release is on its way") {
    bool destroyed = GENERATE(false, true);
    play([=](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        s.proxy.arm(at_op(testing::op_code::erase), delay_request(50ms));
        pending_result<> released;
        held.release(released.handler());
        co_await eventually_async(
            [&] { return s.proxy.statistics().requests_of(testing::op_code::erase) == 1; });
        if (destroyed) {
            client gone = std::move(s.zk);
        } else {
            co_await s.zk.close(as_tuple());
        }
        co_await finished(released);
        CHECK(released.calls() == 1);
    });
}

TEST_CASE("lock: the server is killed and started again") {
    server own(recipe_server_options());
    enum class state { creating, waiting, holding, releasing };
    for (state at : {state::creating, state::waiting, state::holding, state::releasing}) {
        CAPTURE(static_cast<int>(at));
        play(
            [&](scene& s) -> awaitable<void> {
                co_await s.zk.ensure_path(s.folder);
                lock l(s.zk, s.folder);
                lock theirs(s.healthy, s.folder);
                ownership first;
                if (at == state::waiting)
                    first = co_await theirs.acquire();
                if (at == state::creating)
                    s.proxy.arm(at_create(), hold_request());
                pending_result<ownership> asked;
                l.acquire(asked.handler());
                pending_result<> released;
                switch (at) {
                    case state::creating:
                        co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
                        break;
                    case state::waiting:
                        co_await eventually_async([&] { return s.zk.counters().watches > 0; });
                        break;
                    case state::holding: co_await finished(asked); break;
                    case state::releasing:
                        co_await finished(asked);
                        s.proxy.arm(at_op(testing::op_code::erase), hold_request());
                        asked.value().release(released.handler());
                        co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
                        break;
                }
                own.kill();
                s.proxy.disarm_all();
                co_await eventually_async([&] { return s.zk.state() == session_state::suspended; });
                own.restart();
                // The sessions live on, and so does everything in them.
                if (at == state::waiting) {
                    auto [ec] = co_await first.release(as_tuple());
                    CHECK_FALSE(ec);
                }
                co_await finished(asked);
                CHECK(asked.good());
                if (at == state::releasing) {
                    co_await finished(released);
                    CHECK(released.good());
                } else {
                    CHECK(asked.value().valid());
                    auto [ec] = co_await asked.value().release(as_tuple());
                    CHECK_FALSE(ec);
                }
                co_await lock_probe(s.healthy, s.folder);
                co_await eventually_async([&] { return s.observer.children(s.folder).empty(); });
            },
            own,
            60'000ms);
    }
}

// The other process: holds the lock and says what it believes, line by line.
TEST_CASE("lock: a holder for another test", "[.holder]") {
    const char* hosts = std::getenv("COROZK_TEST_HOLDER_HOSTS");
    const char* folder = std::getenv("COROZK_TEST_HOLDER_FOLDER");
    REQUIRE(hosts);
    REQUIRE(folder);
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connect_to(hosts, 3s);
            lock l(zk, folder);
            ownership held = co_await l.acquire();
            pending_result<error_code> lost;
            held.wait_lost(lost.handler());
            boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
            while (!lost.done()) {
                // The process can be stopped between the question and what is said about it: then
                // it is known that it had been about to ask.
                std::string line = "asked\n";
                if (::write(STDOUT_FILENO, line.data(), line.size()) < 0)
                    break;
                line = held.valid() ? "valid\n" : "not valid\n";
                if (::write(STDOUT_FILENO, line.data(), line.size()) < 0)
                    break;
                timer.expires_after(5ms);
                co_await timer.async_wait(boost::asio::use_awaitable);
            }
            std::string line = "lost\n";
            if (::write(STDOUT_FILENO, line.data(), line.size()) < 0)
                co_return;
            co_await zk.close(as_tuple());
        },
        60s);
}

TEST_CASE("lock: a holder that was stopped for too long does not believe in its lock") {
    temporary_directory folder;
    std::filesystem::path output = folder.path() / "output";
    auto lines = [&](const std::string& which) {
        std::ifstream file(output);
        std::string line;
        std::size_t count = 0;
        while (std::getline(file, line))
            count += line == which ? 1 : 0;
        return count;
    };
    auto last_line = [&] {
        std::ifstream file(output);
        std::string last;
        for (std::string line; std::getline(file, line);)
            last = line;
        return last;
    };
    play([&](scene& s) -> awaitable<void> {
        process_options how;
        how.command = {"/proc/self/exe", "[.holder]"};
        how.command[0] = std::filesystem::read_symlink("/proc/self/exe").string();
        how.environment = {{"COROZK_TEST_HOLDER_HOSTS", shared_server().hosts()},
                           {"COROZK_TEST_HOLDER_FOLDER", s.folder}};
        how.output = output;
        process_guard holder(how);
        co_await eventually_async([&] { return lines("valid") > 3; }, 20s, "it holds the lock");
        lock l(s.zk, s.folder);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.zk.counters().watches > 0; });
        holder.stop();
        // What it had found out before it stood still, and says afterwards, does not count.
        const std::size_t late = last_line() == "asked" ? 1 : 0;
        const std::size_t before = lines("valid");
        co_await finished(asked);
        CHECK(asked.good());
        CHECK(asked.value().valid());
        holder.cont();
        co_await eventually_async([&] { return lines("lost") == 1; }, 20s, "it hears of the loss");
        CHECK(lines("valid") <= before + late);
        CHECK(asked.value().valid());
        CHECK(holder.wait(20s));
        co_await asked.value().release();
    });
}

}  // namespace corozk::testing::lock_session_test
