// SPDX-License-Identifier: Apache-2.0
// The commands that wait for what happens to a znode.
#include "lag_behind.hpp"
#include "program_run.hpp"

#include <boost/json.hpp>

namespace corozk::testing::watching_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

using words = std::vector<std::string>;

void is_watched(const std::string& path) {
    eventually([&] { return watches_below(the_server().port(), path) == 1; },
               program_limit,
               "a watch on " + path);
}

/// watch PATH -- sh -c SCRIPT, with options before that.
words watching(const std::string& path, const std::string& script, const words& options = {}) {
    words result{"watch"};
    result.insert(result.end(), options.begin(), options.end());
    result.insert(result.end(), {path, "--", "sh", "-c", script});
    return result;
}

/// A signal while a command runs would be answered by that command's exit code.
void runs_no_command(program_run& run) {
    std::string pid = std::to_string(run.process().pid());
    std::string children = "/proc/" + pid + "/task/" + pid + "/children";
    eventually(
        [&] {
            std::ifstream in(children);
            std::string child;
            return in && !(in >> child);
        },
        program_limit,
        "the command's end");
}

void end_by_signal(program_run& run) {
    runs_no_command(run);
    run.process().signal(SIGTERM);
    CHECK(run.ended_by() == SIGTERM);
}

pid_t number_in(const std::string& file) {
    pid_t result = 0;
    eventually(
        [&] {
            std::ifstream in(file);
            return static_cast<bool>(in >> result);
        },
        program_limit,
        "a process");
    return result;
}

void ends(pid_t process) {
    eventually([&] { return !process_lives(process); }, program_limit, "the command's end");
}

}  // namespace

TEST_CASE("corozk wait-for: until a znode exists, or is gone") {
    std::string path = fresh_path();
    auto gone = run_program({"wait-for", "--gone", path});
    CHECK(gone.code == 0);
    CHECK((gone.out + gone.err).empty());
    program_run comes({"wait-for", path + "/deep/node"});
    is_watched(path);
    observer().plant(path + "/deep");
    CHECK_FALSE(comes.process().exit_status());
    observer().plant(path + "/deep/node");
    CHECK(comes.end() == 0);
    CHECK((comes.out() + comes.err()).empty());
    CHECK(run_program({"wait-for", path + "/deep/node"}).code == 0);
    program_run goes({"wait-for", "--gone", path + "/deep/node"});
    is_watched(path);
    observer().set(path + "/deep/node", "a change is no end");
    is_watched(path);
    CHECK_FALSE(goes.process().exit_status());
    observer().erase(path + "/deep/node");
    CHECK(goes.end() == 0);
}

TEST_CASE("corozk wait-for: --deadline, also of 0; --json") {
    std::string path = fresh_path();
    std::string there = fresh_path();
    observer().plant(there);
    for (const char* limit : {"0", "5s"}) {
        INFO(limit);
        auto missing = run_program({"wait-for", "-w", limit, path});
        CHECK(missing.code == 75);
        CHECK(missing.err == "corozk: " + path + " did not appear before the deadline\n");
        auto stays = run_program({"wait-for", "--deadline", limit, "--gone", there});
        CHECK(stays.code == 75);
        CHECK(stays.err == "corozk: " + there + " still exists\n");
    }
    CHECK(run_program({"wait-for", "-w", "0", there}).code == 0);
    CHECK(run_program({"wait-for", "-w", "0", "--gone", path}).code == 0);
    auto json = run_program({"wait-for", "--json", "-w", "0", path});
    CHECK(boost::json::parse(json.err).at("message").as_string() ==
          path + " did not appear before the deadline");
}

TEST_CASE("corozk wait-for: waits through an outage; a signal ends it") {
    std::string path = fresh_path();
    fault_proxy proxy(the_server().port());
    program_run waiter(
        {"wait-for", "--hosts", proxy.hosts(), "--session-timeout", "1s", path + "/a"});
    program_run other({"wait-for", "--hosts", proxy.hosts(), path + "/b"});
    eventually([&] { return watches_below(the_server().port(), path) == 2; },
               program_limit,
               "the watches");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    for (program_run* one : {&waiter, &other})
        one->reports("the connection was lost; still waiting");
    observer().plant(path + "/a");
    end_by_signal(other);
    proxy.set_acceptance(acceptance::normal);
    CHECK(waiter.end() == 0);
}

