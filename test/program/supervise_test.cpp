// SPDX-License-Identifier: Apache-2.0
// What the program does as the one who starts, watches and ends a command.
#include "terminal.hpp"

#include <fcntl.h>
#include <list>
#include <sstream>

using namespace corozk;
using namespace corozk::testing;

namespace {

using words = std::vector<std::string>;

void stands(const std::string& path, std::size_t count) {
    eventually(
        [&] { return observer().children(path).size() == count; }, program_limit, "contenders");
}

void break_lock(const std::string& path) {
    REQUIRE(observer().erase(path + "/" + observer().children(path).at(0)));
}

words under_lock(const std::string& path, const std::string& script, words options = {}) {
    words result{"lock"};
    result.insert(result.end(), options.begin(), options.end());
    result.insert(result.end(), {path, "--", "bash", "-c", script});
    return result;
}

/// The processes whose numbers were written to a file, once there are so many.
std::vector<pid_t> processes_in(const std::string& file, std::size_t count) {
    std::vector<pid_t> result;
    eventually(
        [&] {
            result.clear();
            std::ifstream in(file);
            for (pid_t pid = 0; in >> pid;)
                result.push_back(pid);
            return result.size() == count;
        },
        program_limit,
        "processes");
    return result;
}

void all_end(const std::vector<pid_t>& processes) {
    for (pid_t pid : processes)
        eventually([&] { return !process_lives(pid); }, program_limit, "a descendant's end");
}

/// Five processes outside the command's process group that ignore SIGTERM.
std::string fugitives(const std::string& file) {
    std::string body = "trap \"\" TERM HUP; echo $$ >> " + file + "; while :; do sleep 0.05; done";
    std::string one = "bash -c '" + body + "'";
    return "set -m; timeout 1000 " + one + " & setsid " + one + " & (setsid " + one + " & ) ; " +
           one + " & (" + one + " &) ; ";
}

pid_t child_of(pid_t parent, int older = 0) {
    pid_t child = 0;
    std::string id = std::to_string(parent);
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    for (int n = 0; n <= older; ++n)
        children >> child;
    return child;
}

/// Once it has begun a session of its own, and before that reported that the command was started.
/// @param older the number of the supervisor's children that it had before
pid_t guard_of(pid_t supervisor, int older = 0) {
    pid_t guard = child_of(supervisor, older);
    eventually([&] { return ::getsid(guard) == guard; }, program_limit, "the guard's report");
    return guard;
}

/// A caller that has started a process, whose number it writes to a file, before it becomes the program.
words with_descendant(const std::string& file) {
    return {"sh", "-c", "sleep 1000 & echo $! > " + file + "; exec \"$@\"", "sh"};
}

/// As the commands below write it, in a shell of another kind.
struct tool {
    std::string name;
    std::string words;
};

std::vector<tool> tools(const temporary_directory& folder) {
    return {{"flock", "flock " + (folder.path() / "lock").string() + " "},
            {"corozk", COROZK_PROGRAM " lock " + fresh_path() + " -- "}};
}

void job_stops(terminal& t) {
    eventually(
        [&] {
            t.type("jobs -s\n");
            return t.sees("Stopped");
        },
        program_limit,
        "the job to be stopped");
}

}  // namespace

TEST_CASE("corozk lock on a terminal: reading from it, in the foreground and in the background") {
    temporary_directory folder;
    for (const tool& with : tools(folder)) {
        INFO(with.name);
        terminal t;
        t.type("true | " + with.words + "sh -c 'read a </dev/tty; echo got:$a:'\nhello\n");
        t.shows("got:hello:");
        t.ended_with(0);
        t.type(with.words + "sh -c 'read a; echo got:$a:; exit 3' &\n");
        job_stops(t);
        t.type("fg\nwords\n");
        t.shows("got:words:");
        t.ended_with(3);
    }
}

