// SPDX-License-Identifier: Apache-2.0
#include "program_run.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace corozk::testing::lock_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

std::size_t contenders_at(const std::string& path) {
    return observer().children(path).size();
}

void stands(const std::string& path, std::size_t count) {
    eventually([&] { return contenders_at(path) == count; }, program_limit, "contenders");
}

/// A command that says that it runs, and goes on until it is told to end.
std::vector<std::string> holder(const std::string& path, std::vector<std::string> options = {}) {
    std::vector<std::string> words{"lock"};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* word : {"--", "sh", "-c", "echo running; exec sleep 1000"})
        words.push_back(word);
    words.insert(words.end() - 4, path);
    return words;
}

}  // namespace

TEST_CASE("corozk lock: the command runs under the lock and finds its fencing token") {
    std::string path = fresh_path();
    std::vector<std::int64_t> tokens;
    for (int i = 0; i < 2; ++i) {
        auto run = run_program(
            {"lock", path, "--", "sh", "-c", "echo $COROZK_FENCING_TOKEN $COROZK_PATH; exit 7"});
        CHECK(run.code == 7);
        CHECK(run.err.empty());
        std::istringstream words(run.out);
        std::int64_t token = 0;
        std::string seen_path;
        words >> token >> seen_path;
        CHECK(seen_path == path);
        tokens.push_back(token);
        CHECK(contenders_at(path) == 0);
    }
    CHECK(tokens[0] > 0);
    CHECK(tokens[1] > tokens[0]);
}

TEST_CASE("corozk lock: the command inherits nothing of the session") {
    auto plain = run_program({"lock", fresh_path(), "--", "ls", "-l", "/proc/self/fd"});
    REQUIRE(plain.code == 0);
    CHECK(plain.out.find("socket:") == std::string::npos);
    CHECK(plain.out.find("anon_inode:") == std::string::npos);
    CHECK(plain.out.find("pipe:") == std::string::npos);
}

TEST_CASE("corozk lock: the command inherits no credentials") {
    const program_run::variables environment{{"COROZK_AUTH", "digest:user:that-nobody-sees"},
                                             {"MINE", "of the user"}};
    auto run = run_program({"lock", fresh_path(), "--", "env"}, "", environment);
    CHECK(run.code == 0);
    CHECK(run.out.find("that-nobody-sees") == std::string::npos);
    CHECK(run.out.find("COROZK_AUTH=") == std::string::npos);
    CHECK(run.out.find("MINE=of the user\n") != std::string::npos);
    CHECK(run.out.find("COROZK_HOSTS=") != std::string::npos);
}

TEST_CASE("corozk lock: the variables of an outer corozk are not those of this one") {
    program_run::variables outer{{"COROZK_NODE", "outer"}, {"COROZK_HOSTS", the_server().hosts()}};
    const std::vector<std::string> others{"COROZK_ITEM",
                                          "COROZK_PRIORITY",
                                          "COROZK_DUE",
                                          "COROZK_ROUND",
                                          "COROZK_EXISTS",
                                          "COROZK_VERSION"};
    for (const std::string& name : others)
        outer[name] = "outer";
    auto run = run_program({"lock", fresh_path(), "--", "env"}, "", outer);
    CHECK(run.code == 0);
    for (const std::string& name : others)
        CHECK(run.out.find("\n" + name + "=") == std::string::npos);
    CHECK(run.out.find("COROZK_NODE=/") != std::string::npos);
}

TEST_CASE("corozk --follow-reconfiguration: moves to the servers of the ensemble's configuration") {
    server_options options = client_server_options();
    // Where there is no ensemble the configuration is empty, and can be written with this.
    options.java_properties.emplace_back("zookeeper.skipACL=yes");
    server own(options);
    fault_proxy before(own.port());
    fault_proxy after(own.port());
    program_run run({"lock",
                     "-v",
                     "--follow-reconfiguration",
                     "/path",
                     "--",
                     "sh",
                     "-c",
                     "echo running; exec sleep 1000"},
                    "",
                    {{"COROZK_HOSTS", before.hosts()}});
    run.says("running");
    run.reports("the ensemble's configuration has no addresses for clients");
    CHECK(before.statistics().connections_open == 1);
    admin(own.port())
        .set("/zookeeper/config",
             "server.1=127.0.0.1:1:2:participant;" + after.hosts() + "\nversion=100000000");
    run.reports("the host list is now " + after.hosts());
    after.wait_for([](const proxy_statistics& s) { return s.connections_open == 1; },
                   program_limit);
    before.wait_for([](const proxy_statistics& s) { return s.connections_open == 0; },
                    program_limit);
    CHECK(admin(own.port()).children("/path").size() == 1);
    run.process().signal(SIGTERM);
    CHECK(run.end() == 128 + SIGTERM);
}

