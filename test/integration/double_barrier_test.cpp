// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <deque>

namespace corozk::testing::double_barrier_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// A member with a client of its own.
struct member {
    member(client c, const std::string& path, std::uint32_t size)
        : zk(std::move(c)), gate(zk, path, size) {}
    client zk;
    double_barrier gate;
    pending_result<> entering;
    pending_result<> leaving;
};

awaitable<void> add(std::deque<member>& members, const std::string& path, std::uint32_t size) {
    client c = co_await one_more_client();
    members.emplace_back(std::move(c), path, size);
}

}  // namespace

TEST_CASE("double barrier: members of several clients enter and leave together, again and again") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string node = path + "/deep/gate";
        std::deque<member> members;
        for (int i = 0; i < 3; ++i)
            co_await add(members, node, 3);
        for (std::uint64_t round = 1; round <= 3; ++round) {
            pending_result<> entered[3];
            members[0].gate.enter(entered[0].handler());
            members[1].gate.enter(entered[1].handler());
            for (member& m : members)
                co_await settle(m.zk);
            CHECK_FALSE(entered[0].done());
            CHECK_FALSE(entered[1].done());
            members[2].gate.enter(entered[2].handler());
            for (auto& e : entered)
                CHECK(!co_await finished(e));
            for (member& m : members) {
                CHECK(m.gate.inside());
                CHECK(m.gate.round() == round);
            }
            CHECK(observer().children(node).size() == 3);  // no `ready` among them
            pending_result<> left[3];
            members[2].gate.leave(left[2].handler());
            members[0].gate.leave(left[0].handler());
            for (member& m : members)
                co_await settle(m.zk);
            CHECK_FALSE(left[0].done());
            CHECK_FALSE(left[2].done());
            members[1].gate.leave(left[1].handler());
            for (auto& l : left)
                CHECK(!co_await finished(l));
            CHECK(observer().children(node).empty());
            co_await eventually_async([&] { return watches_below(path) == 0; });
        }
        for (member& m : members)
            co_await m.zk.close();
        co_await settle(zk);
    });
}

TEST_CASE("double barrier: many members of one client share listings and watches") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        constexpr std::uint32_t size = 1'000;
        std::deque<double_barrier> gates;
        std::deque<pending_result<>> results(2 * size);
        for (std::uint32_t i = 0; i < size; ++i)
            gates.emplace_back(zk, path, size);
        client_counters before = zk.counters();
        for (std::uint32_t i = 0; i < size; ++i)
            gates[i].enter(results[i].handler());
        for (std::uint32_t i = 0; i < size; ++i)
            CHECK(!co_await finished(results[i]));
        client_counters inside = zk.counters();
        CHECK(inside.requests - before.requests <= 2 * size + 20);
        CHECK(inside.listings - before.listings <= 5);
        for (std::uint32_t i = 0; i < size; ++i)
            gates[i].leave(results[size + i].handler());
        for (std::uint32_t i = 0; i < size; ++i)
            CHECK(!co_await finished(results[size + i]));
        client_counters after = zk.counters();
        CHECK(after.requests - inside.requests <= size + 20);
        CHECK(after.listings - inside.listings <= 5);
        CHECK(observer().children(path).empty());
    });
}

