// SPDX-License-Identifier: Apache-2.0
#include "one_acquire.hpp"
#include <corozk/recipe/priority_lock.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace corozk::testing::priority_lock_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

bool stands(const ownership& held) {
    auto record = observer().stat(held.path());
    return record && record->czxid == held.fencing_token();
}

std::size_t nodes_in(const std::string& folder) {
    return observer().children(folder).size();
}

/// Whoever comes next is not kept waiting.
awaitable<void> probe(client& healthy, std::string folder) {
    priority_lock next(healthy, folder);
    ownership held = co_await next.acquire_for(9, 15s);
    CHECK(held.valid());
    co_await held.release();
}

bool is_loss(const error_code& ec) {
    return is_session_lost(ec) || ec == errc::ownership_lost;
}

/// Uncontended, then a hand-over to a waiter of the same session that overtook another one's.
awaitable<void> whole_life(fault_stage& stage) {
    priority_lock mine(stage.zk, stage.folder);
    priority_lock theirs(stage.healthy, stage.folder);
    auto [ec, held] = co_await mine.acquire(5, as_tuple());
    CHECK((!ec || (!stage.survives && is_loss(ec))));
    if (ec)
        co_return;
    if (stage.survives)
        CHECK(stands(held));
    pending_result<ownership> foreign, better;
    theirs.acquire(5, foreign.handler());
    mine.acquire(1, better.handler());
    if (stage.survives)
        co_await eventually_async([&] { return nodes_in(stage.folder) == 4; });
    co_await settle(stage.zk);
    if (stage.survives) {
        CHECK(!foreign.done());
        CHECK(!better.done());
        CHECK(held.valid());
    }
    auto [released] = co_await held.release(as_tuple());
    CHECK((!released || (!stage.survives && is_loss(released))));
    error_code second = co_await finished(better);
    CHECK((!second || (!stage.survives && is_loss(second))));
    if (!second) {
        if (stage.survives) {
            CHECK(stands(better.value()));
            CHECK(!foreign.done());
        }
        auto [last] = co_await better.value().release(as_tuple());
        CHECK((!last || (!stage.survives && is_loss(last))));
    }
    CHECK(!co_await finished(foreign));
    CHECK(stands(foreign.value()));
    co_await foreign.value().release();
}

/// Behind somebody else's, asked for before and after; readers that go together.
awaitable<void> behind_others(fault_stage& stage) {
    priority_lock_options options("me");
    options.ask_holder_to_release = true;
    priority_lock mine(stage.zk, stage.folder, options);
    priority_lock theirs(stage.healthy, stage.folder, priority_lock_options("they"));
    ownership ahead = co_await theirs.acquire(5);
    pending_result<ownership> reader, second, writer;
    mine.acquire_read(2, reader.handler());
    mine.acquire_read(2, second.handler());
    mine.acquire(3, writer.handler());
    if (stage.survives) {
        co_await ahead.wait_release_requested();
        co_await eventually_async([&] { return nodes_in(stage.folder) == 5; });
    }
    co_await settle(stage.zk);
    if (stage.survives) {
        CHECK(observer().data(ahead.path()) == "they\nunlock");
        CHECK((!reader.done() && !second.done() && !writer.done()));
    }
    co_await ahead.release();
    error_code ec = co_await finished(reader);
    CHECK((!ec || (!stage.survives && is_loss(ec))));
    error_code second_ec = co_await finished(second);
    CHECK((!second_ec || (!stage.survives && is_loss(second_ec))));
    if (stage.survives) {
        CHECK(stands(reader.value()));
        CHECK(stands(second.value()));
        CHECK(!writer.done());
    }
    reader.value() = ownership();
    second.value() = ownership();
    error_code writer_ec = co_await finished(writer);
    CHECK((!writer_ec || (!stage.survives && is_loss(writer_ec))));
    if (stage.survives)
        CHECK(stands(writer.value()));
    writer.value() = ownership();
}

/// Fails at the end: nothing is left.
awaitable<void> refused(fault_stage& stage) {
    priority_lock mine(stage.zk, stage.folder);
    priority_lock theirs(stage.healthy, stage.folder);
    ownership ahead = co_await theirs.acquire(5);
    auto [ec, none] = co_await mine.try_acquire(1, as_tuple());
    CHECK((ec == errc::would_block || (!stage.survives && is_loss(ec))));
    auto [late, nothing] = co_await mine.acquire_for(1, 30ms, as_tuple());
    CHECK((late == errc::deadline_exceeded || (!stage.survives && is_loss(late))));
    co_await eventually_async([&] { return nodes_in(stage.folder) == 2; });
    CHECK(ahead.valid());
    co_await ahead.release();
}

