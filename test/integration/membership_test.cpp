// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/membership.hpp>

namespace corozk::testing::membership_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

TEST_CASE("membership: join, members, set_data, leave") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string folder = path + "/deep/group";
        membership a(zk, folder);
        membership b(zk, folder);
        std::vector<member_info> members = co_await a.list_members();
        CHECK(members.empty());
        CHECK_FALSE(a.joined());
        co_await a.join("a", "one");
        CHECK(a.joined());
        CHECK(a.name() == "a");
        co_await b.join("", "two");
        CHECK(b.name().size() == 32);
        observer().plant(folder + "/persistent", "no member");
        members = co_await a.list_members();
        REQUIRE(members.size() == 2);
        std::size_t at = members[0].name == "a" ? 0 : 1;
        CHECK(members[at].data == "one");
        CHECK(members[at].session_id == zk.session_id());
        CHECK(members[1 - at].data == "two");
        co_await a.set_data("three");
        CHECK(observer().data(folder + "/a") == "three");
        auto [ec] = co_await a.join("z", "", as_tuple());
        CHECK(ec == errc::busy);
        co_await a.leave();
        CHECK_FALSE(a.joined());
        CHECK_FALSE(observer().exists(folder + "/a"));
        std::tie(ec) = co_await a.leave(as_tuple());
        CHECK(ec == errc::not_a_member);
        std::tie(ec) = co_await a.set_data("x", as_tuple());
        CHECK(ec == errc::not_a_member);
        std::tie(ec) = co_await a.join("a/b", "", as_tuple());
        CHECK(ec == errc::bad_path);
        co_await a.join("c", "again");
        CHECK(observer().data(folder + "/c") == "again");
        membership empty;
        std::tie(ec) = co_await empty.join("x", "", as_tuple());
        CHECK(ec == errc::closed);
        // Destruction leaves.
        a = membership();
        b = membership();
        co_await eventually_async([&] { return observer().children(folder).size() == 1; });
        co_await eventually_async([&] { return watches_below(path) == 0; });
    });
}

TEST_CASE("membership: a taken name is waited for, or refused") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        membership old(other, path);
        co_await old.join("a", "old");
        membership_options options;
        options.wait_for_predecessor = false;
        membership impatient(zk, path, options);
        auto [ec] = co_await impatient.join("a", "new", as_tuple());
        CHECK(ec == errc::already_exists);
        // Nobody waits for the end of a node without a session.
        co_await zk.create(path + "/b", "");
        membership behind_nobody(zk, path);
        std::tie(ec) = co_await behind_nobody.join("b", "new", as_tuple());
        CHECK(ec == errc::already_exists);
        co_await zk.erase(path + "/b");
        membership next(zk, path);
        std::tie(ec) = co_await next.join_for("a", "new", 30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        CHECK(observer().data(path + "/a") == "old");
        pending_result<> joining;
        next.join("a", "new", joining.handler());
        co_await settle(zk);
        CHECK_FALSE(joining.done());
        joining.cancel();
        CHECK(co_await finished(joining) == boost::asio::error::operation_aborted);
        pending_result<> again, same_client;
        next.join("a", "new", again.handler());
        membership third(zk, path);
        third.join("a", "third", same_client.handler());
        co_await settle(zk);
        CHECK_FALSE(again.done());
        co_await other.close();
        CHECK(!co_await finished(again));
        CHECK(observer().data(path + "/a") == "new");
        co_await settle(zk);
        CHECK_FALSE(same_client.done());  // never two owners of one name, not even in one client
        std::tie(ec) = co_await impatient.join("a", "x", as_tuple());
        CHECK(ec == errc::already_exists);
        co_await next.leave();
        CHECK(!co_await finished(same_client));
        CHECK(observer().data(path + "/a") == "third");
    });
}

