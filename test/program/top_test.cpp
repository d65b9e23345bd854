// SPDX-License-Identifier: Apache-2.0
// corozk top: the pace of contention queues, on a terminal and elsewhere.
#include "program_run.hpp"
#include "terminal.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <fcntl.h>
#include <list>
#include <numeric>
#include <sstream>
#include <sys/stat.h>

namespace corozk::testing::top_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

using words = std::vector<std::string>;

const words holding{"--", "sh", "-c", "echo in; exec sleep 1000"};

words locking(const std::string& path, const std::string& identity, const words& command) {
    words result{"lock", "--identity", identity, path};
    result.insert(result.end(), command.begin(), command.end());
    return result;
}

void stands(const std::string& path, std::size_t count) {
    eventually([&] { return observer().children(path).size() == count; },
               program_limit,
               std::to_string(count) + " contenders");
}

void end_by_signal(program_run& run) {
    run.process().signal(SIGTERM);
    CHECK(run.ended_by() == SIGTERM);
}

std::vector<boost::json::value> lines_of(const std::string& text) {
    std::vector<boost::json::value> result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        result.push_back(boost::json::parse(line));
    return result;
}

/// The members of a queue, as far as they count.
std::string counts(int holders, int waiters, int arrivals, int hand_overs) {
    return R"("holding":)" + std::to_string(holders) + R"(,"waiting":)" + std::to_string(waiters) +
           R"(,"arrivals":)" + std::to_string(arrivals) + R"(,"hand_overs":)" +
           std::to_string(hand_overs) + ",";
}

/// Types a command into a terminal that knows how to draw.
void begin_on(terminal& t, const std::string& arguments) {
    t.type("TERM=xterm " COROZK_PROGRAM " top " + arguments + "\n");
    t.has_picture({"corozk top  ", "q quits", "HAND-OVERS/S"});
}

void quit(terminal& t) {
    t.type("q");
    t.shows("\033[?1049l$ ");
    t.ended_with(0);
}

}  // namespace

TEST_CASE("corozk top --once: who holds, who waits, and the pace") {
    std::string path = fresh_path();
    auto none = run_program({"top", "--once", "-i", "100ms", path});
    CHECK(none.code == 0);
    CHECK(none.out.find("HAND-OVERS/S") != std::string::npos);
    CHECK(none.out.find("STATE") == std::string::npos);
    program_run holder(locking(path, "anna", holding));
    holder.says("in");
    program_run waiter(locking(path, "otto", {"--", "true"}));
    stands(path, 2);
    auto text = run_program({"top", "--once", "-i", "100ms", path});
    CHECK(text.code == 0);
    CHECK(std::count(text.out.begin(), text.out.end(), '\n') == 6);
    CHECK(text.out.find('\033') == std::string::npos);
    auto holds = text.out.find("\nholds  lock  ");
    auto waits = text.out.find("\nwaits  lock  ");
    REQUIRE(holds < waits);
    REQUIRE(waits != std::string::npos);
    CHECK(text.out.substr(holds, waits - holds).find("anna") != std::string::npos);
    CHECK(text.out.substr(waits).find("otto") != std::string::npos);
    auto value = boost::json::parse(
        run_program({"top", "--once", "--json", "-i", "100ms", path, fresh_path()}).out);
    const auto& queues = value.at("queues").as_array();
    REQUIRE(queues.size() == 2);
    CHECK(queues[0].at("path").as_string() == path);
    CHECK(queues[0].at("holding") == 1);
    CHECK(queues[0].at("waiting") == 1);
    CHECK(queues[0].at("hand_overs_per_second") == 0.0);
    CHECK(queues[0].at("mean_wait_seconds").is_null());
    CHECK(queues[0].at("longest_wait_seconds").as_double() >= 0);
    CHECK(queues[0].at("contenders").at(0).at("who") == "anna");
    CHECK(queues[0].at("contenders").at(1).at("holds") == false);
    CHECK(queues[1].at("contenders").as_array().empty());
    CHECK(queues[1].at("longest_wait_seconds").is_null());
    end_by_signal(waiter);
    end_by_signal(holder);
}

