// SPDX-License-Identifier: Apache-2.0
// `corozk-bench judge` with recipes that are right, and with some that are wrong on purpose.
#include "bench_run.hpp"
#include "judge/server_counts.hpp"
#include "progress.hpp"
#include "raw_loop.hpp"
#include "settings.hpp"
#include "stage.hpp"
#include <corozk/testing/eventually.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace corozk::testing::judge_test {

using namespace corozk::testing;

namespace {

/// A lock of the machine's, without ZooKeeper: the file is the first argument.
const std::string by_flock =
    "echo waiting; exec 9> \"$0\"; flock 9; echo holding; read -r told; flock -u 9; "
    "echo released; read -r end";

const std::string no_lock = "echo waiting; echo holding; read -r told; echo released; read -r end";

/// Nobody removes the folder: the first one keeps it.
const std::string never_given_back =
    "echo waiting; until mkdir \"$0\" 2> /dev/null; do sleep 0.05; done; echo holding; "
    "read -r told; echo released; read -r end";

/// A file for each who waits; the first or the last one of these gets it.
std::string by_files(const std::string& which) {
    return "echo waiting; mine=\"$0.$COROZK_BENCH_NUMBER\"; : > \"$mine\"; echo queued; "
           "until [ \"$(ls \"$0\".? | " +
           which +
           " -n 1)\" = \"$mine\" ] && mkdir \"$0\" 2> /dev/null; do sleep 0.02; done; "
           "rm \"$mine\"; echo holding; read -r told; rmdir \"$0\"; echo released; read -r end";
}

class judged {
public:
    int run(const std::string& script, std::vector<std::string> options = {}) {
        return run_command({"sh", "-c", script, bench_.path("lock")}, std::move(options));
    }

    int run_command(const std::vector<std::string>& command, std::vector<std::string> options) {
        options.emplace_back("--");
        options.insert(options.end(), command.begin(), command.end());
        return bench_.run_small("judge", options);
    }

    std::string out() const { return bench_.out(); }
    bool says(const std::string& text) const { return out().find(text) != std::string::npos; }

    boost::json::object row(std::size_t index = 0) const {
        return bench_.rows().at(index).as_object();
    }
    std::string verdict() const { return row().at("verdict").as_string().c_str(); }
    double figure(const char* key) const { return row().at(key).to_number<double>(); }
    double faults(const char* kind) const {
        return row().at("faults").as_object().at(kind).to_number<double>();
    }

    bench_run& bench() { return bench_; }

private:
    bench_run bench_;
};

bool succeeds(std::vector<std::string> command) {
    process_options what;
    what.command = std::move(command);
    process_guard process(what);
    return process.wait(std::chrono::minutes(2)) && process.exit_status() == 0;
}

constexpr auto zkcli = "/usr/share/zookeeper/bin/zkCli.sh";

std::string example(const std::string& name) {
    return std::string(COROZK_JUDGE_EXAMPLES) + "/" + name;
}

}  // namespace

TEST_CASE("judge: a lock that is one is correct, and has a report") {
    judged j;
    int code = j.run(by_flock,
                     {"--waiters", "3,6", "--name", "flock", "--report", j.bench().path("report")});
    INFO(j.out());
    REQUIRE(code == 0);
    REQUIRE(j.bench().rows().size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        auto row = j.row(i);
        INFO(boost::json::serialize(row));
        CHECK(row.at("verdict") == "correct");
        CHECK(row.at("implementation") == "flock");
        CHECK(row.at("handovers") == row.at("waiters"));
        CHECK(row.at("handover_us").as_object().at("p50").to_number<double>() > 0);
        CHECK(row.at("most_holders").to_number<int>() == 1);
    }
    std::filesystem::path report = j.bench().path("report");
    CHECK(content_of(report / "index.html").find("flock") != std::string::npos);
    CHECK(std::filesystem::exists(report / "handover-latency-lock-each.svg"));
}