TEST_CASE("corozk wait-for: ends although servers report nothing of what may not be read") {
    const std::string path = fresh_path();
    const words hidden{"put", path, "x", "--auth", "digest:a:b", "--acl", "creator"};
    constexpr std::chrono::seconds limit{4};  // shorter than the time between two looks
    const auto begin = std::chrono::steady_clock::now();
    program_run limited({"wait-for", "--deadline", "4s", path});
    program_run patient({"wait-for", path});
    eventually([&] { return watches_below(the_server().port(), path) == 2; },
               program_limit,
               "the watches");
    CHECK(run_program(hidden).code == 0);
    const bool in_time = std::chrono::steady_clock::now() < begin + limit;
    // Since 3.9.3 servers tell only those who may read a node that it exists.
    for (program_run* one : {&limited, &patient}) {
        const int code = one->end();
        INFO(code << ": " << one->err());
        CHECK((code == 0 || code == 77 || (one == &limited && !in_time)));
    }
    if (patient.end() != 0)
        return;
    program_run goes({"wait-for", "--gone", path});
    CHECK_FALSE(goes.process().exit_status());
    observer().erase(path);
    CHECK(goes.end() == 0);
}

TEST_CASE("corozk: with --json the loss of the connection is not that of the session") {
    const std::string path = fresh_path();
    observer().plant(path);
    fault_proxy proxy(the_server().port());
    const words through{"--json", "--session-timeout", "1s", "--hosts", proxy.hosts()};
    auto with_options = [&](words line) {
        line.insert(line.begin() + 1, through.begin(), through.end());
        return line;
    };
    program_run waits(with_options({"barrier", "wait", path}));
    eventually(
        [&] { return watches_below(the_server().port(), path) == 1; }, program_limit, "the watch");
    program_run shows(with_options({"top", "--interval", "100ms", path}));
    shows.says("queues");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    waits.reports(R"({"event":"connection_lost","message":"the connection was lost; still)");
    waits.reports(R"({"event":"session_lost","message":")");
    shows.reports(R"({"event":"connection_lost","message":"the connection was lost; waiting)");
    end_by_signal(waits);
    end_by_signal(shows);
}

TEST_CASE("corozk watch: once at the beginning, and at each change") {
    std::string path = fresh_path();
    program_run run(watching(path,
                             "printf '%s:' \"$COROZK_EXISTS\" \"$COROZK_VERSION\"; cat; echo; "
                             "[ \"$COROZK_PATH\" = " +
                                 path + " ] && [ \"$COROZK_HOSTS\" ]"),
                    "",
                    {{"COROZK_VERSION", "inherited"}});
    std::string expected;
    auto shows = [&](const std::string& line) {
        expected += line + "\n";
        run.says(expected);
        is_watched(path);
    };
    shows("0::");
    observer().plant(path, "one");
    shows("1:0:one");
    observer().set(path, "two\nlines");
    shows("1:1:two\nlines");
    observer().set(path, "two\nlines");
    shows("1:2:two\nlines");
    observer().erase(path);
    shows("0::");
    observer().plant(path, "again");
    shows("1:0:again");
    end_by_signal(run);
    CHECK(run.out() == expected);
    CHECK(run.err().empty());
    eventually([&] { return watches_below(the_server().port(), path) == 0; },
               program_limit,
               "the end of the watch");
}

