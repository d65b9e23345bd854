// SPDX-License-Identifier: Apache-2.0
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

awaitable<void> all_operations(fault_run& r, bool session_names) {
    name_service names(r.zk, r.path);
    co_await names.register_name("dir/a", "1");
    CHECK(observer().data(r.path + "/dir/a") == "1");
    name_watch watch = names.follow("dir/a");
    name_entry e = co_await watch.next();
    CHECK(e.value == "1");
    if (session_names) {
        co_await names.register_name("dir/b", "2", name_lifetime::session);
        std::vector<name_entry> all = co_await names.list("dir");
        CHECK(all.size() == 2);
    }
    e = co_await names.resolve("dir/a");
    CHECK(e.value == "1");
    co_await names.unregister("dir/a");
    CHECK_FALSE(observer().exists(r.path + "/dir/a"));
    e = co_await watch.next();
    CHECK_FALSE(e.present);
    if (session_names) {
        co_await names.unregister("dir/b");
        CHECK_FALSE(observer().exists(r.path + "/dir/b"));
    }
    watch = name_watch();
    co_await eventually_async([&] { return watches_below(r.path) == 0; });
}

/// Lets everybody read a node, or do everything else only.
void set_readable(const std::string& node, bool readable) {
    constexpr std::int32_t read = 1;
    testing::acl_entry everybody;
    if (!readable)
        everybody.permissions &= ~read;
    observer().session().set_acl(node, {everybody});
}

}  // namespace

TEST_CASE("name service: a cut at every frame") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> { co_await all_operations(r, true); });
}

TEST_CASE("name service: the session lost at every frame") {
    expire_at_every_frame(
        [](fault_run& r) -> awaitable<void> { co_await all_operations(r, false); });
}

TEST_CASE("name service: a session-bound name comes back with the next session") {
    expire_at_every_frame([](fault_run& r) -> awaitable<void> {
        name_service names(r.zk, r.path);
        co_await names.register_name("a", "1", name_lifetime::session);
        co_await eventually_async([&] {
            auto s = observer().stat(r.path + "/a");
            return s && s->ephemeral_owner == r.zk.session_id();
        });
        co_await names.unregister("a");
        CHECK_FALSE(observer().exists(r.path + "/a"));
    });
}

TEST_CASE("name service: a registration cancelled at every frame") {
    cancel_at_every_frame([](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
        name_service names(r.zk, r.path);
        auto [ec] =
            co_await names.register_name("a",
                                         "1",
                                         name_lifetime::session,
                                         boost::asio::bind_cancellation_slot(slot, as_tuple()));
        if (ec) {
            CHECK(ec == boost::asio::error::operation_aborted);
            co_await eventually_async([&] { return !observer().exists(r.path + "/a"); });
        } else {
            co_await names.unregister("a");
        }
        co_await eventually_async([&] { return watches_below(r.path) == 0; });
    });
}

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

}  // namespace corozk::testing::name_service_test
