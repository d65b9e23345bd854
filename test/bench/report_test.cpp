// SPDX-License-Identifier: Apache-2.0
// `corozk-bench report --from`: the page that rows of all commands make.
#include "bench_run.hpp"

#include <boost/json/serialize.hpp>

#include <set>

namespace corozk::testing::report_test {

using namespace corozk::testing;
using boost::json::array;
using boost::json::object;

namespace {

class reported {
public:
    int make(const array& rows) { return make(boost::json::serialize(rows)); }

    int make(const std::string& json) {
        std::ofstream(bench_.path("rows.json"), std::ios::trunc) << json;
        return bench_.run(
            {"report", "--from", bench_.path("rows.json"), "--report", folder().string()});
    }

    std::string out() const { return bench_.out(); }
    std::filesystem::path folder() const { return bench_.path("a_report"); }

    /// What the page says below a heading, up to the end of its section.
    std::string section(const std::string& heading) const {
        std::string page = content_of(folder() / "index.html");
        auto begin = page.find("<h2>" + heading + "</h2>");
        return begin == page.npos ? "" : page.substr(begin, page.find("</section>", begin) - begin);
    }

    std::string section_of(const array& rows, const std::string& heading) {
        REQUIRE(make(rows) == 0);
        return section(heading);
    }

