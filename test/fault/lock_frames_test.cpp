// SPDX-License-Identifier: Apache-2.0
// ctest: TIMEOUT 900 PROCESSORS 2
// A lock with a fault at any frame, and interrupted after any turn.
#include "lock_scene.hpp"
#include "one_acquire.hpp"

#include <memory>

namespace corozk::testing::lock_frames_test {

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
    held.wait_lost(lost.handler());
    co_await eventually_async(
        [&] { return lost.done() || s.zk.counters().watches > 0 || !held.valid(); });
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

/// One acquisition of a lock; nobody else may own it meanwhile.
class one_ownership final : public one_acquire<lock, ownership> {
public:
    one_ownership(client& c, const std::string& folder, owner_registry& owners, bool blocked)
        : one_acquire(c,
                      std::make_unique<lock>(c, folder),
                      {folder, blocked ? some_guid + "-lock-" : ""},
                      [](lock& l, auto handler) { l.acquire(std::move(handler)); }),
          owners_(owners),
          session_id_(c.status().session_id) {}

private:
    void entered(const ownership& o) override {
        if (o.valid())
            owners_.enter(o, session_id_);
    }

    owner_registry& owners_;
    std::int64_t session_id_;
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

TEST_CASE("lock: interrupted after any turn, uncontended and behind another session") {
    auto what = GENERATE(interruption::cancel,
                         interruption::destroy_object,
                         interruption::close_client,
                         interruption::destroy_client);
    bool blocked = GENERATE(false, true);
    interrupt_at_every_turn(
        [blocked](client& c, const std::string& folder, owner_registry& owners) {
            return std::make_unique<one_ownership>(c, folder, owners, blocked);
        },
        lock_probe,
        what);
}

}  // namespace corozk::testing::lock_frames_test
