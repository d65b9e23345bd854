// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include "recipe/partitioner/rule.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/partitioner.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace corozk::testing::partitioner_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

using held_map = std::map<std::string, ownership>;
const std::vector<std::string> six{"a", "b", "c", "d", "e", "f"};

partitioner_options at_once() {
    partitioner_options options;
    options.settle = 0ms;
    return options;
}

partitioner at_six(const client& zk, const std::string& path) {
    return partitioner(zk, path, six, at_once());
}

/// Takes part in what a change says.
void apply(held_map& held, partition_change& change) {
    for (const std::string& resource : change.lost) {
        CHECK_FALSE(held.at(resource).valid());
        held.erase(resource);
    }
    for (const std::string& resource : change.to_release) {
        CHECK(held.at(resource).valid());
        held.erase(resource);
    }
    for (partition_grant& grant : change.gained) {
        CHECK(grant.held.valid());
        CHECK(held.emplace(grant.resource, std::move(grant.held)).second);
    }
}

/// Applies changes until the member has so many resources.
awaitable<void> reach(partitioner& p, held_map& held, std::size_t count) {
    while (held.size() != count) {
        partition_change change = co_await p.next_for(20s);
        CHECK_FALSE(change.empty());
        apply(held, change);
    }
}

/// ... until it is no member any more.
awaitable<void> keep_applying(partitioner& p, held_map& held) {
    for (;;) {
        auto [ec, change] = co_await p.next(as_tuple());
        if (ec)
            co_return;
        apply(held, change);
    }
}

std::set<std::string> names(const held_map& held) {
    std::set<std::string> result;
    for (const auto& [name, grant] : held)
        result.insert(name);
    return result;
}

std::size_t contenders(const std::string& path, const std::string& resource) {
    const std::string lock = path + "/locks/" + resource;
    return observer().exists(lock) ? observer().children(lock).size() : 0;
}

/// The containers remain for the server to remove.
awaitable<void> all_gone(std::string path) {
    auto nothing_in = [&](const std::string& folder) {
        return !observer().exists(folder) || observer().children(folder).empty();
    };
    co_await eventually_async([&] {
        return nothing_in(path + "/members") && nothing_in(path + "/decider") &&
               std::all_of(six.begin(), six.end(), [&](const std::string& resource) {
                   return contenders(path, resource) == 0;
               });
    });
    co_await eventually_async([&] { return watches_below(path) == 0; });
}

}  // namespace

TEST_CASE("partitioner: members share, hand over, and leave the rest to the others") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        partitioner a = at_six(zk, path);
        partitioner b = at_six(other, path);
        CHECK_FALSE(a.joined());
        co_await a.join("A");
        CHECK(a.joined());
        CHECK(a.name() == "A");
        held_map of_a, of_b;
        co_await reach(a, of_a, 6);
        auto record = observer().stat(of_a.at("c").path());
        REQUIRE(record);
        CHECK(record->ephemeral_owner == zk.session_id());
        CHECK(record->czxid == of_a.at("c").fencing_token());
        const std::int64_t first = of_a.at("f").fencing_token();
        observer().plant(path + "/members/permanent", "no member");
        co_await b.join();
        CHECK(b.name().size() == 32);
        partition_change change = co_await a.next();
        CHECK(change.lost.empty());
        CHECK(change.gained.empty());
        REQUIRE(change.to_release.size() == 3);
        for (const std::string& resource : change.to_release) {
            // Told in both ways; and the other one waits in line.
            co_await of_a.at(resource).wait_release_requested();
            co_await eventually_async([&] { return contenders(path, resource) == 2; });
        }
        pending_result<> kept;
        of_a.at("a").wait_release_requested(kept.handler());
        pending_result<partition_change> waiting;
        b.next(waiting.handler());
        co_await settle(other);
        CHECK_FALSE(waiting.done());
        CHECK_FALSE(kept.done());
        kept.cancel();
        apply(of_a, change);
        CHECK(!co_await finished(waiting));
        apply(of_b, waiting.value());
        co_await reach(b, of_b, 3);
        CHECK(of_a.size() == 3);
        CHECK(of_b.at("f").fencing_token() > first);
        std::set<std::string> both = names(of_a);
        both.merge(names(of_b));
        CHECK(both.size() == 6);
        // An observer sees the decision and the members.
        membership members(zk, path + "/members");
        std::vector<member_info> present = co_await members.list_members();
        CHECK(present.size() == 2);
        auto decided = corozk::detail::read_assignment(observer().data(path));
        REQUIRE(decided);
        const std::set<std::string> kept_by_a = names(of_a);
        CHECK(std::set<std::string>(decided->at("A").begin(), decided->at("A").end()) == kept_by_a);
        // A leaves: it is asked for what it has, and B gets it once it is given back.
        co_await a.leave();
        CHECK_FALSE(a.joined());
        CHECK(a.name().empty());
        CHECK(of_a.at("a").valid());
        co_await reach(a, of_a, 0);
        auto [ec, none] = co_await a.next(as_tuple());
        CHECK(ec == errc::not_a_member);
        co_await reach(b, of_b, 6);
        // A comes again, and gets its share.
        co_await a.join("A");
        co_await reach(b, of_b, 3);
        co_await reach(a, of_a, 3);
        of_a.clear();
        of_b.clear();
        a = partitioner();
        co_await b.leave();
        CHECK(observer().erase(path + "/members/permanent"));
        co_await all_gone(path);
        co_await other.close();
    });
}

