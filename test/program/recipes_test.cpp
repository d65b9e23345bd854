// SPDX-License-Identifier: Apache-2.0
#include "program_run.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/testing/old_server.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <list>
#include <set>
#include <sstream>
#include <utility>

namespace corozk::testing::recipes_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

void stands(const std::string& path, std::size_t count) {
    eventually([&] { return observer().children(path).size() == count; },
               program_limit,
               "nodes below " + path);
}

}  // namespace

TEST_CASE("corozk elect: one leads; --again campaigns again after a loss") {
    std::string path = fresh_path();
    program_run leader({"elect", "--again", path, "--", "sh", "-c", "echo leads; exec sleep 1000"});
    leader.says("leads");
    program_run next({"elect", path, "--", "sh", "-c", "echo second; exec sleep 1000"});
    stands(path, 2);
    CHECK(run_program({"elect", "-n", path, "--", "true"}).code == 75);
    CHECK(run_program({"break", "--holder", path}).code == 0);
    next.says("second");
    stands(path, 2);  // the first one is a candidate again
    next.process().signal(SIGTERM);
    CHECK(next.end() == 128 + SIGTERM);
    leader.says("leads\nleads");
    leader.process().signal(SIGTERM);
    CHECK(leader.end() == 128 + SIGTERM);
    CHECK(observer().children(path).empty());
}

TEST_CASE("corozk semaphore: as many as there are permits; the limit can be changed") {
    std::string path = fresh_path();
    auto hold = [&](const char* permits) {
        return std::vector<std::string>{"semaphore",
                                        "-l",
                                        "3",
                                        "-k",
                                        permits,
                                        path,
                                        "--",
                                        "sh",
                                        "-c",
                                        "echo in; exec sleep 1000"};
    };
    program_run two(hold("2"));
    two.says("in");
    CHECK(run_program({"semaphore", "-l", "3", "--available", path}).out == "1\n");
    CHECK(run_program({"semaphore", "-l", "3", "-k", "2", "-n", path, "--", "true"}).code == 75);
    CHECK(run_program({"semaphore", "-l", "3", "-n", path, "--", "true"}).code == 0);
    CHECK(run_program({"semaphore", "-l", "3", "-k", "4", path, "--", "true"}).code == 64);
    CHECK(run_program({"semaphore", "-l", "4", path, "--", "true"}).code == 70);
    CHECK(run_program({"semaphore", "-l", "4", "--change-limit", path}).code == 0);
    CHECK(run_program({"semaphore", "-l", "4", "-k", "2", "-n", path, "--", "true"}).code == 0);
    two.process().signal(SIGTERM);
    two.end();
}

TEST_CASE("corozk barrier: set, status, wait, remove") {
    std::string path = fresh_path();
    CHECK(run_program({"barrier", "status", path}).code == 1);
    CHECK(run_program({"barrier", "wait", path}).code == 0);
    CHECK(run_program({"barrier", "set", path}).code == 0);
    CHECK(run_program({"barrier", path, "set"}).code == 1);
    CHECK(run_program({"barrier", "status", path}).out == "set\n");
    CHECK(run_program({"barrier", "wait", "-w", "5s", path}).code == 75);
    program_run waiter({"barrier", "wait", path});
    eventually([&] { return watches_below(the_server().port(), path) == 1; },
               program_limit,
               "the waiter's watch");
    CHECK(run_program({"barrier", "remove", path}).code == 0);
    CHECK(waiter.end() == 0);
    CHECK(run_program({"barrier", "remove", path}).code == 1);
    CHECK(run_program({"barrier", "open", path}).code == 64);
    fault_proxy proxy(the_server().port());
    proxy.arm(at_op(op_code::create2), hold_request());
    auto late = run_program({"barrier", "set", "--hosts", proxy.hosts(), "-w", "5s", path});
    INFO(late.err);
    CHECK(late.code == 75);
}

TEST_CASE("corozk barrier enter: members begin and end together") {
    std::string path = fresh_path();
    auto member = [&](const char* script) {
        return std::vector<std::string>{
            "barrier", "enter", "-c", "2", path, "--", "sh", "-c", script};
    };
    program_run first(member("echo began; exit 3"));
    stands(path, 1);
    CHECK(first.out().empty());
    program_run second(member("echo began; read end; exit 0"), "end\n");
    CHECK(second.end() == 0);
    CHECK(first.end() == 3);
    CHECK(first.out() == "began\n");
}

TEST_CASE("corozk queue: put, take, consume with acknowledgement") {
    std::string path = fresh_path();
    CHECK(run_program({"queue", "put", path, "one", "two"}).code == 0);
    CHECK(run_program({"queue", "put", path}, "three\nfour\n").code == 0);
    CHECK(run_program({"queue", "put", path, "--whole"}, "five\nlines\n").code == 0);
    CHECK(run_program({"queue", "put", path, "--", "--six"}).code == 0);
    CHECK(run_program({"queue", "size", path}).out == "6\n");
    CHECK(run_program({"queue", "peek", path}).out == "one\n");
    CHECK(run_program({"queue", path, "take", "-c", "2"}).out == "one\ntwo\n");
    auto failed = run_program({"queue", "consume", path, "--", "sh", "-c", "cat; exit 4"});
    CHECK(failed.code == 4);
    CHECK(failed.out == "three");
    auto done = run_program({"queue", "consume", "-c", "2", path, "--", "sh", "-c", "cat; echo ;"});
    CHECK(done.code == 0);
    CHECK(done.out == "three\nfour\n");
    auto value = boost::json::parse(run_program({"queue", "take", "--json", path}).out);
    CHECK(value.at("data") == "five\nlines\n");
    CHECK(run_program({"queue", "take", path}).out == "--six\n");
    auto answered_no = [&](std::vector<std::string> words, const std::string& answer) {
        auto run = run_program(words);
        CHECK(run.code == 75);
        CHECK(run.out.empty());
        CHECK(run.err == "corozk: " + answer + "\n");
    };
    answered_no({"queue", "take", "-n", path}, "there is no item in " + path);
    answered_no({"queue", "peek", path}, "there is no item in " + path);
    answered_no({"queue", "consume", "-n", path, "--", "cat"},
                "there is no unclaimed item in " + path);
    answered_no({"queue", "take", "-w", "5s", path}, "no item arrived in " + path + " in time");
    CHECK(run_program({"queue", "put", path, "the last"}).code == 0);
    auto over = run_program({"queue", "take", "-c", "0", "-w", "5s", path});
    CHECK(over.code == 75);
    CHECK(over.out == "the last\n");
    CHECK(over.err == "corozk: the deadline has passed; 1 item of " + path + " arrived before\n");
    std::string small = fresh_path();
    CHECK(run_program({"queue", "put", "--bound", "1", small, "one"}).code == 0);
    answered_no({"queue", "put", "-n", "--bound", "1", small, "two"},
                small + " is full: --bound 1");
    answered_no({"queue", "put", "-w", "5s", "--bound", "1", small, "two"},
                small + " stayed full: --bound 1");
    auto refused = boost::json::parse(run_program({"queue", "take", "-n", "--json", path}).err);
    CHECK(refused.at("message").as_string() == "there is no item in " + path);
    CHECK(run_program({"queue", "take", path, "word"}).code == 64);
    // A taker waits until something comes.
    program_run taker({"queue", "take", path});
    eventually(
        [&] { return watch_count(the_server().port()) > 0; }, program_limit, "the taker's watch");
    CHECK(run_program({"queue", "put", path, "late"}).code == 0);
    CHECK(taker.end() == 0);
    CHECK(taker.out() == "late\n");
    CHECK(run_program({"queue", "put", path, "one more"}).code == 0);
    const std::pair<const char*, op_code> reads[] = {{"size", op_code::exists},
                                                     {"peek", op_code::get_data}};
    for (auto [action, read] : reads) {
        fault_proxy proxy(the_server().port());
        proxy.arm(at_op(read), hold_request());
        auto late = run_program({"queue", action, "--hosts", proxy.hosts(), "-w", "5s", path});
        CHECK(late.code == 75);
        CHECK(late.err == "corozk: " + path + " could not be read in time\n");
    }
}