TEST_CASE("double barrier: who comes late waits for the next round, or is told") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::deque<member> members;
        for (int i = 0; i < 5; ++i)
            co_await add(members, path, 2);
        members[0].gate.enter(members[0].entering.handler());
        CHECK(!co_await [](member& m) -> awaitable<error_code> {
            co_await settle(m.zk);
            co_return error_code();
        }(members[0]));
        members[1].gate.enter(members[1].entering.handler());
        CHECK(!co_await finished(members[0].entering));
        CHECK(!co_await finished(members[1].entering));
        // The round is full: two more do not make another one while it goes on.
        members[2].gate.enter(members[2].entering.handler());
        members[3].gate.enter(members[3].entering.handler());
        for (int i = 2; i < 4; ++i)
            co_await settle(members[static_cast<std::size_t>(i)].zk);
        CHECK_FALSE(members[2].entering.done());
        CHECK_FALSE(members[3].entering.done());
        double_barrier_options options;
        options.wait_for_next_round = false;
        double_barrier impatient(members[4].zk, path, 2, options);
        auto [ec] = co_await impatient.enter(as_tuple());
        CHECK(ec == errc::would_block);
        CHECK(observer().children(path).size() == 4);

        members[0].gate.leave(members[0].leaving.handler());
        co_await settle(members[0].zk);
        CHECK_FALSE(members[0].leaving.done());  // newcomers do not change who is waited for
        CHECK_FALSE(members[2].entering.done());
        members[1].gate.leave(members[1].leaving.handler());
        CHECK(!co_await finished(members[0].leaving));
        CHECK(!co_await finished(members[1].leaving));
        CHECK(!co_await finished(members[2].entering));
        CHECK(!co_await finished(members[3].entering));
        CHECK(members[2].gate.round() == 2);
        members[2].gate.leave(members[2].leaving.handler());
        members[3].gate.leave(members[3].leaving.handler());
        CHECK(!co_await finished(members[2].leaving));
        CHECK(!co_await finished(members[3].leaving));
        for (member& m : members)
            co_await m.zk.close();
        co_await settle(zk);
    });
}

TEST_CASE("double barrier: all who do not want to wait are told, however few are inside") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        constexpr std::uint32_t size = 4;
        std::deque<double_barrier> gates;
        std::deque<pending_result<>> entered(size), left(size - 1), told(3);
        for (std::uint32_t i = 0; i < size; ++i)
            gates.emplace_back(zk, path, size);
        for (std::uint32_t i = 0; i < size; ++i)
            gates[i].enter(entered[i].handler());
        for (auto& e : entered)
            CHECK(!co_await finished(e));
        for (std::uint32_t i = 1; i < size; ++i)
            gates[i].leave(left[i - 1].handler());
        co_await eventually_async([&] { return observer().children(path).size() == 1; });

        client other = co_await one_more_client();
        double_barrier_options options;
        options.wait_for_next_round = false;
        std::deque<double_barrier> impatient;
        for (auto& t : told)
            impatient.emplace_back(other, path, size, options).enter(t.handler());
        for (auto& t : told)
            CHECK(co_await finished(t) == errc::would_block);
        CHECK(observer().children(path).size() == 1);
        co_await gates[0].leave();
        for (auto& l : left)
            CHECK(!co_await finished(l));
        co_await other.close();
    });
}

TEST_CASE("double barrier: a member that gives up is not counted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        double_barrier b(other, path, 2);
        auto [ec] = co_await a.enter_for(30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        co_await eventually_async([&] { return observer().children(path).empty(); });
        pending_result<> cancelled;
        a.enter(cancelled.handler());
        co_await settle(zk);
        CHECK(observer().children(path).size() == 1);
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        co_await settle(zk);
        CHECK(observer().children(path).empty());

        pending_result<> entering;
        b.enter(entering.handler());
        co_await settle(other);
        CHECK_FALSE(entering.done());
        co_await a.enter();
        CHECK(!co_await finished(entering));

        // And one that gives up leaving has left.
        std::tie(ec) = co_await a.leave_for(30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        CHECK_FALSE(a.inside());
        co_await eventually_async([&] { return observer().children(path).size() == 1; });
        co_await b.leave();
        CHECK(observer().children(path).empty());
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

TEST_CASE("double barrier: members that die release the others, and no round leaks into the next") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::deque<member> members;
        for (int i = 0; i < 3; ++i)
            co_await add(members, path, 3);
        // During enter: two come, one of them dies; the third alone does not open.
        members[0].gate.enter(members[0].entering.handler());
        members[1].gate.enter(members[1].entering.handler());
        co_await settle(members[1].zk);
        co_await members[1].zk.close();
        CHECK(co_await finished(members[1].entering) == errc::closed);
        members[2].gate.enter(members[2].entering.handler());
        co_await settle(members[2].zk);
        CHECK_FALSE(members[0].entering.done());
        CHECK_FALSE(members[2].entering.done());
        co_await add(members, path, 3);
        members[3].gate.enter(members[3].entering.handler());
        for (std::size_t i : {0u, 2u, 3u})
            CHECK(!co_await finished(members[i].entering));
        // During leave: the lowest, the highest, then all but one.
        members[2].gate.leave(members[2].leaving.handler());
        co_await settle(members[2].zk);
        CHECK_FALSE(members[2].leaving.done());
        co_await members[0].zk.close();
        co_await settle(members[2].zk);
        CHECK_FALSE(members[2].leaving.done());
        co_await members[3].zk.close();
        CHECK(!co_await finished(members[2].leaving));
        co_await members[2].zk.close();

        // A whole round dies inside. Its record stays, and lets nobody in.
        std::deque<member> doomed;
        for (int i = 0; i < 3; ++i)
            co_await add(doomed, path, 3);
        for (member& m : doomed)
            m.gate.enter(m.entering.handler());
        for (member& m : doomed)
            CHECK(!co_await finished(m.entering));
        for (member& m : doomed)
            co_await m.zk.close();
        double_barrier next(zk, path, 3);
        pending_result<> entering;
        next.enter(entering.handler());
        co_await settle(zk);
        CHECK_FALSE(entering.done());
        double_barrier second(zk, path, 3);
        double_barrier third(zk, path, 3);
        pending_result<> entering_2, entering_3;
        second.enter(entering_2.handler());
        third.enter(entering_3.handler());
        CHECK(!co_await finished(entering));
        CHECK(!co_await finished(entering_2));
        CHECK(!co_await finished(entering_3));
        CHECK(next.round() == 3);
    });
}

