// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/persistent_node.hpp>
#include <corozk/testing/raw_session.hpp>

#include <functional>

namespace corozk::testing::persistent_node_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

persistent_node_options of_kind(create_mode mode, std::chrono::milliseconds ttl = 2s) {
    persistent_node_options options;
    options.mode = mode;
    if (mode == create_mode::persistent_with_ttl)
        options.ttl = ttl;
    return options;
}

/// With a client, behind a proxy, of a server that has TTLs and looks for expired ones often.
void with_ttl_server(const std::function<awaitable<void>(client&, fault_proxy&, admin&)>& body) {
    server_options options = recipe_server_options();
    options.java_properties = {"zookeeper.extendedTypesEnabled=true",
                               "znode.container.checkIntervalMs=100"};
    server at(options);
    admin hand(at.port());
    fault_proxy proxy(at.port());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connect_to(proxy.hosts(), steady_session);
            co_await body(zk, proxy, hand);
            co_await zk.close(as_tuple());
        },
        std::chrono::seconds(60));
    run_to_idle(context);
}

/// What a client logs as an error, until it has nothing to do any more.
std::vector<std::string> errors_logged(
    const std::function<awaitable<void>(client&, fault_proxy&)>& body) {
    std::vector<std::string> errors;
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client_options loud = options_for(proxy.hosts());
        loud.logger = logger(log_level::error,
                             [&](log_level, std::string_view text) { errors.emplace_back(text); });
        client zk = co_await client::connect(loud);
        co_await body(zk, proxy);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
    return errors;
}

/// Waits until nothing is done for it any more.
awaitable<void> at_rest(persistent_node& node) {
    auto [nothing] = co_await node.erase(as_tuple());
    CHECK((!nothing || nothing == errc::not_a_member));
}

}  // namespace

TEST_CASE("persistent node: keep, set_data, erase") {
    auto mode = GENERATE(create_mode::ephemeral, create_mode::persistent);
    with_client([mode](client& zk, std::string path) -> awaitable<void> {
        std::string place = path + "/deep/node";
        persistent_node node(zk, place, of_kind(mode));
        CHECK_FALSE(node.present());
        auto [none] = co_await node.set_data("x", as_tuple());
        CHECK(none == errc::not_a_member);
        auto [nothing] = co_await node.erase(as_tuple());
        CHECK(nothing == errc::not_a_member);
        co_await node.keep("1");
        CHECK(node.present());
        CHECK(observer().data(place) == "1");
        const bool bound = observer().stat(place)->ephemeral_owner == zk.session_id();
        CHECK(bound == (mode == create_mode::ephemeral));
        auto [busy] = co_await node.keep("2", as_tuple());
        CHECK(busy == errc::busy);
        co_await node.set_data("2");
        CHECK(observer().data(place) == "2");
        // Whoever deletes it.
        observer().erase_recursively(path);
        co_await eventually_async([&] { return observer().exists(place); });
        CHECK(observer().data(place) == "2");
        co_await node.erase();
        CHECK_FALSE(node.present());
        CHECK_FALSE(observer().exists(place));
        co_await node.keep("3");
        node = persistent_node();
        co_await eventually_async([&] { return !observer().exists(place); });
        co_await eventually_async([&] { return watches_below(path) == 0; });
    });
}

TEST_CASE("persistent node: one of a kind that has no owner is adopted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        observer().plant(path, "found");
        persistent_node node(zk, path, of_kind(create_mode::persistent));
        co_await node.keep("ours");
        CHECK(observer().data(path) == "ours");
        CHECK(observer().stat(path)->version == 1);
        // Others may write.
        observer().set(path, "theirs");
        co_await settle(zk);
        CHECK(observer().data(path) == "theirs");
        persistent_node second(zk, path, of_kind(create_mode::persistent));
        pending_result<> waiting;
        second.keep("second", waiting.handler());
        co_await settle(zk);
        CHECK_FALSE(waiting.done());  // one object of a client
        co_await zk.close();
        CHECK(co_await finished(waiting) == errc::closed);
        CHECK(observer().data(path) == "theirs");  // outlives the client
    });
}