TEST_CASE("corozk queue: priorities; a consumer that is killed loses nothing") {
    std::string path = fresh_path();
    CHECK(run_program({"queue", "put", "-p", "5", path, "later"}).code == 0);
    CHECK(run_program({"queue", "put", "-p", "1", path, "sooner"}).code == 0);
    program_run consumer({"queue",
                          "consume",
                          "--prioritized",
                          "--session-timeout",
                          "4s",
                          path,
                          "--",
                          "sh",
                          "-c",
                          "cat; exec sleep 1000"});
    consumer.says("sooner");
    CHECK(run_program({"queue", "take", "--prioritized", path}).out == "later\n");
    consumer.process().kill();
    CHECK(run_program({"queue", "take", "--prioritized", path}).out == "sooner\n");
}

TEST_CASE("corozk queue: items that are due at a time") {
    std::string path = fresh_path();
    CHECK(run_program({"queue", "put", "--delay", "1h", path, "much later"}).code == 0);
    CHECK(run_program({"queue", "put", "--delayed", path, "now"}).code == 0);
    CHECK(run_program({"queue", "put", "--delay", "300ms", path, "later"}).code == 0);
    CHECK(run_program({"queue", "size", path}).out == "3\n");
    CHECK(run_program({"queue", "take", "--delayed", path}).out == "now\n");
    auto done = run_program(
        {"queue", "consume", "--delayed", path, "--", "sh", "-c", "cat; echo \" $COROZK_DUE\""});
    CHECK(done.code == 0);
    CHECK(done.out.starts_with("later 20"));
    CHECK(run_program({"queue", "take", "--delayed", "-n", path}).code == 75);
    // To a queue without times it is no item.
    CHECK(run_program({"queue", "take", "-n", path}).code == 75);
    for (const char* wrong : {"--priority=1", "--compatibility=kazoo", "--delay=soon"})
        CHECK(run_program({"queue", "put", "--delay", "1s", wrong, path, "x"}).code == 64);
    CHECK(run_program({"queue", "take", "--delay", "1s", path}).code == 64);
}

TEST_CASE("corozk config: get, publish, watch; one value or several parts") {
    std::string path = fresh_path();
    CHECK(run_program({"config", "get", path}).code == 1);
    CHECK(run_program({"config", "publish", path, "first"}).code == 0);
    CHECK(run_program({"config", "get", path}).out == "first\n");
    program_run watcher({"config", "watch", "--count", "2", path});
    watcher.says("first\n");
    CHECK(run_program({"config", "publish", path}, "second").code == 0);
    CHECK(watcher.end() == 0);
    CHECK(watcher.out() == "first\nsecond\n");
    for (std::string layout : {"ready", "versioned"}) {
        std::string parts = fresh_path();
        CHECK(run_program({"config", "get", "--layout", layout, parts}).code == 1);
        CHECK(run_program({"config", "publish", "--layout", layout, parts, "a=1", "b=x=y"}).code ==
              0);
        CHECK(run_program({"config", "get", "--layout", layout, parts}).out == "a=1\nb=x=y\n");
        auto value = boost::json::parse(
            run_program({"config", "get", "--json", "--layout", layout, parts}).out);
        CHECK(value.at("parts").at("b") == "x=y");
    }
    CHECK(run_program({"config", "publish", "--layout", "ready", path, "nothing"}).code == 64);
}