TEST_CASE("corozk lock: one at a time; the token is that of the node that holds") {
    std::string path = fresh_path();
    program_run first({"lock",
                       path,
                       "--",
                       "sh",
                       "-c",
                       "echo $COROZK_FENCING_TOKEN $COROZK_NODE; exec sleep 1000"});
    first.says("\n");
    std::istringstream words(first.out());
    std::int64_t token = 0;
    std::string node;
    words >> token >> node;
    REQUIRE(observer().stat(node));
    CHECK(observer().stat(node)->czxid == token);

    program_run second({"lock", path, "--", "echo", "mine"});
    stands(path, 2);
    CHECK(second.out().empty());
    first.process().signal(SIGTERM);
    CHECK(first.end() == 128 + SIGTERM);
    CHECK(second.end() == 0);
    CHECK(second.out() == "mine\n");
    CHECK(contenders_at(path) == 0);
}

TEST_CASE("corozk lock: --try and --deadline end with 75, or the code that was asked for") {
    std::string path = fresh_path();
    program_run first(holder(path));
    first.says("running");
    CHECK(run_program({"lock", "--try", path, "--", "true"}).code == 75);
    CHECK(run_program({"lock", "-w", "5s", path, "--", "true"}).code == 75);
    auto quiet = run_program({"lock", "-n", "-E", "3", path, "--", "true"});
    CHECK(quiet.code == 3);
    CHECK(quiet.err.empty());
    CHECK(contenders_at(path) == 1);
    first.process().signal(SIGINT);
    CHECK(first.end() == 128 + SIGINT);
    CHECK(run_program({"lock", "--try", path, "--", "true"}).code == 0);
}

TEST_CASE("corozk lock: readers together, a writer alone; priorities overtake waiters") {
    std::string path = fresh_path();
    program_run reader(holder(path, {"--shared"}));
    reader.says("running");
    CHECK(run_program({"lock", "-s", "-n", path, "--", "true"}).code == 0);
    CHECK(run_program({"lock", "-x", "-n", path, "--", "true"}).code == 75);
    reader.process().signal(SIGTERM);
    reader.end();
    CHECK(run_program({"lock", "-x", "-n", path, "--", "true"}).code == 0);

    std::string ranked = fresh_path();
    program_run first(holder(ranked, {"-p", "5"}));
    first.says("running");
    // Each writes behind the other: the order is that of the runs.
    temporary_directory folder;
    std::string record = folder.path() / "order";
    auto writes = [&](const char* priority, const char* what) {
        return std::vector<std::string>{"lock",
                                        "-p",
                                        priority,
                                        ranked,
                                        "--",
                                        "sh",
                                        "-c",
                                        "echo " + std::string(what) + " >> " + record};
    };
    auto waiting = [&](std::size_t count) {
        eventually(
            [&] {
                auto shown = run_program({"contenders", "--json", ranked});
                auto value = boost::json::parse(shown.out);
                return value.at("contenders").as_array().size() == count;
            },
            program_limit,
            "waiters");
    };
    program_run late(writes("9", "late"));
    waiting(2);
    program_run early(writes("-1", "early"));
    waiting(3);
    first.process().signal(SIGTERM);
    first.end();
    CHECK(late.end() == 0);
    CHECK(early.end() == 0);
    std::ifstream order(record);
    std::string a, b;
    order >> a >> b;
    CHECK(a == "early");
    CHECK(b == "late");
}

TEST_CASE("corozk lock: a broken lock stops the command and what it started") {
    std::string path = fresh_path();
    temporary_directory folder;
    std::string pid_file = folder.path() / "pid";
    // A grandchild that does not hear SIGTERM.
    std::string script =
        "(trap '' TERM; echo $$ > /dev/null; exec sh -c 'trap \"\" TERM; echo $$ > " + pid_file +
        "; while :; do sleep 0.1; done') & echo running; wait";
    program_run run({"lock", "--grace", "300ms", path, "--", "sh", "-c", script});
    run.says("running");
    pid_t grandchild = 0;
    eventually(
        [&] {
            std::ifstream in(pid_file);
            return static_cast<bool>(in >> grandchild);
        },
        program_limit,
        "the grandchild");
    REQUIRE(process_lives(grandchild));
    REQUIRE(observer().erase(path + "/" + observer().children(path).at(0)));
    CHECK(run.end() == 79);
    CHECK(run.err().find("lost " + path) != std::string::npos);
    CHECK_FALSE(process_lives(grandchild));
}

TEST_CASE("corozk lock: the command is told first, and has the grace time") {
    std::string path = fresh_path();
    program_run run({"lock",
                     path,
                     "--",
                     "sh",
                     "-c",
                     "trap 'echo told; exit 0' TERM; echo running; while :; do sleep 0.05; done"});
    run.says("running");
    REQUIRE(observer().erase(path + "/" + observer().children(path).at(0)));
    CHECK(run.end() == 79);
    CHECK(run.out() == "running\ntold\n");
}