TEST_CASE("corozk lock on a terminal: Ctrl-C ends a loop, Ctrl-Z stops the job") {
    temporary_directory folder;
    for (const tool& with : tools(folder)) {
        INFO(with.name);
        terminal t;
        t.type("for i in 1 2 3; do " + with.words +
               "sh -c 'echo round-$i-; exec sleep 1000'; done\n");
        t.shows("round--");
        t.type("\x03");
        t.ended_with(130);
        CHECK_FALSE(t.sees("round--"));
        std::string file = folder.path() / with.name;
        t.type(with.words + "sh -c 'echo $$ >" + file + "; read a; echo got:$a:'\n");
        pid_t command = processes_in(file, 1).front();
        t.type("\x1a");
        t.shows("Stopped");
        // Until it has stopped it may still read what is typed for the shell.
        eventually([&] { return state_of(command) == 'T'; }, program_limit, "the command to stop");
        t.shows("$ ");  // the shell throws away what is typed before
        t.type("fg\n");
        t.shows("read a");
        t.type("words\n");
        t.shows("got:words:");
        t.ended_with(0);
    }
}

TEST_CASE("corozk lock on a terminal: Ctrl-C reaches a command that has left the process group") {
    terminal t;
    t.type(COROZK_PROGRAM " lock " + fresh_path() +
           " -- setsid sh -c 'echo ru\"\"ns; exec sleep 99'\n");
    t.shows("runs");
    t.type("\x03");
    t.ended_with(130);
}

TEST_CASE("corozk lock: the command finds signals as the program did") {
    std::string path = fresh_path();
    words show{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
    words under{"lock", path, "--"};
    under.insert(under.end(), show.begin(), show.end());
    for (const words& starter : std::vector<words>{
             {},
             {"env", "--block-signal=CHLD"},
             {"env", "--block-signal=TERM", "--block-signal=USR1", "--block-signal=PIPE"},
             {"env", "--ignore-signal=PIPE", "--ignore-signal=CHLD", "--ignore-signal=XFSZ"},
             {"env", "--ignore-signal=HUP", "--ignore-signal=INT", "--ignore-signal=TERM"},
             {"env", "--default-signal"}}) {
        words plain = starter;
        plain.insert(plain.end(), show.begin(), show.end());
        temporary_directory folder;
        process_options what;
        what.command = plain.front() == "grep" ? show : plain;
        what.output = folder.path() / "out";
        process_guard process(what);
        REQUIRE(process.wait(program_limit));
        std::ifstream in(what.output);
        std::string expected{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        auto run = run_program(under, "", {}, starter);
        CHECK(run.code == 0);
        CHECK(run.out == expected);
    }
    CHECK(run_program(
              {"lock", path, "--", "sh", "-c", "exit 9"}, "", {}, {"env", "--ignore-signal=CHLD"})
              .code == 9);
}

TEST_CASE("corozk lock: ends by the signal that it got, and not by one that is ignored") {
    std::string path = fresh_path();
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM}) {
        INFO(number);
        program_run run(under_lock(path, "echo runs; exec sleep 1000"));
        run.says("runs");
        program_run waiting(under_lock(path, "true"));
        stands(path, 2);
        waiting.process().signal(number);
        CHECK(waiting.ended_by() == number);
        run.process().signal(number);
        CHECK(run.ended_by() == number);
        CHECK(observer().children(path).empty());
    }
    program_run deaf(
        under_lock(path, "echo runs; exec sleep 1000"), "", {}, {"env", "--ignore-signal=HUP"});
    deaf.says("runs");
    deaf.process().signal(SIGHUP);
    deaf.process().signal(SIGTERM);
    CHECK(deaf.ended_by() == SIGTERM);
    // Its own code stays its own.
    CHECK(run_program(under_lock(fresh_path(), "kill -9 $$")).code == 128 + SIGKILL);
    CHECK(run_program(under_lock(fresh_path(), "exit 143")).code == 143);
    program_run polite(
        under_lock(fresh_path(), "trap 'exit 6' TERM; echo runs; while :; do sleep 0.05; done"));
    polite.says("runs");
    polite.process().signal(SIGTERM);
    CHECK(polite.end() == 6);
}