TEST_CASE("corozk config get: does not wait for servers that go; watch and queues report it") {
    std::string path = fresh_path();
    for (const char* layout : {"single", "ready", "versioned"}) {
        INFO(layout);
        fault_proxy proxy(the_server().port());
        auto rule = proxy.arm(at_request(1), hold_request());
        program_run run({"config", "get", "--hosts", proxy.hosts(), "--layout", layout, path});
        eventually([&] { return proxy.fired(rule) == 1; }, program_limit, "a request");
        proxy.set_acceptance(acceptance::not_listening);
        proxy.cut();
        CHECK(run.end() == 69);
        CHECK(run.err() == "corozk: no connection to a server in time\n");
    }
    std::string value = path + "/value", items = path + "/items", jobs = path + "/jobs",
                gate = path + "/gate";
    for (const std::string& node : {value, items, jobs, gate})
        observer().plant(node);
    fault_proxy proxy(the_server().port());
    // The server does not say who watches children.
    const rule_id lists[] = {proxy.arm(at_op(op_code::get_children2), hold_request()),
                             proxy.arm(at_op(op_code::get_children2, 2), hold_request())};
    program_run watcher({"config", "watch", "--hosts", proxy.hosts(), value});
    program_run taker({"queue", "take", "--hosts", proxy.hosts(), items});
    program_run consumer({"queue", "consume", "--hosts", proxy.hosts(), jobs, "--", "cat"});
    program_run barred({"barrier", "wait", "--hosts", proxy.hosts(), gate});
    for (const std::string& node : {value, gate}) {
        eventually([&] { return watches_below(the_server().port(), node) > 0; },
                   program_limit,
                   "a watch on " + node);
    }
    for (rule_id list : lists)
        eventually([&] { return proxy.fired(list) == 1; }, program_limit, "a listing");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    for (program_run* run : {&watcher, &taker, &consumer, &barred})
        run->reports("corozk: the connection was lost; still ");
    proxy.set_acceptance(acceptance::normal);
    CHECK(run_program({"queue", "put", items, "an item"}).code == 0);
    CHECK(run_program({"queue", "put", jobs, "a job"}).code == 0);
    CHECK(run_program({"barrier", "remove", gate}).code == 0);
    CHECK(taker.end() == 0);
    CHECK(taker.out() == "an item\n");
    CHECK(consumer.end() == 0);
    CHECK(barred.end() == 0);
    watcher.process().signal(SIGTERM);
    CHECK(watcher.ended_by() == SIGTERM);
}

TEST_CASE("corozk queue put: how many items were put before one could not be") {
    std::string path = fresh_path();
    auto run = run_program({"queue", "put", "-n", "--bound", "2", path, "1", "2", "3"});
    CHECK(run.code == 75);
    CHECK(run.err ==
          "corozk: " + path + " is full: --bound 2\ncorozk: 2 of 3 items were put before\n");
    auto json = run_program(
        {"queue", "put", "-n", "--bound", "3", "--json", path + "-3", "1", "2", "3", "4"});
    auto event = boost::json::parse(json.err.substr(json.err.find('\n') + 1));
    CHECK(event.at("message") == "3 of 4 items were put before");
}

TEST_CASE("corozk: a server that demands authentication") {
    server_options options = client_server_options();
    options.config_lines = {"enforce.auth.enabled=true", "enforce.auth.schemes=digest"};
    server strict(options);
    auto code = [&](std::vector<std::string> line) {
        line.insert(line.begin() + 1, {"--hosts", strict.hosts()});
        return run_program(line).code;
    };
    CHECK(code({"get", "/a"}) == 77);
    CHECK(code({"lock", "/a", "--", "true"}) == 77);
    CHECK(code({"queue", "put", "/a", "item"}) == 77);
    CHECK(code({"lock", "--auth", "digest:a:b", "/a", "--", "true"}) == 0);
    auto run = run_program({"get", "--hosts", strict.hosts(), "/a"});
    CHECK(run.err ==
          "corozk: get /a: the server requires authentication: use --auth, --auth-file or "
          "--sasl-user\n");
}

TEST_CASE("corozk: refused credentials are said, and are no lost connection") {
    using words = std::vector<std::string>;
    const std::string path = fresh_path();
    const std::string denied = "authentication failed: check the scheme and the credential\n";
    for (words line : {words{"get", "/zookeeper"},
                       {"put", path, "x"},
                       {"rm", path},
                       {"rm", "-r", path},
                       {"tree", "/"},
                       {"contenders", path},
                       {"top", "--once", path},
                       {"config", "get", path},
                       {"queue", "take", path},
                       {"barrier", "wait", path},
                       {"wait-for", path},
                       {"watch", path, "--", "true"},
                       {"lock", path, "--", "true"}}) {
        line.insert(line.begin() + 1, {"--auth", "foo:bar"});
        auto run = run_program(line);
        INFO(line.front());
        CHECK(run.code == 77);
        CHECK(run.out.empty());
        CHECK(run.err == "corozk: " + denied);
    }
    CHECK_FALSE(observer().exists(path));
}

TEST_CASE("corozk contenders: who holds, who waits, since when, from where") {
    std::string path = fresh_path();
    CHECK(run_program({"contenders", path}).out == path + ": 0 holding, 0 waiting\n");
    program_run holder(
        {"lock", "--identity", "anna", path, "--", "sh", "-c", "echo in; exec sleep 1000"});
    holder.says("in");
    program_run watcher({"contenders", "--watch", path});
    watcher.says("1 holding, 0 waiting");
    program_run waiter({"lock", "--identity", "otto", path, "--", "true"});
    stands(path, 2);
    watcher.says("1 holding, 1 waiting");
    auto table = run_program({"contenders", path});
    CHECK(table.code == 0);
    for (const char* word : {"holds", "waits", "anna", "otto", "127.0.0.1:", "Z"})
        CHECK(table.out.find(word) != std::string::npos);
    auto value = boost::json::parse(run_program({"contenders", "--json", path}).out);
    const auto& all = value.at("contenders").as_array();
    REQUIRE(all.size() == 2);
    CHECK(all[0].at("who") == "anna");
    CHECK(all[0].at("holds") == true);
    CHECK(all[1].at("holds") == false);
    CHECK(all[1].at("waits_for").at(0) == all[0].at("node"));
    CHECK(all[0].at("from").as_string().starts_with("127.0.0.1:"));
    CHECK(all[0].at("session") != all[1].at("session"));
    holder.process().signal(SIGTERM);
    holder.end();
    CHECK(waiter.end() == 0);
    watcher.says("0 holding, 0 waiting");
    watcher.process().signal(SIGINT);
    CHECK(watcher.end() == 128 + SIGINT);
}

