// SPDX-License-Identifier: Apache-2.0
#include "bench_run.hpp"
#include <corozk/version.hpp>

#include <boost/json/serialize.hpp>

#include <map>
#include <set>

namespace corozk::testing::run_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

const std::vector<std::string> commands{"demo",    "judge",       "watch",   "safety",  "systems",
                                        "floor",   "handover",    "herd",    "queue",   "semaphore",
                                        "counter", "2pc",         "barrier", "cache",   "compare",
                                        "report",  "uncontended", "ops",     "network", "many",
                                        "stall",   "load",        "paper",   "sizing",  "endure"};

bool is_picture(const std::string& svg) {
    return svg.find("<svg") != std::string::npos && svg.find("</svg>") != std::string::npos &&
           svg.find("prefers-color-scheme") != std::string::npos &&
           svg.find("#010203") == std::string::npos;
}

/// @return how many files of the folder end so, each looked at
std::size_t check_files(const std::filesystem::path& folder,
                        const std::string& ending,
                        bool (*good)(const std::string&)) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ending)
            continue;
        INFO(entry.path());
        CHECK(good(content_of(entry.path())));
        ++count;
    }
    return count;
}

bool is_distribution(const std::string& hgrm) {
    return hgrm.find("Percentile") != std::string::npos &&
           hgrm.find("1.000000000000") != std::string::npos &&
           hgrm.find("#[Max ") != std::string::npos;
}

}  // namespace

TEST_CASE("corozk-bench explains every command") {
    bench_run bench;
    REQUIRE(bench.run({"--help"}) == 0);
    std::string general = bench.out();
    for (const auto& command : commands) {
        INFO(command);
        CHECK(general.find("\n  " + command + " ") != std::string::npos);
        REQUIRE(bench.run({command, "--help"}) == 0);
        bool looks = command == "watch";  // nothing is repeated there
        CHECK((bench.out().find("--repeat") != std::string::npos) != looks);
    }
    auto default_said = [&](const std::string& command, const std::string& text) {
        bench.run({command, "--help"});
        return bench.out().find(text) != std::string::npos;
    };
    CHECK(default_said("judge", "with the spread (default 1)"));
    CHECK(default_said("judge", "session timeout to request (default 10000)"));
    CHECK(default_said("handover", "with the spread (default 3)"));
    CHECK(bench.run({"watch", "--hosts", "a", "--servers", "3"}) == 2);
    CHECK(bench.run({"handover", "--json", "--quiet"}) == 2);
    CHECK(bench.out().find("'--json' needs a value, and '--quiet' is an option") !=
          std::string::npos);
    CHECK(bench.run({"handover", "--hosts", "a:1", "--heap", "1g"}) == 2);
    CHECK(bench.out().find("--heap is about our own servers") != std::string::npos);
    CHECK(bench.run({"handover", "--hosts", "a:99999"}) == 2);
    CHECK(bench.out().find("--hosts: 'a:99999' is not HOST:PORT") != std::string::npos);
    CHECK(bench.run({"handover", "--hosts", "a.invalid:1"}) == 1);
    CHECK(bench.out().find("a.invalid:1: each needs a name that is known here") !=
          std::string::npos);
    std::string absent = the_server().hosts() + "/no/such/root";
    CHECK(bench.run({"floor", "--hosts", absent}) == 1);
    CHECK(bench.out().find("a path behind the hosts must exist") != std::string::npos);
    // Only the first of several would be measured.
    for (std::vector<std::string> words : {std::vector<std::string>{"demo", "--waiters", "1,2"},
                                           {"handover", "--limit", "1,2"},
                                           {"compare", "--members", "1,2"},
                                           {"endure", "--waiters", "2,3"}}) {
        CHECK(bench.run(words) == 2);
        CHECK(bench.out() == "corozk-bench: " + words[0] + ": " + words[1] +
                                 ": one number\nSee corozk-bench " + words[0] + " --help.\n");
    }
    CHECK(bench.run({"compar"}) == 2);
    CHECK(bench.out().find("did you mean 'compare'") != std::string::npos);
}