TEST_CASE("double barrier: one process wakes at each deletion") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        constexpr std::size_t size = 6;
        std::deque<member> members;
        for (std::size_t i = 0; i < size; ++i)
            co_await add(members, path, size);
        for (member& m : members)
            m.gate.enter(m.entering.handler());
        for (member& m : members)
            CHECK(!co_await finished(m.entering));
        for (member& m : members)
            co_await settle(m.zk);
        std::vector<std::uint64_t> before;
        for (member& m : members)
            before.push_back(m.zk.counters().notifications);
        for (member& m : members) {
            m.gate.leave(m.leaving.handler());
            co_await settle(m.zk);
        }
        for (member& m : members)
            CHECK(!co_await finished(m.leaving));
        std::uint64_t notifications = 0;
        for (std::size_t i = 0; i < size; ++i) {
            notifications += members[i].zk.counters().notifications - before[i];
        }
        // Watches on the lowest: all others, once. On the highest: the lowest, for each of them at
        // most; and what was set on own nodes before the round began.
        CHECK(notifications <= 3 * size);
        for (member& m : members)
            co_await m.zk.close();
        co_await settle(zk);
    });
}

TEST_CASE("double barrier: foreign children, own nodes and parents taken away") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (const char* name : {"ready",
                                 "x",
                                 "lock-0000000001",
                                 "-member-0000000001",
                                 "0123456789abcdef0123456789abcdef-member-"}) {
            observer().plant(path + "/" + name);
        }
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        double_barrier b(other, path, 2);
        pending_result<> entering;
        a.enter(entering.handler());
        co_await settle(zk);
        CHECK_FALSE(entering.done());
        // Its node is taken away: it comes again.
        std::string mine;
        auto own_node = [&] {
            for (const std::string& name : observer().children(path)) {
                if (name.size() == 50)
                    return path + "/" + name;
            }
            return std::string();
        };
        mine = own_node();
        REQUIRE_FALSE(mine.empty());
        observer().erase(mine);
        co_await eventually_async([&] { return !own_node().empty() && own_node() != mine; });
        CHECK_FALSE(entering.done());
        // The whole folder is.
        observer().erase_recursively(path);
        co_await eventually_async([&] { return !own_node().empty(); });
        CHECK_FALSE(entering.done());
        co_await b.enter();
        CHECK(!co_await finished(entering));
        CHECK(b.round() == 1);
        pending_result<> leaving;
        a.leave(leaving.handler());
        co_await settle(zk);
        CHECK_FALSE(leaving.done());
        observer().erase_recursively(path);
        CHECK(!co_await finished(leaving));
        co_await b.leave();
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