TEST_CASE("corozk break: a holder, a waiter, nobody; asking first") {
    std::string path = fresh_path();
    auto breaks_nothing = [](const std::vector<std::string>& line, const std::string& problem) {
        auto run = run_program(line);
        CHECK(run.code == 1);
        CHECK(run.out.empty());
        CHECK(run.err == "corozk: " + problem + "\n");
        std::vector<std::string> json = line;
        json.emplace_back("--json");
        run = run_program(json);
        CHECK(run.code == 1);
        CHECK(run.out.empty());
        auto said = boost::json::parse(run.err);
        CHECK(said.at("event") == "error");
        CHECK(said.at("message").as_string() == problem);
    };
    breaks_nothing({"break", "--holder", path}, path + ": no client holds it");
    program_run holder({"lock", path, "--", "sh", "-c", "echo in; exec sleep 1000"});
    holder.says("in");
    program_run waiter({"lock", path, "--", "echo", "mine"});
    stands(path, 2);
    auto value = boost::json::parse(run_program({"contenders", "--json", path}).out);
    std::string node(value.at("contenders").at(0).at("node").as_string());
    CHECK(run_program({"break", node}).code == 0);
    CHECK(holder.end() == 79);
    CHECK(waiter.end() == 0);
    CHECK(waiter.out() == "mine\n");
    breaks_nothing({"break", node}, node + ": no such contender");
    CHECK(run_program({"break", "/"}).code == 64);
    program_run deaf({"lock", path, "--", "sh", "-c", "echo in; exec sleep 1000"});
    deaf.says("in");
    auto asked = run_program({"break", "--holder", "--ask", "200ms", path});
    CHECK(asked.code == 0);
    CHECK(asked.out.starts_with("broke "));
    CHECK(deaf.end() == 79);
}

TEST_CASE("corozk break --ask: every holder is asked before one is waited for") {
    std::string path = fresh_path();
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connected_client(
                quiet_options(the_server().hosts(), steady_session_timeout));
            semaphore permits(zk, path, 2);
            ownership first = co_await permits.acquire();
            ownership second = co_await permits.acquire();
            program_run breaking({"break", "--holder", "--ask", "1h", path});
            co_await second.wait_release_requested();
            co_await second.release();
            co_await first.wait_release_requested();
            co_await first.release();
            CHECK(breaking.end() == 0);
            co_await zk.close();
        },
        program_limit);
    run_to_idle(context);
}

TEST_CASE("corozk deadlocks: finds the circle, and the way out") {
    std::string a = fresh_path(), b = fresh_path();
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            // Nothing runs on this loop while a program does.
            const client_options steady =
                quiet_options(the_server().hosts(), steady_session_timeout);
            client one = co_await connected_client(steady);
            client two = co_await connected_client(steady);
            lock one_a(one, a), one_b(one, b), two_a(two, a), two_b(two, b);
            ownership first = co_await one_a.acquire();
            ownership second = co_await two_b.acquire();
            CHECK(run_program({"deadlocks", a, b}).code == 0);
            outcome<ownership> waits_b, waits_a;
            one_b.acquire(waits_b.handler());
            two_a.acquire(waits_a.handler());
            co_await eventually_async([&] {
                return observer().children(a).size() == 2 && observer().children(b).size() == 2;
            });
            auto found = run_program({"deadlocks", a, b});
            CHECK(found.code == 1);
            CHECK(found.out.find("deadlock of 2") != std::string::npos);
            auto value = boost::json::parse(run_program({"deadlocks", "--json", a, b}).out);
            REQUIRE(value.at("deadlocks").as_array().size() == 1);
            std::string node(value.at("deadlocks").at(0).at(0).at("waiter").at("node").as_string());
            CHECK(run_program({"break", node}).code == 0);
            CHECK(run_program({"deadlocks", a, b}).code == 0);
            auto edges = run_program({"deadlocks", "--edges", a, b});
            CHECK(edges.out.find("waits at") != std::string::npos);
            co_await one.close(as_tuple());
            co_await two.close(as_tuple());
            co_await waits_a.wait();
            co_await waits_b.wait();
        },
        program_limit);
}

TEST_CASE("corozk deadlocks: finds commands that wait for each other, by their identities") {
    std::string a = fresh_path(), b = fresh_path();
    temporary_directory folder;
    std::string go = folder.path() / "go";
    auto job = [&](const std::string& name, const std::string& first, const std::string& second) {
        return std::vector<std::string>{"lock",
                                        "--identity",
                                        name,
                                        first,
                                        "--",
                                        "sh",
                                        "-c",
                                        "echo in; until [ -e " + go +
                                            " ]; do sleep 0.05; done; exec " COROZK_PROGRAM
                                            " lock --identity " +
                                            name + " " + second + " -- true"};
    };
    program_run one(job("one", a, b)), two(job("two", b, a));
    for (program_run* run : {&one, &two})
        run->says("in");
    CHECK(run_program({"deadlocks", a, b}).code == 0);
    std::ofstream(go) << "go";
    stands(a, 2);
    stands(b, 2);
    auto found = run_program({"deadlocks", a, b});
    CHECK(found.code == 1);
    CHECK(found.out.find("deadlock of 2") != std::string::npos);
    CHECK(found.out.find("one (session ") != std::string::npos);
    auto value = boost::json::parse(run_program({"deadlocks", "--json", a, b}).out);
    REQUIRE(value.at("deadlocks").as_array().size() == 1);
    const auto& circle = value.at("deadlocks").at(0);
    CHECK(circle.at(0).at("blocker").at("who") == circle.at(1).at("waiter").at("who"));
    CHECK(circle.at(0).at("blocker").at("session") != circle.at(1).at("waiter").at("session"));
    // Breaking a wait lets the other one finish.
    std::string node(circle.at(0).at("waiter").at("node").as_string());
    CHECK(run_program({"break", node}).code == 0);
    CHECK(one.end() + two.end() > 0);
    CHECK(run_program({"deadlocks", a, b}).code == 0);
}

TEST_CASE("corozk tree: nodes, sessions, data") {
    std::string path = fresh_path();
    admin hand = observer();
    hand.plant(path + "/b/c", "text");
    hand.plant(path + "/a", "\x1b[31mred", node_kind::ephemeral);
    auto text = run_program({"tree", "--data", path});
    CHECK(text.code == 0);
    CHECK(text.out.find("    c  = text") != std::string::npos);
    CHECK(text.out.find("(session 0x") != std::string::npos);
    CHECK(text.out.find('\x1b') == std::string::npos);
    CHECK(text.out.find("  a") < text.out.find("  b"));
    auto value = boost::json::parse(run_program({"tree", "--json", "-d", "1", path}).out);
    CHECK(value.at("children").as_array().size() == 2);
    CHECK(value.at("children").at(0).at("children").as_array().empty());
    CHECK_FALSE(value.at("children").at(1).as_object().contains("children"));
    CHECK(run_program({"tree", path + "/none"}).code == 1);
}

