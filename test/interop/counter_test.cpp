// SPDX-License-Identifier: Apache-2.0
// The counter, with Curator's DistributedAtomicLong, DistributedAtomicInteger and SharedCount, and
// Kazoo's Counter in both of its formats, on the same node.
#include "contest.hpp"
#include <corozk/recipe/counter.hpp>

namespace corozk::testing::counter_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

struct foreign_counter {
    party_kind with;
    const char* kind;
    compatibility whose;
    unsigned bits = 64;
};

constexpr foreign_counter foreign_counters[] = {
    {party_kind::curator, "long", compatibility::curator},
    {party_kind::curator, "integer", compatibility::curator, 32},
    {party_kind::curator, "shared_count", compatibility::curator, 32},
    {party_kind::kazoo, "counter", compatibility::kazoo},
    {party_kind::kazoo, "curator_counter", compatibility::curator, 32},
};

constexpr int additions = 300;

}  // namespace

TEST_CASE("additions of both parties are all counted") {
    auto which = GENERATE(range(std::size_t(0), std::size(foreign_counters)));
    const foreign_counter& foreign = foreign_counters[which];
    CAPTURE(name_of(foreign.with), foreign.kind);
    meeting at;
    party theirs(foreign.with,
                 at.arguments({std::string("task=add"),
                               std::string("kind=") + foreign.kind,
                               "count=" + std::to_string(additions)}));
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        counter_options options;
        options.compatibility = foreign.whose;
        options.bits = foreign.bits;
        counter ours(zk, at.path, options);
        // Theirs creates the node, and ours uses it.
        std::int64_t seen = 0;
        auto they_count = [&] {
            auto stat = at.hand.stat(at.path);
            return stat && stat->version > 0;
        };
        co_await theirs.until(they_count, "the first addition");
        for (int i = 0; i < additions; ++i) {
            std::int64_t value = co_await ours.add(2);
            CHECK(value > seen);
            seen = value;
        }
        co_await theirs.end();
        std::int64_t total = co_await ours.get();
        CHECK(total == 3 * additions);
    });
}

TEST_CASE("another library continues from the value that we wrote") {
    auto which = GENERATE(range(std::size_t(0), std::size(foreign_counters)));
    const foreign_counter& foreign = foreign_counters[which];
    CAPTURE(name_of(foreign.with), foreign.kind);
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        counter_options options;
        options.compatibility = foreign.whose;
        options.bits = foreign.bits;
        counter ours(zk, at.path, options);
        std::int64_t value = co_await ours.add(-1000);  // creates the node
        CHECK(value == -1000);
        party theirs(
            foreign.with,
            at.arguments(
                {std::string("task=add"), std::string("kind=") + foreign.kind, "count=7"}));
        co_await theirs.end();
        value = co_await ours.get();
        CHECK(value == -993);
        counter_exchange exchange = co_await ours.compare_and_set(-993, 41);
        CHECK(exchange.exchanged);
        party again(foreign.with,
                    at.arguments(
                        {std::string("task=add"), std::string("kind=") + foreign.kind, "count=1"}));
        co_await again.end();
        value = co_await ours.get();
        CHECK(value == 42);
    });
}

TEST_CASE("a counter of another format is not touched") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        party theirs(party_kind::curator, at.arguments({"task=add", "kind=long", "count=1"}));
        co_await theirs.end();
        for (auto whose : {compatibility::native, compatibility::curator, compatibility::kazoo}) {
            counter_options options;
            options.compatibility = whose;
            options.bits = whose == compatibility::curator ? 32 : 64;
            counter ours(zk, at.path, options);
            auto [ec, value] = co_await ours.add(1, as_tuple());
            CHECK(ec == errc::foreign_data);
        }
    });
    CHECK(at.hand.data(at.path) == std::string("\0\0\0\0\0\0\0\1", 8));
}

}  // namespace corozk::testing::counter_test