TEST_CASE("corozk top: no hand-over is missed, and a waiter that gives up is none") {
    std::string path = fresh_path();
    program_run run({"top", "--json", "-i", "100ms", path});
    run.says(counts(0, 0, 0, 0));
    for (int i = 0; i < 3; ++i)
        CHECK(run_program(locking(path, "quick", {"--", "true"})).code == 0);
    run.says(counts(0, 0, 3, 3));
    program_run holder(locking(path, "anna", holding));
    holder.says("in");
    run.says(counts(1, 0, 4, 3));
    program_run waiter(locking(path, "otto", holding));
    stands(path, 2);
    run.says(counts(1, 1, 5, 3));
    // Waits behind one that gives up at the same time.
    program_run behind(locking(path, "emil", holding));
    stands(path, 3);
    run.says(counts(1, 2, 6, 3));
    run.process().signal(SIGSTOP);
    end_by_signal(waiter);
    end_by_signal(behind);
    run.process().signal(SIGCONT);
    run.says(counts(1, 0, 6, 3));
    end_by_signal(holder);
    run.says(counts(0, 0, 6, 4));
    end_by_signal(run);
    CHECK(run.err().empty());
}

TEST_CASE("corozk top: an acknowledged term is one hand-over") {
    std::string path = fresh_path();
    observer().plant(path);
    program_run run({"top", "--json", "-i", "100ms", path});
    run.says(counts(0, 0, 0, 0));
    std::string node = path + "/0123456789abcdef0123456789abcdef-n_0000000000";
    observer().plant(node, "anna");
    run.says(counts(1, 0, 1, 0));
    observer().plant(node + "-acknowledged");
    program_run candidate({"elect", path, "--", "true"});
    run.says(counts(1, 1, 2, 0));
    observer().erase(node + "-acknowledged");
    observer().erase(node);
    CHECK(candidate.end() == 0);
    run.says(counts(0, 0, 2, 2));
    end_by_signal(run);
}

TEST_CASE("corozk top: a hand-over that the holder announces counts once") {
    std::string path = fresh_path();
    program_run run({"top", "--json", "-i", "100ms", path});
    run.says(counts(0, 0, 0, 0));
    temporary_directory folder;
    const std::string pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const words until_told{"--", "sh", "-c", "read line <" + pipe};
    std::list<program_run> contenders;
    for (int i = 0; i < 4; ++i) {
        contenders.emplace_back(locking(path, "anna", until_told));
        stands(path, contenders.size());
    }
    run.says(counts(1, 3, 4, 0));
    for (int done = 1; done <= 4; ++done) {
        std::ofstream(pipe) << "end\n";
        CHECK(contenders.front().end() == 0);
        contenders.pop_front();
        run.says(counts(done < 4 ? 1 : 0, std::max(0, 3 - done), 4, done));
    }
    end_by_signal(run);
    CHECK(run.err().empty());
}

TEST_CASE("corozk top: mean times by Little's law") {
    std::string path = fresh_path();
    program_run run({"top", "--json", "-i", "100ms", path});
    run.says(counts(0, 0, 0, 0));
    program_run first(locking(path, "first", holding));
    first.says("in");
    program_run second(locking(path, "second", holding));
    stands(path, 2);
    run.says(counts(1, 1, 2, 0));
    end_by_signal(first);
    run.says(counts(1, 0, 2, 1));
    end_by_signal(second);
    end_by_signal(run);
    std::vector<double> waiting;
    int compared = 0;
    for (const boost::json::value& line : lines_of(run.out())) {
        const auto& queue = line.at("queues").at(0);
        waiting.push_back(queue.at("waiting").to_number<double>());
        if (waiting.size() > 11)
            waiting.erase(waiting.begin());
        if (queue.at("mean_wait_seconds").is_null())
            continue;
        ++compared;
        double mean = std::accumulate(waiting.begin(), waiting.end(), 0.0) /
                      static_cast<double>(waiting.size());
        CHECK(queue.at("mean_wait_seconds").as_double() *
                  queue.at("hand_overs_per_second").as_double() ==
              Approx(mean));
    }
    CHECK(compared > 0);
}

TEST_CASE("corozk top: a parent that is deleted and created again; another kind of queue") {
    std::string path = fresh_path();
    program_run run({"top", "--json", "-i", "100ms", path});
    run.says(counts(0, 0, 0, 0));
    program_run holder(
        {"semaphore", "-l", "3", "-k", "2", path, "--", "sh", "-c", "echo in; exec sleep 1000"});
    holder.says("in");
    run.says(counts(1, 0, 1, 0));
    CHECK(run.out().find(R"("kind":"lease","holds":true,"weight":2)") != std::string::npos);
    end_by_signal(holder);
    run.says(counts(0, 0, 1, 1));
    observer().erase_recursively(path);
    observer().plant(path + "/0123456789abcdef0123456789abcdef-lock-0000000000", "anna");
    run.says(counts(1, 0, 2, 1));
    end_by_signal(run);
}