TEST_CASE("corozk tree: whole, or an error, wherever the connection is cut") {
    std::string path = fresh_path();
    admin hand = observer();
    for (const char* node : {"/a/b", "/a/c", "/d/e/f"})
        hand.plant(path + node, "text");
    std::string whole = run_program({"tree", "--data", path}).out;
    fault_proxy counting(the_server().port());
    CHECK(run_program({"tree", "--hosts", counting.hosts(), "--data", path}).out == whole);
    std::uint64_t requests = counting.requests();
    CHECK(requests >= 7);
    for (std::uint64_t n = 1; n <= requests; ++n) {
        for (auto fault : {drop_request_and_cut, swallow_reply_and_cut}) {
            INFO(n);
            fault_proxy proxy(the_server().port());
            proxy.arm(at_request(n), fault());
            auto cut = run_program({"tree", "--hosts", proxy.hosts(), "--data", path});
            CHECK((cut.code == 69 ? cut.out.empty() && !cut.err.empty()
                                  : cut.code == 0 && cut.out == whole));
        }
    }
}

TEST_CASE(
    "corozk: every command, with a server that closes the connection on what it does not know") {
    using words = std::vector<std::string>;
    for (const words& options : {words{}, words{"--dialect", "zookeeper-3.4"}}) {
        INFO("options: " << options.size());
        std::string path = fresh_path();
        fault_proxy proxy(the_server().port());
        play({.how = ignorance::hangs_up}, proxy);
        auto code = [&](words line) {
            auto after_command = line.begin() + 1;
            line.insert(after_command, {"--hosts", proxy.hosts()});
            line.insert(line.begin() + 1, options.begin(), options.end());
            auto run = run_program(std::move(line));
            INFO(run.err);
            // What waits reports that the connection was closed, and goes on.
            const std::string report = "corozk: the connection was lost; still waiting\n";
            while (run.err.starts_with(report))
                run.err.erase(0, report.size());
            CHECK(run.err.empty());
            return run.code;
        };
        CHECK(code({"lock", path + "/l", "--", "true"}) == 0);
        CHECK(code({"elect", path + "/e", "--", "true"}) == 0);
        CHECK(code({"semaphore", "-l", "3", path + "/s", "--", "true"}) == 0);
        CHECK(code({"barrier", "set", path + "/b"}) == 0);
        CHECK(code({"barrier", "remove", path + "/b"}) == 0);
        CHECK(code({"queue", "put", path + "/q", "first"}) == 0);
        CHECK(code({"queue", "consume", path + "/q", "--", "true"}) == 0);
        CHECK(code({"config", "publish", path + "/c", "value"}) == 0);
        CHECK(code({"config", "get", path + "/c"}) == 0);
        CHECK(code({"contenders", path + "/l"}) == 0);
        CHECK(code({"tree", path}) == 0);
        CHECK(code({"deadlocks", path}) == 0);
        CHECK(code({"put", path + "/z/z", "value"}) == 0);
        CHECK(code({"get", path + "/z/z"}) == 0);
        CHECK(code({"wait-for", path + "/z/z"}) == 0);
        CHECK(code({"watch", "-c", "1", path + "/z/z", "--", "true"}) == 0);
        CHECK(code({"rm", "-r", path + "/z"}) == 0);
    }
}

TEST_CASE("corozk: standard output that fails is an error, and a taken item stays") {
    std::string path = fresh_path();
    CHECK(run_program({"queue", "put", path, "first", "second"}).code == 0);
    CHECK(run_program({"config", "publish", path + "-value", "value"}).code == 0);
    using words = std::vector<std::string>;
    const std::vector<words> ways{{"sh", "-c", "exec \"$@\" >/dev/full", "sh"},
                                  {"sh", "-c", "exec \"$@\" >&-", "sh"},
                                  {"sh", "-c", "exec \"$@\" 1</dev/null", "sh"}};
    const std::vector<words> what{{"queue", "take", path},
                                  {"queue", "take", "-c", "2", "--json", path},
                                  {"queue", "peek", path},
                                  {"queue", "size", path},
                                  {"config", "get", path + "-value"},
                                  {"config", "watch", path + "-value"},
                                  {"contenders", path},
                                  {"contenders", "--watch", path},
                                  {"deadlocks", path},
                                  {"tree", path},
                                  {"barrier", "status", path + "-gate"},
                                  {"semaphore", "-l", "2", "--available", path + "-s"},
                                  {"--help"},
                                  {"lock", "--help"},
                                  {"--version"},
                                  {"--complete", ""},
                                  {"--manual"}};
    for (std::size_t way = 0; way < ways.size(); ++way) {
        for (const words& one : what) {
            INFO(way << " " << one.front());
            auto run = run_program(one, "", {}, ways[way]);
            CHECK(run.code == 74);
            CHECK(run.err.find("standard output") != std::string::npos);
        }
    }
    // A reader that is gone before the program begins.
    auto run =
        run_program({"queue", "take", path},
                    "",
                    {},
                    {"bash", "-c", "exec 3>&1 > >(:); wait $!; \"$@\"; echo $? >&3", "bash"});
    CHECK(run.out == "74\n");
    CHECK(run.err.find("standard output") != std::string::npos);
    // Files must not grow: also not that of standard error.
    CHECK(
        run_program({"queue", "take", path}, "", {}, {"sh", "-c", "ulimit -f 0; exec \"$@\"", "sh"})
            .code == 74);
    // At its old place.
    CHECK(run_program({"queue", "take", "-c", "2", path}).out == "first\nsecond\n");
    std::string ranked = fresh_path();
    CHECK(
        run_program({"queue", "put", "-p", "3", "--compatibility", "kazoo", ranked, "item"}).code ==
        0);
    CHECK(run_program({"queue", "take", "--prioritized", "--compatibility", "kazoo", ranked},
                      "",
                      {},
                      ways.front())
              .code == 74);
    auto value = boost::json::parse(
        run_program(
            {"queue", "take", "--json", "--prioritized", "--compatibility", "kazoo", ranked})
            .out);
    CHECK(value.at("data") == "item");
    CHECK(value.at("priority") == 3);
}

TEST_CASE("corozk: input that cannot be read is no empty input") {
    std::string path = fresh_path();
    for (const char* input : {"exec \"$@\" </", "exec \"$@\" <&-"}) {
        CHECK(run_program({"queue", "put", path}, "", {}, {"sh", "-c", input, "sh"}).code == 64);
        CHECK(run_program({"config", "publish", path}, "", {}, {"sh", "-c", input, "sh"}).code ==
              64);
    }
    CHECK_FALSE(observer().exists(path));
}