TEST_CASE("persistent node: one of another kind is in the way, until it is gone") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        persistent_node ephemeral(other, path);
        co_await ephemeral.keep("theirs");
        for (auto mode : {create_mode::ephemeral, create_mode::persistent}) {
            persistent_node_options options = of_kind(mode);
            options.wait_for_predecessor = false;
            persistent_node impatient(zk, path, options);
            auto [taken] = co_await impatient.keep("x", as_tuple());
            CHECK(taken == errc::already_exists);
        }
        persistent_node patient(zk, path, of_kind(create_mode::persistent));
        auto [late] = co_await patient.keep_for("ours", 30ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        pending_result<> keeping;
        patient.keep("ours", keeping.handler());
        co_await settle(zk);
        CHECK_FALSE(keeping.done());
        CHECK(observer().data(path) == "theirs");
        co_await ephemeral.erase();
        CHECK(!co_await finished(keeping));
        CHECK(observer().data(path) == "ours");
        pending_result<> behind;
        ephemeral.keep("theirs", behind.handler());
        co_await settle(other);
        CHECK_FALSE(behind.done());
        behind.cancel();
        CHECK(co_await finished(behind) == boost::asio::error::operation_aborted);
        CHECK(observer().data(path) == "ours");
        // One with children cannot be deleted.
        observer().plant(path + "/child");
        auto [children] = co_await patient.erase(as_tuple());
        CHECK(children == zk_errc::not_empty);
        CHECK_FALSE(patient.present());
        co_await other.close();
    });
}

TEST_CASE("persistent node: kept over sessions, with the latest data") {
    auto mode = GENERATE(create_mode::ephemeral, create_mode::persistent);
    with_proxy([mode](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        persistent_node node(zk, path, of_kind(mode));
        co_await node.keep("1");
        proxy.set_acceptance(acceptance::close_at_once);
        expire(proxy.session());
        pending_result<> changing;
        node.set_data("2", changing.handler());
        if (mode == create_mode::persistent)
            observer().erase(path);
        co_await eventually_async([&] { return zk.state() != session_state::connected; });
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(changing));
        CHECK(observer().data(path) == "2");
        CHECK(node.present());
        co_await node.erase();
        CHECK_FALSE(observer().exists(path));
    });
}

TEST_CASE("persistent node: a node with a TTL is kept alive, and not for longer than its keeper") {
    with_ttl_server([](client& zk, fault_proxy&, admin& hand) -> awaitable<void> {
        {
            persistent_node node(zk, "/kept", of_kind(create_mode::persistent_with_ttl));
            co_await node.keep("data");
            const std::int64_t first = hand.stat("/kept")->czxid;
            // It is written again, more often than it could be without being deleted.
            co_await eventually_async([&] { return hand.stat("/kept")->version >= 4; });
            CHECK(hand.stat("/kept")->czxid == first);
            CHECK(hand.data("/kept") == "data");
            co_await zk.close();
        }
        co_await eventually_async([&] { return !hand.exists("/kept"); });
    });
}

TEST_CASE("persistent node: what cannot be kept") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (auto mode : {create_mode::container,
                          create_mode::ephemeral_sequential,
                          create_mode::persistent_with_ttl}) {
            persistent_node_options options;
            options.mode = mode;
            persistent_node node(zk, path, options);
            auto [bad] = co_await node.keep("x", as_tuple());
            CHECK(bad == errc::bad_option);
        }
        persistent_node_options options;
        options.ttl = 1s;
        persistent_node ttl_without_mode(zk, path, options);
        auto [bad] = co_await ttl_without_mode.keep("x", as_tuple());
        CHECK(bad == errc::bad_option);
        // More than a server can store.
        options = of_kind(create_mode::persistent_with_ttl);
        options.ttl = std::chrono::milliseconds(std::int64_t{1} << 40);
        persistent_node for_ages(zk, path, options);
        auto [too_long] = co_await for_ages.keep("x", as_tuple());
        CHECK(too_long == errc::bad_option);
        // This server has no TTLs.
        persistent_node with_ttl(zk, path, of_kind(create_mode::persistent_with_ttl));
        auto [unknown] = co_await with_ttl.keep("x", as_tuple());
        CHECK(unknown == zk_errc::unimplemented);
        persistent_node root(zk, "/");
        auto [bad_path] = co_await root.keep("x", as_tuple());
        CHECK(bad_path == errc::bad_path);
        persistent_node none;
        auto [closed] = co_await none.keep("x", as_tuple());
        CHECK(closed == errc::closed);
        CHECK_FALSE(observer().exists(path));
    });
}