TEST_CASE("a comparison has a row for each who takes part, and a report") {
    bench_run bench;
    int code = bench.run_small("compare",
                               {"--waiters",
                                "3,6",
                                "--sessions",
                                "2",
                                "--only",
                                "hand-over, lock",
                                "--report",
                                bench.path("report")});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::set<std::string> seen;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(text(row, "workload") == "handover");
        CHECK(row.contains("run"));
        std::string who = text(row, "implementation");
        seen.insert(who);
        CHECK_FALSE(row.contains("round_trips"));
        // What these servers count is not known: it must not be shown as nothing.
        for (const char* key : {"requests_per_handover",
                                "bytes_per_handover",
                                "requests_per_waiter",
                                "server_cpu_us_per_handover"})
            CHECK((!row.contains(key) || figure(row, key) > 0));
        // How the others do is not ours to promise.
        if (who == "ours" || who == "c_client") {
            CHECK(text(row, "failure").empty());
            CHECK(figure(row, "handover_us", "p50") > 0);
        }
    }
    CHECK(seen.contains("ours"));
    CHECK(seen.contains("c_client"));
    // Who is not installed is said to be missing, and with which package that changes.
    for (const char* peer : {"curator", "kazoo", "zookeeper"}) {
        INFO(peer);
        CHECK((seen.contains(peer) || bench.out().find("package") != std::string::npos));
    }

    std::filesystem::path report = bench.path("report");
    CHECK(check_files(report, ".svg", is_picture) >= 2);
    CHECK(check_files(report, ".hgrm", is_distribution) >= 4);
    std::string page = content_of(report / "index.html");
    CHECK(page.find("</html>") != std::string::npos);
    CHECK(page.find("<svg") != std::string::npos);
    CHECK(page.find("href=\"http") == std::string::npos);

    // The same from the file, on no server.
    REQUIRE(
        bench.run({"report", "--from", bench.path("rows.json"), "--report", bench.path("again")}) ==
        0);
    CHECK(content_of(std::filesystem::path(bench.path("again")) / "index.html") == page);
}

TEST_CASE("a comparison says how many round trips an operation waits for") {
    bench_run bench;
    int code = bench.run({"compare",
                          "--only",
                          "uncontended",
                          "--operations",
                          "20",
                          "--waiters",
                          "1",
                          "--warm-up",
                          "100",
                          "--json",
                          bench.path("rows.json")});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::set<std::string> seen;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        if (!text(row, "failure").empty())
            continue;
        CHECK(figure(row, "round_trips") > 0);
        seen.insert(text(row, "implementation"));
    }
    CHECK(seen.contains("ours"));
    CHECK(seen.contains("c_client"));
    CHECK(bench.out().find("round trips") != std::string::npos);
}

TEST_CASE("a contest's waiters can be in several processes") {
    bench_run bench;
    int code = bench.run_small("handover",
                               {"--waiters",
                                "20",
                                "--sessions",
                                "4",
                                "--processes",
                                "2",
                                "--implementation",
                                "ours",
                                "--recipe",
                                "lock,shared_lock,semaphore,election"});
    INFO(bench.out());
    REQUIRE(code == 0);
    auto rows = bench.rows();
    CHECK(rows.size() == 4);
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        CHECK(row.at("processes").to_number<int>() == 2);
        CHECK(figure(row, "handover_us", "p50") > 0);
    }
}

TEST_CASE("a release of few is looked at for locks and elections") {
    bench_run bench;
    int code = bench.run_small(
        "herd",
        {"--waiters", "8", "--sessions", "4", "--recipe", "lock,election", "--releases", "10"});
    INFO(bench.out());
    REQUIRE(code == 0);
    double herd = 0;
    double ours = 0;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(figure(row, "neighbour_idle_us", "p50") > 0);
        CHECK(figure(row, "neighbour_us", "p50") > 0);
        CHECK(figure(row, "neighbour_us", "max") >= figure(row, "neighbour_us", "p99"));
        double events = row.at("notifications_per_handover").to_number<double>();
        (text(row, "implementation") == "herd" ? herd : ours) = events;
    }
    CHECK(bench.rows().size() == 6);
    CHECK(herd > ours);
}

TEST_CASE("what nobody has made is not measured") {
    bench_run bench;
    for (const char* command : {"herd", "handover"}) {
        CHECK(bench.run({command, "--recipe", "semaphore", "--implementation", "herd"}) == 2);
        CHECK(bench.out().find("there is no semaphore of the implementation herd") !=
              std::string::npos);
    }
}

