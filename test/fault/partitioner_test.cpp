// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include "read_only_server.hpp"
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/partitioner.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace corozk::testing::partitioner_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

using held_map = std::map<std::string, ownership>;
const std::vector<std::string> four{"a", "b", "c", "d"};

partitioner at_four(const client& zk, const std::string& path) {
    partitioner_options options;
    options.settle = 0ms;
    return partitioner(zk, path, four, options);
}

void apply(held_map& held, partition_change& change) {
    for (const std::string& resource : change.lost)
        CHECK(held.erase(resource) == 1);
    for (const std::string& resource : change.to_release)
        CHECK(held.erase(resource) == 1);
    for (partition_grant& grant : change.gained)
        CHECK(held.emplace(grant.resource, std::move(grant.held)).second);
}

awaitable<void> reach(partitioner& p, held_map& held, std::size_t count) {
    while (held.size() != count) {
        partition_change change = co_await p.next_for(20s);
        apply(held, change);
    }
}

/// Two members, with two each.
struct two_members {
    two_members(const client& one, const client& other, const std::string& path)
        : a(at_four(one, path)), b(at_four(other, path)) {}

    awaitable<void> share() {
        co_await a.join("A");
        co_await reach(a, of_a, 4);
        co_await b.join("B");
        co_await reach(a, of_a, 2);
        co_await reach(b, of_b, 2);
    }

    partitioner a, b;
    held_map of_a, of_b;
};

std::int32_t decisions(const std::string& path) {
    return observer().stat(path)->version;
}

awaitable<void> back(client& zk) {
    co_await eventually_async([&] { return zk.state() == session_state::connected; });
    co_await settle(zk);
}

}  // namespace

TEST_CASE("partitioner: connections that bounce move nothing") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        two_members two(zk, other, path);
        co_await two.share();
        const std::int32_t before = decisions(path);
        pending_result<partition_change> of_a, of_b;
        two.a.next(of_a.handler());
        two.b.next(of_b.handler());
        for (int i = 0; i < 10; ++i) {
            proxy.cut();
            co_await back(zk);
        }
        CHECK_FALSE(of_a.done());
        CHECK_FALSE(of_b.done());
        CHECK(decisions(path) == before);
        for (const auto& [resource, held] : two.of_a)
            CHECK(held.valid());
        co_await other.close();
    });
}

TEST_CASE("partitioner: cut off from every server, it is told of the loss, and others go on") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        two_members two(zk, other, path);
        co_await two.share();
        proxy.black_hole(true);
        // B hears of nothing before A knows that it has lost everything.
        std::vector<partition_grant> gained;
        while (gained.size() < 2) {
            partition_change change = co_await two.b.next_for(20s);
            for (const auto& [resource, held] : two.of_a)
                CHECK_FALSE(held.valid());
            for (partition_grant& grant : change.gained)
                gained.push_back(std::move(grant));
        }
        partition_change change = co_await two.a.next_for(20s);
        CHECK(change.lost.size() == 2);
        CHECK(change.gained.empty());
        apply(two.of_a, change);
        CHECK_FALSE(two.a.joined());
        proxy.black_hole(false);
        for (partition_grant& grant : gained)
            two.of_b.emplace(grant.resource, std::move(grant.held));
        co_await reach(two.b, two.of_b, 2);
        co_await reach(two.a, two.of_a, 2);
        CHECK(two.a.joined());
        co_await other.close();
    });
}

TEST_CASE("partitioner: a decision whose response is lost is made once") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        two_members two(zk, other, path);
        co_await two.a.join("A");
        co_await reach(two.a, two.of_a, 4);
        const std::int32_t before = decisions(path);
        rule_id lost = proxy.arm(at_op(op_code::multi), swallow_reply_and_cut());
        co_await two.b.join("B");
        co_await reach(two.a, two.of_a, 2);
        co_await reach(two.b, two.of_b, 2);
        CHECK(proxy.fired(lost) == 1);
        co_await settle(zk);
        CHECK(decisions(path) == before + 1);
        CHECK(two.of_a.begin()->second.valid());
        co_await other.close();
    });
}

