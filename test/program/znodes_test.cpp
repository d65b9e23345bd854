// SPDX-License-Identifier: Apache-2.0
// The commands for single znodes.
#include "program_run.hpp"
#include "terminal.hpp"

#include <boost/json.hpp>

namespace corozk::testing::znodes_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

using words = std::vector<std::string>;

const std::string bytes("\n\xff\x00-\xc3( \r\n\x00\n\n", 12);

/// It says this on standard error, nothing else there, and nothing on standard output.
void refuses(const words& line, int code, const std::string& text) {
    auto run = run_program(line);
    CHECK(run.code == code);
    CHECK(run.out.empty());
    CHECK(run.err == "corozk: " + text + "\n");
}

/// Each of its requests, and each response, lost once with the connection.
template <class Check>
void with_lost_connections(const words& line, const Check& check) {
    auto through = [&](const fault_proxy& proxy) {
        words all = line;
        all.insert(all.begin() + 1, {"--hosts", proxy.hosts()});
        return all;
    };
    for (std::uint64_t n = 1;; ++n) {
        std::uint64_t requests = 0;
        for (auto fault : {drop_request_and_cut, swallow_reply_and_cut}) {
            INFO(n);
            fault_proxy proxy(the_server().port());
            proxy.arm(at_request(n), fault());
            check(run_program(through(proxy)));
            requests = std::max(requests, proxy.requests());
        }
        if (requests < n)
            return;
    }
}

}  // namespace