TEST_CASE("corozk --json: whatever the bytes are, valid and lossless") {
    std::string path = fresh_path();
    std::string bytes("\xff\xc3(\xed\xa0\x80\xf8\"\\\x00\n\xc3\xa9", 13);
    std::string encoded = "/8Mo7aCA+CJcAArDqQ==";
    std::string bad = "\xef\xbf\xbd";
    std::string text = bad + bad + "(" + bad + bad + bad + bad + "\"\\" + '\0' + "\n\xc3\xa9";
    auto holds = [&](const boost::json::value& value, const std::string& name) {
        CHECK(std::string(value.at(name).as_string()) == text);
        CHECK(value.at(name + "_base64").as_string() == encoded);
    };
    auto answer = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "--json");
        return boost::json::parse(run_program(words).out);
    };
    std::string queue = path + "/queue", value = path + "/value", parts = path + "/parts";
    CHECK(run_program({"queue", "put", "--whole", queue}, bytes).code == 0);
    holds(answer({"queue", "peek", queue}), "data");
    auto tree = answer({"tree", "--data", queue});
    holds(tree.at("children").at(0), "data");
    holds(answer({"queue", "take", queue}), "data");
    CHECK(run_program({"config", "publish", value}, bytes).code == 0);
    holds(answer({"config", "get", value}), "data");
    holds(answer({"config", "watch", "-c", "1", value}), "data");
    temporary_directory folder;
    std::ofstream(folder.path() / "part") << bytes;
    std::string part = "a=@" + (folder.path() / "part").string();
    CHECK(run_program({"config", "publish", "--layout", "versioned", parts, part, "a_base64=x"})
              .code == 0);
    auto several = answer({"config", "get", "--layout", "versioned", parts});
    CHECK(several.at("parts_base64").at("a").as_string() == encoded);
    CHECK(several.at("parts").at("a_base64") == "x");
    observer().plant(path + "/lock/0123456789abcdef0123456789abcdef-lock-0000000000", bytes);
    holds(answer({"contenders", path + "/lock"}).at("contenders").at(0), "who");
    // What was text stays as it is.
    CHECK(run_program({"queue", "put", queue, "caf\xc3\xa9"}).code == 0);
    auto item = answer({"queue", "take", queue});
    CHECK(item.at("data") == "caf\xc3\xa9");
    CHECK_FALSE(item.as_object().contains("data_base64"));
}

TEST_CASE("corozk --json: one value a line, also of log lines and of what makes no sense") {
    auto all_json = [](const std::string& text) {
        std::istringstream lines(text);
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
            INFO(line);
            boost::system::error_code ec;
            boost::json::parse(line, ec);
            CHECK_FALSE(ec);
        }
        return count;
    };
    std::string path = fresh_path();
    auto verbose = run_program({"--json", "-v", "queue", "size", path});
    CHECK(verbose.out == "0\n");
    CHECK(all_json(verbose.err) > 1);
    const std::vector<std::vector<std::string>> wrong{
        {"lock", "--json"},
        {"lock", "--bad", path, "--json", "--", "true"},
        {"lock", "-w", "soon", path, "--json"},
        {"--json", "nothing"},
        {"queue", "take", "relative", "--json"},
        {"queue", "--json"}};
    for (const auto& words : wrong) {
        auto run = run_program(words);
        CHECK(run.code == 64);
        CHECK(run.out.empty());
        CHECK(all_json(run.err) == 1);
    }
    // After -- it is the command's.
    CHECK(run_program({"lock", "/", "--", "--json"}).err.starts_with("corozk: "));
}

TEST_CASE("corozk: values that begin with a dash") {
    std::string path = fresh_path();
    auto run = run_program({"config", "publish", path, "-Xmx2g"});
    CHECK(run.code == 64);
    CHECK(run.err.find("follow --") != std::string::npos);
    CHECK(run_program({"config", "publish", path, "--", "-Xmx2g"}).code == 0);
    CHECK(run_program({"config", "get", path}).out == "-Xmx2g\n");
    CHECK(run_program({"config", "publish", path, "one", "--", "two"}).code == 64);
    CHECK(run_program({"config", "get", path, "--", "two"}).code == 64);
}

TEST_CASE("corozk queue, config, put: words as they are: lists, empty ones, names of commands") {
    std::string path = fresh_path();
    CHECK(run_program({"queue", "put", path, "[1,2]", "", "lock", "{}"}).code == 0);
    CHECK(run_program({"queue", "take", "-c", "4", path}).out == "[1,2]\n\nlock\n{}\n");
    CHECK(run_program({"queue", "put", path, ""}, "a line").code == 0);
    CHECK(run_program({"queue", "take", path}).out == "\n");
    for (const char* value : {"", "[]", "[1]", "[1,2]", "%%"}) {
        INFO(value);
        CHECK(run_program({"config", "publish", path + "-c", value}, "a line").code == 0);
        CHECK(observer().data(path + "-c") == value);
        CHECK(run_program({"put", path + "-c", value}, "a line").code == 0);
        CHECK(observer().data(path + "-c") == value);
    }
}

TEST_CASE("corozk: an empty value is an error, in the environment it is none") {
    std::string path = fresh_path();
    auto refused = [](const std::vector<std::string>& line, const std::string& name) {
        auto run = run_program(line);
        INFO(run.err);
        CHECK(run.code == 64);
        CHECK(run.out.empty());
        CHECK(run.err.starts_with("corozk: " + name));
    };
    for (std::string option : {"--hosts",
                               "--auth",
                               "--auth-file",
                               "--acl",
                               "--session-timeout",
                               "--dialect",
                               "--tls-ca",
                               "--tls-cert",
                               "--tls-key",
                               "--tls-key-password",
                               "--tls-server-name",
                               "--sasl-user",
                               "--sasl-password-file"}) {
        refused({"tree", "/", option, ""}, option);
        refused({"tree", "/", option + "="}, option);
        // The next word is not its value.
        refused({"tree", option + "=", "/"}, option);
        refused({option, "", "tree", "/"}, option);
    }
    refused({"lock", "--identity", "", path, "--", "true"}, "--identity");
    refused({"lock", "", "--", "true"}, "PATH");
    refused({"discover", path, ""}, "SERVICE");
    refused({"discover", "--one", path, ""}, "SERVICE");
    std::vector<std::string> registers{"discover", "--register", "a:1", path, "web", "--", "true"};
    for (const char* option : {"--id", "--uri-spec", "--payload"}) {
        std::vector<std::string> line = registers;
        line.insert(line.begin() + 1, {option, ""});
        refused(line, option);
    }
    CHECK_FALSE(observer().exists(path));
    // Nor are credentials sent in clear for completion.
    CHECK(run_program({"--complete", "tree", "--tls-ca", "", "/"}).code == 64);
    program_run::variables unset;
    for (const char* name : {"COROZK_TLS_CA",
                             "COROZK_TLS_CERT",
                             "COROZK_TLS_KEY",
                             "COROZK_TLS_KEY_PASSWORD",
                             "COROZK_TLS_SERVER_NAME",
                             "COROZK_DIALECT",
                             "COROZK_AUTH",
                             "COROZK_AUTH_FILE"})
        unset[name] = "";
    CHECK(run_program({"queue", "size", path}, "", unset).out == "0\n");
    CHECK(run_program({"lock", path, "--", "test", ""}).code == 1);
}

