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
    ensemble zk{{.member = {.tick_time = 200ms, .heap = "-Xmx128m"}}};
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
    ensemble zk{{.member = {.tick_time = 200ms, .heap = "-Xmx128m"}, .sync_limit = 2}};
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

}  // namespace corozk::testing::ensemble_test