TEST_CASE("partitioner: few move when members come and go") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        client third = co_await one_more_client();
        partitioner a = at_six(zk, path);
        partitioner b = at_six(other, path);
        partitioner c = at_six(third, path);
        held_map of_a, of_b, of_c;
        co_await a.join("A");
        co_await reach(a, of_a, 6);
        co_await b.join("B");
        co_await reach(a, of_a, 3);
        co_await reach(b, of_b, 3);
        const std::set<std::string> before_a = names(of_a);
        const std::set<std::string> before_b = names(of_b);
        co_await c.join("C");
        co_await reach(a, of_a, 2);
        co_await reach(b, of_b, 2);
        co_await reach(c, of_c, 2);
        auto part_of = [](const std::set<std::string>& part, const std::set<std::string>& whole) {
            return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
        };
        CHECK(part_of(names(of_a), before_a));
        CHECK(part_of(names(of_b), before_b));
        const std::set<std::string> kept_b = names(of_b);
        const std::set<std::string> kept_c = names(of_c);
        // The member that decides goes, with its session; nobody else gives anything back.
        co_await zk.close();
        co_await reach(b, of_b, 3);
        co_await reach(c, of_c, 3);
        CHECK(part_of(kept_b, names(of_b)));
        CHECK(part_of(kept_c, names(of_c)));
        CHECK_FALSE(of_a.begin()->second.valid());
        auto [ec, none] = co_await a.next(as_tuple());
        CHECK(ec == errc::closed);
        co_await other.close();
        co_await third.close();
    });
}

TEST_CASE("partitioner: more members than resources") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::vector<std::string> one{"only", "only"};
        partitioner a(zk, path, one, at_once());
        partitioner b(zk, path, one, at_once());
        held_map of_a, of_b;
        co_await a.join("A");
        co_await reach(a, of_a, 1);
        co_await b.join("B");
        auto [ec, none] = co_await b.next_for(30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        co_await a.leave();
        co_await reach(a, of_a, 0);
        co_await reach(b, of_b, 1);
        co_await b.leave();
        of_b.clear();
        co_await all_gone(path);
    });
}