TEST_CASE("double barrier: misuse") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        double_barrier a(zk, path, 1);
        auto [ec] = co_await a.leave(as_tuple());
        CHECK(ec == errc::not_a_member);
        co_await a.enter();
        std::tie(ec) = co_await a.enter(as_tuple());
        CHECK(ec == errc::busy);
        co_await a.leave();
        std::tie(ec) = co_await a.leave(as_tuple());
        CHECK(ec == errc::not_a_member);
        double_barrier none(zk, path, 0);
        std::tie(ec) = co_await none.enter(as_tuple());
        CHECK(ec == errc::bad_option);
        double_barrier nowhere(zk, "relative", 0);
        std::tie(ec) = co_await nowhere.enter(as_tuple());
        CHECK(ec == errc::bad_path);
        double_barrier empty;
        std::tie(ec) = co_await empty.enter(as_tuple());
        CHECK(ec == errc::closed);

        observer().plant(path + "-x", "somebody's data");
        double_barrier foreign(zk, path + "-x", 1);
        std::tie(ec) = co_await foreign.enter(as_tuple());
        CHECK(ec == errc::foreign_data);
        CHECK(observer().children(path + "-x").empty());

        double_barrier two(zk, path + "-y", 2);
        double_barrier three(zk, path + "-y", 3);
        double_barrier more(zk, path + "-y", 2);
        pending_result<> waits;
        three.enter(waits.handler());
        co_await settle(zk);
        pending_result<> in;
        two.enter(in.handler());
        CHECK(co_await finished(waits) == errc::limit_mismatch);
        // Destroyed inside and while waiting: nothing stays.
        CHECK(!co_await finished(in));
        two = double_barrier();
        pending_result<> orphan;
        more.enter(orphan.handler());
        co_await settle(zk);
        more = double_barrier();
        CHECK(co_await finished(orphan) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return observer().children(path + "-y").empty(); });
    });
}

// The format of Curator and Kazoo.

namespace {

double_barrier_options of_page() {
    double_barrier_options options;
    options.compatibility = compatibility::curator;
    return options;
}

}  // namespace

TEST_CASE("double barrier: in the others' format members enter and leave together") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path + "/deep/gate", 3, of_page());
        double_barrier b(zk, path + "/deep/gate", 3, of_page());
        double_barrier c(other, path + "/deep/gate", 3, of_page());
        for (std::uint64_t round = 1; round <= 3; ++round) {
            pending_result<> a_enters, b_enters, a_leaves, b_leaves;
            a.enter(a_enters.handler());
            b.enter(b_enters.handler());
            co_await settle(zk);
            CHECK_FALSE(a_enters.done());
            CHECK_FALSE(a.inside());
            CHECK(a.round() == round - 1);
            auto [busy] = co_await a.enter(as_tuple());
            CHECK(busy == errc::busy);
            auto [outside] = co_await a.leave(as_tuple());
            CHECK(outside == errc::not_a_member);
            co_await c.enter();
            CHECK(!co_await finished(a_enters));
            CHECK(!co_await finished(b_enters));
            CHECK(a.inside());
            CHECK(a.round() == round);
            a.leave(a_leaves.handler());
            b.leave(b_leaves.handler());
            co_await settle(zk);
            CHECK_FALSE(a_leaves.done());
            CHECK_FALSE(b_leaves.done());
            CHECK_FALSE(a.inside());
            auto [leaving] = co_await a.leave(as_tuple());
            CHECK(leaving == errc::busy);
            co_await c.leave();
            CHECK(!co_await finished(a_leaves));
            CHECK(!co_await finished(b_leaves));
        }
        CHECK(observer().children(path + "/deep/gate").empty());
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

