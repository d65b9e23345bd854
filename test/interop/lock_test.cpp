// SPDX-License-Identifier: Apache-2.0
// The exclusive lock, with Curator's InterProcessMutex and Kazoo's Lock on the same path.
#include "contest.hpp"
#include <corozk/recipe/contention_inspector.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>

namespace corozk::testing::lock_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

lock_options options_with(party_kind which) {
    lock_options options(our_party);
    options.compatibility =
        which == party_kind::curator ? compatibility::curator : compatibility::kazoo;
    return options;
}

contest lock_contest(party_kind with) {
    contest c;
    c.with = with;
    c.kind = "mutex";
    c.goal.handovers = 250;
    c.recipe = [with](client& zk, std::string path) -> acquire_function {
        auto ours = std::make_shared<lock>(zk, path, options_with(with));
        return [ours](std::string) -> boost::asio::awaitable<ownership> {
            ownership held = co_await ours->acquire();
            co_return held;
        };
    };
    return c;
}

}  // namespace

TEST_CASE("our lock and Curator's mutex exclude each other") {
    turns result = contend(lock_contest(party_kind::curator));
    CHECK(result.to_us >= 250);
    CHECK(result.to_them >= 250);
}

TEST_CASE("our lock and Kazoo's lock exclude each other") {
    turns result = contend(lock_contest(party_kind::kazoo));
    CHECK(result.to_us >= 250);
    CHECK(result.to_them >= 250);
}

