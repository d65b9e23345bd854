// SPDX-License-Identifier: Apache-2.0
#include "safety/cut_line.hpp"

#include "host_list.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::cut_line_test {

using namespace corozk::bench;

TEST_CASE("cut line: it leads to the same chroot, whatever that is called") {
    for (const char* chroot : {"", "/a", "/a/b:1,c"}) {
        std::string hosts = std::string("127.0.0.1:1,127.0.0.1:2") + chroot;
        CHECK(ports_of(hosts) == std::vector<std::uint16_t>{1, 2});
        CHECK(on_this_machine(hosts));
        cut_line line(hosts, true);
        CHECK(ports_of(line.hosts()).size() == 2);
        auto slash = line.hosts().find('/');
        CHECK((slash == std::string::npos ? "" : line.hosts().substr(slash)) == chroot);
    }
}

}  // namespace corozk::testing::cut_line_test