TEST_CASE("double barrier: in the others' format a member may be cancelled, late, or destroyed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        double_barrier a(zk, path, 2, of_page());
        double_barrier b(zk, path, 2, of_page());
        pending_result<> entering;
        a.enter(entering.handler());
        co_await settle(zk);
        CHECK(observer().children(path).size() == 1);
        entering.cancel();
        CHECK(co_await finished(entering) == boost::asio::error::operation_aborted);
        co_await nothing_left(path);
        auto [late] = co_await a.enter_for(30ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        co_await nothing_left(path);

        pending_result<> a_enters, leaving;
        a.enter(a_enters.handler());
        co_await b.enter();
        CHECK(!co_await finished(a_enters));
        // It does not wait for the other one, whose leave does not wait for it.
        a.leave(leaving.handler());
        co_await settle(zk);
        CHECK_FALSE(leaving.done());
        leaving.cancel();
        CHECK(co_await finished(leaving) == boost::asio::error::operation_aborted);
        co_await b.leave();
        co_await nothing_left(path);

        // Inside, and destroyed.
        pending_result<> again;
        a.enter(again.handler());
        co_await b.enter();
        CHECK(!co_await finished(again));
        a = double_barrier();
        co_await b.leave();
        // Entering, and destroyed.
        pending_result<> aborted;
        b.enter(aborted.handler());
        co_await settle(zk);
        b = double_barrier();
        CHECK(co_await finished(aborted) == boost::asio::error::operation_aborted);
        co_await nothing_left(path);
    });
}

TEST_CASE("double barrier: in the others' format who has given up does not start the round") {
    // At each request that may be in flight, whether or not the server has it.
    auto op = GENERATE(
        testing::op_code::get_children2, testing::op_code::create2, testing::op_code::exists);
    auto hold = GENERATE(0, 1);
    with_proxy([=](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        observer().plant(path);
        double_barrier a(zk, path, 2, of_page());
        double_barrier b(other, path, 2, of_page());
        // It enters again, alone: it is one member.
        pending_result<> first, second;
        rule_id held = proxy.arm(at_op(op), hold == 0 ? hold_request() : hold_reply());
        a.enter(first.handler());
        co_await eventually_async([&] { return proxy.fired(held) == 1; });
        first.cancel();
        CHECK(co_await finished(first) == boost::asio::error::operation_aborted);
        a.enter(second.handler());
        proxy.release(held);
        co_await settle(zk);
        CHECK_FALSE(second.done());
        CHECK(observer().children(path).size() == 1);
        second.cancel();
        co_await nothing_left(path);

        // Another one waits.
        pending_result<> given_up, waiting;
        b.enter(waiting.handler());
        co_await settle(other);
        held = proxy.arm(at_op(op), hold == 0 ? hold_request() : hold_reply());
        a.enter(given_up.handler());
        co_await eventually_async([&] { return proxy.fired(held) == 1; });
        given_up.cancel();
        CHECK(co_await finished(given_up) == boost::asio::error::operation_aborted);
        proxy.release(held);
        co_await settle(zk);
        co_await settle(other);
        CHECK_FALSE(waiting.done());
        CHECK(observer().children(path).size() == 1);
        co_await a.enter();
        CHECK(!co_await finished(waiting));
        co_await other.close();
    });
}

TEST_CASE("double barrier: in the others' format a member enters again only after it has left") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        // Members of other libraries, behind ours in the order of names.
        observer().plant(path + "/zz-1");
        observer().plant(path + "/zz-2");
        double_barrier a(zk, path, 3, of_page());
        co_await a.enter();
        observer().erase(path + "/zz-2");
        pending_result<> leaving, entering;
        a.leave(leaving.handler());
        leaving.cancel();
        a.enter(entering.handler());
        co_await settle(zk);
        CHECK_FALSE(entering.done());
        CHECK(observer().children(path).size() == 2);
        observer().erase(path + "/zz-1");
        entering.cancel();
        co_await nothing_left(path);
    });
}