TEST_CASE("partitioner: a loss is told, and the resource granted again") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        partitioner a = at_six(zk, path);
        held_map held;
        co_await a.join("A");
        co_await reach(a, held, 6);
        // Somebody erases one of the nodes; somebody else everything.
        const std::int64_t token = held.at("b").fencing_token();
        lock tool(zk, path + "/locks/b");
        co_await tool.break_contender(held.at("b").path());
        partition_change change = co_await a.next();
        CHECK(change.lost == std::vector<std::string>{"b"});
        apply(held, change);
        co_await reach(a, held, 6);
        CHECK(held.at("b").fencing_token() > token);
        observer().erase_recursively(path);
        std::set<std::string> lost;
        while (lost.size() < 6) {
            change = co_await a.next();
            lost.insert(change.lost.begin(), change.lost.end());
            apply(held, change);
        }
        co_await reach(a, held, 6);
        CHECK(observer().exists(path + "/members/A"));
        // Another client asks for a release, by hand.
        lock by_hand(zk, path + "/locks/c");
        co_await by_hand.request_release(held.at("c").path());
        co_await held.at("c").wait_release_requested();
        // What is released without being asked for is granted again.
        held.erase("c");
        co_await reach(a, held, 6);
        co_await a.leave();
        held.clear();
        co_await all_gone(path);
    });
}

TEST_CASE("partitioner: the session ends") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        partitioner a = at_six(zk, path);
        partitioner b = at_six(other, path);
        held_map of_a, of_b;
        co_await a.join("A");
        co_await reach(a, of_a, 6);
        co_await b.join("B");
        co_await reach(a, of_a, 3);
        co_await reach(b, of_b, 3);
        session_record session = proxy.session();
        expire(session);
        proxy.cut();
        // The other one may have had everything meanwhile.
        std::set<std::string> lost;
        while (lost.size() < 3) {
            partition_change change = co_await a.next_for(20s);
            lost.insert(change.lost.begin(), change.lost.end());
            apply(of_a, change);
        }
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::co_spawn(executor, keep_applying(a, of_a), boost::asio::detached);
        boost::asio::co_spawn(executor, keep_applying(b, of_b), boost::asio::detached);
        co_await eventually_async([&] { return of_a.size() == 3 && of_b.size() == 3; });
        CHECK(a.joined());
        CHECK(observer().stat(path + "/members/A")->ephemeral_owner == zk.session_id());
        co_await a.leave();
        co_await eventually_async([&] { return of_a.empty() && of_b.size() == 6; });
        co_await b.leave();
        co_await all_gone(path);
        co_await other.close();
    });
}

TEST_CASE("partitioner: who is back soon enough has what it had") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        partitioner_options patient = at_once();
        patient.settle = std::chrono::milliseconds::max();
        partitioner a = at_six(other, path);
        partitioner b(zk, path, six, patient);
        held_map of_a, of_b;
        co_await a.join("A");
        co_await reach(a, of_a, 6);
        co_await b.join("B");
        co_await reach(a, of_a, 3);
        co_await reach(b, of_b, 3);
        const std::set<std::string> before = names(of_a);
        co_await other.close();
        of_a.clear();
        // B decides now, and waits.
        client again = co_await one_more_client();
        partitioner next = at_six(again, path);
        pending_result<partition_change> told;
        b.next(told.handler());
        co_await settle(zk);
        co_await next.join("A");
        co_await reach(next, of_a, 3);
        CHECK(names(of_a) == before);
        CHECK_FALSE(told.done());
        told.cancel();
        CHECK(co_await finished(told) == boost::asio::error::operation_aborted);
        co_await again.close();
        of_b.clear();
        co_await b.leave();
        co_await all_gone(path);
    });
}