    /// The script of a picture; empty if there is none.
    std::string script(const std::string& name) const {
        return std::filesystem::exists(folder() / (name + ".svg"))
                   ? content_of(folder() / (name + ".gp"))
                   : "";
    }

private:
    bench_run bench_;
};

bool contains(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}

object quantiles(double p50, double p99) {
    return {{"p50", p50}, {"p99", p99}};
}

}  // namespace

TEST_CASE("report: load has p50 and p99 over the load") {
    reported r;
    array rows;
    for (int load : {0, 50, 90}) {
        rows.push_back(object{{"workload", "load"},
                              {"implementation", "ours"},
                              {"recipe", "lock"},
                              {"case", std::to_string(load) + " % load"},
                              {"load_percent", load},
                              {"sessions", 2},
                              {"load_per_s", load * 100},
                              {"handover_us", quantiles(411 + load, 2'000)},
                              {"acquire_us", quantiles(300, 3'000)},
                              {"set_us", quantiles(200, 1'000)}});
    }
    std::string section = r.section_of(rows, "Under load");
    CHECK(contains(section, "What to read off"));
    CHECK(contains(section, "<td>corozk, 50 % load</td><td>5,000</td><td>461 \u00b5s</td>"));
    CHECK(contains(section, "<td>corozk, 0 % load</td><td>0</td>"));
    CHECK(contains(section, "<svg"));
    std::string script = r.script("load-lock-2");
    CHECK(contains(script, "\n50 0.000461\n"));
    CHECK(contains(script, "hand-over, p99"));
}

TEST_CASE("report: what a process occupies is shown over the time") {
    reported r;
    array rows;
    for (int percent : {50, 100}) {
        rows.push_back(object{{"workload", "endure"},
                              {"implementation", "ours"},
                              {"recipe", "lock"},
                              {"case", "after " + std::to_string(3 * percent) + " s"},
                              {"passed_percent", percent},
                              {"waiters", 1'000},
                              {"sessions", 100},
                              {"handovers_per_s", 2'817},
                              {"handover_us", quantiles(311, 2'000)},
                              {"heap_bytes", 3'250'000},
                              {"resident_bytes", 21'000'000},
                              {"descriptors", 414},
                              {"threads", 2}});
    }
    std::string section = r.section_of(rows, "For a long time");
    CHECK(contains(section, "<td>corozk, after 150 s</td><td>2,817</td><td>311 \u00b5s</td>"));
    CHECK(contains(section, "<td>414</td>"));
    CHECK(contains(r.script("endure-memory-lock-100"), "\n100 21000000\n"));
    CHECK(contains(r.script("endure-handovers-lock-100"), "\n50 0.000311\n"));
    CHECK(contains(r.script("endure-handles-lock-100"), "\n50 414\n"));
}

TEST_CASE("report: the paper's times are beside those of the recipes") {
    reported r;
    array rows;
    for (int barriers : {200, 400}) {
        for (const char* implementation : {"ours", "textbook"}) {
            rows.push_back(object{{"workload", "paper"},
                                  {"implementation", implementation},
                                  {"recipe", "double_barrier"},
                                  {"case", std::to_string(barriers) + " barriers"},
                                  {"barriers", barriers},
                                  {"waiters", 50},
                                  {"sessions", 50},
                                  {"published_s", barriers / 20.0},
                                  {"time_s", barriers / 30.0}});
        }
    }
    REQUIRE(r.make(rows) == 0);
    CHECK(contains(r.section("The barriers of ZooKeeper's paper"), "<td>13.3 s</td>"));
    std::string script = r.script("paper-double_barrier-50");
    CHECK(contains(script, "\n400 20\n"));  // published
    CHECK(contains(script, "\n400 13.3333333\n"));
    CHECK(contains(script, "50 clients"));
}

TEST_CASE("report: what becomes of recipes as clients become more is a line, from one client on") {
    reported r;
    array rows;
    for (int clients : {1, 5}) {
        rows.push_back(object{{"workload", "paper_recipes"},
                              {"experiment", "counter"},
                              {"implementation", "ours"},
                              {"recipe", "counter"},
                              {"waiters", clients},
                              {"sessions", clients},
                              {"growth", 1.0 / clients},
                              {"ops_per_s", 7'000 / clients}});
    }
    REQUIRE(r.make(rows) == 0);
    CHECK(contains(r.section("Recipes with increasing numbers of clients"), "<td>0.20 x</td>"));
    std::string script = r.script("paper-rate-counter");
    CHECK(contains(script, "\n1 7000\n"));
    CHECK(contains(script, "\n5 1400\n"));
}

TEST_CASE("report: systems are bars, and a death has a picture of its own") {
    reported r;
    array rows;
    for (std::string system : {"ours", "etcd"}) {
        object row{{"workload", "systems"},
                   {"implementation", system},
                   {"recipe", "lock"},
                   {"title", system + " 1.0"},
                   {"servers", 1}};
        object waiting = row;
        object killed = row;
        row["write_us"] = quantiles(150, 900);
        waiting["waiters"] = 10;
        waiting["handover_us"] = quantiles(672, 900);
        killed["loss_s"] = 5.5;
        rows.insert(rows.end(), {row, waiting, killed});
    }
    std::string section = r.section_of(rows, "Compared with other systems");
    CHECK(contains(section, "etcd 1.0, lock"));
    CHECK(contains(section, "<td>672 \u00b5s</td>"));
    CHECK(contains(section, "<td>5.50 s</td>"));
    std::string script = r.script("systems");
    CHECK(contains(script, "with boxes"));
    CHECK(contains(script, "hand-over,\\n10 waiters"));
    CHECK(contains(script, "\n1 0.000672\n"));
    CHECK(contains(r.script("systems-deaths"), "\n0 5.5\n"));
}

TEST_CASE("report: every other command has a section") {
    // What a row needs at the least, and what the page says of it.
    struct kind {
        const char* workload;
        object figures;
        const char* heading;
        const char* cell;
    };
    const std::vector<kind> kinds{
        {"handover", {{"handover_us", quantiles(123, 456)}}, "Hand-overs", "123 \u00b5s"},
        {"herd", {{"neighbour_us", quantiles(7, 8)}}, "What one release causes", "8 \u00b5s"},
        {"semaphore", {{"handovers_per_s", 1'234}}, "Hand-over of permits", "1,234"},
        {"judge", {{"verdict", "WRONG"}}, "Judged recipes", "WRONG"},
        {"many",
         {{"memory", {{"contender_object_bytes", 1}}}, {"queue_s", 4.25}},
         "A great many waiters",
         "4.25 s"},
        {"demo", {{"queue_s", 2.5}}, "Thousands of waiters on one lock", "2.50 s"},
        {"join", {{"join_us", 77}}, "Joining a long queue", "77 \u00b5s"},
        {"queue", {{"ops_per_s", 10'005}}, "Through a queue", "10,005"},
        {"counter", {{"ops_per_s", 4'595}}, "Adding to one counter", "4,595"},
        {"barrier", {{"enter_s", 0.0651}}, "A double barrier", "65.1 ms"},
        {"paper_recipes",
         {{"published_ratio", 17}},
         "Recipes with increasing numbers of clients",
         "17.0 x"},
        {"paper_herd",
         {{"requests_per_operation", 30.4}},
         "Requests with increasing numbers of clients",
         "30.4"},
        {"paper_locks",
         {{"acquire_us", quantiles(591, 900)}},
         "Waiting for a lock of each system",
         "591 \u00b5s"},
        {"2pc", {{"messages", 94}}, "Two-phase commit", "94"},
        {"cache", {{"latency_us", quantiles(413, 900)}}, "Caches", "413 \u00b5s"},
        {"endure", {{"handovers_per_s", 2'817}}, "For a long time", "2,817"},
        {"watch", {{"event", "deleted"}}, "Herds in an ensemble in use", "deleted"},
        {"sizing", {{"predicted_load", 0.125}}, "What your servers can carry", "12.5 %"},
        {"floor", {{"create_us", quantiles(151, 900)}}, "The floor", "151 \u00b5s"},
        {"uncontended", {{"cycle_us", quantiles(175, 9)}}, "Uncontended lock", "175 \u00b5s"},
        {"ops", {{"ops_per_s", 2'703}}, "Single requests", "2,703"},
        {"network", {{"memory_per_session_bytes", 4'738}}, "TCP and TLS", "4.74 KB"},
        {"stall", {{"max_stall_ms", 4.07}}, "Stalls of the event loop", "4.07"},
    };
    array rows;
    for (const kind& k : kinds) {
        object row = k.figures;
        row["workload"] = k.workload;
        row["implementation"] = "ours";
        rows.push_back(std::move(row));
    }
    reported r;
    REQUIRE(r.make(rows) == 0);
    for (const kind& k : kinds) {
        INFO(k.workload);
        std::string section = r.section(k.heading);
        CHECK(contains(section, "What to read off"));
        CHECK(contains(section, std::string("<td>") + k.cell + "</td>"));
    }
}

TEST_CASE("report: a lost update is marked, and none is not") {
    reported r;
    object row{{"workload", "safety"}, {"implementation", "ours"}, {"lost", 3}, {"refused", 0}};
    REQUIRE(r.make(array{row}) == 0);
    CHECK(contains(r.section("What a guard is for"), "<td>0</td><td class=bad>3</td>"));
    row["lost"] = 0;
    REQUIRE(r.make(array{row}) == 0);
    CHECK(contains(r.section("What a guard is for"), "<td>0</td><td>0</td>"));
}

TEST_CASE("report: a row of safety says which fault it is about, and when it was told") {
    reported r;
    object row{{"workload", "safety"},
               {"implementation", "ours"},
               {"fault", "partition"},
               {"guard", "valid"},
               {"notice_ms", -620},
               {"lost", 0}};
    std::string section = r.section_of(array{row}, "What a guard is for");
    CHECK(contains(section, "<td>partition</td>"));
    CHECK(contains(section, "<td>620 ms after</td>"));
    CHECK(contains(section, "Partition: "));
}

TEST_CASE("report: a row of safety that is wrong says which one it is, and why") {
    reported r;
    object row{{"workload", "safety"},
               {"implementation", "etcd"},
               {"fault", "pause"},
               {"store", "key"},
               {"guard", "transaction"},
               {"lost", 1},
               {"failure", "1 updates lost"}};
    std::string section = r.section_of(array{row}, "What a guard is for");
    CHECK(contains(section, "<td>pause</td><td>key</td><td>transaction</td><td class=fails"));
    CHECK(contains(section,
                   "<li>etcd, fault pause, data in a key, guard transaction: fails: 1 updates "
                   "lost</li>"));
}

TEST_CASE("report: an ensemble's neighbours are beside those of all servers") {
    reported r;
    object row{{"workload", "herd"},
               {"implementation", "ours"},
               {"recipe", "lock"},
               {"waiters", 10},
               {"neighbour_us", quantiles(100, 200)},
               {"neighbour_at_leader_us", quantiles(100, 7'100)}};
    std::string section = r.section_of(array{row}, "What one release causes");
    CHECK(contains(section, "<th>p99 at the leader</th>"));
    CHECK(contains(section, "<td>7100 \u00b5s</td>"));
    CHECK_FALSE(contains(section, "at an observer"));
}

TEST_CASE("report: what is wrong is said whole, below the table") {
    reported r;
    std::string why(300, 'x');
    object row{{"workload", "judge"},
               {"implementation", "mine"},
               {"waiters", 3},
               {"verdict", "WRONG"},
               {"failure", why}};
    std::string section = r.section_of(array{row}, "Judged recipes");
    CHECK(contains(section, "<li>mine, 3 waiters: fails: " + why + "</li>"));
    CHECK(contains(section, ">fails</td>"));
}

TEST_CASE("report: what rows say is shown, and nothing else comes of it") {
    reported r;
    array rows;
    const std::filesystem::path made = r.folder().parent_path() / "made";
    for (int waiters : {10, 100}) {
        rows.push_back(object{{"workload", "handover"},
                              {"implementation", "mine"},
                              {"title", "a `touch " + made.string() + "` b"},
                              {"recipe", "lock"},
                              {"waiters", waiters},
                              {"sessions", 1},
                              {"handover_us", quantiles(100 + waiters, 9'000)},
                              {"run", {{"<b>", "<i>"}}}});
    }
    REQUIRE(r.make(rows) == 0);
    CHECK_FALSE(std::filesystem::exists(made));
    CHECK(contains(content_of(r.folder() / "handover-latency-lock-1.svg"), "`touch "));
    CHECK(contains(content_of(r.folder() / "index.html"), "&lt;b&gt;: &lt;i&gt;"));
}

TEST_CASE("report: files of rows with the same name do not replace each other") {
    reported r;
    array rows;
    object distribution = boost::json::parse(R"({"count": 2, "mean": 1, "deviation": 0,
        "max": 2, "percentiles": [[1, 0.5, 1], [2, 1, 2]]})")
                              .as_object();
    for (const char* name : {"a,b", "ab"})
        rows.push_back(object{{"workload", "judge"},
                              {"implementation", name},
                              {"recipe", "lock"},
                              {"waiters", 3},
                              {"distribution_us", distribution}});
    INFO(r.out());
    REQUIRE(r.make(rows) == 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(r.folder()))
        files += entry.path().extension() == ".hgrm" ? 1 : 0;
    CHECK(files == 2);
}

TEST_CASE("report: no rows, and options that are about measuring, are refused") {
    reported r;
    CHECK(r.make(array{}) == 2);
    CHECK(contains(r.out(), "there are no rows in "));
    bench_run bench;
    std::ofstream(bench.path("rows.json")) << "[]";
    for (const char* option : {"--hosts", "--repeat", "--peers"}) {
        INFO(option);
        std::string value = option == std::string("--repeat") ? "2" : "none";
        CHECK(bench.run({"report",
                         "--from",
                         bench.path("rows.json"),
                         "--report",
                         bench.path("folder"),
                         option,
                         value}) == 2);
        CHECK(contains(bench.out(), std::string(option) + ": with --from nothing is measured"));
    }
}

TEST_CASE("report: it replaces an earlier one, and no files of others") {
    reported r;
    REQUIRE(r.make(array{object{{"workload", "floor"}}}) == 0);
    const std::filesystem::path drawn = r.folder() / "of_the_last_one.svg";
    std::ofstream(drawn) << "<svg></svg>";
    CHECK(r.make(array{object{{"workload", "floor"}}}) == 0);
    CHECK_FALSE(std::filesystem::exists(drawn));
    std::filesystem::remove(r.folder() / "index.html");
    std::ofstream(drawn) << "<svg></svg>";
    CHECK(r.make(array{object{{"workload", "floor"}}}) == 2);
    CHECK(contains(r.out(), "has files of something else"));
    CHECK(std::filesystem::exists(drawn));
    std::filesystem::remove(drawn);
    std::filesystem::create_directory(r.folder() / "index.html");
    CHECK(r.make(array{object{{"workload", "floor"}}}) == 2);
    CHECK(contains(r.out(), "has files of something else"));
}

TEST_CASE("report: rows of which nothing is known have a plain table") {
    reported r;
    array rows{object{{"workload", "tide"}, {"height", 2.5}, {"at", {{"place", "a <b>"}}}},
               object{{"workload", "tide"}, {"waves", array{1, 2}}},
               object{{"height", "high"}}};
    std::string section = r.section_of(rows, "tide");
    CHECK(contains(section, "<th>height</th><th>at.place</th><th>waves</th>"));
    CHECK(contains(section, "<td>2.5</td><td>a &lt;b&gt;</td><td></td>"));
    CHECK(contains(section, "<td>[1,2]</td>"));
    CHECK(contains(r.section("other figures"), "<td>high</td>"));
}

TEST_CASE("report: what has no place on an axis has no picture, and is no error") {
    reported r;
    array rows;
    for (int sites : {0, 4, 8}) {
        rows.push_back(object{{"workload", "2pc"},
                              {"recipe", "../2pc"},
                              {"form", "coordinator"},
                              {"sites", sites},
                              {"messages", 10 * sites + 7}});
    }
    REQUIRE(r.make(rows) == 0);
    CHECK(contains(r.section("Two-phase commit"), "<td>0</td><td>7</td>"));
    std::string script = r.script("2pc-..-2pc");
    CHECK(contains(script, "\n8 87\n"));
    CHECK_FALSE(contains(script, "\n0 7\n"));
}

TEST_CASE("report: rows of several limits, processes and locks are not mixed up") {
    reported r;
    array rows;
    auto add = [&](const char* key, int number, double p50) {
        for (int waiters : {10, 100}) {
            object row{{"workload", "handover"},
                       {"implementation", "ours"},
                       {"recipe", "semaphore"},
                       {"waiters", waiters},
                       {"sessions", 1},
                       {"handover_us", quantiles(p50 + waiters, 9'000)}};
            row[key] = number;
            rows.push_back(std::move(row));
        }
    };
    add("limit", 1, 100);
    add("limit", 5, 500);
    add("processes", 4, 400);
    REQUIRE(r.make(rows) == 0);
    std::string one = r.script("handover-latency-semaphore-1");
    CHECK(contains(one, "\n10 0.00011\n"));
    CHECK_FALSE(contains(one, "\n10 0.00051\n"));
    CHECK(contains(r.script("handover-latency-semaphore-1-limit-5"), "\n10 0.00051\n"));
    CHECK(contains(r.script("handover-latency-semaphore-1-limit-5"), "one session, limit 5"));
    CHECK(contains(r.script("handover-latency-semaphore-1-4-processes"), "\n10 0.00041\n"));
}

TEST_CASE("report: rows of several ensembles are not mixed up") {
    reported r;
    array rows;
    auto add = [&](object run, double scale) {
        for (int waiters : {10, 100}) {
            rows.push_back(object{{"workload", "handover"},
                                  {"implementation", "ours"},
                                  {"recipe", "lock"},
                                  {"waiters", waiters},
                                  {"sessions", 1},
                                  {"handover_us", quantiles(scale * waiters, 9'000)},
                                  {"run", run}});
            rows.push_back(object{{"workload", "systems"},
                                  {"implementation", "ours"},
                                  {"recipe", "lock"},
                                  {"waiters", waiters},
                                  {"handover_us", quantiles(scale * waiters, 9'000)},
                                  {"run", run}});
        }
    };
    add({{"server_count", 1}, {"data", "memory"}}, 10);
    add({{"server_count", 3}, {"data", "disk"}}, 70);
    REQUIRE(r.make(rows) == 0);
    for (const char* name : {"handover-latency-lock-1", "systems"}) {
        INFO(name);
        std::string one = r.script(name);
        CHECK(contains(one, " 0.001\n"));
        CHECK_FALSE(contains(one, " 0.007\n"));
        std::string three = r.script(name + std::string("-3-servers-data-on-disk"));
        CHECK(contains(three, ", 3 servers, data on disk"));
        CHECK(contains(three, " 0.007\n"));
    }
}

TEST_CASE("report: predictions for several locks have pictures") {
    reported r;
    array rows;
    for (int waiters : {10, 100}) {
        rows.push_back(object{{"workload", "sizing"},
                              {"implementation", "ours"},
                              {"recipe", "lock"},
                              {"waiters", waiters},
                              {"locks", 4},
                              {"predicted_load", waiters / 1000.0}});
    }
    REQUIRE(r.make(rows) == 0);
    CHECK(contains(r.script("sizing-load-lock-4-locks"), "\n100 10\n"));
}

TEST_CASE("report: predictions for several ensembles, hold times and loads are not mixed up") {
    reported r;
    array rows;
    auto add = [&rows](int servers, int hold_us, double other_load, double load) {
        for (int waiters : {10, 100}) {
            rows.push_back(object{{"workload", "sizing"},
                                  {"implementation", "ours"},
                                  {"recipe", "lock"},
                                  {"waiters", waiters},
                                  {"locks", 1},
                                  {"servers", servers},
                                  {"hold_us", hold_us},
                                  {"other_load", other_load},
                                  {"predicted_turns_per_s", 7},
                                  {"predicted_load", load}});
        }
    };
    add(1, 100'000, 0, 0.1);
    add(3, 100'000, 0, 0.2);
    add(3, 200'000, 0, 0.3);
    add(3, 200'000, 0.25, 0.4);
    REQUIRE(r.make(rows) == 0);
    CHECK(contains(r.script("sizing-load-lock-held-for-100-ms"), "\n100 10\n"));
    CHECK(contains(r.script("sizing-load-lock-held-for-100-ms-3-servers"), "\n100 20\n"));
    CHECK(contains(r.script("sizing-load-lock-held-for-200-ms-3-servers"), "\n100 30\n"));
    const std::string loaded =
        r.script("sizing-load-lock-held-for-200-ms-25-used-by-others-3-servers");
    CHECK(contains(loaded, "\n100 40\n"));
    CHECK(contains(loaded, ", held for 200 ms, 25 % used by others, 3 servers"));
    CHECK(contains(r.section("What your servers can carry"), ">cycles/s<"));
}

TEST_CASE("report: one waiter has a session of its own as well") {
    reported r;
    array rows;
    for (int waiters : {1, 10}) {
        rows.push_back(object{{"workload", "herd"},
                              {"implementation", "ours"},
                              {"recipe", "lock"},
                              {"waiters", waiters},
                              {"sessions", waiters},
                              {"requests_per_handover", 3 + waiters},
                              {"server_cpu_us_per_turn", 200 * waiters - 500}});
    }
    std::string section = r.section_of(rows, "What one release causes");
    CHECK(contains(r.script("herd-requests-lock-each"), "\n1 4\n"));
    CHECK(contains(section, "<th>server CPU</th>"));
    CHECK(contains(section, "<td>within the noise</td>"));
    CHECK(contains(section, "<td>1500 \u00b5s</td>"));
}

TEST_CASE("report: programs that are judged look like nobody else, whatever they are called") {
    reported r;
    array rows;
    auto add = [&](const char* workload, const char* name) {
        for (int waiters : {5, 20}) {
            rows.push_back(object{{"workload", workload},
                                  {"implementation", name},
                                  {"title", name},
                                  {"recipe", "lock"},
                                  {"waiters", waiters},
                                  {"sessions", waiters},
                                  {"handover_us", quantiles(100 * waiters, 9'000)}});
        }
    };
    add("handover", "ours");
    for (const char* name : {"ours", "c_client", R"(a\b)"})
        add("judge", name);
    REQUIRE(r.make(rows) == 0);
    std::string script = r.script("handover-latency-lock-each");
    std::set<std::string> colours;
    std::size_t lines = 0;
    for (std::size_t at = script.find("plot");
         (at = script.find("linecolor rgb ", at)) != script.npos;
         ++at) {
        colours.insert(script.substr(at, std::string("linecolor rgb '#123456'").size()));
        ++lines;
    }
    CHECK(lines == 4);
    CHECK(colours.size() == 4);
    CHECK_FALSE(contains(script, "#868e96"));  // the bare C client's
    CHECK(contains(content_of(r.folder() / "handover-latency-lock-each.svg"), R"(a\b)"));
}

TEST_CASE("report: a name can be longer than a file's may be") {
    reported r;
    array rows;
    object distribution = boost::json::parse(R"({"count": 2, "mean": 1, "deviation": 0,
        "max": 2, "percentiles": [[1, 0.5, 1], [2, 0.6, 1], [3, 1, 2]]})")
                              .as_object();
    rows.push_back(object{{"workload", "judge"},
                          {"implementation", std::string(300, 'x')},
                          {"operation", std::string(300, 'y')},
                          {"distribution_us", distribution}});
    int code = r.make(rows);
    INFO(r.out());
    CHECK(code == 0);
    CHECK(contains(r.out(), "1 pictures, 1 distributions"));
}

TEST_CASE("report: a picture that fails takes nothing else away, and is made the next time") {
    reported r;
    array rows;
    for (int waiters : {10, 100}) {
        rows.push_back(object{{"workload", "handover"},
                              {"implementation", "ours"},
                              {"recipe", "lock"},
                              {"waiters", waiters},
                              {"sessions", 1},
                              {"handover_us", quantiles(100 + waiters, 9'000)}});
    }
    const std::filesystem::path in_the_way = r.folder() / "handover-latency-lock-1.log";
    std::filesystem::create_directories(in_the_way);
    CHECK(r.make(rows) == 1);
    CHECK(contains(r.section("Hand-overs"), "<td>200 \u00b5s</td>"));
    std::filesystem::remove(in_the_way);
    CHECK(r.make(rows) == 0);
    CHECK_FALSE(r.script("handover-latency-lock-1").empty());
}

TEST_CASE("report: contenders that are judged are a line, although each is a process") {
    reported r;
    array rows;
    for (int waiters : {5, 20}) {
        rows.push_back(object{{"workload", "judge"},
                              {"implementation", "mine"},
                              {"recipe", "lock"},
                              {"waiters", waiters},
                              {"sessions", waiters},
                              {"processes", waiters + 1},
                              {"limit", 1},
                              {"handover_us", quantiles(100 * waiters, 9'000)}});
    }
    REQUIRE(r.make(rows) == 0);
    CHECK(contains(r.script("handover-latency-lock-each"), "\n20 0.002\n"));
}

TEST_CASE("report: of several rows with the same number the last one counts") {
    reported r;
    array rows;
    const std::vector<std::pair<int, double>> measured{{10, 100}, {10, 50}, {10, 70}, {100, 90}};
    for (auto [waiters, p50] : measured) {
        rows.push_back(object{{"workload", "handover"},
                              {"implementation", "ours"},
                              {"recipe", "lock"},
                              {"waiters", waiters},
                              {"sessions", 1},
                              {"handover_us", quantiles(p50, 9'000)}});
    }
    REQUIRE(r.make(rows) == 0);
    std::string script = r.script("handover-latency-lock-1");
    CHECK(contains(script, "\n10 7e-05\n"));
    CHECK_FALSE(contains(script, "\n10 5e-05\n"));
    CHECK_FALSE(contains(script, "\n10 0.0001\n"));
}

TEST_CASE("report: what is not measured has no file of its own") {
    bench_run bench;
    std::string rows = bench.path("rows.json");
    std::ofstream(rows) << "[]";
    CHECK(bench.run({"report", "--from", rows, "--json", bench.path("all.json")}) == 2);
    CHECK(contains(bench.out(), "--json: with --from nothing is measured"));
    CHECK_FALSE(std::filesystem::exists(bench.path("all.json")));
}

TEST_CASE("report: what --json did not write is refused in words") {
    reported r;
    CHECK(r.make("[{\"workload\": \"load\",}]") == 2);
    CHECK(contains(r.out(), "rows.json was not written by --json: no JSON from byte 21 on"));
    CHECK(r.make("{\"workload\": \"load\"}") == 2);
    CHECK(contains(r.out(), "not an array of rows"));
    CHECK(r.make("[{}, 3]") == 2);
    CHECK(contains(r.out(), "row 2 is not an object"));
    CHECK(r.make("[{\"run\": 1}]") == 2);
    CHECK(contains(r.out(), "row 1 has a 'run' that is not an object"));
    CHECK(r.make("[{\"distribution_us\": {}}]") == 2);
    CHECK(contains(r.out(), "row 1 has a 'distribution_us' that is not a distribution"));
    CHECK(r.make("[{}") == 2);
    CHECK(contains(r.out(), "no JSON from byte 3 on"));
    CHECK_FALSE(std::filesystem::exists(r.folder()));
}

TEST_CASE("report: what cannot be read, or written, is said in words") {
    bench_run bench;
    auto refused = [&bench](const std::string& from, const std::string& to, const char* why) {
        CHECK(bench.run({"report", "--from", from, "--report", to}) == 2);
        INFO(bench.out());
        CHECK(contains(bench.out(), why));
    };
    std::string good = bench.path("rows.json");
    std::ofstream(good) << R"([{"workload": "judge"}])";
    refused("/etc", bench.path("a_report"), "--from: cannot read /etc: Is a directory");
    refused(bench.path("none"), bench.path("a_report"), ": No such file or directory");
    refused(good, "/proc/nope", "--report: cannot make /proc/nope: No such file or directory");
    refused(good, good, "--report: cannot make ");
    refused(good, "/proc", "--report: cannot write into /proc: ");
}

}  // namespace corozk::testing::report_test
