// SPDX-License-Identifier: Apache-2.0
// corozk discover: services in Curator's format.
#include "program_run.hpp"
#include <corozk/recipe/service_discovery.hpp>

#include <boost/json.hpp>

namespace corozk::testing::discover_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

using words = std::vector<std::string>;

/// An instance as Curator writes it.
std::string instance(const std::string& id, int port, bool enabled = true) {
    return R"({"name":"web","id":")" + id + R"(","address":"10.0.0.5","port":)" +
           std::to_string(port) +
           R"(,"sslPort":null,"payload":{"zone":"north"},"registrationTimeUTC":1700000000000,)" +
           R"("serviceType":"DYNAMIC","uriSpec":null,"enabled":)" + (enabled ? "true" : "false") +
           "}";
}

/// discover --register ... PATH web -- sh -c SCRIPT
words registering(const std::string& path,
                  const std::string& script,
                  const words& options = {},
                  const std::string& endpoint = "10.0.0.7:8080") {
    words result{"discover", "--register", endpoint};
    result.insert(result.end(), options.begin(), options.end());
    result.insert(result.end(), {path, "web", "--", "sh", "-c", script});
    return result;
}

std::vector<std::string> instances_at(const std::string& path) {
    return observer().exists(path + "/web") ? observer().children(path + "/web")
                                            : std::vector<std::string>();
}

void has_instances(const std::string& path, std::size_t count) {
    eventually([&] { return instances_at(path).size() == count; },
               program_limit,
               std::to_string(count) + " instances");
}

}  // namespace

TEST_CASE("corozk discover: the services, and the instances of one") {
    std::string path = fresh_path();
    auto none = run_program({"discover", path});
    CHECK(none.code == 1);
    CHECK(none.out.empty());
    CHECK(none.err == "corozk: there is no service below " + path + "\n");
    CHECK(run_program({"discover", path, "web"}).err ==
          "corozk: " + path + "/web has no instance\n");
    observer().plant(path + "/web/one", instance("one", 8080));
    observer().plant(path + "/web/two", instance("two", 8081, false));
    observer().plant(path + "/web/broken", "{");
    observer().plant(path + "/db/\xc3\xa4", instance("\xc3\xa4", 5432));
    auto names = run_program({"discover", path});
    CHECK(names.code == 0);
    CHECK(names.out == "db\nweb\n");
    auto table = run_program({"discover", path, "web"});
    CHECK(table.code == 0);
    CHECK(table.out == path +
                           "/web: 2 instances\n"
                           "ADDRESS   PORT  SSL  STATE     TYPE     REGISTERED            ID   "
                           "PAYLOAD\n"
                           "10.0.0.5  8080  -    enabled   dynamic  2023-11-14T22:13:20Z  one  "
                           "{\"zone\":\"north\"}\n"
                           "10.0.0.5  8081  -    disabled  dynamic  2023-11-14T22:13:20Z  two  "
                           "{\"zone\":\"north\"}\n" +
                           path + "/web/broken: not a valid instance\n");
}

TEST_CASE("corozk discover: --json") {
    std::string path = fresh_path();
    auto parsed = [](const words& line, int code) {
        auto run = run_program(line);
        CHECK(run.code == code);
        CHECK(run.err.empty());
        return boost::json::parse(run.out);
    };
    CHECK(parsed({"discover", "--json", path}, 1).at("services").as_array().empty());
    CHECK(parsed({"discover", "--json", path, "web"}, 1).at("instances").as_array().empty());
    observer().plant(path + "/web/one", instance("one", 8080));
    observer().plant(path + "/web/broken", "");
    CHECK(parsed({"discover", "--json", path}, 0).at("services").at(0) == "web");
    auto value = parsed({"discover", "--json", path, "web"}, 0);
    CHECK(value.at("malformed").at(0) == "broken");
    auto one = value.at("instances").at(0);
    CHECK(one.at("id") == "one");
    CHECK(one.at("port") == 8080);
    CHECK(one.at("ssl_port").is_null());
    CHECK(one.at("payload").at("zone") == "north");
    CHECK(one.at("registered") == "2023-11-14T22:13:20Z");
    CHECK(one.at("enabled") == true);
    CHECK(one.at("session").is_null());
    CHECK(parsed({"discover", "--json", "--one", path, "web"}, 0) == one);
}