TEST_CASE("partitioner: cancellation, time limits, and errors") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        partitioner a = at_six(zk, path);
        auto [early, nothing] = co_await a.next(as_tuple());
        CHECK(early == errc::not_a_member);
        auto [ec] = co_await a.leave(as_tuple());
        CHECK(ec == errc::not_a_member);
        std::tie(ec) = co_await a.join("a/b", as_tuple());
        CHECK(ec == errc::bad_path);
        partitioner wrong(zk, path, {"x", "y/z"}, at_once());
        std::tie(ec) = co_await wrong.join("A", as_tuple());
        CHECK(ec == errc::bad_path);
        partitioner empty;
        std::tie(ec) = co_await empty.join("A", as_tuple());
        CHECK(ec == errc::closed);
        // A name that is taken is waited for.
        membership taken(other, path + "/members");
        co_await taken.join("A");
        std::tie(ec) = co_await a.join_for("A", 30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        pending_result<> joining;
        a.join("A", joining.handler());
        co_await settle(zk);
        CHECK_FALSE(joining.done());
        std::tie(ec) = co_await a.join("B", as_tuple());
        CHECK(ec == errc::busy);
        joining.cancel();
        CHECK(co_await finished(joining) == boost::asio::error::operation_aborted);
        pending_result<> again;
        a.join("A", again.handler());
        co_await settle(zk);
        std::tie(ec) = co_await a.leave(as_tuple());
        CHECK_FALSE(ec);
        CHECK(co_await finished(again) == boost::asio::error::operation_aborted);
        CHECK(observer().exists(path + "/members/A"));
        co_await taken.leave();
        // A cancelled `next` loses nothing.
        co_await a.join("A");
        pending_result<partition_change> news, second;
        a.next(news.handler());
        a.next(second.handler());
        CHECK(co_await finished(second) == errc::busy);
        news.cancel();
        CHECK(co_await finished(news) == boost::asio::error::operation_aborted);
        held_map held;
        co_await reach(a, held, 6);
        std::tie(ec, nothing) =
            co_await a.next_until(std::chrono::steady_clock::now() + 30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        // Destroyed: what the user has is its own, and it is asked for it.
        pending_result<> asked;
        held.at("a").wait_release_requested(asked.handler());
        a = partitioner();
        CHECK(!co_await finished(asked));
        CHECK(held.at("a").valid());
        held.clear();
        co_await all_gone(path);
        co_await other.close();
    });
}

TEST_CASE("partitioner: grants that nobody has taken go with the object") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        partitioner a = at_six(zk, path);
        co_await a.join("A");
        co_await eventually_async([&] { return contenders(path, "f") == 1; });
        co_await a.leave();
        for (const std::string& resource : six)
            CHECK(contenders(path, resource) == 0);
        co_await a.join("A");
        co_await eventually_async([&] { return contenders(path, "f") == 1; });
        a = partitioner();
        co_await all_gone(path);
    });
}

TEST_CASE("partitioner: what its user has released is not to be released") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        partitioner a = at_six(zk, path);
        held_map held;
        co_await a.join("A");
        co_await reach(a, held, 6);
        // Unasked, or asked by its ownership.
        held.erase("b");
        pending_result<> leaving;
        a.leave(leaving.handler());
        co_await held.at("c").wait_release_requested();
        held.erase("c");
        partition_change change = co_await a.next();
        CHECK(change.to_release == std::vector<std::string>{"a", "d", "e", "f"});
        apply(held, change);
        CHECK(!co_await finished(leaving));
        co_await all_gone(path);
    });
}

TEST_CASE("partitioner: its node is refused after it was deleted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        partitioner a = at_six(zk, path);
        held_map held;
        co_await a.join("A");
        co_await reach(a, held, 6);
        const acl no_more(1, {permission::read | permission::erase, "world", "anyone"});
        co_await other.set_acl(path + "/members", no_more);
        CHECK(observer().erase(path + "/members/A"));
        co_await reach(a, held, 0);
        auto [ec, none] = co_await a.next(as_tuple());
        CHECK(ec == zk_errc::no_auth);
        CHECK(a.name().empty());
        co_await all_gone(path);
        co_await other.close();
    });
}

TEST_CASE("partitioner: the path's data is not a decision") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        observer().plant(path, "something else");
        partitioner a = at_six(zk, path);
        co_await a.join("A");
        auto [ec, none] = co_await a.next(as_tuple());
        CHECK(ec == errc::foreign_data);
        CHECK(observer().data(path) == "something else");
        co_await eventually_async([&] { return !observer().exists(path + "/members/A"); });
        co_await all_gone(path);
        // Too many names for one node.
        co_await zk.set(path, "");
        std::vector<std::string> many;
        for (int i = 0; i < 6000; ++i)
            many.push_back(std::string(190, 'x') + std::to_string(i));
        partitioner b(zk, path, many, at_once());
        co_await b.join("B");
        std::tie(ec, none) = co_await b.next(as_tuple());
        CHECK(ec == errc::too_large);
        CHECK(observer().data(path).empty());
    });
}

}  // namespace corozk::testing::partitioner_test
