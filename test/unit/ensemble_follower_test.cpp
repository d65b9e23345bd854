// SPDX-License-Identifier: Apache-2.0
#include "session/ensemble_follower.hpp"

#include "session/hosts.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::ensemble_follower_test {

using corozk::detail::parse_configuration;

TEST_CASE("ensemble configuration: the addresses for clients") {
    struct row {
        const char* text;
        const char* hosts;
    };
    const row rows[] = {
        {"server.1=a:2888:3888:participant;0.0.0.0:2181", "a:2181"},
        {"server.1=a:2888:3888;2181\nserver.2=b:1:2:observer;10.0.0.2:2182",
         "a:2181,10.0.0.2:2182"},
        {"server.1=a:2888:3888|b:2888:3888:participant;2181", "a:2181"},
        {"server.1=[::1]:2888:3888:participant;[::]:2181", "[::1]:2181"},
        {"server.1=a:1:2;0:0:0:0:0:0:0:0:2181", "a:2181"},
        {"server.1=a:1:2;[fe80::2]:2181", "[fe80::2]:2181"},
        {"server.1=a:1:2;fd00:0:0:0:0:0:0:2:2181", "[fd00:0:0:0:0:0:0:2]:2181"},
        {"server.1=a:1:2;[0:0:0:0:0:0:0:0]:2181\r\nserver.2=b:1:2;3", "a:2181,b:3"},
        {"server.1=a:1:2:participant\nserver.2=b:1:2;2181", "b:2181"},
        {"server.1=a:1:2:participant\nversion=0", ""},
        {"weight.1=1\ngroup.1=1:2", ""},
        {"server.1=;2181\nserver.2=a:1:2;\n=\n\nserver.\n;", ""},
        {"server.1=[;2181", ""},
        {"", ""},
    };
    for (const auto& [text, hosts] : rows) {
        INFO(text);
        CHECK(parse_configuration(text).hosts == hosts);
        if (*hosts)
            CHECK(corozk::detail::parse_hosts(hosts).problem == "");
    }
}

TEST_CASE("ensemble configuration: the version is hexadecimal") {
    CHECK(parse_configuration("version=1a").version == 0x1a);
    CHECK(parse_configuration("server.1=a:1:2;3\nversion=100000000\n").version == 0x100000000);
    CHECK(parse_configuration("version=").version == 0);
    CHECK(parse_configuration("").version == 0);
}

}  // namespace corozk::testing::ensemble_follower_test