constexpr const char* somebodys_name = "0123456789abcdef0123456789abcdef-write--7-";

}  // namespace

TEST_CASE("priority_lock: any fault at any frame, a whole life") {
    fault_at_every_frame(whole_life,
                         probe,
                         {frame_fault::request_dropped,
                          frame_fault::answer_swallowed,
                          frame_fault::cut_after_answer,
                          frame_fault::expired});
}

TEST_CASE("priority_lock: any fault at any frame, behind others") {
    fault_at_every_frame(
        behind_others,
        probe,
        {frame_fault::request_dropped, frame_fault::answer_swallowed, frame_fault::expired});
}

TEST_CASE("priority_lock: any fault at any frame, refused") {
    fault_at_every_frame(
        refused,
        probe,
        {frame_fault::request_dropped, frame_fault::answer_swallowed, frame_fault::expired});
}

TEST_CASE("priority_lock: the session lost without a word") {
    fault_at_every_frame(whole_life, probe, {frame_fault::long_hole});
}

TEST_CASE("priority_lock: interrupted after any turn") {
    auto what = GENERATE(interruption::cancel,
                         interruption::destroy_object,
                         interruption::close_client,
                         interruption::destroy_client);
    bool blocked = GENERATE(false, true);
    bool reads = GENERATE(false, true);
    interrupt_at_every_turn(
        [blocked, reads](client& c, const std::string& folder, owner_registry&) {
            auto start = [reads](priority_lock& l, auto handler) {
                if (reads) {
                    l.acquire_read(0, std::move(handler));
                } else {
                    l.acquire(0, std::move(handler));
                }
            };
            planted_blocker ahead{folder, blocked ? somebodys_name : ""};
            return std::make_unique<one_acquire<priority_lock, ownership>>(
                c, std::make_unique<priority_lock>(c, folder), ahead, start);
        },
        probe,
        what);
}

TEST_CASE("priority_lock: cancelled at every frame, alone and behind a holder") {
    for (bool behind : {false, true}) {
        cancel_at_every_frame(
            [behind](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
                client other = co_await one_more_client();
                priority_lock theirs(other, r.path);
                ownership ahead;
                if (behind)
                    ahead = co_await theirs.acquire(5);
                priority_lock mine(r.zk, r.path);
                int calls = 0;
                error_code ec;
                ownership held;
                auto done = [&](error_code result, ownership granted) {
                    ++calls;
                    ec = result;
                    held = std::move(granted);
                };
                mine.acquire(1, boost::asio::bind_cancellation_slot(slot, done));
                co_await settle(r.zk);
                if (behind)
                    co_await ahead.release();
                co_await eventually_async([&] { return calls > 0; });
                CHECK(calls == 1);
                CHECK((!ec || ec == boost::asio::error::operation_aborted));
                if (!ec)
                    CHECK(stands(held));
                held = ownership();
                co_await nothing_left(r.path);
                co_await probe(other, r.path);
                co_await other.close();
            });
    }
}

TEST_CASE("priority_lock: own nodes and the folder erased, holding and waiting") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        priority_lock l(zk, path);
        for (int what = 0; what < 4; ++what) {
            ownership held = co_await l.acquire(0);
            pending_result<ownership> waiter;
            l.acquire(3, waiter.handler());
            co_await eventually_async([&] { return nodes_in(path) == 3; });
            co_await settle(zk);
            std::string record = held.path();
            std::string contender = record.substr(0, record.rfind("-held"));
            if (what == 3) {
                observer().erase_recursively(path);
                CHECK(co_await finished(waiter) == errc::ownership_lost);
            } else if (what == 2) {
                auto line = co_await l.contenders();
                REQUIRE(line.size() == 2);
                observer().erase(line[1].path);
                CHECK(co_await finished(waiter) == errc::ownership_lost);
                CHECK(held.valid());
                co_await held.release();
            } else {
                observer().erase(what == 0 ? record : contender);
                CHECK(!co_await finished(waiter));
                CHECK(stands(waiter.value()));
                co_await waiter.value().release();
            }
            co_await eventually_async([&] { return !held.valid(); });
            held = ownership();
            co_await eventually_async([&] { return nodes_in(path) == 0; });
            co_await probe(zk, path);
        }
        co_await nothing_left(path);
    });
}

}  // namespace corozk::testing::priority_lock_test