TEST_CASE("an ensemble is our own, and has a leader to lag behind") {
    bench_run bench;
    using words = std::vector<std::string>;
    auto refused = [&bench](words more, const std::string& why) {
        more.insert(more.begin(), "herd");
        CHECK(bench.run(more) == 2);
        CHECK(bench.out().find(why) != std::string::npos);
    };
    const std::string makes_no_sense = " is about our own servers: it makes no sense with --hosts";
    refused({"--observers", "1"}, "--observers needs an ensemble: --servers 3");
    refused({"--lag", "20", "--servers", "1"}, "--lag needs an ensemble: --servers 3");
    refused({"--hosts", "a:1", "--lag", "20"}, "--lag" + makes_no_sense);
    refused({"--hosts", "a:1", "--observers", "1"}, "--observers" + makes_no_sense);
    refused({"--hosts", "a:1", "--servers", "3"}, "--servers" + makes_no_sense);
    refused({"--servers", "3", "--observers", "many"}, "--observers: 'many' is not a number");
    refused({"--servers", "3", "--lag", "1h"}, "--lag: '1h' is not a number");
}

TEST_CASE("each kind of server in an ensemble has its neighbour") {
    bench_run bench;
    int code = bench.run({"herd",
                          "--servers",
                          "3",
                          "--observers",
                          "1",
                          "--lag",
                          "30",
                          "--heap",
                          "256m",
                          "--warm-up",
                          "100",
                          "--waiters",
                          "8",
                          "--recipe",
                          "lock",
                          "--implementation",
                          "ours",
                          "--releases",
                          "5",
                          "--json",
                          bench.path("rows.json")});
    INFO(bench.out());
    REQUIRE(code == 0);
    CHECK(bench.out().find("3 servers and an observer of our own") != std::string::npos);
    CHECK(bench.out().find("one follower 30 ms behind the leader") != std::string::npos);
    auto rows = bench.rows();
    REQUIRE(rows.size() == 1);
    const auto& row = rows[0].as_object();
    INFO(boost::json::serialize(row));
    for (std::string role : {"leader", "follower", "lagging_follower", "observer"}) {
        std::string key = "neighbour_at_" + role;
        CHECK(figure(row, (key + "_idle_us").c_str(), "p50") > 0);
        CHECK(figure(row, (key + "_us").c_str(), "p50") > 0);
    }
    const auto& run = row.at("run").as_object();
    CHECK(figure(run, "server_count") == 3);
    CHECK(figure(run, "observers") == 1);
    CHECK(figure(run, "lag_ms") == 30);
    CHECK(figure(run, "warm_up") == 100);
    std::multiset<std::string> roles;
    for (const auto& one : run.at("roles").as_object())
        roles.insert(std::string(one.value().as_string()));
    CHECK(roles ==
          std::multiset<std::string>{"follower", "lagging follower", "leader", "observer"});
    // Not earlier; of the others there is nothing to promise.
    CHECK(figure(run, "event_after_us", "lagging follower") >= 30'000);
}

TEST_CASE("who has released a lock queues again") {
    bench_run bench;
    int code = bench.run_small(
        "herd", {"--waiters", "1,2", "--sessions", "2", "--recipe", "lock", "--releases", "5"});
    INFO(bench.out());
    REQUIRE(code == 0);
    CHECK(bench.rows().size() == 6);
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        CHECK(text(row, "failure").empty());
        CHECK(row.at("handover_us").to_number<double>() > 0);
        CHECK(figure(row, "releases_per_s") > 0);
        CHECK(figure(row, "releases_per_s") <= 10);
    }
}

TEST_CASE("a lock is looked at while others use the servers") {
    bench_run bench;
    CHECK(bench.run_small("load", {"--sessions", "1"}) == 2);
    int code = bench.run_small("load", {"--load", "0,20", "--operations", "20"});
    INFO(bench.out());
    REQUIRE(code == 0);
    auto rows = bench.rows();
    REQUIRE(rows.size() == 2);
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        for (const char* key : {"handover_us", "acquire_us", "set_us"}) {
            CHECK(figure(row, key, "p50") > 0);
            CHECK(figure(row, key, "p999") >= figure(row, key, "p99"));
        }
    }
    CHECK(rows[0].as_object().at("load_per_s").to_number<double>() == 0);
    CHECK(rows[1].as_object().at("load_per_s").to_number<double>() > 0);
}

