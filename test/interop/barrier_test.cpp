// SPDX-License-Identifier: Apache-2.0
// The barriers, with Curator's DistributedBarrier and DistributedDoubleBarrier and Kazoo's Barrier
// and DoubleBarrier on the same path.
#include "contest.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/double_barrier.hpp>

namespace corozk::testing::barrier_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

double_barrier_options options_with(party_kind which) {
    double_barrier_options options;
    options.compatibility =
        which == party_kind::curator ? compatibility::curator : compatibility::kazoo;
    return options;
}

/// The members' nodes.
std::size_t members(meeting& at) {
    std::vector<std::string> names = at.hand.children(at.path);
    return names.size() - static_cast<std::size_t>(std::count(names.begin(), names.end(), "ready"));
}

/// Ours enters, and waits as the only member.
boost::asio::awaitable<void> begin_alone(meeting& at,
                                         double_barrier& ours,
                                         pending_result<>& entering) {
    ours.enter(entering.handler());
    auto we_wait = [&at] { return members(at) == 1; };
    co_await eventually_async(we_wait);
    CHECK_FALSE(entering.done());
}

std::vector<std::string> rounds_of(meeting& at, int size) {
    return at.arguments({"task=rounds", "limit=" + std::to_string(size), short_session});
}

}  // namespace

TEST_CASE("another library's waiter waits for our barrier") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        barrier ours(zk, at.path);
        bool set = co_await ours.set();
        CHECK(set);
        party theirs(which, at.arguments({"task=wait"}));
        auto they_wait = [&] { return watches_below(at.path) == 1; };
        co_await theirs.until(they_wait, "waiting");
        party setter(which, at.arguments({"task=set"}));
        co_await setter.end();  // it is set already
        CHECK_FALSE(theirs.said("through"));
        bool removed = co_await ours.remove();
        CHECK(removed);
        co_await theirs.says("through");
        co_await theirs.end();
    });
}

TEST_CASE("our waiter waits for another library's barrier, which outlives it") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        barrier ours(zk, at.path);
        party setter(which, at.arguments({"task=set"}));
        co_await setter.end();
        bool is_set = co_await ours.check();
        CHECK(is_set);
        bool set = co_await ours.set();
        CHECK_FALSE(set);
        pending_result<> waiting;
        ours.wait(waiting.handler());
        co_await settle(zk);
        CHECK_FALSE(waiting.done());
        party remover(which, at.arguments({"task=remove"}));
        co_await remover.end();
        error_code through = co_await finished(waiting);
        CHECK_FALSE(through);
        CHECK_FALSE(at.hand.exists(at.path));
    });
}

TEST_CASE("our waiter loses its session, and waits for another library's barrier in the next one") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client&) -> boost::asio::awaitable<void> {
        party setter(which, at.arguments({"task=set"}));
        co_await setter.end();
        mortal_client dying;
        co_await dying.connect();
        barrier ours(dying.zk, at.path);
        pending_result<> waiting;
        ours.wait(waiting.handler());
        auto we_wait = [&] { return watches_below(at.path) == 1; };
        co_await eventually_async(we_wait);
        dying.expire();
        auto we_wait_again = [&] { return dying.zk.status().generation == 2 && we_wait(); };
        co_await eventually_async(we_wait_again, eventually_limit, "waiting in the next session");
        CHECK_FALSE(waiting.done());

        // The barrier is removed while we have no session.
        dying.die();
        auto we_are_gone = [&] { return dying.zk.state() != session_state::connected; };
        co_await eventually_async(we_are_gone);
        party remover(which, at.arguments({"task=remove"}));
        co_await remover.end();
        CHECK_FALSE(at.hand.exists(at.path));
        CHECK_FALSE(waiting.done());
        dying.come_back();
        error_code through = co_await finished(waiting);
        CHECK_FALSE(through);
        CHECK(dying.zk.status().generation == 3);
        co_await dying.zk.close(as_tuple());
    });
}

TEST_CASE("our barrier ends with our session, for another library's waiters, too") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        mortal_client dying;
        co_await dying.connect();
        barrier_options options;
        options.mode = create_mode::ephemeral;
        barrier ours(dying.zk, at.path, options);
        co_await ours.set();
        party dead(which, at.arguments({"task=wait", short_session}));
        party theirs(which, at.arguments({"task=wait"}));
        auto they_wait = [&] { return watches_below(at.path) == 2; };
        co_await theirs.until(they_wait, "waiting");
        dead.kill();  // a waiter owns nothing
        CHECK_FALSE(theirs.said("through"));
        dying.expire();
        co_await theirs.says("through");
        co_await theirs.end();
        barrier next(zk, at.path);
        bool set = co_await next.set();
        CHECK(set);
        co_await next.remove();
        co_await dying.zk.close(as_tuple());
    });
}

