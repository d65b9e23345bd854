// SPDX-License-Identifier: Apache-2.0
// ctest: TIMEOUT 900 PROCESSORS 2
#include "fault_engine.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::awaitable;

namespace {

constexpr auto every_fault = {frame_fault::request_dropped,
                              frame_fault::answer_swallowed,
                              frame_fault::cut_after_answer,
                              frame_fault::answer_delayed,
                              frame_fault::short_hole,
                              frame_fault::expired};

/// Another session gets the lock.
awaitable<void> lock_probe(client& c, std::string folder) {
    lock l(c, folder);
    ownership o = co_await l.acquire_for(15s);
    CHECK(o.valid());
    co_await o.release();
}

/// What may come instead of a grant when the session does not live.
bool is_end_of_session(const error_code& ec) {
    return is_session_lost(ec) || ec == errc::ownership_lost || ec == errc::not_connected;
}

/// Waits for a grant, holds it until the own node is watched, and gives it back.
awaitable<void> take_turn(fault_stage& s, pending_result<ownership>& asked) {
    error_code ec = co_await finished(asked);
    CHECK(asked.calls() == 1);
    if (ec) {
        CAPTURE(ec.message());
        CHECK_FALSE(s.survives);
        CHECK(is_end_of_session(ec));
        co_return;
    }
    ownership held = std::move(asked.value());
    s.owners.enter(held, s.zk.status().session_id);
    pending_result<error_code> lost;
    held.lost(lost.handler());
    co_await eventually_async(
        [&] { return lost.done() || s.zk.counters().watches > 0 || !held.valid(); });
    s.owners.leave(held);
    if (s.survives)
        CHECK_FALSE(lost.done());
    pending_result<> released;
    held.release(released.handler());
    CHECK_FALSE(held.valid());
    ec = co_await finished(released);
    CAPTURE(ec.message());
    if (s.survives) {
        CHECK_FALSE(ec);
    } else {
        CHECK((!ec || is_end_of_session(ec)));
    }
    co_await finished(lost);
    CHECK(lost.calls() == 1);
}

std::string sequential(std::string_view guid, std::string_view sequence) {
    return std::string(guid) + "-lock-" + std::string(sequence);
}

const std::string some_guid = "0123456789abcdef0123456789abcdef";

awaitable<void> uncontended(fault_stage& s) {
    lock l(s.zk, s.folder);
    pending_result<ownership> asked;
    l.acquire(asked.handler());
    co_await take_turn(s, asked);
}

/// Two of ours behind somebody else's.
awaitable<void> contended(fault_stage& s) {
    lock theirs(s.healthy, s.folder);
    ownership first = co_await theirs.acquire();
    s.owners.enter(first, s.healthy.status().session_id);
    lock mine(s.zk, s.folder);
    lock mine_too(s.zk, s.folder);
    pending_result<ownership> second;
    pending_result<ownership> third;
    mine.acquire(second.handler());
    mine_too.acquire(third.handler());
    // Until both stand in the line, or have failed; and then until the first of them waits.
    co_await eventually_async([&] {
        return (second.done() && third.done()) || s.owners.observer().children(s.folder).size() +
                                                          (second.done() ? 1 : 0) +
                                                          (third.done() ? 1 : 0) >=
                                                      3;
    });
    co_await eventually_async(
        [&] { return second.done() || third.done() || s.zk.counters().watches > 0; });
    if (s.survives) {
        CHECK_FALSE(second.done());
        CHECK_FALSE(third.done());
    }
    s.owners.leave(first);
    co_await first.release();
    // In whatever order: who was cut off may have lost its place.
    co_await eventually_async([&] { return second.done() || third.done(); }, 20s);
    pending_result<ownership>& next = second.done() ? second : third;
    pending_result<ownership>& last = second.done() ? third : second;
    co_await take_turn(s, next);
    co_await take_turn(s, last);
}

/// The same with the locks of the own session only: handed over locally.
awaitable<void> local_hand_over(fault_stage& s) {
    lock l(s.zk, s.folder);
    pending_result<ownership> asked[3];
    for (auto& a : asked)
        l.acquire(a.handler());
    std::vector<bool> served(3, false);
    for (int i = 0; i < 3; ++i) {
        int next = -1;
        co_await eventually_async(
            [&] {
                for (int n = 0; n < 3 && next < 0; ++n) {
                    if (asked[n].done() && !served[static_cast<std::size_t>(n)])
                        next = n;
                }
                return next >= 0;
            },
            20s);
        served[static_cast<std::size_t>(next)] = true;
        co_await take_turn(s, asked[next]);
    }
    if (s.survives)
        CHECK(s.owners.grants() == 3);
}

/// A try behind somebody else's, and then for a free lock.
awaitable<void> tries(fault_stage& s) {
    lock theirs(s.healthy, s.folder);
    ownership first = co_await theirs.acquire();
    lock mine(s.zk, s.folder);
    pending_result<ownership> refused;
    mine.try_acquire(refused.handler());
    error_code ec = co_await finished(refused);
    CAPTURE(ec.message());
    CHECK(refused.calls() == 1);
    CHECK((ec == errc::would_block || (!s.survives && is_end_of_session(ec))));
    co_await first.release();
    // Of the refused one nothing may be left that could refuse the next.
    co_await nothing_left(s.folder);
    pending_result<ownership> taken;
    mine.try_acquire(taken.handler());
    co_await take_turn(s, taken);
}

/// One lock operation for the sweep over turns.
class one_acquire final : public interruptible {
public:
    one_acquire(client& c, std::string folder, owner_registry& owners, bool blocked)
        : client_(c),
          owners_(owners),
          lock_(std::make_unique<lock>(c, folder)),
          session_id_(c.status().session_id) {
        if (blocked) {
            rival_ = std::make_unique<admin>(shared_server().port());
            blocker_ = rival_->plant(
                folder + "/" + some_guid + "-lock-", {}, node_kind::ephemeral_sequential);
        }
        lock_->acquire(boost::asio::bind_cancellation_slot(
            cancel_acquire_.slot(), [this](error_code ec, ownership o) {
                ++acquired_;
                result_ = ec;
                if (ec)
                    return;
                held_ = std::move(o);
                if (held_.valid())
                    owners_.enter(held_, session_id_);
                held_.lost([this](error_code, error_code) { ++lost_; });
                if (interrupted_)
                    give_up();
            }));
    }

