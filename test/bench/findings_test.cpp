// SPDX-License-Identifier: Apache-2.0
#include "watch/findings.hpp"

#include "watch/server_words.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <deque>

namespace corozk::testing::findings_test {

using namespace corozk::bench;

namespace {

constexpr std::size_t crowd = 10;

/// Sessions 1 to 20, which have sent and got so many packets.
server_look with_sessions(std::int64_t received, std::int64_t sent) {
    server_look l;
    std::string cons;
    for (int i = 1; i <= 20; ++i)
        cons += fmt::format(
            " /127.0.0.1:5{:04}[1](queued=0,recved={},sent={},sid=0x10{:x},lop=GETC,"
            "est=1,to=10000,lcxid=0x2,lzxid=0x8,lresp=1,llat=0)\n",
            i,
            received,
            sent,
            i);
    cons += " /127.0.0.1:59428[0](queued=0,recved=1,sent=0)\n\n";
    parse_cons(cons, l);
    return l;
}

void watch(server_look& l, const std::string& path, int first, int last) {
    std::string wchp = path + "\n";
    for (int i = first; i <= last; ++i)
        wchp += fmt::format("\t0x10{:x}\n", i);
    parse_wchp(wchp, l);
}

// Of one server.
std::vector<finding> findings_between(const server_look& before,
                                      const server_look& after,
                                      std::size_t least) {
    return bench::findings_between(server_looks(&before, 1), server_looks(&after, 1), least);
}

std::vector<finding> findings_of(const server_look& now, std::size_t least) {
    return bench::findings_of(server_looks(&now, 1), least);
}

void fired(server_look& l, std::string_view what, int events, int watches) {
    parse_mntr(fmt::format("zk_version\tx\nzk_cnt_node_{0}_watch_count\t{1}\n"
                           "zk_sum_node_{0}_watch_count\t{2}\n",
                           what,
                           events,
                           watches),
               l);
}

}  // namespace

TEST_CASE("findings: everybody woke for one") {
    server_look before = with_sessions(5, 5);
    CHECK(before.sessions.size() == 20);
    server_look after = with_sessions(7, 8);
    watch(before, "/job/lock", 1, 20);
    watch(after, "/job/lock", 2, 20);
    auto found = findings_between(before, after, crowd);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::herd);
    CHECK(found[0].text() ==
          "herd at /job/lock: 20 sessions woke 20 times in about 1 change; 19 of 20 wait for the "
          "same "
          "again");
    CHECK(findings_between(before, after, 21).empty());
}

TEST_CASE("findings: turns are as many as wake all of them") {
    server_look before = with_sessions(5, 5);
    server_look after = with_sessions(25, 35);  // ten notifications each
    watch(before, "/job/lock", 1, 20);
    watch(after, "/job/lock", 2, 20);
    CHECK(
        findings_between(before, after, crowd).at(0).text() ==
        "herd at /job/lock: 20 sessions woke 200 times in about 10 changes; 19 of 20 wait for the "
        "same again");
    // They were woken for other things, too: there were fewer.
    fired(before, "deleted", 100, 100);
    fired(after, "deleted", 108, 260);
    CHECK(findings_between(before, after, crowd).at(0).turns == 8);
    // Others delete other nodes.
    fired(after, "deleted", 400, 652);
    CHECK(findings_between(before, after, crowd).at(0).turns == 10);
}

TEST_CASE("findings: a crowd is that of all servers") {
    std::vector<server_look> before;
    std::vector<server_look> after;
    for (int server = 0; server < 3; ++server) {
        before.push_back(with_sessions(5, 5));
        after.push_back(with_sessions(7, 8));
        watch(before.back(), "/job/lock", 1, 8);
        watch(after.back(), "/job/lock", 2, 8);
        fired(after.back(), "deleted", 1, 8);
    }
    auto crowds = bench::findings_of(before, crowd);
    REQUIRE(crowds.size() == 1);
    CHECK(crowds[0].text() ==
          "crowd at /job/lock: 24 sessions on 3 servers watch it, and a change wakes them all");
    auto found = bench::findings_between(before, after, crowd);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::herd);
    CHECK(found[0].text().starts_with(
        "herd at /job/lock: 24 sessions on 3 servers woke 24 times in about 1 change; "));
    CHECK(findings_between(before[0], after[0], crowd).empty());
    CHECK(bench::findings_between(before, after, 25).empty());
    // Each of many events woke one of them.
    for (auto& l : after)
        fired(l, "deleted", 8, 8);
    CHECK(bench::findings_between(before, after, crowd).empty());
    // Without paths.
    for (std::size_t i = 0; i < 3; ++i) {
        before[i].watchers.clear();
        fired(after[i], "deleted", 1, 8);
    }
    CHECK(bench::findings_between(before, after, crowd)
              .at(0)
              .text()
              .starts_with("burst: nodes that were deleted woke 24.0 watches each (24 in all)"));
}

