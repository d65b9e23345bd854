// SPDX-License-Identifier: Apache-2.0
// `corozk-bench paper`: each experiment has a row for each who takes part and each number of clients.
#include "bench_run.hpp"

#include <boost/json/serialize.hpp>

#include <map>
#include <set>
#include <utility>

namespace corozk::testing::paper_test {

using namespace corozk::testing;

namespace {

/// Who and how many clients, with the row.
using rows_by_who = std::multimap<std::pair<std::string, int>, boost::json::object>;

rows_by_who of_experiment(const bench_run& bench,
                          const std::string& experiment,
                          const std::string& recipe = "") {
    rows_by_who found;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        if (text(row, "experiment") != experiment)
            continue;
        if (recipe.empty() || text(row, "recipe") == recipe)
            found.emplace(
                std::pair(text(row, "implementation"), row.at("waiters").to_number<int>()), row);
    }
    return found;
}

/// corozk's row, of which there is one.
const boost::json::object& ours(const rows_by_who& rows, int clients) {
    REQUIRE(rows.count({"ours", clients}) == 1);
    return rows.find({"ours", clients})->second;
}

int play(bench_run& bench, const std::string& experiment, const std::string& clients) {
    return bench.run_small(
        "paper", {"--experiment", experiment, "--clients", clients, "--operations", "24"});
}

/// Curator's rows are there, or what to install for them.
void check_curator(const bench_run& bench, const rows_by_who& rows, const char* key) {
    auto [begin, end] = rows.equal_range({"curator", 3});
    if (begin == end)
        CHECK(bench.out().find("libcurator-recipes-java") != std::string::npos);
    for (auto at = begin; at != end; ++at) {
        INFO(boost::json::serialize(at->second));
        CHECK(text(at->second, "failure").empty());
        CHECK(at->second.contains(key));
    }
}

}  // namespace

TEST_CASE("paper: ZooKeeper's own is shown beside what was published") {
    bench_run bench;
    int code = bench.run_small("paper", {"--members", "3,50", "--barriers", "2,200"});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::multiset<double> published;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(row.at("time_s").to_number<double>() > 0);
        if (const auto* time = row.if_contains("published_s"))
            published.insert(time->to_number<double>());
        // A create, or a delete, at the least.
        CHECK(row.at("requests_per_operation").to_number<double>() >= 1);
    }
    CHECK(bench.rows().size() == 8);
    CHECK(published == std::multiset<double>{9.4, 9.4});
}

TEST_CASE("paper: a counter has additions by one client and by several") {
    bench_run bench;
    REQUIRE(play(bench, "counter", "1,3") == 0);
    INFO(bench.out());
    auto rows = of_experiment(bench, "counter");
    for (int clients : {1, 3}) {
        CHECK(figure(ours(rows, clients), "sessions") == clients);
        CHECK(figure(ours(rows, clients), "ops_per_s") > 0);
    }
    CHECK(figure(ours(rows, 1), "growth") == 1);
    CHECK(ours(rows, 3).contains("growth"));
    check_curator(bench, rows, "ops_per_s");
    // Where none of its figures could be checked, it is said so.
    CHECK(bench.out().find("EuroSys") != std::string::npos);
    CHECK(bench.out().find("published: an extension") == std::string::npos);
}

TEST_CASE("paper: clients put into a queue and take from it") {
    bench_run bench;
    REQUIRE(play(bench, "queue", "1,3") == 0);
    INFO(bench.out());
    auto rows = of_experiment(bench, "queue");
    for (int clients : {1, 3}) {
        // An item is created, listed, read and deleted.
        CHECK(figure(ours(rows, clients), "requests_per_operation") >= 2);
        CHECK_FALSE(ours(rows, clients).contains("published_ratio"));
    }
    check_curator(bench, rows, "published_ratio");
    CHECK(bench.out().find("published: an extension of the server is 17 x") != std::string::npos);
}

