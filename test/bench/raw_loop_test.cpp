// SPDX-License-Identifier: Apache-2.0
#include "raw_loop.hpp"

#include "client_fixture.hpp"
#include <corozk/testing/fault_proxy.hpp>

namespace corozk::testing::raw_loop_test {

using namespace corozk::testing;
using namespace client_tests;

TEST_CASE("raw loop: it does not wait for the event of a delete that has failed") {
    fault_proxy proxy(the_server().port());
    std::string folder = fresh_path();
    bench::raw_loop loop(proxy.hosts(), folder, 4'000);
    loop.make(folder);
    // The delete of a hand-over is the third one.
    auto rule = proxy.arm(at_op(op_code::erase, 3), black_hole_from_here());
    CHECK_THROWS_WITH(loop.measure(1), Catch::Contains("C client: delete: "));
    CHECK(proxy.fired(rule) == 1);
}

}  // namespace corozk::testing::raw_loop_test