TEST_CASE("corozk: SIGHUP is passed on, and no end") {
    const std::string script = "trap 'echo reload' HUP; echo runs; while :; do sleep 0.05; done";
    std::string path = fresh_path();
    program_run leader({"elect", "--again", path, "--", "bash", "-c", script});
    leader.says("runs");
    leader.process().signal(SIGHUP);
    leader.says("reload\n");
    break_lock(path);
    leader.says("runs\nreload\nruns\n");
    leader.process().signal(SIGTERM);
    CHECK(leader.ended_by() == SIGTERM);

    // While the command is being stopped.
    const std::string slowly =
        "trap 'echo told' TERM; trap 'echo reload; exit 0' HUP; echo runs; "
        "while :; do sleep 0.05; done";
    program_run again({"elect", "--again", "--grace", "1h", path, "--", "bash", "-c", slowly});
    again.says("runs");
    break_lock(path);
    again.says("told");
    again.process().signal(SIGHUP);
    again.says("runs\ntold\nreload\nruns\n");
    again.process().signal(SIGHUP);
    CHECK(again.end() == 0);

    std::string jobs = fresh_path();
    CHECK(run_program({"queue", "put", jobs, "1", "2"}).code == 0);
    program_run worker({"queue",
                        "consume",
                        "--count",
                        "2",
                        jobs,
                        "--",
                        "bash",
                        "-c",
                        "read n; trap 'echo reload; exit 0' HUP; [ $n = 2 ] && exit 0; echo runs; "
                        "while :; do sleep 0.05; done"});
    worker.says("runs");
    worker.process().signal(SIGHUP);
    CHECK(worker.end() == 0);
    CHECK(run_program({"queue", "size", jobs}).out == "0\n");

    // A command that ends by it.
    std::string node = fresh_path();
    program_run watcher({"watch", node, "--", "bash", "-c", "echo runs; exec sleep 1000"});
    watcher.says("runs");
    watcher.process().signal(SIGHUP);
    CHECK(watcher.ended_by() == SIGHUP);
}

TEST_CASE("corozk elect --again: a command's exit code 79 is no loss") {
    CHECK(run_program({"elect", "--again", fresh_path(), "--", "sh", "-c", "exit 79"}).code == 79);
}

TEST_CASE("corozk lock: a loss ends what has its own groups and sessions; so does SIGKILL") {
    temporary_directory folder;
    for (bool killed : {false, true}) {
        std::string path = fresh_path();
        std::string file = folder.path() / (killed ? "killed" : "lost");
        program_run run(under_lock(path, fugitives(file) + "wait", {"--grace", "300ms"}));
        auto all = processes_in(file, 5);
        if (killed) {
            run.process().kill();
        } else {
            break_lock(path);
            CHECK(run.end() == 79);
            for (pid_t pid : all)
                CHECK_FALSE(process_lives(pid));
        }
        all_end(all);
    }
}

TEST_CASE("corozk lock: what the command left running does not go on without the lock") {
    temporary_directory folder;
    std::string file = folder.path() / "left";
    program_run run(under_lock(
        fresh_path(),
        fugitives(file) + "while [ $(wc -l < " + file + ") -lt 5 ]; do sleep 0.05; done; exit 5",
        {"--grace", "300ms"}));
    CHECK(run.end() == 5);
    for (pid_t pid : processes_in(file, 5))
        CHECK_FALSE(process_lives(pid));
    // What only needs a moment has it.
    const std::string ready = folder.path() / "ready";
    auto late = run_program(under_lock(fresh_path(),
                                       "(trap '' TERM; : > " + ready +
                                           "; sleep 0.1; echo late) & until [ -e " + ready +
                                           " ]; do sleep 0.05; done; exit 3"));
    CHECK(late.code == 3);
    CHECK(late.out == "late\n");
}

TEST_CASE("corozk lock: the guard's death changes nothing") {
    temporary_directory folder;
    std::string path = fresh_path();
    std::string go = folder.path() / "go";
    REQUIRE(::mkfifo(go.c_str(), 0600) == 0);
    program_run run(under_lock(path, "echo runs; read a < " + go + "; exit 7"));
    run.says("runs");
    pid_t guard = guard_of(run.process().pid());
    REQUIRE(guard > 0);
    ::kill(guard, SIGKILL);
    eventually([&] { return !process_lives(guard); }, program_limit, "the guard's end");
    CHECK(run.process().running());
    std::ofstream(go) << "go\n";
    CHECK(run.end() == 7);

    std::string file = folder.path() / "started";
    std::string earlier = folder.path() / "earlier";
    program_run lost(under_lock(path, fugitives(file) + "wait", {"--grace", "300ms"}),
                     "",
                     {},
                     with_descendant(earlier));
    auto all = processes_in(file, 5);
    ::kill(guard_of(lost.process().pid(), 1), SIGKILL);
    break_lock(path);
    CHECK(lost.end() == 79);
    all_end(all);
    pid_t descendant = processes_in(earlier, 1).front();
    CHECK(process_lives(descendant));
    ::kill(descendant, SIGKILL);
}