TEST_CASE("corozk put, get: all bytes, as they are") {
    std::string path = fresh_path();
    CHECK(run_program({"put", path}, bytes).code == 0);
    CHECK(observer().data(path) == bytes);
    auto got = run_program({"get", path});
    CHECK(got.code == 0);
    CHECK(got.out == bytes);
    CHECK(got.err.empty());
    for (const std::string& value : words{"value", "", "two words", "{}", "[a,b]"}) {
        INFO(value);
        auto put = run_program({"put", path, value}, "not this");
        CHECK(put.code == 0);
        CHECK((put.out + put.err).empty());
        CHECK(observer().data(path) == value);
        CHECK(run_program({"get", path}).out == value);
    }
    CHECK(run_program({"put", path, "--", "-x"}).code == 0);
    CHECK(run_program({"get", path}).out == "-x");
    std::string large(900'000, '\n');
    CHECK(run_program({"put", path}, large).code == 0);
    CHECK((run_program({"get", path}).out == large));
}

TEST_CASE("corozk put: creates the znode and its parents, with the ACL that is given") {
    std::string path = fresh_path();
    CHECK(run_program({"put", path + "/a/b/c", "deep"}).code == 0);
    CHECK(observer().data(path + "/a/b/c") == "deep");
    CHECK(observer().data(path + "/a/b").empty());
    std::string secret = "digest:user:word";
    CHECK(run_program({"put", path + "/s", "x", "--auth", secret, "--acl", "creator"}).code == 0);
    CHECK(run_program({"get", path + "/s", "--auth", secret}).out == "x");
    for (const words& line : std::vector<words>{
             {"get", path + "/s"}, {"put", path + "/s", "y"}, {"put", path + "/s/t", "y"}})
        refuses(line,
                77,
                line.at(0) + " " + line.at(1) +
                    ": denied by the znode's access control list; authenticate with --auth, "
                    "--auth-file or --sasl-user");
    CHECK(run_program({"get", path + "/s", "--auth", secret}).out == "x");
}

TEST_CASE("corozk put: refuses an ACL under which nothing can be created below missing parents") {
    const std::string path = fresh_path();
    for (const char* acl : {"read-only", "world:anyone:rwda"}) {
        INFO(acl);
        refuses({"put", path + "/a/b", "x", "--acl", acl},
                64,
                path +
                    "/a/b: its parent is missing, and would get --acl, which does not allow "
                    "creating anything below it: create the parent first, with another --acl");
    }
    CHECK_FALSE(observer().exists(path + "/a"));
    CHECK(run_program({"put", path + "/a", ""}).code == 0);
    CHECK(run_program({"put", path + "/a/b", "x", "--acl", "read-only"}).code == 0);
    CHECK(observer().data(path + "/a/b") == "x");
}

TEST_CASE("corozk put: --create-only and --version") {
    std::string path = fresh_path();
    refuses({"put", "--version", "0", path, "x"}, 1, path + ": no such znode");
    CHECK_FALSE(observer().exists(path));
    CHECK(run_program({"put", "--create-only", path + "/a", "one"}).code == 0);
    refuses({"put", "--create-only", path + "/a", "two"}, 1, path + "/a: exists");
    refuses({"put", "--version", "1", path + "/a", "two"}, 1, path + "/a: does not have version 1");
    CHECK(observer().data(path + "/a") == "one");
    CHECK(run_program({"put", "--version", "0", path + "/a", "two"}).code == 0);
    CHECK(observer().data(path + "/a") == "two");
    auto put = boost::json::parse(run_program({"put", "--json", path + "/a", "three"}).out);
    CHECK(put.at("version") == 2);
    CHECK(put.at("created") == false);
    put = boost::json::parse(run_program({"put", "--json", path + "/b", "new"}).out);
    CHECK(put.at("version") == 0);
    CHECK(put.at("created") == true);
    auto got = boost::json::parse(run_program({"get", "--json", path + "/a"}).out);
    CHECK(got.at("version") == 2);
    CHECK(got.at("data") == "three");
}

TEST_CASE("corozk rm: a znode, a branch, and what it refuses") {
    std::string path = fresh_path();
    observer().plant(path + "/a/b/c");
    observer().plant(path + "/d");
    refuses({"rm", path}, 70, path + ": has children: use --recursive");
    refuses({"rm", path + "/none"}, 1, path + "/none: no such znode");
    refuses({"rm", "-r", path + "/none"}, 1, path + "/none: no such znode");
    refuses({"rm", "--version", "3", path + "/d"}, 1, path + "/d: does not have version 3");
    CHECK(observer().tree(path).size() == 4);
    CHECK(run_program({"rm", "--version", "0", path + "/d"}).code == 0);
    CHECK(run_program({"rm", path + "/a/b/c"}).code == 0);
    CHECK(observer().tree(path) == words{path + "/a", path + "/a/b"});
    auto all = run_program({"rm", "-r", path});
    CHECK(all.code == 0);
    CHECK((all.out + all.err).empty());
    CHECK_FALSE(observer().exists(path));
}

TEST_CASE("corozk get: a missing znode, and a reader that goes") {
    std::string path = fresh_path();
    refuses({"get", path}, 1, path + ": no such znode");
    auto said = boost::json::parse(run_program({"get", "--json", path}).err);
    CHECK(said.at("event") == "error");
    observer().plant(path, "value");
    CHECK(run_program({"get", path}, "", {{"RUN_OUT", "/dev/full"}}).code == 74);
}

TEST_CASE("corozk get: on a terminal the line ends") {
    std::string path = fresh_path();
    observer().plant(path, "value");
    terminal t;
    t.type(COROZK_PROGRAM " get " + path + "\n");
    t.shows("\r\nvalue\r\n$ ");
}

TEST_CASE("corozk get, put, rm: words that make no sense") {
    std::string path = fresh_path();
    auto says = [](const words& line, const std::string& text) {
        auto run = run_program(line);
        INFO(run.err);
        CHECK(run.code == 64);
        CHECK(run.err.find(text) != std::string::npos);
    };
    for (const char* command : {"get", "put", "rm"}) {
        says({command}, "PATH is required");
        says({command, "relative"}, "begin it with '/'");
        says({command, path, "a", "b"}, "unexpected argument '");
    }
    for (const char* command : {"get", "rm"})
        says({command, path, "--", "true"}, "no command is run here");
    says({"put", path, "a", "--", "b"}, "quote it as one word");
    says({"put", path, "-x"}, "follow --");
    says({"put", "--version", "-1", path, "x"}, "is not a whole number from 0 to ");
    says({"put", "--version", "1", "--create-only", path, "x"}, "excludes");
    says({"rm", "--version", "1", "-r", path}, "excludes");
    says({"rm", "-r", "/"}, "the root, which cannot be deleted");
    says({"rm", "-r", "/zookeeper"}, "belongs to the servers, which protect it");
    refuses({"rm", "/zookeeper/quota"},
            70,
            "/zookeeper/quota: belongs to the servers, which protect it");
    refuses({"get", path, "b"}, 64, "unexpected argument 'b': usage: corozk get [OPTIONS] PATH");
    refuses({"put", path, "1", "2"},
            64,
            "unexpected argument '2': usage: corozk put [OPTIONS] PATH [VALUE] [-- VALUE]");
    // Not what would control a terminal.
    says({"get", "/a\x1b[2J\nb"}, "'/a\\x1b[2J\\x0ab' is not a path");
    says({"get", "b\xc2\x9b\xc3\xa4"}, "'b\\x9b\xc3\xa4' is not a path");
    says({"get", "b\xff\xc3\xa4"}, "'b\\xff\\xc3\\xa4' is not a path");
    CHECK_FALSE(observer().exists(path));
}

TEST_CASE("corozk get, put, rm: whole, or an error, wherever the connection is cut") {
    std::string path = fresh_path();
    observer().plant(path + "/a", "value");
    with_lost_connections({"get", path + "/a"}, [&](const program_result& run) {
        CHECK((run.code == 69 ? run.out.empty() && !run.err.empty()
                              : run.code == 0 && run.out == "value"));
    });
    with_lost_connections({"put", path + "/b/c/d", "new"}, [&](const program_result& run) {
        CHECK((run.code == 69 ? !run.err.empty() : run.code == 0));
        CHECK((run.code == 69 || observer().data(path + "/b/c/d") == "new"));
        observer().erase_recursively(path + "/b");
    });
    with_lost_connections({"rm", "-r", path}, [&](const program_result& run) {
        CHECK((run.code == 69 ? !run.err.empty() : run.code == 0));
        CHECK((run.code == 69 || !observer().exists(path)));
        if (!observer().exists(path + "/a/b"))
            observer().plant(path + "/a/b");
    });
}

TEST_CASE("corozk get, put, rm: no server, or one that does not answer") {
    std::string path = fresh_path();
    observer().plant(path, "value");
    for (const words& line :
         std::vector<words>{{"get", path}, {"put", path, "x"}, {"rm", path}, {"rm", "-r", path}}) {
        fault_proxy proxy(the_server().port());
        auto rule = proxy.arm(at_request(1), hold_request());
        words through = line;
        through.insert(through.begin() + 1, {"--hosts", proxy.hosts()});
        program_run run(through);
        eventually([&] { return proxy.fired(rule) == 1; }, program_limit, "a request");
        run.process().signal(SIGTERM);
        int signal = run.ended_by();
        INFO(line.front() << ", exit code " << run.end() << ": " << run.out() << run.err());
        CHECK(signal == SIGTERM);
        CHECK((run.out() + run.err()).empty());
    }
    words nowhere{"get", "--hosts", "127.0.0.1:1", "--connect-timeout", "300ms", path};
    CHECK(run_program(nowhere).code == 69);
}

}  // namespace corozk::testing::znodes_test