TEST_CASE("corozk watch: the bytes as they are; --count") {
    std::string path = fresh_path();
    std::string bytes("\xff\x00\n\r\x00", 5);
    observer().plant(path, bytes);
    auto run = run_program(watching(path, "cat; exit 3", {"--count", "1"}));
    CHECK(run.code == 3);
    CHECK(run.out == bytes);
    std::string large(900'000, 'x');
    observer().set(path, large);
    CHECK((run_program(watching(path, "cat", {"-c", "1"})).out == large));
}

TEST_CASE("corozk watch: one command at a time; states between are skipped, not the last one") {
    temporary_directory folder;
    std::string path = fresh_path();
    std::string go = folder.path() / "go";
    observer().plant(path, "one");
    program_run run(watching(
        path, "cat; echo ' begins'; until [ -e " + go + " ]; do sleep 0.05; done; echo ends"));
    run.says("one begins");
    for (const char* value : {"two", "three", "four"})
        observer().set(path, value);
    std::ofstream(go) << "go";
    run.says("four begins\nends\n");
    is_watched(path);
    observer().set(path, "five");
    run.says("five begins\nends\n");
    end_by_signal(run);
    CHECK(run.out() == "one begins\nends\nfour begins\nends\nfive begins\nends\n");
}

TEST_CASE("corozk watch: a command that fails is reported, and ends it if that is asked for") {
    std::string path = fresh_path();
    observer().plant(path, "3");
    program_run run(watching(path, "read n; echo got-$n; exit $n"));
    run.reports("corozk: the command ended with exit code 3\n");
    is_watched(path);
    observer().set(path, "0\n");
    run.says("got-0");
    is_watched(path);
    observer().set(path, "4\n");
    run.reports("corozk: the command ended with exit code 4\n");
    end_by_signal(run);
    program_run json(watching(path, "exit 5", {"--json"}));
    json.reports("\n");
    auto event = boost::json::parse(json.err());
    CHECK(event.at("event") == "command_failed");
    CHECK(event.at("exit_code") == 5);
    end_by_signal(json);
    auto asked = run_program(watching(path, "exit 5", {"--exit-on-error"}));
    CHECK(asked.code == 5);
    CHECK(asked.err.empty());
    CHECK(run_program({"watch", path, "--", "/none/such"}).code == 127);
    CHECK(run_program({"watch", path, "--", "/dev/null"}).code == 126);
}

TEST_CASE("corozk watch: after an outage the latest state, and none twice") {
    std::string path = fresh_path();
    observer().plant(path, "one");
    std::string still = fresh_path();
    observer().plant(still, "still");
    fault_proxy proxy(the_server().port());
    words through{"--hosts", proxy.hosts(), "--session-timeout", "1s"};
    program_run run(watching(path, "cat; echo", through));
    program_run other(watching(still, "cat; echo", through));
    for (const std::string& node : {path, still})
        is_watched(node);
    run.says("one\n");
    other.says("still\n");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    for (program_run* one : {&run, &other})
        one->reports("the connection was lost; still watching");
    observer().set(path, "two");
    proxy.set_acceptance(acceptance::normal);
    run.says("one\ntwo\n");
    for (const std::string& node : {path, still})
        is_watched(node);
    observer().set(still, "moved");
    other.says("moved\n");
    CHECK(other.out() == "still\nmoved\n");
    end_by_signal(run);
    end_by_signal(other);
    CHECK(run.out() == "one\ntwo\n");
}

TEST_CASE("corozk wait-for, watch: the server of the next session lags behind") {
    const std::string path = fresh_path();
    observer().plant(path);
    fault_proxy proxies[] = {fault_proxy(the_server().port()), fault_proxy(the_server().port())};
    program_run waits({"wait-for", "--hosts", proxies[0].hosts(), "--gone", path});
    program_run shows(watching(path, "echo $COROZK_EXISTS", {"--hosts", proxies[1].hosts()}));
    auto both_watch = [&] {
        eventually([&] { return watches_below(the_server().port(), path) == 2; },
                   program_limit,
                   "the watches");
    };
    both_watch();
    shows.says("1\n");
    for (fault_proxy& proxy : proxies) {
        lag_behind(proxy, path);
        const std::int64_t expired = proxy.session().session_id;
        proxy.set_acceptance(acceptance::not_listening);
        expire_through(proxy);
        proxy.set_acceptance(acceptance::normal);
        eventually(
            [&] { return proxy.session().session_id != expired; }, program_limit, "a new session");
    }
    both_watch();
    CHECK_FALSE(waits.process().exit_status());
    observer().erase(path);
    CHECK(waits.end() == 0);
    shows.says("1\n0\n");
    end_by_signal(shows);
    CHECK(shows.out() == "1\n0\n");
}

TEST_CASE("corozk watch: a signal ends the command and what it started, and the watch") {
    temporary_directory folder;
    for (int signal : {SIGTERM, SIGINT, SIGKILL}) {
        INFO(signal);
        std::string path = fresh_path();
        std::string command = folder.path() / ("command-" + std::to_string(signal));
        std::string child = folder.path() / ("child-" + std::to_string(signal));
        program_run run(watching(path,
                                 "setsid sh -c 'echo $$ > " + child +
                                     "; exec sleep 1000' & echo $$ > " + command +
                                     "; exec sleep 1000"));
        pid_t processes[] = {number_in(command), number_in(child)};
        run.process().signal(signal);
        CHECK(run.ended_by() == signal);
        for (pid_t process : processes)
            ends(process);
        CHECK(run.err().empty());
    }
    std::string path = fresh_path();
    program_run survives(
        watching(path, "trap 'echo told; exit 0' TERM; echo runs; while :; do sleep 0.05; done"));
    survives.says("runs");
    observer().plant(path, "a change");
    survives.process().signal(SIGTERM);
    CHECK(survives.end() == 0);
    CHECK(survives.out() == "runs\ntold\n");
}

TEST_CASE("corozk watch: a stopped program stops no command") {
    temporary_directory folder;
    std::string path = fresh_path();
    std::string go = folder.path() / "go";
    program_run run(watching(path,
                             "echo runs; until [ -e " + go + " ]; do sleep 0.05; done; exit 6",
                             {"--session-timeout", "400ms", "--count", "1", "--grace", "0"}));
    run.says("runs");
    run.process().signal(SIGSTOP);
    eventually([&] { return watches_below(the_server().port(), path) == 0; },
               program_limit,
               "the session's end");
    std::ofstream(go) << "go";
    run.process().signal(SIGCONT);
    CHECK(run.end() == 6);
}

TEST_CASE("corozk wait-for, watch: words that make no sense, and no permission") {
    std::string path = fresh_path();
    auto says = [](const words& line, int code, const std::string& text) {
        auto run = run_program(line);
        INFO(run.err);
        CHECK(run.code == code);
        CHECK(run.err.find(text) != std::string::npos);
    };
    says({"wait-for"}, 64, "PATH is required");
    says({"wait-for", "relative"}, 64, "begin it with '/'");
    says({"wait-for", path, path}, 64, "unexpected argument");
    says({"wait-for", path, "--", "true"}, 64, "no command is run here");
    for (const char* limit : {"soon", "0x32ms"})
        says({"wait-for", "-w", limit, path}, 64, "is not a duration");
    says({"watch", path}, 64, "there is no command");
    says({"watch", path, "--"}, 64, "there is no command after --");
    says({"watch", path, "true"}, 64, "a command follows --");
    says({"watch", "relative", "--", "true"}, 64, "begin it with '/'");
    says({"watch", "-c", "-1", path, "--", "true"}, 64, "'-1' is not a whole number from 0 to ");
    for (const words& line :
         std::vector<words>{{"wait-for", path}, {"watch", path, "--", "true"}}) {
        words nowhere = line;
        nowhere.insert(nowhere.begin() + 1,
                       {"--hosts", "127.0.0.1:1", "--connect-timeout", "300ms"});
        says(nowhere, 69, "no server");
    }
    CHECK(run_program({"put", path, "--auth", "digest:a:b", "--acl", "creator", "x"}).code == 0);
    says({"watch", path, "--", "true"}, 77, "watch " + path + ": denied");
    // Since 3.9.3 servers tell only those who may read a node that it exists.
    auto waited = run_program({"wait-for", path});
    CHECK((waited.code == 0 || waited.code == 77));
    CHECK((waited.code == 0) == waited.err.empty());
}

}  // namespace corozk::testing::watching_test