TEST_CASE("corozk lock: what its caller had started goes on") {
    temporary_directory folder;
    std::string file = folder.path() / "earlier";
    CHECK(
        run_program({"lock", fresh_path(), "--", "/no/such/command"}, "", {}, with_descendant(file))
            .code == 127);
    pid_t descendant = processes_in(file, 1).front();
    CHECK(process_lives(descendant));
    ::kill(descendant, SIGKILL);
}

TEST_CASE("corozk lock: a stopped process does not delay the end") {
    temporary_directory folder;
    std::string file = folder.path() / "started";
    program_run told(under_lock(fresh_path(), "echo $$ > " + file + "; kill -STOP $$"));
    pid_t command = processes_in(file, 1).front();
    eventually([&] { return state_of(command) == 'T'; }, program_limit, "the command to stop");
    told.process().signal(SIGTERM);
    CHECK(told.ended_by() == SIGTERM);

    std::string go = folder.path() / "go";
    REQUIRE(::mkfifo(go.c_str(), 0600) == 0);
    for (bool killed : {false, true}) {
        program_run run(under_lock(fresh_path(), "echo runs; read a < " + go + "; exit 7"));
        run.says("runs");  // the guard may not have reported the start yet
        pid_t guard = guard_of(run.process().pid());
        auto stopped = [&] {
            ::kill(guard, SIGSTOP);  // the program resumes it again and again
            return state_of(guard) == 'T';
        };
        eventually(stopped, program_limit, "the guard to stop");
        if (killed) {
            run.process().kill();
            all_end({guard});
        } else {
            std::ofstream(go) << "go\n";
            CHECK(run.end() == 7);
        }
    }
}

TEST_CASE("corozk lock: a program that is stopped has no command that runs on") {
    temporary_directory folder;
    std::string file = folder.path() / "started";
    std::string path = fresh_path();
    program_run run(under_lock(
        path, fugitives(file) + "wait", {"--grace", "300ms", "--session-timeout", "4s"}));
    auto all = processes_in(file, 5);
    run.process().stop();
    all_end(all);
    run.process().cont();
    CHECK(run.end() == 79);
}

TEST_CASE("corozk lock: who read standard error goes; the command does not") {
    auto run = run_program(under_lock(fresh_path(), "sleep 0.2; exit 7", {"-v"}),
                           "",
                           {},
                           {"bash", "-c", "\"$@\" 2> >(exec <&-; exit)", "bash"});
    CHECK(run.code == 7);
}

TEST_CASE("corozk lock as the first process of a container") {
    words container{"unshare", "--pid", "--fork", "--mount-proc"};
    if (run_program({"--version"}, "", {}, container).code != 0) {
        WARN("not allowed to make namespaces here");
        return;
    }
    std::string path = fresh_path();
    for (const char* what : {"lock", "elect"}) {
        words arguments{what, "--grace", "300ms", path, "--"};
        // Orphans, zombies of others, and one that waits.
        arguments.insert(arguments.end(),
                         {"sh", "-c", "(sleep 0 &) ; (sleep 99 &) ; sleep 99 & echo runs; wait"});
        program_run lost(arguments, "", {}, container);
        lost.says("runs");
        break_lock(path);
        CHECK(lost.end() == 79);
        program_run ended(arguments, "", {}, container);
        ended.says("runs");
        ::kill(child_of(ended.process().pid()), SIGTERM);  // the child of unshare
        CHECK(ended.end() == 128 + SIGTERM);
        CHECK(observer().children(path).empty());
    }
}

TEST_CASE("corozk lock: --grace that never ends, and the signal that ends it") {
    std::string path = fresh_path();
    program_run slow(under_lock(path,
                                "trap 'sleep 0.3; echo done; exit' TERM; echo runs; "
                                "while :; do sleep 0.05; done",
                                {"--grace", "3000000h"}));
    slow.says("runs");
    break_lock(path);
    CHECK(slow.end() == 79);
    CHECK(slow.out() == "runs\ndone\n");
    program_run deaf(under_lock(path,
                                "trap 'echo told' TERM; echo runs; while :; do sleep 0.05; done",
                                {"--grace", "3000000h"}));
    deaf.says("runs");
    break_lock(path);
    deaf.says("told");
    deaf.process().signal(SIGTERM);
    CHECK(deaf.end() == 79);
}

