// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/name_service.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace corozk::testing::name_service_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// Lets everybody read a node, or do everything else only.
void set_readable(const std::string& node, bool readable) {
    constexpr std::int32_t read = 1;
    testing::acl_entry everybody;
    if (!readable)
        everybody.permissions &= ~read;
    observer().session().set_acl(node, {everybody});
}

}  // namespace

TEST_CASE("name service: a name that is there, but unreadable at the next look, leaves no watch") {
    for (bool following : {false, true}) {
        INFO("following: " << following);
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            std::string node = path + "/a";
            // A look finds no such name. It comes before the look for its coming, which finds it,
            // and so watches it; before it is read again that is forbidden.
            proxy.arm(at_op(op_code::get_data).under(node),
                      call_at_reply([&](const frame_info&) { observer().plant(node, "1"); }));
            std::atomic<std::size_t> watches = 0;
            proxy.arm(at_op(op_code::exists).under(node), call_at_reply([&](const frame_info&) {
                          watches = watches_below(node);
                          set_readable(node, false);
                      }));
            name_service names(zk, path);
            name_watch watch = names.follow("a");
            pending_result<name_entry> told;
            if (following)
                watch.next(told.handler());
            else
                names.await_for("a", 20s, told.handler());
            error_code ec = co_await finished(told);
            CHECK(ec == zk_errc::no_auth);
            CHECK(watches == 1);
            co_await watches_at_server(0);

            // It goes on where it is allowed to.
            set_readable(node, true);
            name_entry e = co_await watch.next();
            CHECK(e.value == "1");
            CHECK(watches_below(node) == 1);
            watch = name_watch();
            co_await watches_at_server(0);
        });
    }
}

TEST_CASE("name service: the server of a new session lags behind: nothing seems to be undone") {
    enum class what : std::uint8_t { resolve, list, next };
    for (what how : {what::resolve, what::list, what::next}) {
        INFO("operation " << int(how));
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            name_service names(zk, path);
            co_await names.register_name("a", "1");
            name_watch watch = names.follow("a");
            name_entry e = co_await watch.next();
            CHECK(e.value == "1");
            pending_result<name_entry> told;
            if (how == what::next)
                watch.next(told.handler());
            co_await next_session_lags(zk, proxy, path);
            if (how == what::resolve) {
                e = co_await names.resolve("a");
                CHECK(e.value == "1");
            } else if (how == what::list) {
                std::vector<name_entry> all = co_await names.list();
                CHECK(all.size() == 1);
            } else {
                co_await settle(zk);
                observer().set(path + "/a", "2");
                CHECK(!co_await finished(told));
                CHECK(told.value().value == "2");
            }
        });
    }
}

TEST_CASE("name service: a registration that was cancelled may still create its node") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        name_service names(zk, path);
        co_await names.register_name("other", "1");
        rule_id held = proxy.arm(at_op(op_code::create2).under(path + "/a"), hold_request());
        pending_result<> cancelled;
        names.register_name("a", "1", create_mode::ephemeral, cancelled.handler());
        co_await eventually_async([&] { return proxy.fired(held) == 1; });
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        auto [busy] = co_await names.register_name("a", "1", as_tuple());
        CHECK(busy == errc::busy);
        proxy.release(held);
        co_await settle(zk);
        co_await names.register_name("a", "2");
        CHECK(observer().data(path + "/a") == "2");
    });
}

TEST_CASE("name service: a pending unregister ends with its object") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        name_service names(zk, path);
        co_await names.register_name("a", "1", create_mode::ephemeral);
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        co_await eventually_async([&] { return zk.state() != session_state::connected; });
        pending_result<> leaving;
        names.unregister("a", leaving.handler());
        pending_result<> again;
        names.register_name("a", "2", create_mode::ephemeral, again.handler());
        error_code busy = co_await finished(again);
        CHECK(busy == errc::busy);
        names = name_service();
        error_code ended = co_await finished(leaving);
        CHECK(ended == boost::asio::error::operation_aborted);
        proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return !observer().exists(path + "/a"); });
    });
}

TEST_CASE("name service: the time limit also holds for a name that the object has registered") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        name_service_options options;
        options.replace = true;
        name_service names(zk, path, options);
        co_await names.register_name("a", "1", create_mode::ephemeral);
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        co_await eventually_async([&] { return zk.state() != session_state::connected; });
        for (const char* value : {"1", "2"}) {
            pending_result<> again;
            names.register_name_for("a", value, create_mode::ephemeral, 100ms, again.handler());
            const error_code late = co_await finished(again);
            CHECK(late == errc::deadline_exceeded);
        }
        proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return observer().data(path + "/a") == "2"; });
    });
}

}  // namespace corozk::testing::name_service_test