TEST_CASE("partitioner: a decider that is out of date decides nothing") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        two_members two(zk, other, path);
        co_await two.a.join("A");
        co_await reach(two.a, two.of_a, 4);
        // Its decision is on its way when it loses its place.
        rule_id held = proxy.arm(at_op(op_code::multi), hold_request());
        co_await two.b.join("B");
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        const std::string place = path + "/decider";
        co_await eventually_async([&] { return observer().children(place).size() == 2; });
        lock tool(other, place);
        std::vector<contender_info> deciders = co_await tool.list_contenders();
        REQUIRE(deciders.size() == 2);
        CHECK(deciders[0].data == "A");
        const std::int32_t before = decisions(path);
        co_await tool.break_contender(deciders[0].path);
        co_await eventually_async([&] { return decisions(path) == before + 1; });
        proxy.release(held);
        co_await reach(two.a, two.of_a, 2);
        co_await reach(two.b, two.of_b, 2);
        co_await settle(zk);
        CHECK(decisions(path) == before + 1);
        co_await eventually_async([&] { return observer().children(place).size() == 2; });
        deciders = co_await tool.list_contenders();
        REQUIRE(deciders.size() == 2);
        CHECK(deciders[0].data == "B");
        // A decides again when B is gone.
        co_await other.close();
        co_await reach(two.a, two.of_a, 4);
    });
}

TEST_CASE("partitioner: left in an outage, it stays away") {
    for (bool expired : {false, true}) {
        with_proxy([expired](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            client other = co_await one_more_client();
            two_members two(zk, other, path);
            co_await two.share();
            session_record session = proxy.session();
            proxy.set_acceptance(acceptance::close_at_once);
            proxy.cut();
            co_await eventually_async([&] { return zk.state() != session_state::connected; });
            pending_result<> leaving;
            two.a.leave(leaving.handler());
            partition_change change = co_await two.a.next();
            CHECK(change.to_release.size() == 2);
            apply(two.of_a, change);
            if (expired)
                expire(session);
            proxy.set_acceptance(acceptance::normal);
            CHECK(!co_await finished(leaving));
            CHECK_FALSE(observer().exists(path + "/members/A"));
            co_await reach(two.b, two.of_b, 4);
            auto [ec, none] = co_await two.a.next(as_tuple());
            CHECK(ec == errc::not_a_member);
            co_await back(zk);
            CHECK_FALSE(observer().exists(path + "/members/A"));
            co_await other.close();
        });
    }
}

TEST_CASE("partitioner: left after the loss of the session, without any server") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        two_members two(zk, other, path);
        co_await two.share();
        proxy.black_hole(true);
        partition_change change = co_await two.a.next_for(20s);
        CHECK(change.lost.size() == 2);
        apply(two.of_a, change);
        pending_result<> leaving;
        two.a.leave(leaving.handler());
        CHECK(!co_await finished(leaving));
        auto [ec, none] = co_await two.a.next(as_tuple());
        CHECK(ec == errc::not_a_member);
        // It joins again before it hears of a server.
        pending_result<> joining;
        two.a.join("A", joining.handler());
        co_await reach(two.b, two.of_b, 4);
        CHECK(zk.state() != session_state::connected);
        CHECK_FALSE(joining.done());
        proxy.black_hole(false);
        CHECK(!co_await finished(joining));
        co_await reach(two.b, two.of_b, 2);
        co_await reach(two.a, two.of_a, 2);
        co_await other.close();
    });
}

TEST_CASE("partitioner: whose name went to another session does nothing until it is free") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        partitioner a = at_four(zk, path);
        held_map held;
        co_await a.join("A");
        co_await reach(a, held, 4);
        membership taken(other, path + "/members");
        pending_result<> taking;
        taken.join("A", taking.handler());
        session_record session = proxy.session();
        proxy.set_acceptance(acceptance::close_at_once);
        expire(session);
        proxy.cut();
        CHECK(!co_await finished(taking));
        proxy.set_acceptance(acceptance::normal);
        partition_change change = co_await a.next();
        CHECK(change.lost == four);
        apply(held, change);
        co_await back(zk);
        CHECK_FALSE(a.joined());
        for (const char* place : {"/decider", "/locks/a", "/locks/d"}) {
            INFO(place);
            CHECK(observer().children(path + place).empty());
        }
        co_await taken.leave();
        co_await reach(a, held, 4);
        CHECK(a.joined());
        CHECK(observer().children(path + "/decider").size() == 1);
        co_await other.close();
    });
}

TEST_CASE("partitioner: joins while an earlier join cannot be undone yet") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        observer().plant(path + "/members", "");
        partitioner a = at_four(zk, path);
        rule_id held_back = proxy.arm(at_op(op_code::create2).under(path), hold_request());
        pending_result<> first, second, third, fourth, fifth, leaving;
        a.join("A", first.handler());
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        first.cancel();
        CHECK(co_await finished(first) == boost::asio::error::operation_aborted);
        a.join("B", second.handler());
        CHECK(a.name() == "B");
        a.join("C", third.handler());
        CHECK(co_await finished(third) == errc::busy);
        CHECK_FALSE(second.done());
        second.cancel();
        CHECK(co_await finished(second) == boost::asio::error::operation_aborted);
        a.join("D", fourth.handler());
        a.leave(leaving.handler());
        CHECK(co_await finished(fourth) == boost::asio::error::operation_aborted);
        auto [ec] = co_await a.join("E", as_tuple());
        CHECK(ec == errc::busy);
        CHECK_FALSE(leaving.done());
        leaving.cancel();
        CHECK(co_await finished(leaving) == boost::asio::error::operation_aborted);
        a.join("E", fifth.handler());
        proxy.release(held_back);
        CHECK(!co_await finished(fifth));
        CHECK(observer().children(path + "/members") == std::vector<std::string>{"E"});
        held_map held;
        co_await reach(a, held, 4);
    });
}

