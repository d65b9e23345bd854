// SPDX-License-Identifier: Apache-2.0
// The semaphore, with Curator's InterProcessSemaphoreV2 and Kazoo's Semaphore on the same path.
#include "contest.hpp"
#include <corozk/recipe/semaphore.hpp>

namespace corozk::testing::semaphore_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

semaphore_options options_with(party_kind which) {
    semaphore_options options(our_party);
    options.compatibility =
        which == party_kind::curator ? compatibility::curator : compatibility::kazoo;
    return options;
}

/// The parent node of the leases.
std::string leases(const meeting& at, party_kind which) {
    return which == party_kind::curator ? at.path + "/leases" : at.path;
}

/// The parent node of the clients that acquire or wait for a lease.
std::string gate(const meeting& at, party_kind which) {
    return which == party_kind::curator ? at.path + "/locks" : at.path + "-__lock__";
}

contest semaphore_contest(party_kind with, std::int32_t limit) {
    contest c;
    c.with = with;
    c.kind = "semaphore";
    c.roles = {"read"};
    c.goal.limit = static_cast<std::size_t>(limit);
    c.goal.handovers = 200;
    c.goal.together = limit > 1 ? 20 : 0;
    c.ours = 3;
    c.theirs = 3;
    if (with == party_kind::curator) {
        c.folders = {"/leases", "/locks"};
    } else {
        c.folders = {"", "-__lock__"};
    }
    c.recipe = [with, limit](client& zk, std::string path) -> acquire_function {
        auto ours = std::make_shared<semaphore>(zk, path, limit, options_with(with));
        return [ours](std::string) -> boost::asio::awaitable<ownership> {
            ownership held = co_await ours->acquire();
            co_return held;
        };
    };
    return c;
}

}  // namespace

TEST_CASE("our permits and Curator's leases are the same") {
    std::int32_t limit = GENERATE(1, 2);
    CAPTURE(limit);
    turns result = contend(semaphore_contest(party_kind::curator, limit));
    CHECK(result.to_us >= 200);
}

TEST_CASE("a single permit of ours and Curator's InterProcessSemaphoreMutex are the same") {
    contest c = semaphore_contest(party_kind::curator, 1);
    c.kind = "semaphore_mutex";
    c.goal.handovers = 100;
    turns result = contend(c);
    CHECK(result.to_us >= 100);
}

TEST_CASE("our permits and Kazoo's leases are the same") {
    std::int32_t limit = GENERATE(1, 2);
    CAPTURE(limit);
    turns result = contend(semaphore_contest(party_kind::kazoo, limit));
    CHECK(result.to_us >= 200);
}

TEST_CASE("another library's lease counts for us") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    party theirs(which, at.arguments({"task=hold", "kind=semaphore", "limit=2", "identity=them"}));
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        semaphore ours(zk, at.path, 2, options_with(which));
        auto they_are_inside = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_are_inside, "holding a lease");
        std::int32_t available = co_await ours.count_available();
        CHECK(available == 1);
        ownership first = co_await ours.try_acquire();
        CHECK(first.valid());
        available = co_await ours.count_available();
        CHECK(available == 0);
        std::vector<contender_info> holders = co_await ours.list_holders();
        REQUIRE(holders.size() == 2);
        CHECK(holders[0].data == "them");
        CHECK(holders[0].session_id != zk.session_id());
        CHECK(holders[1].path == first.path());
        auto [no, none] = co_await ours.try_acquire(1, as_tuple());
        CHECK(no == errc::would_block);
        auto [many, nothing] = co_await ours.acquire(2, as_tuple());
        CHECK(many == errc::not_supported);

        pending_result<ownership> second;
        pending_result<ownership> third;
        ours.acquire(1, second.handler());
        ours.acquire(1, third.handler());
        auto queued = [&] {
            return at.hand.children(gate(at, which)).size() == 2 &&
                   at.hand.children(leases(at, which)).size() == 3;
        };
        co_await theirs.until(queued, "our contenders' nodes");
        std::vector<contender_info> line = co_await ours.list_contenders();
        CHECK(line.size() == 5);  // the first waiter has a node below both parents
        CHECK(std::count_if(
                  line.begin(), line.end(), [](const contender_info& c) { return c.holds; }) == 2);
        CHECK_FALSE(second.done());
        CHECK_FALSE(third.done());

        at.tell_to_leave();
        error_code granted = co_await finished(second);
        REQUIRE_FALSE(granted);
        CHECK(at.inside(name_of(which)) == 0);
        CHECK_FALSE(third.done());
        co_await first.release();
        granted = co_await finished(third);
        CHECK_FALSE(granted);
        co_await theirs.end();
        co_await second.value().release();
        co_await third.value().release();
    });
    CHECK(at.hand.children(leases(at, which)).empty());
    CHECK(at.hand.children(gate(at, which)).empty());
}

TEST_CASE("our permits count for another library") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        semaphore ours(zk, at.path, 2, options_with(which));
        ownership first = co_await ours.acquire();
        ownership second = co_await ours.acquire();
        party theirs(which,
                     at.arguments({"task=hold", "kind=semaphore", "limit=2", "identity=them"}));
        // Curator creates its lease before it counts, Kazoo afterwards.
        auto they_wait = [&] {
            std::size_t there = which == party_kind::curator ? 3 : 2;
            return at.hand.children(gate(at, which)).size() == 1 &&
                   at.hand.children(leases(at, which)).size() == there;
        };
        co_await theirs.until(they_wait, "waiting for a lease");
        CHECK(at.inside(name_of(which)) == 0);
        if (which == party_kind::kazoo) {
            party onlooker(which, at.arguments({"task=contenders", "kind=semaphore", "limit=2"}));
            co_await onlooker.end();
            std::vector<std::string> both{our_party, our_party};
            CHECK(onlooker.lines() == both);
        }
        // A later contender of ours waits behind it.
        pending_result<ownership> third;
        ours.acquire(1, third.handler());
        auto queued = [&] { return at.hand.children(gate(at, which)).size() == 2; };
        co_await theirs.until(queued, "our contender's node");
        CHECK(at.inside(name_of(which)) == 0);
        co_await second.release();
        auto they_are_inside = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_are_inside, "holding a lease");
        CHECK_FALSE(third.done());
        at.tell_to_leave();
        error_code granted = co_await finished(third);
        CHECK_FALSE(granted);
        co_await theirs.end();
        co_await first.release();
        co_await third.value().release();
    });
    CHECK(at.hand.children(leases(at, which)).empty());
    CHECK(at.hand.children(gate(at, which)).empty());
}

TEST_CASE("we and Kazoo compare limits") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        semaphore ours(zk, at.path, 3, options_with(party_kind::kazoo));
        ownership held = co_await ours.acquire();
        party theirs(party_kind::kazoo, at.arguments({"task=hold", "kind=semaphore", "limit=2"}));
        std::string complaint;
        try {
            co_await theirs.end();
        } catch (const std::runtime_error& e) {
            complaint = e.what();
        }
        CHECK_THAT(complaint, Catch::Contains("Inconsistent max leases: 3, expected: 2"));
        semaphore other(zk, at.path, 2, options_with(party_kind::kazoo));
        auto [ec, none] = co_await other.acquire(1, as_tuple());
        CHECK(ec == errc::limit_mismatch);
        co_await held.release();
    });
}

}  // namespace corozk::testing::semaphore_test