TEST_CASE("corozk: durations that are longer than anything mean for ever") {
    std::string path = fresh_path();
    for (const char* deadline : {"3000000h", "999999999999999999h", "1e300h", "1e999h"}) {
        CHECK(run_program({"lock", "-w", deadline, path, "--", "true"}).code == 0);
        CHECK(run_program({"barrier", "wait", "-w", deadline, path + "-gate"}).code == 0);
        CHECK(run_program({"--connect-timeout", deadline, "queue", "size", path}).code == 0);
        CHECK(run_program({"--session-timeout", deadline, "queue", "size", path}).code == 0);
    }
    program_run holder(under_lock(path, "echo runs; exec sleep 1000"));
    holder.says("runs");
    program_run waiter(under_lock(path, "true", {"-w", "3000000h"}));
    stands(path, 2);
    holder.process().signal(SIGTERM);
    CHECK(waiter.end() == 0);
}

TEST_CASE("corozk: a duration that is shorter than anything is not for ever") {
    for (const char* limit : {"0.4ms", "1e-9", "1E-999h"}) {
        CHECK(run_program(
                  {"--hosts", "127.0.0.1:1", "--connect-timeout", limit, "queue", "size", "/a"})
                  .code == 69);
    }
}

TEST_CASE("corozk queue consume, watch: behind a command that survives a signal, its exit code") {
    for (int code : {0, 6}) {
        const std::string script = "trap 'echo told; exit " + std::to_string(code) +
                                   "' TERM; echo runs; while :; do sleep 0.05; done";
        for (const char* count : {"0", "1", "2"}) {
            INFO(code << " " << count);
            std::string path = fresh_path();
            CHECK(run_program({"queue", "put", path, "1", "2", "3"}).code == 0);
            program_run run(
                {"queue", "consume", "--count", count, path, "--", "bash", "-c", script});
            program_run watcher({"watch", "--count", count, path, "--", "bash", "-c", script});
            for (program_run* one : {&run, &watcher}) {
                one->says("runs");
                one->process().signal(SIGTERM);
                CHECK(one->end() == code);
                CHECK(one->out() == "runs\ntold\n");
            }
            CHECK(run_program({"queue", "size", path}).out == (code == 0 ? "2\n" : "3\n"));
        }
    }
}