TEST_CASE("membership: changes come as differences") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        membership watcher(zk, path);
        membership a(other, path);
        membership_change c = co_await watcher.next();
        CHECK(c.empty());
        pending_result<membership_change> next;
        watcher.next(next.handler());
        co_await settle(zk);
        CHECK_FALSE(next.done());
        auto [ec, none] = co_await watcher.next(as_tuple());
        CHECK(ec == errc::busy);
        co_await a.join("a", "1");
        CHECK(!co_await finished(next));
        REQUIRE(next.value().joined.size() == 1);
        CHECK(next.value().joined[0].data == "1");
        co_await a.set_data("2");
        c = co_await watcher.next();
        REQUIRE(c.updated.size() == 1);
        CHECK(c.updated[0].data == "2");
        // What happens between two calls is told as one difference.
        membership b(other, path);
        co_await b.join("b", "");
        co_await a.leave();
        co_await a.join("a", "3");
        co_await zk.sync("/");
        std::size_t joined = 0;
        std::size_t left = 0;
        while (joined < 2) {
            c = co_await watcher.next();
            joined += c.joined.size();
            left += c.left.size();
        }
        CHECK(joined == 2);
        CHECK(left == 1);
        // Cancelling loses nothing.
        pending_result<membership_change> cancelled;
        watcher.next(cancelled.handler());
        co_await settle(zk);
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        co_await b.leave();
        c = co_await watcher.next();
        CHECK(c.left.size() == 1);
        // a joins again by itself. Who looks only then is told of both at once.
        observer().erase_recursively(path);
        co_await eventually_async([&] { return observer().exists(path + "/a"); });
        co_await zk.sync("/");
        c = co_await watcher.next();
        CHECK(c.left.size() == 1);
        REQUIRE(c.joined.size() == 1);
        CHECK(c.joined[0].data == "3");
        // Who looks all the time may see the moment without a.
        pending_result<membership_change> looking;
        watcher.next(looking.handler());
        co_await settle(zk);
        observer().erase_recursively(path);
        CHECK(!co_await finished(looking));
        c = looking.value();
        CHECK(c.left.size() == 1);
        while (c.joined.empty())
            c = co_await watcher.next();
        CHECK(c.joined[0].data == "3");
        watcher = membership();
        co_await a.leave();
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

TEST_CASE("membership: a party of Kazoo's has its own names, and other children are ignored") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        membership_options options;
        options.compatibility = compatibility::kazoo;
        membership a(zk, path, options);
        membership b(zk, path, options);
        membership stranger(zk, path);
        co_await stranger.join("c", "no member");
        co_await a.join("a-b", "one");
        co_await b.join("a", "two");
        CHECK(a.name() == "a-b");
        CHECK(observer().data(path + "/a-b__party__") == "one");
        std::vector<member_info> members = co_await a.list_members();
        REQUIRE(members.size() == 2);
        CHECK(members[0].name == "a");
        CHECK(members[1].name == "a-b");
        membership_change change = co_await a.next();
        REQUIRE(change.joined.size() == 2);
        CHECK(change.joined[0].name == "a");
        pending_result<membership_change> next;
        a.next(next.handler());
        co_await stranger.leave();
        co_await settle(zk);
        CHECK_FALSE(next.done());
        co_await b.leave();
        CHECK(!co_await finished(next));
        REQUIRE(next.value().left.size() == 1);
        CHECK(next.value().left[0].name == "a");
        co_await a.leave();
    });
}

TEST_CASE("membership: the parent of a party is no container, which Kazoo does not expect") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        auto nothing = [](const frame_info&) {};
        rule_id container =
            proxy.arm(at_op(testing::op_code::create_container), call_at_request(nothing));
        membership_options options;
        options.compatibility = compatibility::kazoo;
        membership party(zk, path + "/party", options);
        co_await party.join("a", "");
        CHECK(proxy.fired(container) == 0);
        membership native(zk, path + "/native");
        co_await native.join("a", "");
        CHECK(proxy.fired(container) == 1);
    });
}

}  // namespace corozk::testing::membership_test