TEST_CASE("judge: a lock without ZooKeeper costs the servers nothing, ours or others") {
    judged j;
    bool given = GENERATE(false, true);
    std::vector<std::string> words{"judge", "--repeat", "1", "--waiters", "3"};
    // Nobody else uses these: the server that the tests share has other sessions.
    server alone(client_server_options());
    if (given)
        words.insert(words.end(), {"--hosts", alone.hosts()});
    words.insert(words.end(), {"--json", j.bench().path("rows.json"), "--", "sh", "-c"});
    words.insert(words.end(), {by_flock, j.bench().path("lock")});
    int code = j.bench().run(words);
    INFO(j.out());
    REQUIRE(code == 0);
    CHECK(j.figure("requests_per_handover") == 0);
    CHECK(j.figure("notifications_per_handover") == 0);
    CHECK(j.figure("bytes_per_handover") == 0);
    CHECK(j.row().at("herd") == "no");
}

TEST_CASE("judge: what a server counts is not compared over its restart") {
    server alone(client_server_options());
    bench::settings wanted;
    wanted.hosts = alone.hosts();
    bench::progress unseen(false);
    bench::stage on(wanted, unseen);
    bench::server_counts counts(on);
    auto take = [&counts] {
        boost::asio::io_context context(1);
        std::optional<bench::stage::server_use> taken;
        auto note = [&taken](std::exception_ptr e, std::optional<bench::stage::server_use> use) {
            if (e)
                std::rethrow_exception(e);
            taken = use;
        };
        boost::asio::co_spawn(context, counts.take(), note);
        context.run();
        return taken;
    };
    bench::raw_loop(alone.hosts(), "/", 20'000).make("/judged");
    CHECK(take());
    // More than what asks a server whether it has started.
    bench::raw_loop(alone.hosts(), "/judged", 20'000).pipeline(1'000, 100);
    auto before = take();
    REQUIRE(before);
    CHECK(before->received > 1'000);
    alone.kill();
    CHECK_FALSE(take());
    alone.restart();
    CHECK_FALSE(take());
    CHECK(take());
}

TEST_CASE("judge: a recipe that locks nothing violates exclusion") {
    judged j;
    int code = j.run(no_lock, {"--waiters", "3"});
    INFO(j.out());
    REQUIRE(code == 1);
    CHECK(j.verdict() == "WRONG");
    CHECK(j.faults("exclusion") == 3);
    CHECK(j.figure("most_holders") == 4);
    CHECK(j.says("exclusion (3 times): first, contender "));

    REQUIRE(j.run(no_lock, {"--waiters", "2", "--limit", "2"}) == 1);  // 4 hold it, 2 may
    CHECK(j.faults("exclusion") == 2);
    CHECK(j.says("held it while 2 others did, and 2 may"));
}

TEST_CASE("judge: a lock that is never handed over is a stall") {
    judged j;
    int code = j.run(never_given_back, {"--waiters", "2", "--stall", "1"});
    INFO(j.out());
    REQUIRE(code == 1);
    CHECK(j.verdict() == "WRONG");
    CHECK(j.faults("stall") == 1);
    CHECK(j.faults("exclusion") == 0);
    CHECK(j.says("stall: no process has taken it for "));
    CHECK(j.figure("handovers") == 0);
}

TEST_CASE("judge: who dies while it holds is found, and who is killed is replaced") {
    judged j;
    std::string dies =
        "echo waiting; exec 9> \"$0\"; flock 9; echo holding; "
        "echo no more coffee >&2; exit 3";
    int code = j.run(dies, {"--waiters", "2"});
    INFO(j.out());
    REQUIRE(code == 1);
    CHECK(j.faults("death") == 3);
    CHECK(j.says("which held it, ended with exit code 3 (on standard error: no more coffee)"));
    // Whom its lock goes to when it ends is not accused of what its end looks like.
    REQUIRE(j.run(dies, {"--waiters", "12", "--repeat", "2"}) == 1);
    INFO(j.out());
    CHECK(j.faults("exclusion") == 0);
    CHECK(j.figure("most_holders") == 1);

    REQUIRE(j.run(by_flock, {"--waiters", "4", "--kill", "2"}) == 0);
    CHECK(j.verdict() == "correct");
    CHECK(j.figure("handovers") == 4);
    CHECK(j.row().at("takeover_us").as_object().at("p50").to_number<double>() > 0);
}

TEST_CASE("judge: who dies while it releases it is found, also if it is the last one") {
    judged j;
    std::string crash =
        "echo waiting; exec 9> \"$0\"; flock 9; echo holding; read -r told; "
        "echo NoNodeError >&2; exit 3";
    int code = j.run(crash, {"--waiters", "3"});
    INFO(j.out());
    REQUIRE(code == 1);
    CHECK(j.faults("death") == 4);
    CHECK(j.faults("exclusion") == 0);
    CHECK(j.figure("handovers") == 3);
    CHECK(j.says("which was to release it and had not said 'released', ended with exit code 3"));

    std::string last =
        "echo waiting; exec 9> \"$0\"; flock 9; echo holding; read -r told; "
        "[ $COROZK_BENCH_NUMBER = 2 ] && kill -SEGV $$; flock -u 9; echo released; read -r end";
    REQUIRE(j.run(last, {"--waiters", "1"}) == 1);
    CHECK(j.faults("death") == 1);

    std::string silent = last;
    silent.replace(silent.find("kill -SEGV $$"), 13, "read -r never");
    REQUIRE(j.run(silent, {"--waiters", "1", "--stall", "5"}) == 1);
    CHECK(j.faults("stall") == 1);
    CHECK(j.says("contender 2 was to release it, and has not said for "));
}

TEST_CASE("judge: where nothing was handed over, nothing is judged") {
    judged j;
    const std::string nobody_waits =
        "exec 9> \"$0\"; flock 9; echo waiting; echo holding; echo lost; flock -u 9; read -r end";
    int code = j.run(nobody_waits, {"--waiters", "3"});
    INFO(j.out());
    REQUIRE(code == 2);
    CHECK(j.verdict() == "not judged");
    CHECK(j.says("3 waiters: not judged: the lock was never handed over"));
    CHECK(j.row().at("not_judged") == "the lock was never handed over");
}

TEST_CASE("judge: fewer kills than were asked for are said") {
    judged j;
    REQUIRE(j.run(by_flock, {"--waiters", "2", "--kill", "5"}) == 0);
    INFO(j.out());
    CHECK(j.figure("kills_made") == 2);
    CHECK(j.says("2 waiters: 2 of 5 holders were killed: then no process was waiting"));
    REQUIRE(j.run(by_flock, {"--waiters", "2", "--kill", "1"}) == 0);
    CHECK_FALSE(j.says("holders were killed"));
}

TEST_CASE("judge: what cannot be judged takes nothing else away") {
    judged j;
    std::string third_talks =
        "echo waiting; exec 9> \"$0\"; flock 9; echo holding; read -r told; "
        "[ $COROZK_BENCH_NUMBER = 3 ] && echo hello; flock -u 9; echo released; read -r end";
    int code = j.run(third_talks, {"--waiters", "1,2", "--report", j.bench().path("report")});
    INFO(j.out());
    REQUIRE(code == 2);
    REQUIRE(j.bench().rows().size() == 2);
    CHECK(j.verdict() == "correct");
    CHECK(j.row(1).at("verdict") == "not judged");
    CHECK(j.says("2 waiters: not judged: contender 3 said 'hello'"));
    CHECK(content_of(j.bench().path("report/index.html")).find("said 'hello'") !=
          std::string::npos);

    // A fault is one, whatever comes later; so is that of a row before.
    std::string no_lock_either =
        "echo waiting; echo holding; read -r told; [ $COROZK_BENCH_NUMBER = 3 ] && echo hello; "
        "echo released; read -r end";
    REQUIRE(j.run(no_lock_either, {"--waiters", "2", "--hold", "300"}) == 1);
    CHECK(j.verdict() == "WRONG");
    CHECK(j.faults("exclusion") >= 1);
    CHECK(j.says("2 waiters: not judged: contender 3 said 'hello'"));
    // Also what it said itself right before.
    const std::string at_once =
        "echo waiting; echo holding; [ $COROZK_BENCH_NUMBER = 3 ] && echo hello; read -r told; "
        "echo released; read -r end";
    REQUIRE(j.run(at_once, {"--waiters", "2"}) == 1);
    CHECK(j.faults("exclusion") >= 1);
    CHECK(j.says("2 waiters: not judged: contender 3 said 'hello'"));
}

TEST_CASE("judge: what fails but the recipe makes it not wrong") {
    judged j;
    CHECK(j.bench().run({"judge", "--hosts", "127.0.0.1:1", "--", "true"}) == 2);
    INFO(j.out());
    CHECK(j.says("127.0.0.1:1"));
}

TEST_CASE("judge: with --fair the order of waiters is known, and counts") {
    judged j;
    int code = j.run(by_files("tail"), {"--waiters", "3", "--fair"});
    INFO(j.out());
    REQUIRE(code == 1);
    CHECK(j.faults("order") >= 1);
    REQUIRE(j.run(by_files("tail"), {"--waiters", "3"}) == 0);

    REQUIRE(j.run(by_files("head"), {"--waiters", "1,3", "--fair"}) == 0);
    CHECK(j.row(1).at("verdict") == "correct");
    CHECK(j.row(1).at("comparable").to_number<double>() == 3);
    CHECK(j.verdict() == "order not judged");  // one waiter has nobody to overtake
    CHECK(j.bench().run({"judge", "--fair", "--limit", "1,2", "--", "true"}) == 2);
    CHECK(j.says("judge: --fair: "));
}

TEST_CASE("judge: a process may hold it as long as it likes, and ask again") {
    judged j;
    std::string itself =
        "echo waiting; exec 9> \"$0\"; flock 9; echo holding 1; echo releasing; "
        "flock -u 9; echo released; read -r end";
    int code = j.run(itself, {"--waiters", "3", "--hold", "own"});
    INFO(j.out());
    REQUIRE(code == 1);  // the tokens are all the same
    CHECK(j.faults("exclusion") == 3);
    CHECK(j.says("is not larger than the one before, 1"));
    itself.replace(itself.find("holding 1"), 9, "holding");
    REQUIRE(j.run(itself, {"--waiters", "3", "--hold", "own"}) == 0);
    CHECK(j.figure("most_holders") == 1);
    // Also those before all had queued.
    CHECK(j.figure("handovers") == 3);
    CHECK(j.run(itself, {"--waiters", "3"}) == 2);
    CHECK(j.says(
        "not judged: the lock was handed over before any process had been told to release it"));

    std::string again =
        "exec 9> \"$0\"; while echo waiting; do flock 9; echo holding; read -r told || "
        "exit 0; flock -u 9; echo released; done";
    REQUIRE(j.run(again, {"--waiters", "2"}) == 0);
    CHECK(j.figure("handovers") == 2);
    CHECK(j.figure("most_holders") == 1);
}

TEST_CASE("judge: a holder that decides itself and never releases it is a stall") {
    judged j;
    int code = j.run("echo waiting; [ $COROZK_BENCH_NUMBER = 1 ] && echo holding; read -r end",
                     {"--waiters", "2", "--hold", "own", "--stall", "1"});
    INFO(j.out());
    REQUIRE(code == 1);
    CHECK(j.verdict() == "WRONG");
    CHECK(j.faults("stall") == 1);
    CHECK(j.says("stall: no process has taken it for "));
}

TEST_CASE("judge: a holder that decides itself and never releases it ends, also if nobody waits") {
    judged j;
    int code = j.run(
        "echo waiting; [ $COROZK_BENCH_NUMBER = 1 ] && { echo holding; read -r end; }; exit 1",
        {"--waiters", "1", "--hold", "own", "--stall", "1"});
    INFO(j.out());
    REQUIRE(code == 1);
    CHECK(j.verdict() == "WRONG");
    CHECK(j.faults("death") == 1);
    CHECK(j.faults("stall") == 0);
}

TEST_CASE("judge: who decides how long to hold it is not accused of what two pipes mix up") {
    judged j;
    std::string itself =
        "echo waiting; exec 9> \"$0\"; flock 9; n=$(($(cat \"$0.n\" 2> /dev/null || echo 0) + 1)); "
        "echo $n > \"$0.n\"; echo holding $n; sleep 0.005; echo releasing; flock -u 9; "
        "echo released; read -r end";
    int code = j.run(
        itself, {"--waiters", "8", "--hold", "own", "--repeat", "5", "--queued-after", "5000"});
    INFO(j.out());
    CHECK(code == 0);
    CHECK(j.figure("most_holders") == 1);
    CHECK(j.figure("overtakings") == 0);
}

TEST_CASE("judge: the 99th percentile of a few hand-overs is not said") {
    judged j;
    REQUIRE(j.run(by_flock, {"--waiters", "2"}) == 0);
    CHECK(j.row().at("handover_us").as_object().contains("p50"));
    CHECK_FALSE(j.row().at("handover_us").as_object().contains("p99"));
}

TEST_CASE("judge: a process that never stops talking has an end all the same") {
    judged j;
    int code = j.run("exec yes 'waiting\nholding\nreleasing\nreleased'",
                     {"--waiters", "1", "--hold", "own"});
    INFO(j.out());
    CHECK(code <= 1);
    CHECK(j.says("hand-overs"));
}

TEST_CASE("judge: what a process leaves behind is ended with it") {
    judged j;
    std::string leaves =
        "echo waiting; exec 9> \"$0\"; flock 9; echo holding; read -r told; flock -u 9; "
        "sleep 600 < /dev/null > /dev/null 2>&1 9>&- & echo $! >> \"$0.left\"; echo released";
    REQUIRE(j.run(leaves, {"--waiters", "2"}) == 0);
    std::ifstream left(j.bench().path("lock.left"));
    std::size_t count = 0;
    for (std::string pid; left >> pid; ++count) {
        INFO(pid);
        // It may be there until somebody reaps it, but does not run.
        eventually([&] {
            std::string line = content_of("/proc/" + pid + "/stat");
            return line.empty() || line.find(") Z ") != std::string::npos;
        });
    }
    CHECK(count >= 2);
}

TEST_CASE("judge: what cannot be judged is said in words") {
    judged j;
    CHECK(j.bench().run({"judge", "--waiters", "3"}) == 2);
    CHECK(j.says("judge: which program? It comes last, after --"));
    CHECK(j.bench().run({"judge", "--", "no-such-program"}) == 2);
    CHECK(j.says("judge: cannot start 'no-such-program': there is no such program in PATH"));
    CHECK(j.bench().run({"judge", "--", "/etc/passwd"}) == 2);
    CHECK(j.says("judge: cannot start '/etc/passwd': it is not executable\n"));
    CHECK(j.bench().run({"judge", "--", "/etc/no-such-program"}) == 2);
    CHECK(j.says("judge: cannot start '/etc/no-such-program': there is no such program\n"));
    CHECK(j.bench().run({"judge", "--", "/etc"}) == 2);
    CHECK(j.says("judge: cannot start '/etc': it is a folder\n"));
    CHECK(j.bench().run({"judge", "--", "/dev/null"}) == 2);
    CHECK(j.says("judge: cannot start '/dev/null': it is not executable\n"));

    std::string script = j.bench().path("script");
    std::ofstream(script) << "#!/etc/no-such-interpreter\n";
    CHECK(j.bench().run({"judge", "--", script}) == 2);
    CHECK(j.says("judge: cannot start '" + script + "': it is not executable\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    CHECK(j.run_command({script}, {}) == 2);
    CHECK(j.says("not judged: cannot start " + script + ": No such file or directory\n"));
    // Its folder is the same for all of somebody's.
    CHECK(j.row().at("implementation") == "script");
    std::string many(60, 'x');
    CHECK(j.run_command({script, many, "last"}, {}) == 2);
    CHECK(j.row().at("implementation") == "script xxxxxxxxxxxxx...xxxxxxxxxxxx last");

    for (const char* name : {"a\nb", "\x1b[31m", "bad\xff\xfeutf"}) {
        CHECK(j.bench().run({"judge", "--name", name, "--", script}) == 2);
        CHECK(j.says("--name: a name contains no control characters"));
    }
    CHECK(j.run_command({script, "a\nb\xff"}, {}) == 2);
    CHECK(j.row().at("implementation") == "script a?b?");

    CHECK(j.run("echo waiting; echo 'Lock acquired!'; read -r end") == 2);
    CHECK(j.verdict() == "not judged");
    CHECK(j.says("not judged: contender 1 said 'Lock acquired!', which is not waiting, queued"));
    CHECK(j.run("echo 'no module named kazoo' >&2; exit 4") == 2);
    CHECK(
        j.says("judged: contender 1 ended with exit code 4 (on standard error: no module named "
               "kazoo) before it said 'waiting'"));
    CHECK(j.run("printf 'a\\033[31mred\\377\\n' >&2; exit 4") == 2);
    CHECK(j.says("(on standard error: a?[31mred?)"));
    CHECK(j.run("exec yes") == 2);
    CHECK(j.says("not judged: contender 1 said 'y', which is not"));
    CHECK(j.run("read -r end", {"--deadline", "1"}) == 2);
    CHECK(j.says("has not said 'waiting' within 1 s: is its output flushed"));
}

TEST_CASE("judge: the examples are correct") {
    judged j;
#ifdef COROZK_PROGRAM_DIR
    SECTION("the program corozk lock") {
        std::string path = std::string("PATH=") + COROZK_PROGRAM_DIR + ":" + std::getenv("PATH");
        int code = j.run_command({"env", path, example("corozk_lock.sh")},
                                 {"--waiters", "4", "--fair", "--queued-after", "3000"});
        INFO(j.out());
        REQUIRE(code == 0);
        CHECK(j.figure("handovers") == 4);
        int killed = j.run_command({"env", path, example("corozk_lock.sh")},
                                   {"--waiters", "2", "--kill", "1", "--session-timeout", "4000"});
        INFO(j.out());
        REQUIRE(killed == 0);
        CHECK(j.row().at("takeover_us").as_object().at("p50").to_number<double>() > 0);
    }
#endif
    SECTION("Kazoo") {
        if (!succeeds({"/usr/bin/python3", "-c", "import kazoo"})) {
            WARN("not installed: Debian's package python3-kazoo");
            return;
        }
        for (const char* limit : {"1", "2"}) {
            int code =
                j.run_command({example("kazoo_lock.py")}, {"--waiters", "4", "--limit", limit});
            INFO(j.out());
            REQUIRE(code == 0);
            CHECK(j.figure("handovers") == 4);
            CHECK(j.figure("requests_per_handover") >= 1);
            CHECK(j.figure("bytes_per_handover") > 0);
            CHECK(j.row().at("herd") == "no");
        }
        int code = j.run_command({example("herd_lock.py")}, {"--waiters", "12", "--hold", "50"});
        INFO(j.out());
        REQUIRE(code == 0);
        CHECK(j.row().at("herd") == "yes");
        CHECK(j.says("12 waiters: a herd: "));
    }
    SECTION("Curator") {
        std::string jars;
        for (const char* name : {"curator-recipes",
                                 "curator-framework",
                                 "curator-client",
                                 "guava",
                                 "zookeeper",
                                 "zookeeper-jute",
                                 "slf4j-api",
                                 "slf4j-nop"})
            jars += std::string(":/usr/share/java/") + name + ".jar";
        std::string classes = j.bench().path("classes");
        bool compiled =
            std::filesystem::exists("/usr/share/java/curator-recipes.jar") &&
            std::filesystem::exists("/usr/bin/javac") &&
            succeeds({"/usr/bin/javac", "-cp", jars, "-d", classes, example("CuratorLock.java")});
        if (!compiled) {
            WARN("not installed: Debian's packages libcurator-recipes-java, default-jdk-headless");
            return;
        }
        int code = j.run_command({"/usr/bin/java", "-cp", classes + jars, "CuratorLock"},
                                 {"--waiters", "2"});
        INFO(j.out());
        REQUIRE(code == 0);
        CHECK(j.figure("handovers") == 2);
    }
    SECTION("ZooKeeper's command line client") {
        if (!std::filesystem::exists(zkcli)) {
            WARN("not installed: Debian's package zookeeper");
            return;
        }
        int code = j.run_command({example("zkcli_lock.sh")}, {"--waiters", "3", "--fair"});
        INFO(j.out());
        REQUIRE(code == 0);
        CHECK(j.figure("handovers") == 3);
        CHECK(j.figure("requests_per_handover") < 5);
        CHECK(j.row().at("herd") == "no");
        int killed = j.run_command({example("zkcli_lock.sh")},
                                   {"--waiters", "2", "--kill", "1", "--session-timeout", "4000"});
        INFO(j.out());
        REQUIRE(killed == 0);
        CHECK(j.row().at("takeover_us").as_object().at("p50").to_number<double>() > 0);
    }
}

TEST_CASE("judge: the example of ZooKeeper's command line client gives way to a SIGTERM") {
    if (!std::filesystem::exists(zkcli)) {
        WARN("not installed: Debian's package zookeeper");
        return;
    }
    temporary_directory folder;
    std::filesystem::path input = folder.path() / "input";
    REQUIRE(::mkfifo(input.c_str(), 0600) == 0);
    // For reading and writing: the script's input does not end.
    int told = ::open(input.c_str(), O_RDWR | O_CLOEXEC);
    std::string path = fresh_path();
    auto contender = [&](const std::string& name) {
        process_options what;
        what.command = {example("zkcli_lock.sh")};
        what.environment = {{"COROZK_BENCH_HOSTS", the_server().hosts()},
                            {"COROZK_BENCH_PATH", path},
                            {"COROZK_BENCH_SESSION_TIMEOUT_MS", "40000"}};
        what.input = input;
        what.output = folder.path() / name;
        return what;
    };
    auto said = [&](const std::string& name, const std::string& word) {
        return content_of(folder.path() / name).find(word) != std::string::npos;
    };
    process_guard holder(contender("holder"));
    eventually([&] { return said("holder", "holding"); }, std::chrono::minutes(1));
    process_guard waiter(contender("waiter"));
    eventually([&] { return said("waiter", "queued"); }, std::chrono::minutes(1));
    for (auto* each : {&waiter, &holder}) {
        each->signal(SIGTERM);
        REQUIRE(each->wait(std::chrono::minutes(1)));
        const std::string name = each == &waiter ? "waiter" : "holder";
        INFO(name << ": " << content_of(folder.path() / name));
        CHECK(each->exit_status().value_or(-1) == 143);
        // Its session has ended, and was not left to its timeout.
        CHECK(observer().children(path).size() == (each == &waiter ? 1u : 0u));
    }
    CHECK_FALSE(said("waiter", "holding"));
    ::close(told);
}

}  // namespace corozk::testing::judge_test