TEST_CASE("corozk queue take: an item that nobody reads is not lost with the connection") {
    temporary_directory folder;
    // The signal comes before the item, or while it is printed.
    for (auto [when, number] : std::vector<std::pair<std::string, int>>{
             {"before", SIGTERM}, {"after", SIGTERM}, {"before", SIGUSR1}, {"after", SIGALRM}}) {
        CAPTURE(when, number);
        const std::string unread = folder.path() / (when + std::to_string(number));
        REQUIRE(::mkfifo(unread.c_str(), 0600) == 0);
        const int reader = ::open(unread.c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(reader >= 0);
        std::string path = fresh_path();
        CHECK(run_program({"queue", "put", "--whole", path}, std::string(200'000, 'x')).code == 0);
        fault_proxy proxy(the_server().port());
        const rule_id taking = proxy.arm(at_op(op_code::multi), hold_reply());
        program_run run(
            {"queue", "take", "--hosts", proxy.hosts(), path}, "", {{"RUN_OUT", unread}});
        eventually([&] { return observer().children(path).empty(); },
                   program_limit,
                   "the item to be taken");
        if (when == "before")
            run.process().signal(number);
        proxy.release(taking);
        int printed = 0;
        if (when == "after") {
            eventually([&] { return ::ioctl(reader, FIONREAD, &printed) == 0 && printed > 0; },
                       program_limit,
                       "output");
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            run.process().signal(number);
            proxy.set_acceptance(acceptance::normal);
        }
        CHECK(run.ended_by() == number);
        CHECK(run_program({"queue", "size", path}).out == "1\n");
        ::close(reader);
    }
}

TEST_CASE("corozk queue take: an item that is put back is taken once") {
    std::string path = fresh_path();
    CHECK(run_program({"queue", "put", path, "item"}).code == 0);
    fault_proxy proxy(the_server().port());
    const rule_id putting_back = proxy.arm(at_op(op_code::multi, 2), hold_reply());
    program_run run({"queue", "take", "--hosts", proxy.hosts(), path},
                    "",
                    {},
                    {"sh", "-c", "exec \"$@\" >/dev/full", "sh"});
    eventually([&] { return proxy.fired(putting_back) == 1; }, program_limit, "the item's return");
    CHECK(run_program({"queue", "take", path}).out == "item\n");
    proxy.cut();
    CHECK(run.end() == 74);
    CHECK(run.err().find("is lost") == std::string::npos);
    CHECK(run_program({"queue", "size", path}).out == "0\n");
}

TEST_CASE("corozk queue consume: some seconds for the acknowledgement after a signal") {
    const std::string script = "trap 'exit 0' TERM; echo runs; while :; do sleep 0.05; done";
    for (bool in_doubt : {false, true}) {
        CAPTURE(in_doubt);
        std::string path = fresh_path();
        CHECK(run_program({"queue", "put", path, "1", "2"}).code == 0);
        fault_proxy proxy(the_server().port());
        // The first one is acknowledged: a transaction in doubt needs a record of earlier ones.
        const rule_id acknowledging = proxy.arm(at_op(op_code::multi, 2), hold_reply());
        if (!in_doubt)
            proxy.disarm(acknowledging);
        program_run run({"queue",
                         "consume",
                         "--count",
                         "2",
                         "--hosts",
                         proxy.hosts(),
                         path,
                         "--",
                         "bash",
                         "-c",
                         "read n; [ $n = 1 ] && exit 0; " + script});
        run.says("runs");
        if (in_doubt) {
            // No server comes back: it ends nevertheless.
            run.process().signal(SIGTERM);
            eventually([&] { return proxy.fired(acknowledging) == 1; }, program_limit, "a request");
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            CHECK(run.ended_by() == SIGTERM);
        } else {
            // It comes back: the work is not done twice.
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            run.process().signal(SIGTERM);
            eventually([&] { return child_of(run.process().pid()) == 0; },
                       program_limit,
                       "the command's end");
            proxy.set_acceptance(acceptance::normal);
            CHECK(run.end() == 0);
        }
        CHECK(run_program({"queue", "size", path}).out == "0\n");
    }
}

TEST_CASE("corozk barrier enter: a signal that the command survives does not wait for the others") {
    std::string path = fresh_path();
    words member{"barrier", "enter", "-c", "2", path, "--", "bash", "-c"};
    words one = member, two = member;
    one.push_back("trap 'exit 0' TERM; echo runs; while :; do sleep 0.05; done");
    two.push_back("echo runs; exec sleep 1000");
    program_run first(one), second(two);
    first.says("runs");
    second.says("runs");
    first.process().signal(SIGTERM);
    CHECK(first.ended_by() == SIGTERM);
}

TEST_CASE("corozk: servers that are away for longer than a session lives") {
    fault_proxy proxy(the_server().port());
    words through{"--hosts", proxy.hosts(), "--session-timeout", "3s"};
    auto with = [&](words arguments) {
        arguments.insert(arguments.begin() + 1, through.begin(), through.end());
        return arguments;
    };
    std::string path = fresh_path();
    program_run holder(under_lock(path, "echo runs; exec sleep 1000"));
    holder.says("runs");
    program_run waiter(with(under_lock(path, "echo mine")));
    stands(path, 2);
    program_run patient(with(under_lock(path, "true", {"-w", "5s", "-E", "3"})));
    CHECK(patient.end() == 3);
    std::string election = fresh_path();
    program_run leader(
        with({"elect", "--again", election, "--", "sh", "-c", "echo leads; exec sleep 1000"}));
    leader.says("leads");
    program_run watcher(with({"contenders", "--watch", path}));
    watcher.says("1 holding, 1 waiting");
    std::string gate = fresh_path();
    CHECK(run_program({"barrier", "set", gate}).code == 0);
    program_run barred(with({"barrier", "wait", gate}));
    eventually([&] { return watches_below(the_server().port(), gate) == 1; },
               program_limit,
               "the watch on the barrier");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    for (program_run* run : {&waiter, &leader, &watcher})
        run->reports("the connection was lost");
    stands(path, 1);
    waiter.reports("the session was lost; waiting again, behind all others");
    proxy.set_acceptance(acceptance::normal);
    leader.says("leads\nleads");
    stands(path, 2);
    holder.process().signal(SIGTERM);
    CHECK(waiter.end() == 0);
    CHECK(waiter.out() == "mine\n");
    eventually([&] { return watcher.out().ends_with("0 holding, 0 waiting\n\n"); },
               program_limit,
               "a look");
    CHECK(run_program({"barrier", "remove", gate}).code == 0);
    CHECK(barred.end() == 0);
    for (program_run* run : {&leader, &watcher}) {
        run->process().signal(SIGTERM);
        CHECK(run->ended_by() == SIGTERM);
    }
}

TEST_CASE("corozk: says why there is no connection, also without -v") {
    const std::string problem = "there is still no connection to ";
    program_run first({"--json", "--hosts", "127.0.0.1:1", "--connect-timeout", "0", "get", "/a"});
    fault_proxy proxy(the_server().port());
    program_run later(
        {"--hosts", proxy.hosts(), "--session-timeout", "1s", "wait-for", fresh_path()});
    eventually([&] { return proxy.statistics().replies_of(testing::op_code::exists) > 0; });
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    later.reports("corozk: warning: " + problem + proxy.hosts());
    first.reports(problem + "127.0.0.1:1");
    CHECK(first.err().find(R"("level":"warning")") != std::string::npos);
}

TEST_CASE("corozk: --try and --deadline hold for connecting, and for the responses") {
    std::string path = fresh_path();
    words nowhere{"--hosts", "127.0.0.1:1", "--connect-timeout", "0"};
    std::list<program_run> runs;  // at the same time
    fault_proxy proxy(the_server().port());
    auto work = [](const frame_info& request) { return request.op != testing::op_code::ping; };
    const rule_id held = proxy.arm(at_frame(work).times(0), hold_request());
    for (const words& what : std::vector<words>{{"barrier", "status", "-w", "0", path},
                                                {"barrier", "set", "-w", "0", path},
                                                {"barrier", "wait", "-w", "0", path},
                                                {"barrier", "enter", "-w", "0", "-c", "1", path},
                                                {"queue", "size", "-n", path},
                                                {"queue", "put", "-n", path, "item"},
                                                {"queue", "take", "-n", path},
                                                {"queue", "consume", "-n", path},
                                                {"discover", "--one", "-w", "0", path, "web"},
                                                {"wait-for", "-w", "0", path},
                                                {"semaphore", "-n", "-l", "1", path},
                                                {"lock", "-n", path}}) {
        words all{"--hosts", proxy.hosts()};
        all.insert(all.end(), what.begin(), what.end());
        const bool runs_one = what[1] == "enter" || what[1] == "consume" || what[1] == "-n";
        if (runs_one)
            all.insert(all.end(), {"--", "true"});
        runs.emplace_back(all);
    }
    eventually([&] { return proxy.fired(held) >= runs.size(); }, program_limit, "the requests");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    for (const words& what : std::vector<words>{{"lock", "--try", path, "--", "true"},
                                                {"lock", "-w", "300ms", path, "--", "true"},
                                                {"elect", "-w", "0", path, "--", "true"},
                                                {"semaphore", "-l", "1", "-n", path, "--", "true"},
                                                {"queue", "take", "-n", path},
                                                {"queue", "put", "-w", "300ms", path, "item"},
                                                {"barrier", "wait", "-w", "300ms", path},
                                                {"wait-for", "-w", "0", path},
                                                {"wait-for", "-w", "300ms", path}}) {
        words all = nowhere;
        all.insert(all.end(), what.begin(), what.end());
        runs.emplace_back(all);
    }
    for (program_run& run : runs) {
        CHECK(run.end() == 69);  // --connect-timeout alone would be for ever
        // None of them waits for anything that they could miss.
        CHECK(run.err().find("still waiting") == std::string::npos);
        CHECK(run.err().find("again") == std::string::npos);
    }
}
