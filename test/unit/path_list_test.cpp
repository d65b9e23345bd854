// SPDX-License-Identifier: Apache-2.0
#include <corozk/path_list.hpp>

#include <catch2/catch.hpp>

namespace corozk::testing::path_list_test {

using namespace corozk;

using paths = std::vector<std::string>;

TEST_CASE("path list: a list of its own, a part of a shared one, and none") {
    path_list none;
    CHECK(none.empty());
    CHECK(none.begin() == none.end());
    CHECK(none == paths());

    path_list own(paths{"/a", "/b"});
    CHECK(own.size() == 2);
    CHECK(own.front() == "/a");
    CHECK(own.back() == "/b");
    CHECK(own == paths{"/a", "/b"});
    CHECK_FALSE(own == paths{"/a"});
    CHECK_FALSE(own == paths{"/b", "/a"});

    auto all = std::make_shared<const paths>(paths{"/1", "/2", "/3", "/4"});
    path_list middle(all, 1, 2);
    path_list copy = middle;
    all.reset();
    CHECK(copy == paths{"/2", "/3"});
    CHECK(copy[1] == "/3");
    CHECK(&copy[0] == &middle[0]);
    CHECK(paths(copy.begin(), copy.end()) == paths{"/2", "/3"});

    const path_list moved = std::move(copy);
    CHECK(moved == paths{"/2", "/3"});
    CHECK(copy.empty());
    CHECK(copy == none);
}

}  // namespace corozk::testing::path_list_test