TEST_CASE("corozk discover: whatever other programs have written") {
    std::string path = fresh_path();
    std::string odd =
        R"({"name":"web","id":"x\u001b[2J\ny","address":"\u001b[31m::1\u009b","port":1,"payload":"\u0007",)"
        R"("registrationTimeUTC":9223372036854775807,"serviceType":"PERMANENT"})";
    observer().plant(path + "/web/odd", odd);
    for (const words& line : std::vector<words>{{"discover", path, "web"},
                                                {"discover", "--one", path, "web"},
                                                {"discover", "--json", path, "web"}}) {
        auto run = run_program(line);
        CHECK(run.code == 0);
        for (char control : {'\x1b', '\x07'})
            CHECK(run.out.find(control) == std::string::npos);
    }
    CHECK(run_program({"discover", "--one", path, "web"}).out == "[ [31m::1\xc2\xa0]:1\n");
}

TEST_CASE("corozk discover --one: an enabled instance; waits until the deadline") {
    std::string path = fresh_path();
    observer().plant(path + "/web/off", instance("off", 1, false));
    auto none = run_program({"discover", "--one", path, "web"});
    CHECK(none.code == 1);
    CHECK(none.err == "corozk: " + path + "/web has no enabled instance\n");
    for (const char* limit : {"0", "5s"})
        CHECK(run_program({"discover", "--one", "-w", limit, path, "web"}).code == 75);
    program_run waiter({"discover", "--one", "--deadline", "1h", path, "web"});
    eventually([&] { return watches_below(the_server().port(), path) > 0; },
               program_limit,
               "a watch on the service");
    CHECK_FALSE(waiter.process().exit_status());
    observer().plant(path + "/web/on", instance("on", 2));
    CHECK(waiter.end() == 0);
    CHECK(waiter.out() == "10.0.0.5:2\n");
    CHECK(run_program({"discover", "--one", "-w", "0", path, "web"}).out == "10.0.0.5:2\n");
}

TEST_CASE("corozk discover --one: no instance without an address and a port") {
    const std::string path = fresh_path();
    observer().plant(path + "/web/empty", "{}");
    observer().plant(path + "/web/bare", R"({"address":"10.0.0.5","port":null,"sslPort":8443})");
    auto none = run_program({"discover", "--one", path, "web"});
    CHECK(none.code == 1);
    CHECK(none.out.empty());
    CHECK(none.err ==
          "corozk: " + path + "/web has no enabled instance with an address and a port\n");
    CHECK(run_program({"discover", "--one", "-w", "5s", path, "web"}).code == 75);
    observer().plant(path + "/web/good", instance("good", 8080));
    for (int i = 0; i < 5; ++i)
        CHECK(run_program({"discover", "--one", path, "web"}).out == "10.0.0.5:8080\n");
}

TEST_CASE("corozk discover: a ServerSet is recognised where --format is missing") {
    const std::string path = fresh_path();
    observer().plant(path + "/web/member_0000000001",
                     R"({"serviceEndpoint":{"host":"10.0.0.7","port":8080},)"
                     R"("additionalEndpoints":{},"status":"ALIVE"})");
    const std::string hint =
        "corozk: " + path + "/web seems to be a ServerSet: use --format server-set\n";
    CHECK(run_program({"discover", path, "web"}).err == hint);
    auto one = run_program({"discover", "--one", path, "web"});
    CHECK(one.code == 1);
    CHECK(one.err == hint);
    CHECK(run_program({"discover", "--format", "server-set", path, "web"}).err.empty());
}

TEST_CASE("corozk discover --watch: each change, also behind an outage") {
    std::string path = fresh_path();
    fault_proxy proxy(the_server().port());
    program_run run({"discover", "--hosts", proxy.hosts(), "--watch", path, "web"});
    run.says(path + "/web: 0 instances\n\n");
    observer().plant(path + "/web/one", instance("one", 8080));
    run.says(path + "/web: 1 instance\n");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    run.reports("corozk: the connection was lost; waiting for a server\n");
    observer().plant(path + "/web/two", instance("two", 8081));
    proxy.set_acceptance(acceptance::normal);
    run.says(path + "/web: 2 instances\n");
    run.process().signal(SIGINT);
    CHECK(run.ended_by() == SIGINT);
}

TEST_CASE("corozk discover --watch: nothing new is shown if no instance has changed") {
    std::string path = fresh_path();
    program_run run({"discover", "--watch", path, "web"});
    const std::string none = path + "/web: 0 instances\n\n";
    run.says(none);
    for (const char* data : {"first", "second"})
        CHECK(run_program({"put", path + "/web", data}).code == 0);
    observer().plant(path + "/web/one", instance("one", 8080));
    run.says(path + "/web: 1 instance\n");
    CHECK(run.out().rfind(none) == 0);
    CHECK(run_program({"put", path + "/web", "third"}).code == 0);
    observer().erase(path + "/web/one");
    eventually([&] { return run.out().rfind(none) > 0; }, program_limit, "the instance to vanish");
    CHECK(run.out().rfind("/web: 1 instance\n") == run.out().find("/web: 1 instance\n"));
    run.process().signal(SIGINT);
    CHECK(run.ended_by() == SIGINT);
}

TEST_CASE("corozk discover --register: while the command runs") {
    std::string path = fresh_path();
    program_run run(
        registering(path,
                    "echo \"$COROZK_NODE $COROZK_PATH $COROZK_HOSTS\"; read line; exit 7",
                    {"--id",
                     "seven",
                     "--ssl-port",
                     "8443",
                     "--payload",
                     R"({"version": 7})",
                     "--uri-spec",
                     "{scheme}://{address}:{ssl-port}/"},
                    "[::1]:8080"),
        "no end of line");
    CHECK(run.end() == 7);
    CHECK(run.out() == path + "/web/seven " + path + " " + the_server().hosts() + "\n");
    CHECK(run.err().empty());
    has_instances(path, 0);
    program_run stays(registering(path, "echo runs; exec sleep 1000", {}, "[::1]:8080"));
    stays.says("runs");
    CHECK(run_program({"discover", "--one", path, "web"}).out == "[::1]:8080\n");
    has_instances(path, 1);
    stays.process().signal(SIGTERM);
    CHECK(stays.ended_by() == SIGTERM);
    has_instances(path, 0);
}

TEST_CASE("corozk discover --register: what others find") {
    std::string path = fresh_path();
    program_run run(registering(path,
                                "echo runs; exec sleep 1000",
                                {"--json",
                                 "--id",
                                 "seven",
                                 "--ssl-port",
                                 "8443",
                                 "--payload",
                                 R"({"version": 7})",
                                 "--uri-spec",
                                 "{scheme}://{address}:{ssl-port}/"}));
    run.says("runs");
    CHECK(boost::json::parse(run.err()).at("node").as_string() == path + "/web/seven");
    auto one = boost::json::parse(run_program({"discover", "--json", "--one", path, "web"}).out);
    CHECK(one.at("id") == "seven");
    CHECK(one.at("ssl_port") == 8443);
    CHECK(one.at("payload").at("version") == 7);
    CHECK(one.at("uri") == "https://10.0.0.7:8443/");
    CHECK(one.at("type") == "dynamic");
    CHECK(one.at("session").as_string().starts_with("0x"));
    auto taken = run_program(registering(path, "true", {"--id", "seven", "-w", "5s"}));
    CHECK(taken.code == 75);
    CHECK(taken.err.find("another client may have the id seven") != std::string::npos);
    has_instances(path, 1);
    run.process().signal(SIGTERM);
    CHECK(run.ended_by() == SIGTERM);
}

TEST_CASE("corozk discover --register: a signal ends the wait for an id that is taken") {
    const std::string path = fresh_path();
    auto has_watches = [&path](std::size_t count) {
        eventually([&] { return watches_below(the_server().port(), path) == count; },
                   program_limit,
                   std::to_string(count) + " watches on the instance");
    };
    program_run holder(registering(path, "echo runs; exec sleep 1000", {"--id", "seven"}));
    holder.says("runs");
    has_watches(1);
    for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
        INFO(signal);
        program_run waiter(registering(path, "true", {"--id", "seven"}));
        has_watches(2);
        waiter.process().signal(signal);
        CHECK(waiter.ended_by() == signal);
        CHECK((waiter.out() + waiter.err()).empty());
        has_watches(1);
    }
    holder.process().signal(SIGTERM);
    CHECK(holder.ended_by() == SIGTERM);
}

TEST_CASE("corozk discover --format server-set: registered and found") {
    std::string path = fresh_path();
    program_run run(registering(path,
                                "echo \"$COROZK_NODE\"; exec sleep 1000",
                                {"--format",
                                 "server-set",
                                 "--id",
                                 "member_7",
                                 "--shard",
                                 "3",
                                 "--endpoint",
                                 "metrics=10.0.0.7:9990",
                                 "--endpoint",
                                 "debug=[::1]:9991",
                                 "--payload",
                                 R"({"zone":"north"})"}));
    run.says(path + "/web/member_7");
    CHECK(observer().data(path + "/web/member_7") ==
          R"({"serviceEndpoint":{"host":"10.0.0.7","port":8080},"additionalEndpoints":)"
          R"({"debug":{"host":"::1","port":9991},"metrics":{"host":"10.0.0.7","port":9990}},)"
          R"("status":"ALIVE","shard":3,"metadata":{"zone":"north"}})");
    observer().plant(path + "/web/vector_1", "{}");
    auto found = boost::json::parse(
        run_program({"discover", "--json", "--format", "server-set", path, "web"}).out);
    CHECK(found.at("malformed").as_array().empty());
    REQUIRE(found.at("instances").as_array().size() == 1);
    const auto& one = found.at("instances").at(0);
    CHECK(one.at("node") == "member_7");
    CHECK(one.at("shard") == 3);
    CHECK(one.at("endpoints").at("metrics").at("port") == 9990);
    CHECK(one.at("payload").at("zone") == "north");
    CHECK(run_program({"discover", "--one", "--format", "server-set", path, "web"}).out ==
          "10.0.0.7:8080\n");
    for (const words& wrong : std::vector<words>{
             {"--shard", "1"},
             {"--endpoint", "a=h:1"},
             {"--format", "server-set", "--ssl-port", "1"},
             {"--format", "server-set", "--uri-spec", "x"},
             {"--format", "server-set", "--payload", "1"},
             {"--format", "server-set", "--endpoint", "h:1"},
             {"--format", "finagle"},
             {"--format", "server-set", "--endpoint", "a=h:1", "--endpoint", "a=h:2"}})
        CHECK(run_program(registering(path, "true", wrong)).code == 64);
    run.process().signal(SIGTERM);
    CHECK(run.ended_by() == SIGTERM);
    has_instances(path, 1);
}

TEST_CASE("corozk discover --register: a signal unregisters at once, while the command ends") {
    temporary_directory folder;
    std::string path = fresh_path();
    std::string go = folder.path() / "go";
    program_run run(registering(
        path,
        "trap 'echo told; until [ -e " + go +
            " ]; do sleep 0.05; done; exit 5' TERM; echo runs; while :; do sleep 0.05; done"));
    run.says("runs");
    has_instances(path, 1);
    run.process().signal(SIGTERM);
    run.says("told");
    has_instances(path, 0);
    CHECK_FALSE(run.process().exit_status());
    std::ofstream(go) << "go";
    CHECK(run.end() == 5);
}

TEST_CASE("corozk discover --register: SIGHUP unregisters nothing") {
    std::string path = fresh_path();
    program_run run(
        registering(path, "trap 'echo reload' HUP; echo runs; while :; do sleep 0.05; done"));
    run.says("runs");
    run.process().signal(SIGHUP);
    run.says("reload");
    run.process().signal(SIGHUP);  // answered after what the first one has begun
    run.says("reload\nreload");
    CHECK(instances_at(path).size() == 1);
    run.process().signal(SIGTERM);
    CHECK(run.ended_by() == SIGTERM);
    has_instances(path, 0);
}

TEST_CASE("corozk discover --register: survives its session; dies with its program") {
    std::string path = fresh_path();
    fault_proxy proxy(the_server().port());
    program_run run(registering(
        path, "echo runs; exec sleep 1000", {"--hosts", proxy.hosts(), "--session-timeout", "4s"}));
    run.says("runs");
    auto first = instances_at(path);
    REQUIRE(first.size() == 1);
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    run.reports(
        "corozk: the connection was lost; the instance is registered again if the session ends\n");
    has_instances(path, 0);
    CHECK_FALSE(run.process().exit_status());
    proxy.set_acceptance(acceptance::normal);
    has_instances(path, 1);
    CHECK(instances_at(path) == first);
    run.process().signal(SIGSTOP);
    has_instances(path, 0);
    run.process().signal(SIGCONT);
    has_instances(path, 1);
    CHECK_FALSE(run.process().exit_status());
    run.process().signal(SIGKILL);
    CHECK(run.ended_by() == SIGKILL);
    has_instances(path, 0);
}

TEST_CASE(
    "corozk: credentials that are refused later: a lock is lost, an instance's command goes on") {
    const std::string path = fresh_path();
    fault_proxy proxy(the_server().port());
    const words through{"--hosts", proxy.hosts(), "--auth", "digest:a:b"};
    program_run run(registering(
        path, "trap 'echo told' USR1; echo runs; while :; do sleep 0.1; done", through));
    words under_lock{"lock", path + "/lock", "--", "sh", "-c", "echo runs; exec sleep 1000"};
    under_lock.insert(under_lock.begin() + 1, through.begin(), through.end());
    program_run holder(under_lock);
    run.says("runs");
    holder.says("runs");
    proxy.arm(at_op(op_code::auth).times(2),
              reject_and_cut(static_cast<std::int32_t>(zk_errc::auth_failed)));
    proxy.cut();
    const std::string denied = "authentication failed: check the scheme and the credential";
    run.reports("cannot stay registered: " + denied + "\n");
    CHECK(holder.end() == 79);
    CHECK(holder.err().find(": " + denied + "; stopping the command\n") != std::string::npos);
    run.process().signal(SIGUSR1);
    run.says("told");
    CHECK(run.err().find(denied) == run.err().rfind(denied));
    run.process().signal(SIGTERM);
    CHECK(run.ended_by() == SIGTERM);
}

TEST_CASE("corozk discover: words that make no sense, no server, no permission") {
    std::string path = fresh_path();
    auto says = [](const words& line, int code, const std::string& text) {
        auto run = run_program(line);
        INFO(run.err);
        CHECK(run.code == code);
        CHECK(run.err.find(text) != std::string::npos);
        CHECK(run.err.find("service_") == std::string::npos);
    };
    says({"discover"}, 64, "PATH is required");
    says({"discover", "relative"}, 64, "begin it with '/'");
    says({"discover", path, "a/b"}, 64, "it contains '/'");
    says({"discover", path, ".."}, 64, "'.' and '..'");
    says({"discover", path, "web", "db"}, 64, "unexpected argument 'db'");
    says({"discover", path, "web", "--", "true"}, 64, "no command is run here");
    says({"discover", "--one", path}, 64, "--one needs a SERVICE");
    says({"discover", "--watch", path}, 64, "--watch needs a SERVICE");
    says({"discover", "--register", "a:1", path, "--", "true"}, 64, "--register needs a SERVICE");
    says({"discover", "--watch", "--one", path, "web"}, 64, "excludes");
    says({"discover", "-w", "1s", path, "web"}, 64, "--deadline belongs to");
    says({"discover", "--id", "x", path, "web"}, 64, "--id requires --register");
    says({"discover", "--register", "a:1", path, "web"}, 64, "there is no command");
    for (const char* endpoint : {"a", ":1", "a:", "a:0", "a:65536", "a:1x", "::1:80", "[]:1"})
        says(registering(path, "true", {}, endpoint), 64, "is not ADDRESS:PORT");
    says(registering(path, "true", {}, "h\xff:1"), 64, "is not UTF-8");
    says(registering(path, "true", {"--payload", "v7"}), 64, "'v7' is not JSON");
    says(registering(path, "true", {"--uri-spec", "{scheme"}), 64, "--uri-spec");
    says({"discover", "--hosts", "127.0.0.1:1", "--connect-timeout", "300ms", path},
         69,
         "no server");
    CHECK(run_program({"discover", "--register", "a:1", path, "web", "--", "/none/such"}).code ==
          127);
    std::string locked = fresh_path();
    for (const std::string& node : {locked, locked + "/web"})
        CHECK(run_program({"put", node, "--auth", "digest:a:b", "--acl", "creator", "x"}).code ==
              0);
    says({"discover", locked}, 77, locked + ": denied");
    says({"discover", locked, "web"}, 77, locked + "/web: denied");
    says({"discover", "--one", locked, "web"}, 77, locked + "/web: denied");
    says(registering(locked, "true"), 77, locked + "/web: denied");
}

TEST_CASE("corozk discover: one look does not wait for servers that go") {
    std::string path = fresh_path();
    for (const words& line : std::vector<words>{{path}, {path, "web"}, {"--one", path, "web"}}) {
        fault_proxy proxy(the_server().port());
        auto rule = proxy.arm(at_request(1), hold_request());
        words through{"discover", "--hosts", proxy.hosts()};
        through.insert(through.end(), line.begin(), line.end());
        program_run run(through);
        eventually([&] { return proxy.fired(rule) == 1; }, program_limit, "a request");
        proxy.set_acceptance(acceptance::not_listening);
        proxy.cut();
        CHECK(run.end() == 69);
        CHECK(run.err() == "corozk: no connection to a server in time\n");
    }
}

}  // namespace corozk::testing::discover_test
