// SPDX-License-Identifier: Apache-2.0
#include "session/hosts.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::hosts_test {

using namespace corozk::detail;

TEST_CASE("hosts: one, many, ports, spaces, IPv6") {
    host_list one = parse_hosts("localhost");
    CHECK(one.problem.empty());
    REQUIRE(one.hosts.size() == 1);
    CHECK(one.hosts[0].name == "localhost");
    CHECK(one.hosts[0].port == 2181);
    CHECK(one.chroot.empty());

    host_list many = parse_hosts(" a:1 ,\tb.example.org:65535,[::1]:2182 , [fe80::1] ,c\n");
    CHECK(many.problem.empty());
    REQUIRE(many.hosts.size() == 5);
    CHECK(many.hosts[0].name == "a");
    CHECK(many.hosts[0].port == 1);
    CHECK(many.hosts[1].name == "b.example.org");
    CHECK(many.hosts[1].port == 65535);
    CHECK(many.hosts[2].name == "::1");
    CHECK(many.hosts[2].port == 2182);
    CHECK(many.hosts[3].name == "fe80::1");
    CHECK(many.hosts[3].port == 2181);
    CHECK(many.hosts[4].name == "c");

    host_list scoped = parse_hosts("[fe80::1%lo]:2182");
    CHECK(scoped.problem.empty());
    CHECK(scoped.hosts.at(0).name == "fe80::1%lo");
}

TEST_CASE("hosts: a folder becomes the root") {
    CHECK(parse_hosts("a:1,b:2/app/x").chroot == "/app/x");
    CHECK(parse_hosts("a:1,b:2/app/x").hosts.size() == 2);
    CHECK(parse_hosts("a/app").hosts.at(0).name == "a");
    CHECK(parse_hosts("a/").chroot.empty());
    CHECK(parse_hosts("a/").problem.empty());
}

TEST_CASE("hosts: each kind of malformed list says what is wrong, and where") {
    auto problem_of = [](std::string_view text) {
        INFO(text);
        host_list list = parse_hosts(text);
        CHECK_FALSE(list.problem.empty());
        return list.problem;
    };
    using Catch::Contains;
    CHECK_THAT(problem_of(""), Contains("is empty"));
    CHECK_THAT(problem_of("  \t"), Contains("is empty"));
    CHECK_THAT(problem_of("/app"), Contains("is empty"));
    CHECK_THAT(problem_of(" /app"), Contains("is empty"));
    CHECK_THAT(problem_of(","), Contains("empty entry"));
    CHECK_THAT(problem_of("a:1,"), Contains("empty entry"));
    CHECK_THAT(problem_of(",a:1"), Contains("empty entry"));
    CHECK_THAT(problem_of("a:1,,b:1"), Contains("empty entry"));
    CHECK_THAT(problem_of(":2181"), Contains("no host name") && Contains("\":2181\""));
    CHECK_THAT(problem_of("[]:2181"), Contains("no host name"));
    CHECK_THAT(problem_of("a:2181,b c:2181"), Contains("malformed host name") && Contains("b c"));
    CHECK_THAT(problem_of("user@a:2181"), Contains("malformed host name"));
    CHECK_THAT(problem_of("a]:2181"), Contains("malformed host name"));
    CHECK_THAT(problem_of("a\x01:2181"), Contains("malformed host name"));
    CHECK_THAT(problem_of("a\x7f:2181"), Contains("malformed host name"));
    CHECK_THAT(problem_of("[::1:2181"), Contains("closing ']'"));
    CHECK_THAT(problem_of("[::1]2181"), Contains("behind ']'"));
    CHECK_THAT(problem_of("::1"), Contains("brackets"));
    CHECK_THAT(problem_of("[localhost]:2181"), Contains("no IPv6 address between the brackets"));
    CHECK_THAT(problem_of("[127.0.0.1]:2181"), Contains("no IPv6 address between the brackets"));
    CHECK_THAT(problem_of("[::1::2]:2181"), Contains("no IPv6 address between the brackets"));
    CHECK_THAT(problem_of("fe80::1:2181"), Contains("brackets"));
    for (std::string port : {"",
                             "0",
                             "-1",
                             "65536",
                             "99999999999999999999",
                             "x",
                             "21x",
                             "+1",
                             "2181.5",
                             "0x10",
                             " "}) {
        CHECK_THAT(problem_of("a:" + port), Contains("port between 1 and 65535"));
        CHECK_THAT(problem_of("ok:2181,[::1]:" + port), Contains("port between 1 and 65535"));
    }
    CHECK_THAT(problem_of("a:2181/app/"), Contains("chroot") && Contains("ends with a slash"));
    CHECK_THAT(problem_of("a:2181//app"), Contains("chroot") && Contains("empty component"));
    CHECK_THAT(problem_of("a:2181/../app"), Contains("chroot") && Contains("relative"));
    // A folder belongs behind the last host, not behind each of them.
    CHECK_THAT(problem_of("a:2181/app,b:2181/app"), Contains("chroot") && Contains("comma"));
}

}  // namespace corozk::testing::hosts_test