    ~one_acquire() override { owners_.leave(held_); }

    void turned() override {
        // Once it waits for the other one, that one goes.
        if (rival_ && !blocker_.empty() && client_.counters().watches > 0)
            unblock();
        // Once it is watched, it is given back.
        if (acquired_ > 0 && held_ && client_.counters().watches > 0)
            let_go();
    }

    void unblock() override {
        if (!blocker_.empty())
            rival_->erase(std::exchange(blocker_, std::string()));
    }

    void cancel() override {
        interrupted_ = true;
        if (held_)
            give_up();
        cancel_acquire_.emit(boost::asio::cancellation_type::terminal);
        cancel_release_.emit(boost::asio::cancellation_type::terminal);
    }

    void destroy_object() override {
        interrupted_ = true;
        if (held_)
            give_up();
        lock_.reset();
    }

    bool finished() const override {
        if (acquired_ == 0)
            return false;
        return result_ || (lost_ > 0 && (!releasing_ || released_ > 0));
    }

    int most_calls() const override { return std::max({acquired_, lost_, released_}); }

private:
    void give_up() {
        owners_.leave(held_);
        ownership dropped = std::move(held_);
    }

    void let_go() {
        releasing_ = true;
        owners_.leave(held_);
        held_.release(boost::asio::bind_cancellation_slot(cancel_release_.slot(),
                                                          [this](error_code) { ++released_; }));
    }

    client& client_;
    owner_registry& owners_;
    std::unique_ptr<lock> lock_;
    std::int64_t session_id_;
    std::unique_ptr<admin> rival_;
    std::string blocker_;
    ownership held_;
    error_code result_;
    int acquired_ = 0;
    int lost_ = 0;
    int released_ = 0;
    bool releasing_ = false;
    bool interrupted_ = false;
    boost::asio::cancellation_signal cancel_acquire_;
    boost::asio::cancellation_signal cancel_release_;
};

}  // namespace

