// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/ensemble.hpp"

#include "corozk/testing/admin.hpp"
#include "corozk/testing/eventually.hpp"
#include "corozk/testing/four_letter.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::ensemble_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("an ensemble survives the death of its leader") {
    ensemble zk{{.member = {.tick_time = 200ms, .heap = "-Xmx128m"}, .sync_limit = 40}};
    REQUIRE(zk.size() == 3);
    REQUIRE(zk.leader());
    CHECK(zk.followers().size() == 2);
    const auto old_leader = *zk.leader();
    const auto survivor = zk.followers().front();
    CHECK(zk.hosts() == zk[0].hosts() + ',' + zk[1].hosts() + ',' + zk[2].hosts());

    admin{zk[old_leader].port()}.plant("/kept", "before");
    CHECK(admin{zk[survivor].port()}.data("/kept") == "before");

    zk[old_leader].kill();
    zk.wait_for_quorum();
    REQUIRE(zk.leader());
    CHECK(*zk.leader() != old_leader);
    zk[survivor].wait_until_serving();
    admin hand{zk[survivor].port()};
    eventually([&] {
        hand.set("/kept", "after");
        return true;
    });

    zk[old_leader].restart();
    CHECK(zk.followers().size() == 2);
    CHECK(admin{zk[old_leader].port()}.data("/kept") == "after");
}

TEST_CASE("an ensemble without a majority does not serve, and comes back") {
    ensemble zk{{.member = {.tick_time = 200ms, .heap = "-Xmx128m"}, .sync_limit = 40}};
    const auto kept = zk.followers().front();
    for (std::size_t index = 0; index < zk.size(); ++index) {
        if (index != kept) {
            zk[index].kill();
        }
    }
    eventually([&] { return !zk[kept].serving(); });
    CHECK_FALSE(zk.leader());
    CHECK_THROWS_WITH(mntr(zk[kept].port()), Catch::Contains("not currently serving"));
    for (std::size_t index = 0; index < zk.size(); ++index) {
        if (index != kept) {
            zk[index].launch();
        }
    }
    zk.wait_until_serving();
    CHECK(zk.followers().size() == 2);
}

TEST_CASE("observers serve, and have no vote") {
    ensemble zk{
        {.observers = 2, .member = {.tick_time = 200ms, .heap = "-Xmx128m"}, .sync_limit = 40}};
    REQUIRE(zk.size() == 5);
    REQUIRE(zk.leader());
    CHECK(*zk.leader() < 3);
    CHECK(zk.followers().size() == 2);
    CHECK(zk.observers() == std::vector<std::size_t>{3, 4});
    CHECK(zk.hosts().ends_with(',' + zk[4].hosts()));
    const auto kept = zk.followers();
    admin{zk[3].port()}.plant("/written", "by an observer's client");
    CHECK(admin{zk[kept[0]].port()}.data("/written") == "by an observer's client");

    // Two of five, but of three who vote.
    zk[*zk.leader()].kill();
    zk.wait_for_quorum();
    REQUIRE(zk.leader());
    eventually([&] {
        admin{zk[3].port()}.set("/written", "again");
        return true;
    });

    // Three of five run, and only one of them votes.
    const auto last = *zk.leader();
    zk[zk.followers().front()].kill();
    eventually([&] { return !zk[last].serving() && zk.observers().empty(); });
    CHECK_FALSE(zk.leader());
    CHECK_FALSE(zk[3].serving());
}

}  // namespace corozk::testing::ensemble_test