TEST_CASE("double barrier: in the others' format `ready` does not outlive its members") {
    auto size = GENERATE(1u, 2u);
    with_proxy([=](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        observer().plant(path);
        double_barrier a(zk, path, size, of_page());
        double_barrier b(other, path, 2, of_page());
        pending_result<> entering;
        if (size == 2)
            b.enter(entering.handler());
        co_await settle(other);
        co_await a.enter();
        if (size == 2)
            CHECK(!co_await finished(entering));
        CHECK(observer().exists(path + "/ready"));
        // Destroyed inside.
        a = double_barrier();
        b = double_barrier();
        co_await nothing_left(path);

        // A leave that was cancelled, and whose first request is lost.
        a = double_barrier(zk, path, 1, of_page());
        co_await a.enter();
        rule_id rule = proxy.arm(at_op(testing::op_code::erase), drop_request_and_cut());
        pending_result<> leaving;
        a.leave(leaving.handler());
        leaving.cancel();
        CHECK(co_await finished(leaving) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        co_await nothing_left(path);

        // It gives up when it has started the round, and is alone.
        rule = proxy.arm(at_op(testing::op_code::create2, 2), hold_reply());
        pending_result<> given_up;
        a.enter(given_up.handler());
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        given_up.cancel();
        CHECK(co_await finished(given_up) == boost::asio::error::operation_aborted);
        proxy.release(rule);
        co_await settle(zk);
        co_await nothing_left(path);
        co_await other.close();
    });
}

TEST_CASE("double barrier: in the others' format nodes and sessions may go") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2, of_page());
        double_barrier b(other, path, 2, of_page());
        // Left behind by those who died inside.
        observer().plant(path + "/ready");
        pending_result<> entering;
        a.enter(entering.handler());
        co_await settle(zk);
        CHECK_FALSE(entering.done());
        CHECK_FALSE(observer().exists(path + "/ready"));
        std::vector<std::string> names = observer().children(path);
        REQUIRE(names.size() == 1);
        // It enters again in the next session, under the same name: it counts once.
        expire(proxy.session());
        co_await eventually_async([&] { return zk.status().generation == 2; });
        co_await eventually_async([&] { return observer().children(path) == names; });
        co_await settle(zk);
        CHECK_FALSE(entering.done());
        co_await b.enter();
        CHECK(!co_await finished(entering));
        // It was inside, and died: it does not enter again.
        expire(proxy.session());
        co_await b.leave();
        auto [ec] = co_await a.leave(as_tuple());
        CHECK(ec == zk_errc::session_expired);
        co_await nothing_left(path);

        // `ready` is deleted before this member looks.
        pending_result<> first, second;
        a.enter(first.handler());
        co_await settle(zk);
        rule_id held = proxy.arm(at_notification(), hold_reply());
        co_await b.enter();
        b.leave(second.handler());
        co_await eventually_async([&] { return !observer().exists(path + "/ready"); });
        CHECK_FALSE(first.done());
        proxy.release(held);
        CHECK(!co_await finished(first));
        CHECK_FALSE(second.done());
        co_await a.leave();
        CHECK(!co_await finished(second));
        co_await other.close();
    });
}

TEST_CASE("double barrier: in the others' format a lost response changes nothing") {
    auto op = GENERATE(testing::op_code::create2, testing::op_code::erase);
    auto what = GENERATE(0, 1);
    with_proxy([=](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        observer().plant(path);
        double_barrier a(zk, path, 2, of_page());
        double_barrier b(other, path, 2, of_page());
        for (std::uint64_t k = 1; k <= 2; ++k) {
            auto cut = what == 0 ? swallow_reply_and_cut() : drop_request_and_cut();
            rule_id rule = proxy.arm(at_op(op, k), cut);
            pending_result<> entering, leaving;
            b.enter(entering.handler());
            co_await settle(other);
            co_await a.enter();
            CHECK(!co_await finished(entering));
            b.leave(leaving.handler());
            co_await settle(other);
            CHECK_FALSE(leaving.done());
            co_await a.leave();
            CHECK(!co_await finished(leaving));
            CHECK(proxy.fired(rule) == 1);
            proxy.disarm_all();
            CHECK(observer().children(path).empty());
        }
        co_await other.close();
    });
}

TEST_CASE(
    "double barrier of Kazoo: a member that has left and comes again at once does not count") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        hand.plant(path, "");
        hand.plant(path + "/0", "");  // sorts before ours, which waits for it when it leaves
        double_barrier_options options;
        options.compatibility = compatibility::kazoo;
        double_barrier ours(zk, path, 2, options);
        co_await ours.enter();
        pending_result<> out;
        ours.leave(out.handler());
        auto waits = [&] { return hand.children(path).size() == 1 && watches_below(path) == 1; };
        co_await eventually_async(waits);
        CHECK_FALSE(out.done());
        // Before ours can look.
        hand.erase(path + "/0");
        hand.plant(path + "/0", "");
        error_code ec = co_await finished(out);
        CHECK_FALSE(ec);
    });
}

}  // namespace corozk::testing::double_barrier_test
