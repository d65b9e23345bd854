// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/barrier_rule.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::barrier_test {

using namespace corozk;
using namespace corozk::detail;

TEST_CASE("barrier: only the server's word opens it") {
    CHECK(decide_barrier_wait(error_code()) == barrier_step::wait);
    CHECK(decide_barrier_wait(zk_errc::no_node) == barrier_step::proceed);
    CHECK(decide_barrier_wait(zk_errc::no_auth) == barrier_step::fail);
    CHECK(decide_barrier_wait(errc::closed) == barrier_step::fail);
}

}  // namespace corozk::testing::barrier_test
