// SPDX-License-Identifier: Apache-2.0
#include "recipe/nodes/rule.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::rendezvous_test {

using namespace corozk;
using namespace corozk::detail;

TEST_CASE("rendezvous: what is told of a node") {
    node_view nobody;
    CHECK_FALSE(describe_point(nobody).present);
    node_view somebody;
    somebody.present = true;
    somebody.data = "host:1";
    somebody.stat.czxid = 7;
    somebody.stat.ephemeral_owner = 42;
    rendezvous_point point = describe_point(somebody);
    CHECK(point.present);
    CHECK(point.data == "host:1");
    CHECK(point.incarnation == 7);
    CHECK(point.session_id == 42);
}

TEST_CASE("rendezvous: what counts as a difference") {
    node_view nobody;
    node_view a;
    a.present = true;
    a.stat.czxid = 1;
    a.stat.mzxid = 1;
    CHECK_FALSE(nobody.differs(nobody));
    CHECK_FALSE(a.differs(a));
    CHECK(a.differs(nobody));
    CHECK(nobody.differs(a));
    node_view changed = a;
    changed.stat.mzxid = 2;
    CHECK_FALSE(changed.differs(a));  // the same data once more
    changed.data = "other";
    CHECK(changed.differs(a));
    node_view again = a;  // erased and made again, even with the same version
    again.stat.czxid = 3;
    CHECK(again.differs(a));
    node_view touched = a;  // children and the like
    touched.stat.pzxid = 9;
    CHECK_FALSE(touched.differs(a));
}

}  // namespace corozk::testing::rendezvous_test
