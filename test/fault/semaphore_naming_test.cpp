// SPDX-License-Identifier: Apache-2.0
// The semaphore with the names of Curator and Kazoo, whose leases are taken under a lock.
#include "pending_result.hpp"
#include <corozk/recipe/semaphore.hpp>

#include <algorithm>
#include <optional>

namespace corozk::testing::semaphore_naming_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

semaphore_options named(compatibility naming) {
    semaphore_options options("us");
    options.compatibility = naming;
    return options;
}

std::string leases(const std::string& path, compatibility naming) {
    return naming == compatibility::curator ? path + "/leases" : path;
}

std::string gate(const std::string& path, compatibility naming) {
    return naming == compatibility::curator ? path + "/locks" : path + "-__lock__";
}

std::size_t nodes_in(const std::string& folder) {
    return observer().children(folder).size();
}

/// Nothing is left, and no permit is lost: all of them can be taken.
awaitable<void> all_are_free(std::string path, compatibility naming, std::int32_t limit) {
    auto empty = [&] {
        return nodes_in(leases(path, naming)) == 0 && nodes_in(gate(path, naming)) == 0;
    };
    co_await eventually_async(empty, 20s, "no node is left");
    client other = co_await one_more_client();
    semaphore next(other, path, limit, named(naming));
    std::vector<ownership> all;
    for (std::int32_t i = 0; i < limit; ++i) {
        ownership one = co_await next.acquire_for(15s);
        all.push_back(std::move(one));
    }
    for (ownership& one : all)
        co_await one.release();
    co_await eventually_async(empty, 20s, "no node is left");
    auto unwatched = [&] {
        return watches_below(leases(path, naming)) == 0 && watches_below(gate(path, naming)) == 0;
    };
    co_await eventually_async(unwatched, 20s, "no watch is left");
    co_await other.close();
}

compatibility either_naming() {
    return GENERATE(compatibility::curator, compatibility::kazoo);
}

}  // namespace