TEST_CASE("findings: a crowd that is on its way is put together from several looks") {
    std::deque<server_look> looks;
    for (int first : {1, 8, 14, 14}) {
        looks.push_back(with_sessions(5, 5));
        watch(looks.back(), "/job/lock", first, first + 6);
    }
    looks.back().watchers.clear();         // all were on their way
    watch(looks.front(), "/done", 1, 20);  // nobody watches it any more
    server_look after = with_sessions(25, 35);
    watch(after, "/job/lock", 2, 4);
    CHECK(findings_between(looks.back(), after, crowd).empty());
    auto found = findings_between(joined(looks, {"/job/lock"}), after, crowd);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::herd);
    CHECK(found[0].path == "/job/lock");
    CHECK(found[0].sessions == 20);
}

TEST_CASE("findings: the next leader's node is the same to those who wait") {
    server_look before = with_sessions(5, 5);
    server_look after = with_sessions(7, 8);
    watch(before, "/job/node-0000000000", 1, 19);
    watch(after, "/job/node-0000000001", 3, 19);
    watch(after, "/job/node-1", 1, 2);  // another node: no sequence
    auto found = findings_between(before, after, crowd);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::herd);
    CHECK(found[0].sessions == 19);
    CHECK(found[0].proceeded == 2);
}

TEST_CASE("findings: who only watches, sleeps or has something to do is no herd") {
    server_look before = with_sessions(5, 5);
    watch(before, "/config", 1, 20);
    SECTION("nothing was sent") {
        server_look after = with_sessions(9, 9);  // pings
        watch(after, "/config", 1, 20);
        CHECK(findings_between(before, after, crowd).empty());
        CHECK(findings_of(before, crowd).at(0).text() ==
              "crowd at /config: 20 sessions watch it, and a change wakes them all");
    }
    SECTION("data has changed, and all watch again") {
        server_look after = with_sessions(7, 8);
        watch(after, "/config", 1, 20);
        fired(after, "changed", 1, 20);
        fired(after, "deleted", 0, 0);
        auto found = findings_between(before, after, crowd);
        REQUIRE(found.size() == 1);
        CHECK(found[0].kind == finding_kind::broadcast);
        fired(after, "deleted", 1, 20);
        CHECK(findings_between(before, after, crowd).at(0).kind == finding_kind::herd);
    }
    SECTION("a barrier was opened, and all go on") {
        server_look after = with_sessions(7, 8);
        auto found = findings_between(before, after, crowd);
        REQUIRE(found.size() == 1);
        CHECK(found[0].kind == finding_kind::broadcast);
        // All have had their turn, but woke for each other's.
        found = findings_between(before, with_sessions(17, 27), crowd);
        REQUIRE(found.size() == 1);
        CHECK(found[0].kind == finding_kind::herd);
    }
    SECTION("they watch it, and were woken for something else, one by one") {
        server_look after = with_sessions(7, 8);
        watch(after, "/config", 1, 20);
        fired(after, "deleted", 20, 20);
        CHECK(findings_between(before, after, crowd).empty());
        fired(after, "deleted", 1, 20);
        CHECK(findings_between(before, after, crowd).size() == 1);
    }
    SECTION("they watch it, and were woken for something else, a few at a time") {
        server_look after = with_sessions(7, 8);
        watch(after, "/config", 1, 20);
        fired(after, "deleted", 20, 40);
        parse_mntr("zk_max_node_deleted_watch_count\t2\n", after);
        CHECK(findings_between(before, after, crowd).empty());
        // As many at once as there are in the crowd; that may have been earlier.
        parse_mntr("zk_max_node_deleted_watch_count\t10\n", after);
        CHECK(findings_between(before, after, crowd).size() == 1);
    }
    SECTION("what has happened to other nodes does not add up") {
        server_look after = with_sessions(7, 8);
        watch(after, "/config", 1, 20);
        fired(after, "deleted", 1, 6);
        fired(after, "children", 1, 6);
        CHECK(findings_between(before, after, crowd).empty());
    }
    SECTION("each has its own") {
        server_look one_each = with_sessions(5, 5);
        for (int i = 1; i <= 20; ++i)
            watch(one_each, fmt::format("/lock/n-{:010}", i), i, i);
        server_look after = with_sessions(7, 8);
        fired(after, "deleted", 20, 20);
        CHECK(findings_between(one_each, after, crowd).empty());
    }
}