TEST_CASE("lock: any fault at any frame, uncontended") {
    fault_at_every_frame(uncontended, lock_probe, every_fault);
}

TEST_CASE("lock: any fault at any frame, two behind another session") {
    fault_at_every_frame(contended, lock_probe, every_fault);
}

TEST_CASE("lock: any fault at any frame, handed over locally") {
    fault_at_every_frame(local_hand_over, lock_probe, every_fault);
}

TEST_CASE("lock: any fault at any frame, try_acquire") {
    fault_at_every_frame(tries, lock_probe, every_fault);
}

TEST_CASE("lock: holes at any frame") {
    fault_at_every_frame(
        uncontended, lock_probe, {frame_fault::noticed_hole, frame_fault::long_hole});
    fault_at_every_frame(local_hand_over, lock_probe, {frame_fault::long_hole});
}

TEST_CASE("lock: interrupted after any turn, uncontended") {
    auto what = GENERATE(interruption::cancel,
                         interruption::destroy_object,
                         interruption::close_client,
                         interruption::destroy_client);
    interrupt_at_every_turn(
        [](client& c, const std::string& folder, owner_registry& owners) {
            return std::make_unique<one_acquire>(c, folder, owners, false);
        },
        lock_probe,
        what);
}

TEST_CASE("lock: interrupted after any turn, behind another session") {
    auto what = GENERATE(interruption::cancel,
                         interruption::destroy_object,
                         interruption::close_client,
                         interruption::destroy_client);
    interrupt_at_every_turn(
        [](client& c, const std::string& folder, owner_registry& owners) {
            return std::make_unique<one_acquire>(c, folder, owners, true);
        },
        lock_probe,
        what);
}

// ---------------------------------------------------------------------------------------------
// One state, one fault

namespace {

/// A client through a proxy, a healthy one, and a folder.
struct scene {
    explicit scene(std::uint16_t server_port) : proxy(server_port), observer(server_port) {}

    boost::asio::io_context context;
    fault_proxy proxy;
    admin observer;
    std::string folder = fresh_path() + "/folder";
    client zk;
    client healthy;

    void expire() {
        session_record victim = proxy.session();
        CHECK(expire_session(shared_server().port(), victim.session_id, victim.password));
        proxy.cut();
    }

    /// Our nodes and others', in the order of their creation.
    std::string plant(const std::string& stem = some_guid + "-lock-") {
        return observer.plant(folder + "/" + stem, {}, node_kind::ephemeral_sequential);
    }
};

template <class Body>
void play(Body body,
          server& s = shared_server(),
          std::chrono::milliseconds session = steady_session) {
    scene stage(s.port());
    std::string failure;
    try {
        run(
            stage.context,
            [&]() -> awaitable<void> {
                stage.zk = co_await engine_client(stage.proxy.hosts(), session);
                stage.healthy = co_await engine_client(s.hosts(), steady_session);
                stage.proxy.reset_numbering();
                co_await body(stage);
                stage.proxy.disarm_all();
                if (&s == &shared_server()) {
                    co_await nothing_left(stage.folder);
                    co_await lock_probe(stage.healthy, stage.folder);
                    co_await nothing_left(stage.folder);
                }
                co_await stage.zk.close(as_tuple());
                co_await stage.healthy.close(as_tuple());
            },
            60s);
        run_to_idle(stage.context);
    } catch (const std::exception& e) {
        failure = std::string(e.what()) + "\n" + stage.proxy.describe_log();
    }
    CAPTURE(failure);
    CHECK(failure.empty());
}

auto at_create(std::uint64_t k = 1) {
    return at_frame([](const frame_info& f) { return is_create(f.op); }, k);
}

}  // namespace

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
        held.lost(lost.handler());
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
        auto [again, reason] = co_await held.lost(as_tuple());
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
    play(body, shared_server(), 600ms);
}