TEST_CASE("corozk lock: when the servers fall silent, the command is stopped") {
    fault_proxy proxy(the_server().port(), {});
    std::string path = fresh_path();
    auto words = holder(path, {"--hosts", proxy.hosts(), "--session-timeout", "2s"});
    program_run run(words);
    run.says("running");
    proxy.black_hole(true);
    CHECK(run.end() == 79);
}

TEST_CASE("corozk lock: when the program is killed, its command does not go on") {
    std::string path = fresh_path();
    temporary_directory folder;
    std::string pid_file = folder.path() / "pid";
    program_run run(
        {"lock",
         "--grace",
         "300ms",
         path,
         "--",
         "sh",
         "-c",
         "trap '' TERM; echo $$ > " + pid_file + "; echo running; while :; do sleep 0.05; done"});
    run.says("running");
    pid_t command = 0;
    std::ifstream(pid_file) >> command;
    REQUIRE(process_lives(command));
    run.process().kill();
    eventually([&] { return !process_lives(command); }, program_limit, "the command's end");
}

TEST_CASE("corozk lock: a signal while waiting leaves nothing behind") {
    std::string path = fresh_path();
    program_run first(holder(path));
    first.says("running");
    program_run second({"lock", path, "--", "true"});
    stands(path, 2);
    second.process().signal(SIGTERM);
    CHECK(second.end() == 128 + SIGTERM);
    CHECK(contenders_at(path) == 1);
}

TEST_CASE("corozk lock: commands that cannot be run, and words that make no sense") {
    std::string path = fresh_path();
    CHECK(run_program({"lock", path, "--", "no-such-command-here"}).code == 127);
    CHECK(run_program({"lock", path, "--", "/etc"}).code == 126);
    CHECK(run_program({"lock", path}).code == 64);
    CHECK(run_program({"lock", path, "--"}).code == 64);
    CHECK(run_program({"lock", "relative", "--", "true"}).code == 64);
    CHECK(run_program({"lock", "-w", "soon", path, "--", "true"}).code == 64);
    CHECK(run_program({"lock", "-n", "-w", "1s", path, "--", "true"}).code == 64);
    CHECK(run_program({"unlock", path}).code == 64);
    CHECK(run_program({}).code == 64);
    auto nobody = run_program(
        {"lock", "--hosts", "127.0.0.1:1", "--connect-timeout", "200ms", path, "--", "true"});
    CHECK(nobody.code == 69);
    CHECK(contenders_at(path) == 0);
}

TEST_CASE("corozk lock: events as JSON; standard output belongs to the command") {
    std::string path = fresh_path();
    auto run = run_program({"lock", "--json", path, "--", "echo", "text"});
    CHECK(run.code == 0);
    CHECK(run.out == "text\n");
    auto event = boost::json::parse(run.err);
    CHECK(event.at("event") == "acquired");
    CHECK(event.at("path") == boost::json::string(path));
    CHECK(event.at("fencing_token").as_int64() > 0);
}

TEST_CASE("corozk: credentials are shown nowhere, and open what is locked up") {
    std::string path = fresh_path();
    std::string secret = "digest:user:pass-word-that-nobody-sees";
    temporary_directory folder;
    std::string file = folder.path() / "credentials";
    std::ofstream(file) << "# mine\n" << secret << "\n";
    std::vector<std::string> words = holder(path, {"-v", "--auth", secret, "--acl", "creator"});
    program_run run(words);
    run.says("running");
    std::string arguments = "/proc/" + std::to_string(run.process().pid()) + "/cmdline";
    std::ifstream in(arguments);
    std::string shown{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    CHECK(shown.find("lock") != std::string::npos);
    CHECK(shown.find("pass-word") == std::string::npos);

    CHECK(run_program({"lock", "-n", path, "--", "true"}).code == 77);
    CHECK(run_program({"contenders", path}).code == 77);
    CHECK(run_program({"break", "--holder", path}).code == 77);
    CHECK(run_program({"lock", "-n", "--auth-file", file, path, "--", "true"}).code == 75);
    CHECK(run_program({"contenders", path}, "", {{"COROZK_AUTH", secret}}).code == 0);
    auto by_file = run_program({"break", "--holder", path}, "", {{"COROZK_AUTH_FILE", file}});
    CHECK(by_file.code == 0);
    CHECK(run.end() == 79);
    for (const std::string& text : {run.err(), run.out(), by_file.out, by_file.err})
        CHECK(text.find("pass-word") == std::string::npos);
    auto half = run_program({"lock", "--auth", "pass-word", path, "--", "true"});
    CHECK(half.code == 64);
    CHECK(half.err.find("pass-word") == std::string::npos);
}

}  // namespace corozk::testing::lock_test