TEST_CASE("paper: a barrier is entered and left by all, in several rounds") {
    bench_run bench;
    REQUIRE(play(bench, "barrier", "2,3") == 0);
    INFO(bench.out());
    auto rows = of_experiment(bench, "barrier");
    std::set<std::string> operations;
    auto [begin, end] = rows.equal_range({"ours", 3});
    for (auto at = begin; at != end; ++at) {
        operations.insert(text(at->second, "operation"));
        CHECK(figure(at->second, "time_us") > 0);
        CHECK(figure(at->second, "repeat") == 5);
        CHECK(figure(at->second, "sessions") == 3);
    }
    CHECK(operations == std::set<std::string>{"enter", "leave"});
    check_curator(bench, rows, "time_us");
}

TEST_CASE("paper: who has led stands again") {
    bench_run bench;
    REQUIRE(play(bench, "election", "1,3") == 0);
    INFO(bench.out());
    auto rows = of_experiment(bench, "election");
    CHECK(figure(ours(rows, 1), "handover_us", "p50") > 0);
    CHECK(figure(ours(rows, 3), "handover_us", "p50") > 0);
    // As many terms, whoever's they are.
    for (int clients : {1, 3})
        CHECK(figure(ours(rows, clients), "turns") == 24);
    // Alone, nobody is told of anything; of several, who waits is told of the end of a term.
    CHECK(figure(ours(rows, 1), "notifications_per_handover") == 0);
    CHECK(figure(ours(rows, 3), "notifications_per_handover") > 0);
    check_curator(bench, rows, "turns");
}

TEST_CASE("paper: what an item and a release cause grows with those who wait") {
    bench_run bench;
    REQUIRE(play(bench, "herd", "1,4") == 0);
    INFO(bench.out());
    auto queues = of_experiment(bench, "herd", "queue");
    // Each consumer is told of each item, by the page's recipe at least once.
    for (int clients : {1, 4}) {
        REQUIRE(queues.count({"textbook", clients}) == 1);
        const auto& row = queues.find({"textbook", clients})->second;
        INFO(boost::json::serialize(row));
        CHECK(figure(row, "notifications_per_operation") >= clients);
        CHECK(figure(row, "taken_us", "p50") > 0);
        CHECK(figure(ours(queues, clients), "requests_per_operation") >= 1);
    }
    auto locks = of_experiment(bench, "herd", "lock");
    CHECK(locks.count({"herd", 4}) == 1);
    CHECK(locks.count({"textbook", 4}) == 1);
    CHECK(figure(ours(locks, 4), "requests_per_operation") >= 2);
    auto barriers = of_experiment(bench, "herd", "double_barrier");
    CHECK(barriers.size() == 4);
    CHECK(figure(ours(barriers, 4), "requests_per_operation") >= 1);
}

TEST_CASE("paper: each waits for a lock of each system that is there") {
    bench_run bench;
    REQUIRE(play(bench, "locks", "1,3") == 0);
    INFO(bench.out());
    auto rows = of_experiment(bench, "locks");
    CHECK(figure(ours(rows, 1), "acquire_us", "p50") > 0);
    CHECK(figure(ours(rows, 3), "acquire_us", "p50") > 0);
    check_curator(bench, rows, "acquire_us");
    for (std::string system : {"etcd", "redis"}) {
        INFO(system);
        auto [begin, end] = rows.equal_range({system, 3});
        if (begin == end)
            CHECK(bench.out().find("package " + system + "-server") != std::string::npos);
        for (auto at = begin; at != end; ++at) {
            CHECK(text(at->second, "failure").empty());
            CHECK(figure(at->second, "acquire_us", "p50") > 0);
        }
    }
}

TEST_CASE("paper: what makes no sense is refused") {
    bench_run bench;
    CHECK(bench.run({"paper", "--experiment", "herds"}) == 2);
    CHECK(bench.out().find("barrier_table, counter, queue, barrier, election, herd, locks") !=
          std::string::npos);
    CHECK(bench.run({"paper", "--experiment", "none"}) == 2);
    CHECK(bench.run({"paper", "--experiment", "counter", "--clients", "5,1"}) == 2);
    CHECK(bench.out().find("ascending") != std::string::npos);
    CHECK(bench.run({"paper", "--implementation", "herd"}) == 2);
    CHECK(bench.out().find("of barrier_table it is textbook or ours") != std::string::npos);
}

}  // namespace corozk::testing::paper_test