TEST_CASE("findings: what is refused is made up for by counters") {
    server_look before;
    server_look after;
    fired(before, "deleted", 1, 1);
    fired(after, "deleted", 4, 301);
    auto found = findings_between(before, after, crowd);
    REQUIRE(found.size() == 1);
    CHECK(found[0].text() ==
          "burst: nodes that were deleted woke 100 watches each (300 in all); their path is not "
          "known");
    CHECK(found[0].event == "deleted");
    CHECK(found[0].path.empty());
}

TEST_CASE("findings: notifications are the watches that fired, whatever the questions cost") {
    server_look before;
    server_look after;
    CHECK_FALSE(notifications_between(before, after));  // before ZooKeeper 3.6
    for (std::string_view what : {"created", "deleted", "children", "changed"}) {
        fired(before, what, 1, 1);
        fired(after, what, 3, 4);
    }
    // An answer to `mntr` is as many packets as it is long.
    parse_mntr("zk_packets_received\t1\nzk_packets_sent\t0\n", before);
    parse_mntr("zk_packets_received\t2\nzk_packets_sent\t4\n", after);
    CHECK(notifications_between(before, after) == 12);
}

TEST_CASE("findings: long listings show as large reads of a part of the tree") {
    server_look before = with_sessions(5, 5);
    server_look after = with_sessions(7, 7);
    parse_mntr("zk_cnt_app_read_per_namespace\t10\nzk_sum_app_read_per_namespace\t1000\n", before);
    parse_mntr("zk_cnt_app_read_per_namespace\t30\nzk_sum_app_read_per_namespace\t1001000\n",
               after);
    auto found = findings_between(before, after, crowd);
    REQUIRE(found.size() == 1);
    CHECK(found[0].path == "/app");
    CHECK(found[0].bytes == 50'000);
    CHECK(found[0].reads == 20);
    CHECK(found[0].sessions == 20);
}

TEST_CASE("findings: a server that has begun anew is not compared with what it was") {
    server_look before;
    server_look after;
    CHECK_FALSE(has_restarted(before, after));
    parse_mntr("zk_packets_received\t1000\n", before);
    CHECK_FALSE(has_restarted(before, after));  // it does not say any more
    parse_mntr("zk_packets_received\t1001\n", after);
    CHECK_FALSE(has_restarted(before, after));
    parse_mntr("zk_packets_received\t7\n", after);
    CHECK(has_restarted(before, after));
    // A busy one.
    parse_mntr("zk_uptime\t60000\n", before);
    parse_mntr("zk_uptime\t2000\nzk_packets_received\t5000\n", after);
    CHECK(has_restarted(before, after));
    // Not for long before that, and ahead of what it was.
    parse_mntr("zk_uptime\t3000\nzk_packets_received\t1000\n", before);
    parse_mntr("zk_uptime\t4500\nzk_packets_received\t5000\n", after);
    after.asked = before.asked + std::chrono::milliseconds(1500);
    CHECK_FALSE(has_restarted(before, after));
    after.asked = before.asked + std::chrono::seconds(5);
    CHECK(has_restarted(before, after));
}

TEST_CASE("findings: host lists") {
    auto all = parse_hosts("a,b:2182,[::1]:2183/app/x");
    REQUIRE(all.size() == 3);
    CHECK(all[0].text() == "a:2181");
    CHECK(all[1].text() == "b:2182");
    CHECK(all[2].text() == "[::1]:2183");
    CHECK_THROWS(parse_hosts("a:b"));
    CHECK_THROWS(parse_hosts("a:65536"));
    CHECK_THROWS(parse_hosts("a:0"));
    CHECK(parse_hosts("a:65535").size() == 1);
    // The same one would count twice.
    CHECK(parse_hosts("a,b:2182,a:2181").size() == 2);
    CHECK_THROWS(parse_hosts(":2181"));
}

}  // namespace corozk::testing::findings_test