TEST_CASE("corozk top: through an outage, on a terminal and elsewhere") {
    std::string path = fresh_path();
    fault_proxy proxy(the_server().port());
    program_run run(
        {"top", "--hosts", proxy.hosts(), "--session-timeout", "1s", "-i", "100ms", path});
    run.says("HAND-OVERS/S");
    terminal t;
    begin_on(t, "--hosts " + proxy.hosts() + " --session-timeout 1s -i 100ms " + path);
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    run.reports("corozk: the connection was lost; waiting for a server\n");
    t.has_picture({"the connection was lost; waiting for a server", path});
    program_run holder(locking(path, "anna", holding));
    holder.says("in");
    proxy.set_acceptance(acceptance::normal);
    run.says("anna");
    t.has_picture({"corozk top", "\n\nPATH", "holds  lock", "anna"});
    quit(t);
    end_by_signal(run);
    end_by_signal(holder);
}

TEST_CASE("corozk top on a terminal: drawn in place, as waiters come and go") {
    std::string path = fresh_path();
    terminal t;
    t.resize(16, 100);
    t.type("before=$(stty -g)\n");
    begin_on(t, "-i 100ms " + path);
    CHECK(t.picture().on_other_screen());
    CHECK_FALSE(t.picture().shows_cursor());
    program_run holder(locking(path, "anna \xc3\xa4", holding));
    holder.says("in");
    t.has_picture({path, "  1        0", "holds  lock", "anna \xc3\xa4"});
    program_run waiter(locking(path, "otto", holding));
    t.has_picture({path, "  1        1", "holds  lock", "anna", "waits  lock", "otto"});
    end_by_signal(holder);
    t.has_picture({path, "  1        0", "holds  lock", "otto"});
    eventually([&] { return !t.picture().has({"anna"}); }, program_limit, "anna to vanish");
    end_by_signal(waiter);
    t.has_picture({path, "  0        0"});
    eventually([&] { return !t.picture().has({"STATE"}); }, program_limit, "the table to vanish");
    CHECK(t.picture().scrolled() == 0);
    t.type("x");
    quit(t);
    CHECK_FALSE(t.picture().on_other_screen());
    CHECK(t.picture().shows_cursor());
    t.type("[ \"$before\" = \"$(stty -g)\" ] && echo as-b''efore\n");
    t.shows("as-before");
}

TEST_CASE("corozk top on a terminal: as much as there is room for, also when that changes") {
    std::string path = fresh_path();
    for (int i = 0; i < 20; ++i) {
        std::string number = (i < 10 ? "0" : "") + std::to_string(i);
        observer().plant(
            path + "/0123456789abcdef0123456789abcd" + number + "-lock-00000000" + number,
            "w" + number);
    }
    terminal t;
    t.resize(12, 60);
    begin_on(t, "-i 1h " + path);
    // Title, empty, heads, queue, empty, heads; 20 contenders in 11 rows.
    t.has_picture({"corozk top", "STATE", "w00", "w03", "... 16 more"});
    t.resize(40, 120);
    t.has_picture({"corozk top", "q quits", "STATE", "w00", "w19", "-lock-0000000019\n"});
    CHECK_FALSE(t.picture().has({"more"}));
    t.resize(8, 30);
    t.has_picture({"corozk top", "STATE", "... 20 more"});
    t.resize(40, 120);
    t.has_picture({"STATE", "w19", "-lock-0000000019\n"});
    CHECK(t.picture().scrolled() == 0);
    quit(t);
}

TEST_CASE("corozk top on a terminal: Ctrl-Z, fg, Ctrl-C") {
    std::string path = fresh_path();
    observer().plant(path + "/0123456789abcdef0123456789abcdef-lock-0000000000", "anna");
    terminal t;
    t.resize(16, 100);
    t.type("before=$(stty -g)\n");
    begin_on(t, "-i 1h " + path);
    t.has_picture({"holds", "anna"});
    t.type("\x1a");
    t.shows("Stopped");
    CHECK_FALSE(t.picture().on_other_screen());
    CHECK(t.picture().shows_cursor());
    t.type("[ \"$before\" = \"$(stty -g)\" ] && echo as-b''efore\n");
    t.shows("as-before");
    t.type("fg\n");
    t.has_picture({"corozk top", "holds", "anna"});
    CHECK(t.picture().on_other_screen());
    t.type("\x03");
    t.shows("\033[?1049l");
    t.shows("$ ");
    t.ended_with(130);
    CHECK_FALSE(t.picture().on_other_screen());
}