TEST_CASE(
    "semaphore naming: who waits for a lease is cancelled, passes its deadline, or is broken") {
    compatibility naming = either_naming();
    CAPTURE(static_cast<int>(naming));
    with_client([naming](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        semaphore theirs(other, path, 1, named(naming));
        ownership held = co_await theirs.acquire();
        semaphore mine(zk, path, 1, named(naming));
        auto waits = [&] { return nodes_in(leases(path, naming)) == 2; };
        auto gone = [&] {
            return nodes_in(leases(path, naming)) == 1 && nodes_in(gate(path, naming)) == 0;
        };

        pending_result<ownership> cancelled;
        mine.acquire(1, cancelled.handler());
        co_await eventually_async(waits);
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        co_await eventually_async(gone);

        auto [late, none] = co_await mine.acquire_for(1, 300ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        co_await eventually_async(gone);

        // The lease that waits is erased.
        pending_result<ownership> broken;
        mine.acquire(1, broken.handler());
        co_await eventually_async(waits);
        std::vector<contender_info> line = co_await mine.list_contenders();
        REQUIRE(line.size() == 3);
        CHECK(line[0].path == held.path());
        CHECK(line[0].holds);
        CHECK(line[1].waits_for == std::vector<std::string>{held.path()});
        CHECK_FALSE(line[2].holds);
        CHECK(line[2].kind == "queued");
        std::string victim = line[1].path;
        co_await mine.break_contender(victim);
        CHECK(co_await finished(broken) == errc::ownership_lost);
        co_await eventually_async(gone);

        // Its place at the gate is: somebody else may count before it counts, so it gives up.
        pending_result<ownership> expelled;
        mine.acquire(1, expelled.handler());
        co_await eventually_async(waits);
        line = co_await mine.list_contenders();
        REQUIRE(line.size() == 3);
        victim = line[2].path;
        co_await mine.break_contender(victim);
        CHECK(co_await finished(expelled) == errc::ownership_lost);
        co_await eventually_async(gone);

        // The object may go while it works for somebody.
        pending_result<ownership> orphan;
        {
            semaphore brief(zk, path, 1, named(naming));
            brief.acquire(1, orphan.handler());
        }
        co_await eventually_async(waits);
        co_await held.release();
        CHECK(!co_await finished(orphan));
        co_await orphan.value().release();
        co_await other.close();
        co_await all_are_free(path, naming, 1);
    });
}

TEST_CASE("semaphore naming: the client or its context ends while a lease is waited for") {
    compatibility naming = either_naming();
    int how = GENERATE(0, 1, 2);  // closed, destroyed, its context destroyed
    CAPTURE(static_cast<int>(naming), how);
    std::string path = fresh_path();
    std::string stranger = leases(path, naming) + "/stranger";
    observer().plant(stranger);
    if (naming == compatibility::kazoo)
        observer().set(path, "1");
    pending_result<ownership> acquiring;
    {
        boost::asio::io_context context;
        std::optional<client> zk;
        run(context, [&]() -> awaitable<void> {
            client c = co_await one_more_client();
            zk.emplace(std::move(c));
            semaphore ours(*zk, path, 1, named(naming));
            ours.acquire(1, acquiring.handler());
            auto waits = [&] { return nodes_in(leases(path, naming)) == 2; };
            co_await eventually_async(waits);
            if (how == 0)
                co_await zk->close();
            if (how == 1)
                zk.reset();
        });
        if (how != 2)
            run_to_idle(context);
    }
    if (how == 2) {
        CHECK(acquiring.calls() == 0);  // went with the context
    } else {
        CHECK(acquiring.calls() == 1);
        CHECK(acquiring.error() == errc::closed);
    }
    observer().erase(stranger);
    with_client([naming, path](client&, std::string) -> awaitable<void> {
        co_await all_are_free(path, naming, 1);
    });
}

TEST_CASE("semaphore naming: any child counts as a lease") {
    compatibility naming = either_naming();
    CAPTURE(static_cast<int>(naming));
    with_client([naming](client& zk, std::string path) -> awaitable<void> {
        semaphore s(zk, path, 2, named(naming));
        ownership first = co_await s.acquire();
        std::string stranger = leases(path, naming) + "/0123456789abcdef0123456789abcdef";
        observer().plant(stranger, "stranger");
        std::vector<contender_info> holders = co_await s.list_holders();
        REQUIRE(holders.size() == 2);
        CHECK(holders[0].path == stranger);
        CHECK(holders[0].data == "stranger");
        CHECK(holders[1].path == first.path());
        CHECK(co_await s.count_available() == 0);
        pending_result<ownership> second;
        s.acquire(1, second.handler());
        auto waits = [&] { return nodes_in(leases(path, naming)) == 3; };
        co_await eventually_async(waits);
        co_await settle(zk);
        CHECK_FALSE(second.done());
        // It counts whatever its name, and for as long as it is there.
        observer().erase(stranger);
        CHECK(!co_await finished(second));
        co_await first.release();
        co_await second.value().release();
        co_await all_are_free(path, naming, 2);
    });
}

TEST_CASE("semaphore naming: a hundred local contenders share three permits") {
    compatibility naming = either_naming();
    CAPTURE(static_cast<int>(naming));
    with_client(
        [naming](client& zk, std::string path) -> awaitable<void> {
            semaphore s(zk, path, 3, named(naming));
            std::vector<std::unique_ptr<pending_result<ownership>>> all;
            for (int i = 0; i < 100; ++i) {
                all.push_back(std::make_unique<pending_result<ownership>>());
                s.acquire(1, all.back()->handler());
            }
            std::size_t released = 0;
            while (released < all.size()) {
                auto granted = [&] { return all[released]->done(); };
                co_await eventually_async(granted, 20s, "the next grant");
                REQUIRE_FALSE(all[released]->error());
                auto done = std::count_if(
                    all.begin(), all.end(), [](const auto& one) { return one->done(); });
                CHECK(static_cast<std::size_t>(done) <= released + 3);
                co_await all[released]->value().release();
                ++released;
            }
            co_await all_are_free(path, naming, 3);
        },
        90s);
}

TEST_CASE("semaphore naming: what the others do not know is refused") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        semaphore curators(zk, path, 2, named(compatibility::curator));
        CHECK(curators.path() == path);
        auto [two, none] = co_await curators.acquire(2, as_tuple());
        CHECK(two == errc::not_supported);
        auto [ec] = co_await curators.set_limit(3, as_tuple());
        CHECK(ec == errc::not_supported);
        CHECK_FALSE(observer().exists(path));

        // Nobody compares limits: each counts with its own.
        semaphore wider(zk, path, 3, named(compatibility::curator));
        ownership a = co_await curators.acquire();
        ownership b = co_await curators.acquire();
        auto [full, nothing] = co_await curators.try_acquire(1, as_tuple());
        CHECK(full == errc::would_block);
        ownership c = co_await wider.try_acquire();
        CHECK(c.valid());

        std::string kazoos_path = path + "-kazoo";
        semaphore kazoos(zk, kazoos_path, 1, named(compatibility::kazoo));
        ownership d = co_await kazoos.acquire();
        CHECK(observer().data(kazoos_path) == "1");
        pending_result<ownership> e;
        kazoos.acquire(1, e.handler());
        auto waits = [&] { return nodes_in(kazoos_path) == 2; };
        co_await eventually_async(waits);
        co_await kazoos.set_limit(2);  // counts for us
        CHECK(!co_await finished(e));
        for (ownership* held : {&a, &b, &c, &d, &e.value()})
            co_await held->release();
        co_await all_are_free(path, compatibility::curator, 3);
        co_await all_are_free(kazoos_path, compatibility::kazoo, 2);
    });
}

}  // namespace corozk::testing::semaphore_naming_test