TEST_CASE("hand-overs go on and on, and what the process occupies is looked at") {
    bench_run bench;
    CHECK(bench.run_small("endure", {"--waiters", "10,20"}) == 2);
    CHECK(bench.run_small("endure", {"--waiters", "1"}) == 2);
    CHECK(bench.run_small("endure", {"--repeat", "2"}) == 2);
    CHECK(bench.out().find("--repeat: it runs once, for --duration") != std::string::npos);
    int code = bench.run_small("endure", {"--duration", "5", "--waiters", "10", "--sessions", "3"});
    INFO(bench.out());
    // So short a time may be too short for memory to settle: 1 says that something grows.
    REQUIRE((code == 0 || code == 1));
    CHECK((code == 1) == (bench.out().find("GROWS") != std::string::npos));
    auto rows = bench.rows();
    REQUIRE(rows.size() == 24);
    double handovers = 0;
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        handovers += figure(row, "handovers_per_s");
        CHECK(figure(row, "handover_us", "p99") >= figure(row, "handover_us", "p50"));
        CHECK(figure(row, "threads") >= 1);
        CHECK(figure(row, "descriptors") > 3);
        CHECK(figure(row, "resident_bytes") > figure(row, "heap_bytes"));
    }
    CHECK(handovers > 0);
    CHECK(figure(rows[23].as_object(), "passed_percent") == 100);
    CHECK(rows[23].as_object().at("descriptors") == rows[12].as_object().at("descriptors"));
    CHECK(rows[23].as_object().at("threads") == rows[12].as_object().at("threads"));
}

TEST_CASE("the servers' load is predicted from what they cost") {
    bench_run bench;
    CHECK(bench.run_small("sizing", {"--hold", "own"}) == 2);
    // Whoever names a server twice has one.
    std::string twice = the_server().hosts() + "," + the_server().hosts();
    int code = bench.run_small(
        "sizing", {"--waiters", "10,1000", "--hold", "50", "--locks", "10000", "--hosts", twice});
    INFO(bench.out());
    REQUIRE(code == 0);
    CHECK(
        bench.out().find("corozk: 1 waiter of each lock already loads a server to 70 % or more") !=
        std::string::npos);
    auto rows = bench.rows();
    REQUIRE(rows.size() == 6);
    std::map<std::string, double> busy;
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(figure(row, "servers") == 1);
        CHECK(row.at("write_us").to_number<double>() > 0);
        CHECK(row.at("read_us").to_number<double>() > 0);
        CHECK(row.at("predicted_handover_us").to_number<double>() > 0);
        if (row.at("waiters").to_number<int>() == 1'000)
            busy[text(row, "implementation")] = row.at("predicted_busy_us").to_number<double>();
    }
    CHECK(busy.at("herd") > busy.at("ours"));
}

TEST_CASE("the load of ensembles of other sizes is predicted, too") {
    bench_run bench;
    CHECK(bench.run_small("sizing", {"--for", "0"}) == 2);
    int code = bench.run_small("sizing", {"--waiters", "100", "--for", "3,7"});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::map<std::pair<std::string, double>, double> busy_us;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        busy_us[{text(row, "implementation"), figure(row, "servers")}] =
            figure(row, "predicted_busy_us");
        // These servers' processes cannot be looked into.
        CHECK_FALSE(row.contains("leader_cpu_us"));
    }
    REQUIRE(busy_us.size() == 6);
    CHECK(busy_us.at({"textbook", 7}) < busy_us.at({"textbook", 3}));
    CHECK(bench.out().find("7 servers") != std::string::npos);
}

TEST_CASE("where others take all of the servers, a lock is never passed on") {
    bench_run bench;
    int code = bench.run_small("sizing", {"--load", "100", "--waiters", "10,1000", "--hold", "0"});
    INFO(bench.out());
    REQUIRE(code == 0);
    CHECK(bench.out().find("corozk: other clients alone load a server to 70 % or more") !=
          std::string::npos);
    CHECK(bench.out().find("  never  ") != std::string::npos);
    REQUIRE(bench.rows().size() == 6);
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        CHECK(figure(row, "predicted_turns_per_s") == 0);
        CHECK_FALSE(row.contains("predicted_handover_us"));
    }
}