TEST_CASE("corozk: --deadline 0 is one attempt, as --try") {
    std::string path = fresh_path();
    using words = std::vector<std::string>;
    const std::vector<words> owners{{"lock"},
                                    {"lock", "--shared"},
                                    {"lock", "--exclusive"},
                                    {"lock", "--priority", "1"},
                                    {"lock", "--compatibility", "kazoo"},
                                    {"elect"},
                                    {"semaphore", "-l", "1"}};
    for (std::size_t i = 0; i < owners.size(); ++i) {
        INFO(i);
        words line = owners[i];
        std::string node = path + "/" + std::to_string(i);
        line.insert(line.end(), {"-w", "0", node, "--", "echo", "in"});
        // Free, and free again.
        for (int n = 0; n < 2; ++n) {
            auto run = run_program(line);
            CHECK(run.code == 0);
            CHECK(run.out == "in\n");
        }
        if (owners[i] == words{"lock", "--shared"})
            continue;  // two readers hold it together
        words nested(line.begin(), line.end() - 2);
        nested.emplace_back(COROZK_PROGRAM);
        nested.insert(nested.end(), line.begin(), line.end());
        auto held = run_program(nested);
        CHECK(held.code == 75);
        CHECK(held.out.empty());
    }
    std::string items = path + "/items";
    CHECK(run_program({"queue", "put", "-w", "0", "--bound", "1", items, "x"}).code == 0);
    CHECK(run_program({"queue", "put", "-w", "0", "--bound", "1", items, "y"}).code == 75);
    CHECK(run_program({"queue", "consume", "-w", "0", items, "--", "false"}).code == 1);
    CHECK(run_program({"queue", "take", "-w", "0", items}).out == "x\n");
    CHECK(run_program({"queue", "take", "-w", "0", items}).code == 75);
    CHECK(run_program({"queue", "consume", "-w", "0", items, "--", "true"}).code == 75);
    std::string gate = path + "/gate";
    CHECK(run_program({"barrier", "wait", "-w", "0", gate}).code == 0);
    CHECK(run_program({"barrier", "set", gate}).code == 0);
    auto barred = run_program({"barrier", "wait", "-w", "0", gate});
    CHECK(barred.code == 75);
    CHECK(barred.err.starts_with("corozk: " + gate));
    std::string round = path + "/round";
    CHECK(run_program({"barrier", "enter", "-w", "0", "-c", "1", round, "--", "true"}).code == 0);
    CHECK(run_program({"barrier", "enter", "-w", "0", "-c", "2", round, "--", "true"}).code == 75);
    words one{"discover", "-w", "0", "--register", "a:1", "--id", "7", path, "web", "--"};
    words both = one;
    both.push_back(COROZK_PROGRAM);
    both.insert(both.end(), one.begin(), one.end());
    for (words* line : {&one, &both})
        line->push_back("true");
    CHECK(run_program(one).code == 0);
    CHECK(run_program(both).code == 75);
}

TEST_CASE("corozk: what the environment says counts where the words do not") {
    program_run::variables bad{{"COROZK_AUTH", "word"}, {"COROZK_AUTH_FILE", "/none/such"}};
    CHECK(run_program({"--help"}, "", bad).code == 0);
    CHECK(run_program({"queue", "size", fresh_path()}, "", bad).code == 64);
    CHECK(run_program({"queue", "size", fresh_path(), "--auth", "digest:a:b"}, "", bad).code == 0);
}