TEST_CASE("persistent node: a lost response changes nothing") {
    auto mode = GENERATE(create_mode::ephemeral, create_mode::persistent);
    auto what = GENERATE(0, 1);
    with_proxy([=](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        auto cut = [what] { return what == 0 ? swallow_reply_and_cut() : drop_request_and_cut(); };
        persistent_node node(zk, path, of_kind(mode));
        rule_id rule = proxy.arm(at_op(testing::op_code::create2), cut());
        co_await node.keep("1");
        CHECK(proxy.fired(rule) == 1);
        CHECK(observer().data(path) == "1");
        rule = proxy.arm(at_op(testing::op_code::set_data), cut());
        co_await node.set_data("2");
        CHECK(proxy.fired(rule) == 1);
        CHECK(observer().data(path) == "2");
        rule = proxy.arm(at_op(testing::op_code::erase), cut());
        co_await node.erase();
        CHECK(proxy.fired(rule) == 1);
        CHECK_FALSE(observer().exists(path));
    });
}

TEST_CASE("persistent node: in an outage another session takes its place, and is left alone") {
    bool erases = GENERATE(false, true);
    with_proxy([erases](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        persistent_node a(zk, path);
        persistent_node b(other, path);
        co_await a.keep("A");
        pending_result<> b_keeps;
        b.keep("B", b_keeps.handler());
        co_await settle(other);
        const std::uint64_t session = zk.status().generation;
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        co_await eventually_async([&] { return zk.state() == session_state::suspended; });
        observer().erase(path);
        CHECK(!co_await finished(b_keeps));
        const std::int64_t of_b = observer().stat(path)->czxid;
        pending_result<> last;
        if (erases) {
            a.erase(last.handler());
        } else {
            a.set_data("A2", last.handler());
        }
        proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return zk.state() == session_state::connected; });
        if (erases) {
            CHECK(!co_await finished(last));
        } else {
            co_await settle(zk);
            CHECK_FALSE(last.done());
        }
        CHECK(zk.status().generation == session);
        REQUIRE(observer().exists(path));
        CHECK(observer().stat(path)->czxid == of_b);
        CHECK(observer().data(path) == "B");
        co_await b.erase();
        if (!erases) {
            CHECK(!co_await finished(last));
            CHECK(observer().data(path) == "A2");
        }
        co_await other.close();
    });
}

TEST_CASE("persistent node: erase ends what is pending, and leaves what keep waits for") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        persistent_node theirs(other, path);
        co_await theirs.keep("theirs");
        persistent_node node(zk, path);
        pending_result<> keeping;
        pending_result<> changing;
        node.keep("ours", keeping.handler());
        co_await settle(zk);
        node.set_data("ours, too", changing.handler());
        co_await node.erase();
        CHECK(co_await finished(keeping) == boost::asio::error::operation_aborted);
        CHECK(co_await finished(changing) == boost::asio::error::operation_aborted);
        CHECK(observer().data(path) == "theirs");
        co_await other.close();
    });
}

TEST_CASE("persistent node: one that cannot be deleted in the background is logged") {
    with_client([](client&, std::string path) -> awaitable<void> {
        std::vector<std::string> errors;
        client_options loud = options_for(shared_server().hosts());
        loud.logger.level = log_level::error;
        loud.logger.write = [&](log_level, std::string_view text) { errors.emplace_back(text); };
        auto executor = co_await boost::asio::this_coro::executor;
        client zk = co_await client::connect(executor, loud);
        persistent_node node(zk, path, of_kind(create_mode::persistent));
        co_await node.keep("x");
        observer().plant(path + "/child");
        node = persistent_node();
        co_await eventually_async([&] { return !errors.empty(); });
        CHECK(errors.front().find("could not delete " + path) != std::string::npos);
        co_await zk.close();
    });
}

TEST_CASE("persistent node: that the client was closed is not logged as an error") {
    auto errors = errors_logged([](client& zk, fault_proxy&) -> awaitable<void> {
        const std::string path = fresh_path();
        persistent_node changed(zk, path + "-changed");
        co_await changed.keep("x");
        persistent_node node(zk, path);
        membership group(zk, path + "-group");
        pending_result<> keeping;
        pending_result<> joining;
        pending_result<> changing;
        node.keep("x", keeping.handler());
        group.join("me", joining.handler());
        changed.set_data("y", changing.handler());
        co_await zk.close();
        CHECK(co_await finished(keeping) == errc::closed);
        CHECK(co_await finished(joining) == errc::closed);
        co_await finished(changing);
    });
    CHECK(errors == std::vector<std::string>());
}

