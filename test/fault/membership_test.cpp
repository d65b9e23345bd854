// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "pending_result.hpp"
#include "read_only_server.hpp"
#include <corozk/recipe/membership.hpp>

#include <set>

namespace corozk::testing::membership_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

using names = std::map<std::string, std::string>;

// Named: g++ 12.2 does not compile lists in braces beside co_await.
const names nobody;
const names a1{{"a", "1"}};
const names a2{{"a", "2"}};
const names b1{{"b", "1"}};
const names a2_b1{{"a", "2"}, {"b", "1"}};

/// Takes changes until the observer knows exactly these names.
awaitable<void> follow_until(membership& g, names& known, const names& wanted) {
    while (known != wanted) {
        membership_change c = co_await g.next();
        for (const auto& m : c.left)
            CHECK(known.erase(m.name) == 1);
        for (const auto& m : c.joined)
            CHECK(known.emplace(m.name, m.data).second);
        for (const auto& m : c.updated) {
            CHECK(known.contains(m.name));
            known[m.name] = m.data;
        }
    }
}

}  // namespace

TEST_CASE("membership: left in an outage, it stays away (curator 164, 617)") {
    for (bool expired : {false, true}) {
        boost::asio::io_context context;
        fault_proxy proxy(shared_server().port());
        run(context, [&]() -> awaitable<void> {
            client zk = co_await connect_to(proxy.hosts());
            std::string path = fresh_path();
            membership g(zk, path);
            co_await g.join("a", "1");
            session_record session = proxy.session();
            proxy.set_acceptance(acceptance::close_at_once);
            proxy.cut();
            co_await eventually_async([&] { return zk.state() != session_state::connected; });
            pending_result<> changing, leaving;
            g.set_data("2", changing.handler());
            g.leave(leaving.handler());
            if (expired)
                expire(session);
            proxy.set_acceptance(acceptance::normal);
            CHECK(!co_await finished(leaving));
            CHECK(changing.done());
            CHECK(observer().children(path).empty());
            co_await eventually_async([&] { return zk.state() == session_state::connected; });
            co_await settle(zk);
            CHECK(observer().children(path).empty());
            co_await zk.close(as_tuple());
        });
        run_to_idle(context);
    }
}

TEST_CASE("membership: a pending leave ends with its object, also after the next join") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        membership g(zk, path);
        co_await g.join("a", "1");
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        co_await eventually_async([&] { return zk.state() != session_state::connected; });
        pending_result<> leaving, joining;
        g.leave(leaving.handler());
        g.join("b", "1", joining.handler());
        g = membership();
        CHECK(co_await finished(leaving) == boost::asio::error::operation_aborted);
        CHECK(co_await finished(joining) == boost::asio::error::operation_aborted);
        proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return observer().children(path).empty(); });
    });
}

TEST_CASE("membership: a server that takes no changes now is asked again") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        membership g(zk, path);
        // Each change once, behind whose back it is made all the same.
        std::set<testing::op_code> refused;
        proxy.edit(direction::to_client, [&](const frame_info& frame, std::string bytes) {
            bool changes = is_create(frame.op) || frame.op == testing::op_code::set_data ||
                           frame.op == testing::op_code::erase;
            if (frame.kind != frame_kind::reply || !changes || frame.error != 0 ||
                frame.path != path + "/a" || !refused.insert(frame.op).second)
                return bytes;
            const std::string not_read_only("\xff\xff\xff\x89", 4);
            return bytes.replace(16, 4, not_read_only);
        });
        co_await g.join("a", "1");
        CHECK(observer().data(path + "/a") == "1");
        co_await g.set_data("2");
        CHECK(observer().data(path + "/a") == "2");
        CHECK(g.joined());
        co_await g.leave();
        CHECK_FALSE(observer().exists(path + "/a"));
        proxy.edit(direction::to_client, nullptr);
        CHECK(refused.size() == 3);
    });
}

TEST_CASE("membership: a server without a quorum is not asked to change anything") {
    with_read_only_server([](client& zk, auto& regain_quorum, std::string path) -> awaitable<void> {
        membership g(zk, path);
        pending_result<> joining;
        g.join("a", "1", joining.handler());
        co_await settle(zk);
        CHECK_FALSE(joining.done());
        CHECK_FALSE(observer().exists(path));
        regain_quorum();
        CHECK(!co_await finished(joining));
        CHECK(g.joined());
    });
}

TEST_CASE(
    "membership: the server of an observer's new session lags behind: nobody seems to leave") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        membership a(other, path), b(other, path), watcher(zk, path);
        co_await a.join("a", "1");
        names known;
        co_await follow_until(watcher, known, a1);
        pending_result<membership_change> told;
        watcher.next(told.handler());
        co_await next_session_lags(zk, proxy, path);
        std::vector<member_info> present = co_await watcher.list_members();
        CHECK(present.size() == 1);
        co_await b.join("b", "1");
        CHECK(!co_await finished(told));
        CHECK(told.value().left.empty());
        CHECK(told.value().joined.size() == 1);
        co_await other.close();
    });
}

TEST_CASE("membership: the server killed and restarted") {
    server own(recipe_server_options());
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(own.hosts());
        client other = co_await connect_to(own.hosts());
        membership a(zk, "/group");
        membership watcher(other, "/group");
        names known;
        co_await a.join("a", "1");
        co_await follow_until(watcher, known, a1);
        own.kill();
        pending_result<> changing;
        a.set_data("2", changing.handler());
        own.restart();
        CHECK(!co_await finished(changing));
        co_await follow_until(watcher, known, a2);
        co_await zk.close();
        co_await follow_until(watcher, known, nobody);
        co_await other.close(as_tuple());
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::membership_test