TEST_CASE("messages of the same number of sites twice show no growth, and their rows can be read") {
    bench_run bench;
    int code = bench.run_small("2pc", {"--sites", "2,2"});
    INFO(bench.out());
    REQUIRE(code == 0);
    REQUIRE(bench.rows().size() == 4);
    for (const auto& value : bench.rows())
        CHECK_FALSE(value.as_object().contains("messages_exponent"));
    CHECK(bench.out().find("they grow with") == std::string::npos);
}

TEST_CASE("the floor of a hand-over is measured around a ring of sessions") {
    bench_run bench;
    CHECK(bench.run_small("floor", {"--sessions", "1"}) == 2);
    int code =
        bench.run_small("floor", {"--operations", "20", "--nodes", "5,50", "--sessions", "3"});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::vector<double> requests;
    std::set<std::string> singles;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        if (text(row, "operation").empty()) {
            singles.insert(text(row, "implementation"));
            CHECK(figure(row, "list_5_us", "p50") > 0);
            CHECK(figure(row, "list_50_us", "p50") > 0);
            continue;
        }
        CHECK(row.at("sessions").to_number<int>() == 3);
        CHECK(figure(row, "handover_us", "p50") > 0);
        CHECK(row.at("floor_ratio").to_number<double>() > 0);
        if (text(row, "implementation") == "c_client")
            requests.push_back(row.at("requests_per_handover").to_number<double>());
    }
    CHECK(singles == std::set<std::string>{"c_client", "ours"});
    CHECK(requests == std::vector<double>{1, 1, 1, 3});
}

TEST_CASE("TCP and TLS are put beside the bare C client") {
    bench_run bench;
    // A server with a port for TLS is the program's own.
    int code = bench.run({"network",
                          "--repeat",
                          "1",
                          "--warm-up",
                          "100",
                          "--json",
                          bench.path("rows.json"),
                          "--operations",
                          "20",
                          "--in-flight",
                          "10",
                          "--sessions",
                          "3"});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::multiset<std::string> seen;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        std::string transport = text(row, "transport");
        seen.insert(transport);
        if (transport.empty()) {
            CHECK(text(row, "server") == "silent");
            CHECK(row.at("max_stall_ms").to_number<double>() > 0);
            continue;
        }
        if (text(row, "implementation") == "ours")
            CHECK(figure(row, "connecting", "max_stall_ms") > 0);
        if (transport == "tls_system_authorities")
            continue;
        CHECK(figure(row, "create_delete_us", "p50") > 0);
        CHECK(figure(row, "pipelined", "requests_per_s") > 0);
        CHECK(figure(row, "connect_us", "p95") > 0);
        CHECK(row.at("memory_per_session_bytes").to_number<double>() > 0);
        if (text(row, "implementation") == "c_client") {
            CHECK(figure(row, "floor_us", "p50") > 0);
            continue;
        }
        CHECK(figure(row, "acquire_release_us", "p50") > 0);
        CHECK(figure(row, "handover_us", "p50") > 0);
        CHECK(figure(row, "handover_between_sessions_us", "p50") > 0);
    }
    auto expected =
        has_tls() ? std::multiset<std::string>{"", "tcp", "tcp", "tls", "tls_system_authorities"}
                  : std::multiset<std::string>{"tcp", "tcp"};
    CHECK(seen == expected);
}

TEST_CASE("what takes too long is given up, and not tried with more") {
    bench_run bench;
    // Each release is looked at for 50 ms at the least.
    int code = bench.run_small("herd",
                               {"--waiters",
                                "80,60",
                                "--sessions",
                                "2",
                                "--recipe",
                                "lock",
                                "--implementation",
                                "ours",
                                "--releases",
                                "60",
                                "--budget",
                                "1"});
    INFO(bench.out());
    REQUIRE(code == 0);
    auto rows = bench.rows();
    REQUIRE(rows.size() == 2);
    const auto& failed = rows[0].as_object();
    CHECK(failed.at("waiters").to_number<int>() == 60);
    CHECK(text(failed, "failure").starts_with("did not end in 1 s: "));
    CHECK_FALSE(failed.contains("requests_per_handover"));
    const auto& not_run = rows[1].as_object();
    CHECK(text(not_run, "not_run") == "60 waiters did not end in 1 s");
    CHECK(bench.out().find("80 waiters: not run") != std::string::npos);
}

}  // namespace corozk::testing::run_test