TEST_CASE("members of all three libraries enter and leave a double barrier together") {
    auto format = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(format));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        party curator(party_kind::curator, rounds_of(at, 3));
        party kazoo(party_kind::kazoo, rounds_of(at, 3));
        auto they_wait = [&] { return members(at) == 2; };
        co_await curator.until(they_wait, "two members");
        CHECK_FALSE(curator.said("inside"));
        CHECK_FALSE(kazoo.said("inside"));
        double_barrier ours(zk, at.path, 3, options_with(format));
        co_await ours.enter();
        CHECK(ours.inside());
        CHECK(ours.round() == 1);
        co_await curator.says("inside");
        co_await kazoo.says("inside");
        at.tell_to_leave();
        // Of the two, at least the last one deletes its node.
        auto they_leave = [&] { return members(at) <= 2; };
        co_await eventually_async(they_leave, party_limit, "leaving");
        CHECK_FALSE(curator.said("outside"));
        CHECK_FALSE(kazoo.said("outside"));
        co_await ours.leave();
        CHECK_FALSE(ours.inside());
        co_await curator.says("outside");
        co_await kazoo.says("outside");
        co_await curator.end();
        co_await kazoo.end();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("our member waits for another library's, round after round") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    constexpr int rounds = 20;
    at.tell_to_leave();  // at once
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        double_barrier ours(zk, at.path, 2, options_with(which));
        pending_result<> first;
        co_await begin_alone(at, ours, first);
        std::vector<std::string> arguments = rounds_of(at, 2);
        arguments.push_back("count=" + std::to_string(rounds));
        party theirs(which, arguments);
        auto they_say = [&theirs](std::string line, int times) -> boost::asio::awaitable<void> {
            auto often = [&theirs, &line, times] {
                std::vector<std::string> said = theirs.lines();
                return std::count(said.begin(), said.end(), line) >= times;
            };
            co_await theirs.until(often, line);
        };
        for (int round = 1; round <= rounds; ++round) {
            if (round > 1) {
                // Not before: theirs may end a round while others still leave, and count them.
                at.hand.plant(at.record_path + "/round-" + std::to_string(round));
                co_await ours.enter();
            }
            // See "With Curator and Kazoo" in the reference: theirs may miss the start of a round
            // that is left at once, and wait for those who enter again.
            co_await they_say("inside", round);
            if (round == 1) {
                error_code entered = co_await finished(first);
                REQUIRE_FALSE(entered);
            }
            co_await ours.leave();
            co_await they_say("outside", round);
        }
        CHECK(ours.round() == rounds);
        co_await theirs.end();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("a member of another library that dies counts as having left") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        double_barrier ours(zk, at.path, 2, options_with(which));
        {
            // It does not count any more when its session has ended.
            party dead(which, rounds_of(at, 2));
            auto it_waits = [&] { return members(at) == 1; };
            co_await dead.until(it_waits, "entering");
            dead.kill();
            auto forgotten = [&] { return members(at) == 0; };
            co_await eventually_async(forgotten, party_limit, "the end of its session");
        }
        pending_result<> entering;
        co_await begin_alone(at, ours, entering);
        party theirs(which, rounds_of(at, 2));
        co_await theirs.says("inside");
        error_code entered = co_await finished(entering);
        REQUIRE_FALSE(entered);
        theirs.kill();
        pending_result<> leaving;
        ours.leave(leaving.handler());
        co_await settle(zk);
        CHECK_FALSE(leaving.done());
        error_code left = co_await finished(leaving);
        CHECK_FALSE(left);
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("our member that loses its session does not hold up another library's") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client&) -> boost::asio::awaitable<void> {
        mortal_client dying;
        co_await dying.connect();
        double_barrier ours(dying.zk, at.path, 2, options_with(which));
        pending_result<> entering;
        co_await begin_alone(at, ours, entering);
        dying.expire();  // it enters again
        auto we_are_gone = [&] { return dying.zk.status().generation == 2; };
        co_await eventually_async(we_are_gone, eventually_limit, "the next session");
        auto we_wait = [&] { return members(at) == 1; };
        co_await eventually_async(we_wait);
        CHECK_FALSE(entering.done());
        party theirs(which, rounds_of(at, 2));
        co_await theirs.says("inside");
        error_code entered = co_await finished(entering);
        REQUIRE_FALSE(entered);
        dying.expire();
        at.tell_to_leave();
        co_await theirs.says("outside");
        co_await theirs.end();
        auto [ec] = co_await ours.leave(as_tuple());
        CHECK(ec == zk_errc::session_expired);
        co_await dying.zk.close(as_tuple());
    });
    CHECK(at.hand.children(at.path).empty());
}

}  // namespace corozk::testing::barrier_test