TEST_CASE("corozk: what is wrong is said in the program's own words") {
    std::string path = fresh_path();
    auto says = [](const std::vector<std::string>& words, int code, const std::string& text) {
        auto run = run_program(words);
        INFO(run.err);
        CHECK(run.code == code);
        CHECK(run.err.find(text) != std::string::npos);
        for (const char* of_the_library : {"add_auth", "client_options", "lock.", "configuration."})
            CHECK(run.err.find(of_the_library) == std::string::npos);
    };
    for (const char* recipe : {"lock", "elect"})
        says({recipe, "/", "--", "true"}, 64, "'/' is the root");
    says({"semaphore", "-l", "1", "/", "--", "true"}, 64, "'/' is the root");
    for (std::vector<std::string> line : {std::vector<std::string>{"queue", "size", "/"},
                                          {"barrier", "set", "/"},
                                          {"config", "get", "/"},
                                          {"config", "publish", "/", "x"},
                                          {"config", "watch", "--layout", "ready", "/"},
                                          {"contenders", "/"},
                                          {"top", "--once", path, "/"},
                                          {"deadlocks", "/", path},
                                          {"break", "--holder", "/"}}) {
        says(line, 64, "'/' is the root");
        std::string problem = run_program(line).err;
        CHECK(std::count(problem.begin(), problem.end(), '\n') == 1);
    }
    says({"lock", "a/b", "--", "true"}, 64, "begin it with '/'");
    says({"lock", path + "/", "--", "true"}, 64, "ends with a slash");
    says({"config", "get", path + "//x"}, 64, "an empty component");
    says({"contenders", path + "/./x"}, 64, "'.' and '..'");
    says({"tree", path + "/a\n"}, 64, "control character");
    for (const char* name :
         {"\xff", "\xed\xa0\x80", "\xc2\x9b", "\xf0\x9f\x98\x80", "\xee\x80\x80"})
        says({"queue", "size", path + name}, 64, "is not a path: it ");
    for (const char* part : {"a/b=1", "..=1", "ready=1", "\xff=1"})
        says({"config", "publish", "--layout", "ready", path, part}, 64, "'");
    says({"config", "publish", "--layout", "ready", path, "a/b=1"},
         64,
         "cannot be the name of a part");
    says({"config", "publish", "--layout", "ready", path, "a=1", "a=2"}, 64, "twice");
    says({"config", "publish", "--layout", "ready", path, "a=@/"}, 64, "cannot read /");
    says({"queue", "size", path, "--auth-file", "/"}, 64, "cannot read /");
    says({"tree", path, path}, 64, "unexpected argument");
    says({"lock", path, "true"}, 64, "a command follows --");
    for (std::vector<std::string> number :
         {std::vector<std::string>{"semaphore", "-l", "0", path, "--", "true"},
          {"semaphore", "-l", "2", "-k", "x", path, "--", "true"},
          {"barrier", "enter", "-c", "99999999999", path, "--", "true"},
          {"queue", "put", "--bound", "-1", path, "x"},
          {"queue", "put", "-p", "1.5", path, "x"},
          {"queue", "take", "-c", "99999999999999999999999", path},
          {"config", "watch", "-c", "-1", path},
          {"tree", "--depth", "-1", path},
          {"barrier", "enter", "-c", "08x", path, "--", "true"},
          {"semaphore", "-l", "0x10", path, "--", "true"},
          {"lock", "-E", "256", path, "--", "true"}})
        says(number, 64, "is not a whole number from ");
    says(
        {"lock", "-E", "256", path, "--", "true"}, 64, "'256' is not a whole number from 1 to 255");
    CHECK(run_program({"semaphore", "-l", "010", "--available", path + "-ten"}).out == "10\n");
    says({"put", path, "--acl", "world:anyone:", "x"}, 64, "without permissions");
    for (const char* name : {"ready=1", "writer=1"})
        says({"config", "publish", "--layout", "ready", path, name}, 64, "the layout's own znode");
    says({"config", "publish", "--layout", "versioned", path, ".writer=1"},
         64,
         "the layout's own znode");
    says({"semaphore", "-l", "2", "-k", "2", "--compatibility", "kazoo", path, "--", "true"},
         64,
         "only the native format");
    says({"semaphore", "-l", "2", "--change-limit", "--compatibility", "curator", path},
         64,
         "--change-limit");
    says({"queue", "put", "-p", "1", "--compatibility", "curator", path, "x"},
         64,
         "has no priorities");
    says({"queue", "put", "-p", "1000", "--compatibility", "kazoo", path, "x"}, 64, "0 to 999");
    says({"queue", "put", "--identity", "me", path, "x"}, 64, "no option '--identity'");
    says({"tree", "/", "--tls-key", "/none/such"}, 64, "--tls-cert and --tls-key");
    says({"tree", "/", "--tls-server-name", "a"}, 64, "TLS needs --tls-ca or --tls-system-ca");
    says({"--session-timeout", "1ms", "tree"}, 64, "--session-timeout");
    std::string secret = "digest:user:word";
    CHECK(
        run_program({"config", "publish", path, "--auth", secret, "--acl", "creator", "x"}).code ==
        0);
    says({"config", "get", path}, 77, "--auth");
    says({"config", "publish", path, "y"}, 77, "--auth");
    CHECK(run_program({"semaphore", "-l", "2", path + "-s", "--", "true"}).code == 0);
    says({"semaphore", "-l", "3", path + "-s", "--", "true"},
         70,
         path +
             "-s: other clients use another --limit: use the same one, or change it with "
             "--change-limit");
    CHECK(run_program({"queue", "put", "--bound", "2", path + "-q", "x"}).code == 0);
    says({"queue", "put", "--bound", "3", path + "-q", "x"},
         70,
         path + "-q: other producers use another --bound: use the same one");
    for (const char* only : {"--sasl-user", "--sasl-password-file"})
        says({"tree", "/", only, "a"},
             64,
             "--sasl-user and --sasl-password-file must be given together");
}

TEST_CASE("corozk: a deadline that passes is said in the program's own words") {
    const std::string path = fresh_path();
    auto in_vain = [](const std::vector<std::string>& line, const std::string& problem) {
        auto run = run_program(line);
        CHECK(run.code == 75);
        CHECK(run.err == "corozk: " + problem + "\n");
    };
    program_run holder({"lock", path + "/l", "--", "sh", "-c", "echo in; exec sleep 1000"});
    holder.says("in");
    in_vain({"lock", "-w", "5s", path + "/l", "--", "true"}, path + "/l: still held by others");
    CHECK(run_program({"barrier", "set", path + "/b"}).code == 0);
    for (const char* limit : {"0", "5s"}) {
        in_vain({"barrier", "wait", "-w", limit, path + "/b"}, path + "/b: still set");
        in_vain({"barrier", "enter", "-w", limit, "-c", "2", path + "/d", "--", "true"},
                path + "/d: too few members came in time, or the last round has not ended");
    }
    holder.process().signal(SIGTERM);
    holder.end();
    std::list<fault_proxy> proxies;
    std::list<std::pair<program_run, std::string>> runs;  // at the same time
    auto unanswered =
        [&](std::vector<std::string> line, const std::string& problem, std::uint64_t request = 1) {
            fault_proxy& proxy = proxies.emplace_back(the_server().port());
            proxy.arm(at_request(request), hold_request());
            line.insert(line.end(), {"-w", "5s", "--hosts", proxy.hosts()});
            runs.emplace_back(line, problem);
        };
    const std::string permits = path + "/s", items = path + "/q",
                      none = "no server responded in time";
    for (const char* action : {"--available", "--change-limit"})
        unanswered({"semaphore", "-l", "2", action, permits}, none);
    unanswered({"wait-for", "--gone", path}, none);
    unanswered({"wait-for", path + "/none"}, none, 3);  // at the deadline
    unanswered({"queue", "put", items, "x"},
               "the items could not be put into " + items + " in time");
    for (auto& [run, problem] : runs) {
        CHECK(run.end() == 75);
        CHECK(run.err() == "corozk: " + problem + "\n");
    }
}

}  // namespace corozk::testing::recipes_test
