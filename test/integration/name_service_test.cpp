// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/name_service.hpp>

namespace corozk::testing::name_service_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

TEST_CASE("name service: register, resolve, list, unregister") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string root = path + "/names";
        name_service names(zk, root);
        auto [ec, none] = co_await names.resolve("a", as_tuple());
        CHECK(ec == zk_errc::no_node);
        std::vector<name_entry> all = co_await names.list();
        CHECK(all.empty());
        co_await names.register_name("a", "1");
        co_await names.register_name("a", "1");
        co_await names.register_name("printers/second", "2", create_mode::ephemeral);
        name_entry e = co_await names.resolve("a");
        CHECK(e.value == "1");
        CHECK(e.session_id == 0);
        e = co_await names.resolve("printers/second");
        CHECK(e.value == "2");
        CHECK(e.session_id == zk.session_id());
        std::tie(ec, none) = co_await names.resolve("printers", as_tuple());
        CHECK(ec == zk_errc::no_node);  // a folder
        all = co_await names.list();
        REQUIRE(all.size() == 1);
        CHECK(all[0].name == "a");
        all = co_await names.list("printers");
        REQUIRE(all.size() == 1);
        CHECK(all[0].name == "second");
        auto [ec1] =
            co_await names.register_name("a", "other", create_mode::persistent, as_tuple());
        CHECK(ec1 == errc::already_exists);
        std::tie(ec1) = co_await names.register_name("a", "1", create_mode::ephemeral, as_tuple());
        CHECK(ec1 == errc::already_exists);
        std::tie(ec1) =
            co_await names.register_name("../a", "1", create_mode::ephemeral, as_tuple());
        CHECK(ec1 == errc::bad_path);
        std::tie(ec1) = co_await names.register_name("b", "", create_mode::ephemeral, as_tuple());
        CHECK(ec1 == errc::bad_option);
        std::tie(ec1) = co_await names.register_name("b", "1", create_mode::container, as_tuple());
        CHECK(ec1 == errc::bad_option);
        std::tie(ec1) =
            co_await names.register_name("printers", "1", create_mode::persistent, as_tuple());
        CHECK(ec1 == errc::already_exists);
        name_service_options options;
        options.replace = true;
        name_service rewriting(zk, root, options);
        co_await rewriting.register_name("a", "other");
        e = co_await names.resolve("a");
        CHECK(e.value == "other");
        // It does not end by itself, as one that is bound to a session does.
        std::tie(ec1) =
            co_await rewriting.register_name("a", "mine", create_mode::ephemeral, as_tuple());
        CHECK(ec1 == errc::already_exists);
        co_await names.unregister("a");
        std::tie(ec1) = co_await names.unregister("a", as_tuple());
        CHECK(ec1 == zk_errc::no_node);
        co_await names.register_name("printers/second", "2", create_mode::ephemeral);
        std::tie(ec1) = co_await names.register_name(
            "printers/second", "3", create_mode::ephemeral, as_tuple());
        CHECK(ec1 == errc::already_exists);
        co_await names.unregister("printers/second");
        CHECK_FALSE(observer().exists(root + "/printers/second"));
        co_await names.register_name("x", "1", create_mode::ephemeral);
        names = name_service();
        co_await eventually_async([&] { return !observer().exists(root + "/x"); });
        co_await eventually_async([&] { return watches_below(path) == 0; });
        std::tie(ec, none) = co_await names.resolve("a", as_tuple());
        CHECK(ec == errc::closed);
    });
}

TEST_CASE("name service: follow and await a name") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        name_service mine(zk, path);
        name_service theirs(other, path);
        name_watch watch = mine.follow("a/b");
        name_entry e = co_await watch.next();
        CHECK_FALSE(e.present);
        pending_result<name_entry> next, awaited;
        watch.next(next.handler());
        mine.await("a/b", awaited.handler());
        co_await settle(zk);
        CHECK_FALSE(next.done());
        CHECK_FALSE(awaited.done());
        co_await theirs.register_name("a/b", "1", create_mode::ephemeral);
        CHECK(!co_await finished(next));
        CHECK(next.value().value == "1");
        CHECK(!co_await finished(awaited));
        CHECK(awaited.value().value == "1");
        co_await other.close();
        e = co_await watch.next();
        CHECK_FALSE(e.present);
        co_await mine.register_name("a/b", "2");
        e = co_await watch.next();
        CHECK(e.value == "2");
        auto [ec, none] = co_await mine.await_for("c", 20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        // The parent node of another name is not a registration.
        std::tie(ec, none) = co_await mine.await_for("a", 20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        name_watch wrong = mine.follow("/a");
        std::tie(ec, none) = co_await wrong.next(as_tuple());
        CHECK(ec == errc::bad_path);
        watch = name_watch();
        co_await eventually_async([&] { return watches_below(path) == 0; });
    });
}

TEST_CASE("name service: what is cancelled in an outage is not sent after it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        name_service names(zk, path);
        co_await names.register_name("a", "1");
        proxy.set_acceptance(acceptance::not_listening);
        proxy.cut();
        co_await eventually_async([&] { return zk.state() == session_state::suspended; });
        pending_result<> removed, added;
        names.unregister("a", removed.handler());
        names.register_name("b", "1", added.handler());
        removed.cancel(boost::asio::cancellation_type::terminal);
        added.cancel(boost::asio::cancellation_type::terminal);
        CHECK(co_await finished(removed) == boost::asio::error::operation_aborted);
        CHECK(co_await finished(added) == boost::asio::error::operation_aborted);
        proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return zk.state() == session_state::connected; });
        co_await settle(zk);
        auto kept = co_await zk.exists(path + "/a");
        CHECK(kept);
        auto made = co_await zk.exists(path + "/b");
        CHECK_FALSE(made);
    });
}

}  // namespace corozk::testing::name_service_test