TEST_CASE("persistent node: a keep that nobody waits for is refused as one in the log") {
    const std::string path = fresh_path();
    auto errors = errors_logged([&](client& zk, fault_proxy& proxy) -> awaitable<void> {
        std::vector<testing::acl_entry> only_read(1);
        only_read[0].permissions = 1;
        observer().plant(path, "", node_kind::persistent, only_read);
        persistent_node node(zk, path + "/x");
        rule_id refusal = proxy.arm(at_op(testing::op_code::create2), hold_reply());
        pending_result<> keeping;
        node.keep("x", keeping.handler());
        co_await eventually_async([&] { return proxy.fired(refusal) == 1; });
        keeping.cancel();
        CHECK(co_await finished(keeping) == boost::asio::error::operation_aborted);
        proxy.release(refusal);
        co_await at_rest(node);
    });
    REQUIRE(errors.size() == 1);
    CHECK_THAT(errors.front(), Catch::StartsWith("could not keep " + path + "/x: "));
}

TEST_CASE("persistent node: one that is destroyed just before its client is closed is deleted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        persistent_node node(zk, path, of_kind(create_mode::persistent));
        co_await node.keep("x");
        node = persistent_node();
        co_await zk.close();
        CHECK_FALSE(observer().exists(path));
    });
}

TEST_CASE("persistent node: a cancelled keep leaves what it has found") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        observer().plant(path, "found");
        persistent_node node(zk, path, of_kind(create_mode::persistent));
        pending_result<> keeping;
        node.keep("ours", keeping.handler());
        keeping.cancel();
        CHECK(co_await finished(keeping) == boost::asio::error::operation_aborted);
        co_await at_rest(node);
        REQUIRE(observer().exists(path));
        CHECK(observer().data(path) == "found");
        CHECK(observer().stat(path)->version == 0);
    });
}

TEST_CASE("persistent node: one that is found and cannot be written stays") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const acl only_read = read_only_acl();
        create_options closed;
        closed.acl = &only_read;
        co_await zk.create(path, "found", closed);
        persistent_node node(zk, path, of_kind(create_mode::persistent));
        for (int i = 0; i < 2; ++i) {
            auto [refused] = co_await node.keep("ours", as_tuple());
            CHECK(refused == zk_errc::no_auth);
            co_await at_rest(node);
            REQUIRE(observer().exists(path));
            CHECK(observer().data(path) == "found");
        }
    });
}

TEST_CASE("persistent node: a cancelled keep whose create got no response deletes only its own") {
    bool arrives = GENERATE(false, true);
    with_proxy([arrives](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        persistent_node node(zk, path, of_kind(create_mode::persistent));
        rule_id rule = proxy.arm(at_op(testing::op_code::create2),
                                 arrives ? swallow_reply_and_cut() : drop_request_and_cut());
        // No next connection, on which the create would be sent again.
        proxy.set_acceptance(acceptance::close_at_once);
        pending_result<> keeping;
        node.keep("ours", keeping.handler());
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        co_await eventually_async([&] { return zk.state() == session_state::suspended; });
        keeping.cancel();
        CHECK(co_await finished(keeping) == boost::asio::error::operation_aborted);
        if (!arrives)
            observer().plant(path, "found");
        CHECK(observer().data(path) == (arrives ? "ours" : "found"));
        proxy.set_acceptance(acceptance::normal);
        co_await at_rest(node);
        CHECK(observer().exists(path) == !arrives);
    });
}

TEST_CASE("persistent node: what others write stays, also in the next session") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        persistent_node node(zk, path, of_kind(create_mode::persistent));
        co_await node.keep("ours");
        observer().set(path, "theirs");
        const std::uint64_t session = zk.status().generation;
        expire(proxy.session());
        co_await eventually_async([&] { return zk.status().generation != session; });
        co_await eventually_async([&] { return node.present(); });
        co_await settle(zk);
        CHECK(observer().data(path) == "theirs");
        CHECK(observer().stat(path)->version == 1);
        co_await node.set_data("ours again");
        CHECK(observer().data(path) == "ours again");
        co_await node.erase();
        CHECK_FALSE(observer().exists(path));
    });
}

TEST_CASE("persistent node: what others write stays when a node with a TTL is written again") {
    with_ttl_server([](client& zk, fault_proxy&, admin& hand) -> awaitable<void> {
        persistent_node node(zk, "/kept", of_kind(create_mode::persistent_with_ttl, 8s));
        co_await node.keep("ours");
        hand.set("/kept", "theirs");
        auto is_written_again = [&] {
            auto record = hand.stat("/kept");
            return record && record->version >= 2;
        };
        co_await eventually_async(is_written_again, 30s);
        CHECK(hand.data("/kept") == "theirs");
        co_await node.erase();
    });
}

