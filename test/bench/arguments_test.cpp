// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corozk::testing::arguments_test {

using namespace corozk::bench;

TEST_CASE("arguments: who is named twice takes part once") {
    using names = std::vector<std::string>;
    std::vector<std::string_view> accepted{"--systems", "--recipe"};
    auto parsed = [&accepted](std::string_view option, std::string_view value) {
        std::vector<std::string_view> words{option, value};
        settings s;
        parse_arguments(words, accepted, s);
        return option == "--recipe" ? s.recipes : s.systems;
    };
    CHECK(parsed("--systems", "etcd,corozk,etcd") == names{"etcd", "corozk"});
    CHECK(parsed("--systems", "all,etcd") == names{"corozk", "etcd", "redis"});
    CHECK(parsed("--systems", "etcd,all") == names{"etcd", "corozk", "redis"});
    CHECK(parsed("--recipe", "lock,lock") == names{"lock"});
    CHECK(parsed("--recipe", "all,lock") == parsed("--recipe", "all"));
}

}  // namespace corozk::testing::arguments_test