TEST_CASE("corozk top: a terminal that cannot draw, and one that is only written to") {
    std::string path = fresh_path();
    terminal t;
    t.resize(24, 100);
    t.type(COROZK_PROGRAM " top --once -i 100ms " + path + "\n");  // TERM=dumb
    t.ended_with(0);
    CHECK_FALSE(t.picture().has({"q quits"}));
    CHECK(t.picture().has({"HAND-OVERS/S", path}));
    temporary_directory folder;
    std::string number = folder.path() / "number";
    t.type("TERM=xterm setsid -w sh -c 'echo $$ > " + number +
           "; exec " COROZK_PROGRAM " top -i 100ms " + path + "' </dev/null &\n");
    t.has_picture({"q quits"});
    t.type("kill $(cat " + number + "); wait; echo go''ne\n");
    t.shows("gone");
    CHECK_FALSE(t.picture().on_other_screen());
}

TEST_CASE("corozk top on a terminal: a signal ends it while nothing can be written") {
    temporary_directory folder;
    for (bool resized : {false, true}) {
        CAPTURE(resized);
        terminal t;
        t.resize(24, 100);
        std::string number = folder.path() / (resized ? "resized" : "same");
        t.type("TERM=xterm sh -c 'echo $$ > " + number + "; exec " COROZK_PROGRAM " top -i 100ms " +
               fresh_path() + "'\n");
        t.has_picture({"q quits"});
        pid_t pid = 0;
        std::ifstream(number) >> pid;
        const std::string output = "/proc/" + std::to_string(pid) + "/fd/1";
        pollfd screen{::open(output.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC), POLLOUT, 0};
        REQUIRE(screen.fd >= 0);
        t.type("\x13");
        eventually(
            [&] { return ::poll(&screen, 1, 0) == 0; }, program_limit, "the terminal to stop");
        ::close(screen.fd);
        if (resized)
            t.resize(30, 100);
        ::kill(pid, SIGTERM);
        eventually([&] { return !process_lives(pid); }, program_limit, "its end");
    }
}

TEST_CASE("corozk top in the background of a terminal: it stops, and a signal ends it") {
    temporary_directory folder;
    const std::string number = folder.path() / "number";
    terminal t;
    t.type("TERM=xterm sh -c 'echo $$ > " + number + "; exec " COROZK_PROGRAM " top " +
           fresh_path() + "' &\n");
    pid_t pid = 0;
    eventually(
        [&] {
            std::ifstream(number) >> pid;
            return pid > 0 && state_of(pid) == 'T';
        },
        program_limit,
        "it to stop");
    t.type("bg %1; until jobs %1 | grep -q Stopped; do :; done; echo stopped $((1 + 1))\n");
    t.shows("stopped 2");
    t.type("kill %1\n");
    eventually([&] { return !process_lives(pid); }, program_limit, "its end");
    t.type("echo still $((1 + 1))\n");
    t.shows("still 2");
}

TEST_CASE("corozk top: words that make no sense, no server, no permission") {
    std::string path = fresh_path();
    auto says = [](const words& line, int code, const std::string& text) {
        auto run = run_program(line);
        INFO(run.err);
        CHECK(run.code == code);
        CHECK(run.err.find(text) != std::string::npos);
    };
    says({"top"}, 64, "PATH");
    says({"top", "relative"}, 64, "begin it with '/'");
    says({"top", path, "--", "true"}, 64, "no command is run here");
    says({"top", "-i", "soon", path}, 64, "is not a duration");
    says({"top", "-i", "99ms", path}, 64, "--interval must be at least 100ms");
    says({"top", "--hosts", "127.0.0.1:1", "--connect-timeout", "300ms", path}, 69, "no server");
    CHECK(run_program({"put", path, "--auth", "digest:a:b", "--acl", "creator", "x"}).code == 0);
    says({"top", path}, 77, "denied");
    fault_proxy proxy(the_server().port());
    auto rule = proxy.arm(at_request(1), hold_request());
    program_run once({"top", "--once", "--hosts", proxy.hosts(), path});
    eventually([&] { return proxy.fired(rule) == 1; }, program_limit, "a request");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    CHECK(once.end() == 69);
}

}  // namespace corozk::testing::top_test