TEST_CASE("our lock waits behind another library's and sees it") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    party theirs(which, at.arguments({"task=hold", "kind=mutex", "identity=them"}));
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        lock ours(zk, at.path, options_with(which));
        auto they_are_inside = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_are_inside, "holding the lock");
        pending_result<ownership> acquiring;
        ours.acquire(acquiring.handler());
        auto both_are_there = [&] { return at.hand.children(at.path).size() == 2; };
        co_await theirs.until(both_are_there, "our contender's node");

        std::vector<contender_info> line = co_await ours.list_contenders();
        REQUIRE(line.size() == 2);
        CHECK(line[0].holds);
        CHECK(line[0].session_id != zk.session_id());
        CHECK(line[0].session_id != 0);
        if (which == party_kind::kazoo)
            CHECK(line[0].data == "them");
        CHECK_FALSE(line[1].holds);
        CHECK(line[1].session_id == zk.session_id());
        CHECK(line[1].data == our_party);
        CHECK(line[1].waits_for == std::vector<std::string>{line[0].path});
        auto [ec, none] = co_await ours.try_acquire(as_tuple());
        CHECK(ec == errc::would_block);
        CHECK_FALSE(acquiring.done());

        at.tell_to_leave();
        error_code acquired = co_await finished(acquiring);
        REQUIRE_FALSE(acquired);
        CHECK(at.inside(name_of(which)) == 0);
        CHECK(acquiring.value().valid());
        co_await theirs.end();
        co_await acquiring.value().release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("another library's lock waits behind ours") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        lock ours(zk, at.path, options_with(which));
        ownership held = co_await ours.acquire();
        party theirs(which, at.arguments({"task=hold", "kind=mutex", "identity=them"}));
        // It waits: it watches its predecessor.
        auto they_wait = [&] { return watches_below(held.path()) == 2; };
        co_await theirs.until(they_wait, "waiting for our node");
        CHECK(at.inside(name_of(which)) == 0);
        std::vector<contender_info> line = co_await ours.list_contenders();
        REQUIRE(line.size() == 2);
        CHECK(line[0].path == held.path());
        CHECK(line[1].waits_for == std::vector<std::string>{held.path()});
        if (which == party_kind::kazoo) {
            party onlooker(which, at.arguments({"task=contenders", "kind=mutex"}));
            co_await onlooker.end();
            std::vector<std::string> seen{our_party, "them"};
            CHECK(onlooker.lines() == seen);
        }

        co_await held.release();
        auto they_are_inside = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_are_inside, "holding the lock");
        at.tell_to_leave();
        co_await theirs.end();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("a contender of another library that is broken makes room for ours") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    auto theirs =
        std::make_unique<party>(which, at.arguments({"task=hold", "kind=mutex", "identity=them"}));
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        lock ours(zk, at.path, options_with(which));
        auto they_are_inside = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs->until(they_are_inside, "holding the lock");
        std::vector<contender_info> line = co_await ours.list_contenders();
        REQUIRE(line.size() == 1);
        pending_result<ownership> acquiring;
        ours.acquire(acquiring.handler());
        auto both_are_there = [&] { return at.hand.children(at.path).size() == 2; };
        co_await theirs->until(both_are_there, "our contender's node");
        theirs.reset();  // killed: its session still exists
        std::string broken = line[0].path;
        co_await ours.break_contender(broken);
        error_code acquired = co_await finished(acquiring);
        CHECK_FALSE(acquired);
        co_await acquiring.value().release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("Curator's mutex is released when we ask for it, and ours when Curator does") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        lock ours(zk, at.path, options_with(party_kind::curator));
        party holder(party_kind::curator, at.arguments({"task=revocable", "kind=mutex"}));
        auto they_are_inside = [&] { return at.inside("curator") == 1; };
        co_await holder.until(they_are_inside, "holding the lock");
        std::vector<contender_info> line = co_await ours.list_contenders();
        REQUIRE(line.size() == 1);
        pending_result<ownership> acquiring;
        ours.acquire(acquiring.handler());
        // As corozk break --ask does, which is not told of the format.
        contention_inspector anybody(zk, at.path);
        co_await anybody.request_release(line[0].path);
        error_code acquired = co_await finished(acquiring);
        REQUIRE_FALSE(acquired);
        co_await holder.end();

        ownership& held = acquiring.value();
        pending_result<> asked;
        held.wait_release_requested(asked.handler());
        party revoker(party_kind::curator, at.arguments({"task=revoke", "node=" + held.path()}));
        co_await revoker.end();
        error_code heard = co_await finished(asked);
        CHECK_FALSE(heard);
        CHECK(held.valid());
        co_await held.release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("our multi_lock and Curator's exclude each other until their sessions end") {
    meeting at;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            mortal_client mortal;
            co_await mortal.connect();
            lock a(mortal.zk, at.path + "/a", options_with(party_kind::curator));
            lock b(mortal.zk, at.path + "/b", options_with(party_kind::curator));
            multi_lock ours(mortal.zk);
            ours.add(b).add(a);
            auto everybody_is_there = [&](std::size_t at_a, std::size_t at_b) {
                return at.hand.children(at.path + "/a").size() == at_a &&
                       at.hand.children(at.path + "/b").size() == at_b;
            };
            auto they_are_inside = [&] { return at.inside("curator") == 1; };

            // We wait for them until they die.
            party first(party_kind::curator,
                        at.arguments({"task=hold", "kind=multi", short_session}));
            co_await first.until(they_are_inside, "holding both");
            pending_result<multi_ownership> acquiring;
            ours.acquire(acquiring.handler());
            auto we_wait = [&] { return everybody_is_there(2, 1); };
            co_await first.until(we_wait, "our contender's node");
            CHECK_FALSE(acquiring.done());
            first.kill();
            error_code acquired = co_await finished(acquiring);
            REQUIRE_FALSE(acquired);
            CHECK(everybody_is_there(1, 1));

            // They wait for us until our session ends.
            party second(party_kind::curator, at.arguments({"task=hold", "kind=multi"}));
            auto they_wait = [&] { return everybody_is_there(2, 1); };
            co_await second.until(they_wait, "their contender's node");
            mortal.expire();
            auto [ec, reason, where] = co_await acquiring.value().wait_lost(as_tuple());
            CHECK_FALSE(ec);
            CHECK(reason);
            CHECK(where.starts_with(at.path));
            co_await second.until([&] { return everybody_is_there(1, 1); }, "holding both");
            at.tell_to_leave();
            co_await second.end();
            multi_ownership again = co_await ours.acquire();
            co_await again.release();
            CHECK(everybody_is_there(0, 0));
            co_await mortal.zk.close();
        },
        party_limit + std::chrono::seconds(20));
    run_to_idle(context);
}

}  // namespace corozk::testing::lock_test