TEST_CASE("partitioner: what is to be released is told without waiting for local copies") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        partitioner a = at_four(zk, path);
        held_map held;
        co_await a.join("A");
        co_await reach(a, held, 4);
        const std::string copied = path + "/copied";
        observer().plant(copied, "old");
        node_cache copy(zk, copied);
        co_await copy.next();
        rule_id held_back = proxy.arm(at_op(op_code::get_data).under(copied), hold_reply());
        pending_result<corozk::stat> changing;
        zk.set(copied, "new", changing.handler());
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        // The copy owes the change: its response waits.
        pending_result<> leaving;
        a.leave(leaving.handler());
        pending_result<partition_change> news;
        a.next(news.handler());
        CHECK(!co_await finished(news));
        CHECK(news.value().to_release == four);
        CHECK_FALSE(changing.done());
        apply(held, news.value());
        proxy.release(held_back);
        CHECK(!co_await finished(changing));
        CHECK(!co_await finished(leaving));
    });
}

TEST_CASE("partitioner: a server without a quorum is not asked to change anything") {
    with_read_only_server([](client& zk, auto& regain_quorum, std::string path) -> awaitable<void> {
        partitioner a = at_four(zk, path);
        pending_result<> joining;
        a.join("A", joining.handler());
        co_await settle(zk);
        CHECK_FALSE(joining.done());
        CHECK_FALSE(observer().exists(path));
        regain_quorum();
        CHECK(!co_await finished(joining));
        held_map held;
        co_await reach(a, held, 4);
    });
}

TEST_CASE("partitioner: a decision that a server without a quorum refuses waits for the quorum") {
    enum class event : std::uint8_t { none, cut, cancelled, left, ended, expired };
    for (const event what :
         {event::none, event::cut, event::cancelled, event::left, event::ended, event::expired}) {
        CAPTURE(static_cast<int>(what));
        auto body = [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            client other = co_await connect_to(shared_server().hosts(), steady_session);
            two_members two(zk, other, path);
            co_await two.a.join("A");
            co_await reach(two.a, two.of_a, 4);
            const std::int32_t before = decisions(path);
            lost_quorum quorum(proxy);
            auto waits = [&](int earlier) -> awaitable<void> {
                co_await eventually_async([&] { return quorum.refused() > earlier; }, 30s);
                for (int i = 0; i < 8; ++i)
                    co_await zk.exists("/", as_tuple());
                CHECK(quorum.refused() == earlier + 1);
                CHECK(decisions(path) == before);
            };
            quorum.begin();
            proxy.cut();
            co_await eventually_async([&] { return zk.state() == session_state::read_only; });
            pending_result<partition_change> news;
            two.a.next(news.handler());
            co_await two.b.join("B");
            co_await waits(0);
            pending_result<> leaving;
            if (what == event::cut) {
                proxy.cut();
                co_await waits(1);
            } else if (what == event::left) {
                two.a.leave(leaving.handler());
            } else if (what == event::ended) {
                expire(proxy.session());
            } else if (what == event::expired) {
                co_await eventually_async([&] { return zk.generation() > 1; }, 30s);
            }
            if (what == event::cancelled) {
                news.cancel();
                CHECK(co_await finished(news) == boost::asio::error::operation_aborted);
            }
            const bool session_ends = what == event::ended || what == event::expired;
            for (const auto& [resource, held] : two.of_a)
                CHECK((held.valid() || session_ends));
            quorum.end();
            if (what != event::cancelled) {
                CHECK(!co_await finished(news));
                apply(two.of_a, news.value());
            }
            if (what == event::left) {
                CHECK(!co_await finished(leaving));
                CHECK(two.of_a.empty());
                co_await reach(two.b, two.of_b, 4);
            } else {
                co_await reach(two.a, two.of_a, 2);
                co_await reach(two.b, two.of_b, 2);
                co_await settle(zk);
                CHECK((session_ends || decisions(path) == before + 1));
            }
            co_await other.close();
        };
        with_proxy(
            body, 60s, what == event::expired ? usual_session_timeout : steady_session, true);
    }
}

}  // namespace corozk::testing::partitioner_test