TEST_CASE("lock: somebody erases the node of one who holds or waits") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        pending_result<error_code> lost;
        held.lost(lost.handler());
        pending_result<ownership> second;
        pending_result<ownership> third;
        l.acquire(second.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        l.acquire(third.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 3; });
        // By creation: sequences tell.
        std::vector<contender_info> line = co_await l.contenders();
        REQUIRE(line.size() == 3);
        CHECK(line[0].path == held.path());
        s.observer.erase(line[1].path);  // the one in the middle
        s.observer.erase(line[0].path);  // and the holder
        co_await finished(lost);
        CHECK(lost.value() == errc::ownership_lost);
        CHECK_FALSE(held.valid());
        error_code ec = co_await finished(second);
        CHECK(ec == errc::ownership_lost);
        ec = co_await finished(third);
        CHECK_FALSE(ec);
        CHECK(third.value().valid());
        auto [too_late] = co_await held.release(as_tuple());
        CHECK(too_late == errc::ownership_lost);
        co_await third.value().release();
    });
}

TEST_CASE("lock: the folder goes, and another one takes its place") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        for (int i = 0; i < 5; ++i) {
            ownership o = co_await l.acquire();
            co_await o.release();
        }
        ownership held = co_await l.acquire();
        std::int64_t token = held.fencing_token();
        pending_result<error_code> lost;
        held.lost(lost.handler());
        pending_result<ownership> waiting;
        l.acquire(waiting.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        s.observer.erase_recursively(s.folder);
        // Sequences begin again.
        lock theirs(s.healthy, s.folder);
        ownership other = co_await theirs.acquire();
        CHECK(other.fencing_token() > token);
        co_await finished(lost);
        CHECK(lost.value() == errc::ownership_lost);
        error_code ec = co_await finished(waiting);
        CHECK(ec == errc::ownership_lost);
        // Behind the other one, although its sequence is lower than those known before.
        pending_result<ownership> next;
        l.acquire(next.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        co_await settle(s.zk);
        CHECK_FALSE(next.done());
        CHECK(other.valid());
        std::int64_t theirs_token = other.fencing_token();
        co_await other.release();
        co_await finished(next);
        CHECK(next.good());
        CHECK(next.value().fencing_token() > theirs_token);
        co_await next.value().release();
    });
}

TEST_CASE("lock: consecutive sequences of two folders prove nothing") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        s.proxy.arm(at_create(), hold_request());
        pending_result<> released;
        held.release(released.handler());
        pending_result<ownership> next;
        l.acquire(next.handler());
        co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
        co_await eventually_async([&] { return s.observer.children(s.folder).empty(); });
        s.observer.erase_recursively(s.folder);
        std::string other = s.plant();  // the first sequence of the new folder
        CHECK(other.ends_with("0000000000"));
        s.proxy.disarm_all();
        // Ours gets the second one, right behind the one that we released in the old folder.
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        co_await settle(s.zk);
        CHECK_FALSE(next.done());
        s.observer.erase(other);
        co_await finished(next);
        CHECK(next.good());
        co_await next.value().release();
    });
}