TEST_CASE("persistent node: the owner of a lease knows of its loss whenever the node is gone") {
    with_ttl_server([](client& zk, fault_proxy& proxy, admin& hand) -> awaitable<void> {
        persistent_node node(zk, "/lease", of_kind(create_mode::persistent_with_ttl, 8s));
        CHECK_FALSE(node.valid());
        co_await node.keep("data");
        CHECK(node.valid());
        CHECK(node.valid_until() <= std::chrono::steady_clock::now() + 8s);
        const auto first_term = node.valid_until();
        const persistent_node_status held = node.status();
        const std::int64_t first = hand.stat("/lease")->czxid;
        pending_result<persistent_node_status> change;
        node.next_status(held, change.handler());
        co_await eventually_async([&] { return node.valid_until() > first_term; }, 30s);
        CHECK_FALSE(change.done());  // a renewal is no change
        proxy.black_hole(true);
        co_await eventually_async([&] { return !hand.exists("/lease"); }, 30s);
        CHECK_FALSE(node.valid());
        CHECK(!co_await finished(change));
        CHECK_FALSE(change.value().held);
        CHECK(change.value().reason == errc::lease_expired);
        CHECK(node.status().revision == held.revision + 1);
        proxy.black_hole(false);
        persistent_node_status again = node.status();
        while (!again.held)
            again = co_await node.next_status(again);
        CHECK(node.valid());
        CHECK(hand.stat("/lease")->czxid != first);
        CHECK(hand.data("/lease") == "data");
        co_await node.erase();
        CHECK_FALSE(node.valid());
    });
}

TEST_CASE("persistent node: a lease does not depend on the session") {
    with_ttl_server([](client& zk, fault_proxy& proxy, admin& hand) -> awaitable<void> {
        persistent_node_options options = of_kind(create_mode::persistent_with_ttl);
        options.ttl = 60s;
        persistent_node node(zk, "/lease", options);
        co_await node.keep("data");
        const persistent_node_status held = node.status();
        const std::int64_t first = hand.stat("/lease")->czxid;
        const std::uint64_t session = zk.status().generation;
        const session_record own = proxy.session();
        REQUIRE(expire_session(proxy.port(), own.session_id, own.password));
        proxy.cut_session(own.session_id);
        co_await eventually_async([&] { return zk.status().generation != session; });
        co_await eventually_async([&] { return node.present(); });
        CHECK(node.valid());
        CHECK(node.status().revision == held.revision);
        CHECK(hand.stat("/lease")->czxid == first);
        co_await node.erase();
    });
}

TEST_CASE("persistent node: each loss is told, and why") {
    auto mode = GENERATE(create_mode::ephemeral, create_mode::persistent);
    with_proxy([mode](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        persistent_node node(zk, path, of_kind(mode));
        persistent_node_status seen = node.status();
        CHECK_FALSE(seen.held);
        CHECK_FALSE(node.valid());
        pending_result<persistent_node_status> change, cancelled;
        node.next_status(seen, change.handler());
        node.next_status(seen, cancelled.handler());
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        CHECK_FALSE(change.done());
        co_await node.keep("x");
        CHECK(!co_await finished(change));
        CHECK(change.value().held);
        CHECK(node.valid());
        seen = node.status();
        observer().erase(path);
        persistent_node_status now = co_await node.next_status(seen);
        CHECK(now.reason == errc::ownership_lost);
        while (!now.held)
            now = co_await node.next_status(now);
        CHECK(now.revision == seen.revision + 2);
        const std::uint64_t session = zk.status().generation;
        expire(proxy.session());
        co_await eventually_async([&] { return zk.status().generation != session; });
        co_await eventually_async([&] { return node.present(); });
        const bool bound = mode == create_mode::ephemeral;
        CHECK(node.status().revision == now.revision + (bound ? 2 : 0));
        CHECK(node.status().held);
        if (bound)
            CHECK(node.status().reason == zk_errc::session_expired);
        seen = node.status();
        co_await node.erase();
        CHECK_FALSE(node.valid());
        now = co_await node.next_status(seen);
        CHECK_FALSE(now.held);
        CHECK_FALSE(now.reason);
        pending_result<persistent_node_status> last;
        node.next_status(now, last.handler());
        co_await zk.close();
        CHECK(co_await finished(last) == errc::closed);
    });
}

}  // namespace corozk::testing::persistent_node_test
