// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/page_barrier.hpp"

#include "recipe/barriers/page_barrier_rule.hpp"
#include "scripted_port.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

namespace corozk::testing::page_barrier_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

using list = std::vector<std::string>;

name_list names(const list& all) {
    name_list result;
    for (const std::string& name : all)
        result.push_back(name);
    return result;
}

}  // namespace

TEST_CASE("page barrier: ready is not a member, and members are sorted") {
    page_barrier_view view = view_page_barrier(names({}));
    CHECK_FALSE(view.ready);
    CHECK(view.members.empty());
    view = view_page_barrier(names({"c", "ready", "a", "ready-too", "b"}));
    CHECK(view.ready);
    CHECK(view.members == list{"a", "b", "c", "ready-too"});
}

TEST_CASE("page barrier: who leaves waits for nobody who comes later") {
    page_barrier_view now = view_page_barrier(names({"d", "b", "ready"}));
    CHECK(still_members({"a", "b", "c"}, now) == list{"b"});
    CHECK(still_members({"a"}, now).empty());
    CHECK(still_members({}, now).empty());
}

TEST_CASE("page barrier: the first one leaves last") {
    CHECK(plan_page_leave({}, "a") == page_leave::done);
    CHECK(plan_page_leave({"a"}, "a") == page_leave::erase);
    CHECK(plan_page_leave({"a", "b"}, "a") == page_leave::watch_last);
    CHECK(plan_page_leave({"a", "b"}, "b") == page_leave::erase);
    CHECK(plan_page_leave({"a"}, "b") == page_leave::watch_first);
    CHECK(plan_page_leave({"b"}, "a") == page_leave::watch_first);
}

TEST_CASE("page barrier: in any order of steps everybody leaves, after the others") {
    list order{"a", "b", "c", "d"};
    do {
        list there{"a", "b", "c", "d"};
        std::set<std::string> done;
        for (int pass = 0; pass < 8 && done.size() < order.size(); ++pass) {
            for (const std::string& own : order) {
                if (done.contains(own))
                    continue;
                page_leave step = plan_page_leave(there, own);
                if (step == page_leave::erase)
                    std::erase(there, own);
                if (step == page_leave::done) {
                    CHECK(there.empty());
                    done.insert(own);
                }
            }
        }
        CHECK(done.size() == order.size());
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("page barrier: a member that leaves waits for the quorum") {
    scripted_port p;
    recipe_core owner(p);
    const page_nodes nodes{p, "/b", 1, acl(), create_mode::container};
    auto member = std::make_shared<page_member>(nodes, 0);
    std::optional<error_code> entered;
    std::optional<error_code> left;
    auto expect = [&p](const std::string& question, error_code ec = {}) {
        REQUIRE(p.asked() == question);
        p.answer(ec);
    };
    auto listed = [&](bool present) {
        REQUIRE(p.asked() == "get_children /b");
        if (present)
            p.front().names.push_back(nodes.name);
        p.answer();
    };
    member->enter(
        owner, [&entered](error_code ec) { entered = ec; }, time_limit::for_ever());
    expect("sync /b");
    listed(false);
    // Behind the watch, as others may start and leave the round at once.
    expect("exists /b/ready", zk_errc::no_node);
    expect("create " + nodes.own);
    listed(true);
    expect("create /b/ready");
    REQUIRE(entered == error_code());
    member->leave(
        owner, [&left](error_code ec) { left = ec; }, time_limit::for_ever());
    for (const std::string& node : {nodes.ready, nodes.own}) {
        p.set_state(session_state::read_only, 1);
        auto again = [&] {
            if (node == nodes.own)
                listed(true);
        };
        expect("erase " + node, zk_errc::not_read_only);
        again();  // the new state has woken it
        expect("erase " + node, zk_errc::not_read_only);
        CHECK(p.asked().empty());
        CHECK_FALSE(left);
        p.set_state(session_state::connected, 1);
        again();
        expect("erase " + node);
        listed(node == nodes.ready);
    }
    CHECK(left == error_code());
    CHECK(p.asked().empty());
}

TEST_CASE("page barrier: in each session the watch is set before the member counts") {
    scripted_port p;
    recipe_core owner(p);
    const page_nodes nodes{p, "/b", 2, acl(), create_mode::container};
    auto member = std::make_shared<page_member>(nodes, 0);
    auto expect = [&p](const std::string& question, std::uint64_t session, error_code ec = {}) {
        REQUIRE(p.asked() == question);
        CHECK(p.front().generation == session);
        p.answer(ec);
    };
    p.set_state(session_state::suspended, 1);
    member->enter(
        owner, [](error_code) {}, time_limit::for_ever());
    REQUIRE(p.asked() == "sync /b");
    // It is sent in the next session only.
    p.set_state(session_state::lost, 1);
    p.set_state(session_state::connected, 2);
    expect("sync /b", 0);
    expect("get_children /b", 0);
    expect("exists /b/ready", 2, zk_errc::no_node);
    expect("create " + nodes.own, 2);
    CHECK(p.asked() == "get_children /b");
}

}  // namespace corozk::testing::page_barrier_test