TEST_CASE("lock: the folder goes while the node is being created") {
    play([](scene& s) -> awaitable<void> {
        co_await s.zk.ensure_path(s.folder);
        lock l(s.zk, s.folder);
        s.proxy.arm(at_create(), hold_request());
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
        s.observer.erase_recursively(s.folder);
        s.proxy.disarm_all();
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: foreign nodes in the folder do not matter") {
    play([](scene& s) -> awaitable<void> {
        std::vector<std::string> odd = {"ready",
                                        "lease_holder",
                                        "x",
                                        "-lock-",
                                        some_guid,
                                        some_guid + "-lock-",
                                        some_guid + "-lock-1",
                                        some_guid + "-read-0000000000",
                                        std::string(300, 'y'),
                                        "\xc3\xbc\xe2\x82\xac-lock-0000000000",
                                        "lock-0000000000",
                                        some_guid + "-lock-9999999999",
                                        some_guid + "-lock--9999999999",
                                        sequential(some_guid, "-2147483648")};  // far behind
        for (const std::string& name : odd)
            s.observer.plant(s.folder + "/" + name);
        lock l(s.zk, s.folder);
        pending_result<ownership> first;
        pending_result<ownership> second;
        l.acquire(first.handler());
        l.acquire(second.handler());
        co_await finished(first);
        REQUIRE(first.good());
        std::vector<contender_info> line = co_await l.contenders();
        CHECK(line.size() == 3);
        CHECK_FALSE(second.done());
        co_await first.value().release();
        co_await finished(second);
        CHECK(second.good());
        co_await second.value().release();
        for (const std::string& name : odd)
            CHECK(s.observer.erase(s.folder + "/" + name));
    });
}

TEST_CASE("lock: a planted place at the far end hides nobody in between") {
    play([](scene& s) -> awaitable<void> {
        std::string far = s.observer.plant(s.folder + "/" + sequential(some_guid, "2147483647"));
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        CHECK(held.valid());
        std::string between = s.plant("11111111111111111111111111111111-lock-");
        pending_result<ownership> next;
        l.acquire(next.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 4; });
        co_await held.release();
        co_await settle(s.zk);
        CHECK_FALSE(next.done());
        s.observer.erase(between);
        co_await finished(next);
        CHECK(next.good());
        co_await next.value().release();
        s.observer.erase(far);
    });
}

TEST_CASE("lock: a planted place before all others is waited for") {
    play([](scene& s) -> awaitable<void> {
        // As it would be written shortly before the counter comes to 0 again.
        std::string before = s.observer.plant(s.folder + "/" + sequential(some_guid, "-000000005"));
        lock l(s.zk, s.folder);
        auto [ec, nothing] = co_await l.try_acquire(as_tuple());
        CHECK(ec == errc::would_block);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.zk.counters().watches > 0; });
        CHECK_FALSE(asked.done());
        s.observer.erase(before);
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: two planted nodes with our own place") {
    play([](scene& s) -> awaitable<void> {
        // The folder's first sequence, twice, before we get it.
        std::string one = s.observer.plant(s.folder + "/" + sequential(some_guid, "0000000002"));
        std::string two = s.observer.plant(
            s.folder + "/" + sequential("22222222222222222222222222222222", "0000000002"));
        lock l(s.zk, s.folder);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 3; });
        co_await settle(s.zk);
        CHECK_FALSE(asked.done());
        s.observer.erase(one);
        co_await settle(s.zk);
        CHECK_FALSE(asked.done());
        s.observer.erase(two);
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: a predecessor that we may not read") {
    play([](scene& s) -> awaitable<void> {
        co_await s.zk.ensure_path(s.folder);
        std::vector<corozk::testing::acl_entry> unreadable(1);
        unreadable[0].permissions = 8;
        std::string other = s.observer.plant(
            s.folder + "/" + some_guid + "-lock-", {}, node_kind::ephemeral_sequential, unreadable);
        lock l(s.zk, s.folder);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.zk.counters().watches > 0; });
        std::uint64_t requests = s.zk.counters().requests;
        co_await settle(s.zk);
        CHECK(s.zk.counters().requests <= requests + 12);  // it does not ask again and again
        s.observer.erase(other);
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: tries without a pause see that the other one has gone") {
    play([](scene& s) -> awaitable<void> {
        std::string other = s.plant();
        lock l(s.zk, s.folder);
        auto [first, none] = co_await l.try_acquire(as_tuple());
        CHECK(first == errc::would_block);
        s.observer.erase(other);
        ownership held;
        int tries = 0;
        while (!held && ++tries < 50) {
            auto [ec, o] = co_await l.try_acquire(as_tuple());
            if (!ec)
                held = std::move(o);
        }
        CHECK(held.valid());
        co_await held.release();
    });
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
                    case state::holding:
                        co_await finished(asked);
                        break;
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
            client zk = co_await engine_client(hosts, 600ms);
            lock l(zk, folder);
            ownership held = co_await l.acquire();
            pending_result<error_code> lost;
            held.lost(lost.handler());
            boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
            while (!lost.done()) {
                // The question and what is said about it are one step: only the process as a whole
                // can be stopped in between, and then the next question is asked again.
                std::string line = held.valid() ? "valid\n" : "not valid\n";
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
        std::size_t before = lines("valid");
        co_await finished(asked);
        CHECK(asked.good());
        CHECK(asked.value().valid());
        holder.cont();
        co_await eventually_async([&] { return lines("lost") == 1; }, 20s, "it hears of the loss");
        CHECK(lines("valid") == before);
        CHECK(asked.value().valid());
        CHECK(holder.wait(20s));
        co_await asked.value().release();
    });
}
