// SPDX-License-Identifier: Apache-2.0
#include "recipe/optimistic/rule.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace corozk::testing::optimistic_transaction_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

/// "check /a 3", "create /b", ...
std::vector<std::string> texts(const attempt_steps& steps) {
    std::vector<std::string> result;
    for (const transaction::step& step : steps.all) {
        std::string text;
        switch (step.kind) {
            case transaction::step_kind::create: text = "create " + step.path; break;
            case transaction::step_kind::erase: text = "erase " + step.path; break;
            case transaction::step_kind::set: text = "set " + step.path; break;
            case transaction::step_kind::check: text = "check " + step.path; break;
        }
        if (!step.data.empty())
            text += " = " + step.data;
        if (step.version != any_version)
            text += " @" + std::to_string(step.version);
        result.push_back(text);
    }
    return result;
}

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("optimistic transaction: checks come first, then the writes in their order") {
    attempt_record record;
    record.saw("/b", "2", 7);
    record.saw("/a", "1", 0);
    record.set("/b", "x");
    record.erase("/c");
    record.create("/c", "y", create_options());
    record.set("/a", "z");
    attempt_steps all(record, true, false);
    CHECK(
        texts(all) ==
        lines{
            "check /a @0", "check /b @7", "set /b = x", "erase /c", "create /c = y", "set /a = z"});
    CHECK(all.checks == 2);
    attempt_steps reads(record, false, false);
    CHECK(texts(reads) == lines{"check /a @0", "check /b @7"});
}

TEST_CASE("optimistic transaction: reads show the writes, and the first of several reads") {
    attempt_record record;
    CHECK(record.known("/a") == nullptr);
    record.saw("/a", "1", 3);
    record.saw("/a", "2", 4);
    record.saw_nothing("/a", "/a");
    CHECK(*record.known("/a") == "1");
    CHECK(texts(attempt_steps(record, true, false)) == lines{"check /a @3"});
    record.saw_nothing("/b", "/b");
    record.saw("/b", "late", 0);
    REQUIRE(record.known("/b"));
    CHECK_FALSE(*record.known("/b"));
    record.set("/a", "mine");
    CHECK(*record.known("/a") == "mine");
    record.erase("/a");
    CHECK_FALSE(*record.known("/a"));
    record.create("/a", "again", create_options());
    CHECK(*record.known("/a") == "again");
    // Written blindly: the server is not asked either.
    record.set("/blind", "x");
    CHECK(*record.known("/blind") == "x");
}

TEST_CASE("optimistic transaction: absence is proved by creating and deleting the node") {
    attempt_record record;
    record.saw_nothing("/a/x", "/a/x");
    record.saw_nothing("/b/c/d", "/b");
    record.saw_nothing("/b/c", "/b");
    CHECK(texts(attempt_steps(record, true, false)) ==
          lines{"create /a/x", "erase /a/x", "create /b", "erase /b"});
}

TEST_CASE("optimistic transaction: a create proves absence if it is the first write of the node") {
    attempt_record record;
    record.saw_nothing("/a", "/a");
    record.saw_nothing("/a/b", "/a");
    record.saw_nothing("/c", "/c");
    record.create("/a", "1", create_options());
    record.create("/a/b", "2", create_options());
    record.set("/c", "no");
    record.create("/c", "3", create_options());
    attempt_steps once(record, true, false);
    CHECK(texts(once) == lines{"create /c",
                               "erase /c",
                               "create /a = 1",
                               "create /a/b = 2",
                               "set /c = no",
                               "create /c = 3"});
    CHECK(once.proofs == std::vector<std::size_t>{2});
    attempt_steps apart(record, true, true);
    CHECK(texts(apart) == lines{"create /a",
                                "erase /a",
                                "create /c",
                                "erase /c",
                                "create /a = 1",
                                "create /a/b = 2",
                                "set /c = no",
                                "create /c = 3"});
    CHECK(apart.proofs.empty());
    CHECK(texts(attempt_steps(record, false, false)) ==
          lines{"create /a", "erase /a", "create /c", "erase /c"});
}

TEST_CASE("optimistic transaction: what a failed step means") {
    attempt_record record;
    record.saw("/r", "", 1);
    record.saw_nothing("/n", "/n");
    record.saw_nothing("/new", "/new");
    record.set("/blind", "x");
    record.create("/new", "", create_options());
    record.erase("/last");
    attempt_steps all(record, true, false);
    REQUIRE(texts(all) == lines{"check /r @1",
                                "create /n",
                                "erase /n",
                                "set /blind = x",
                                "create /new",
                                "erase /last"});
    using verdict = attempt_verdict;
    CHECK(all.judge(0, zk_errc::bad_version) == verdict::conflict);
    CHECK(all.judge(0, zk_errc::no_node) == verdict::conflict);
    CHECK(all.judge(0, zk_errc::no_auth) == verdict::error);
    CHECK(all.judge(1, zk_errc::node_exists) == verdict::conflict);
    CHECK(all.judge(1, zk_errc::no_node) == verdict::conflict);
    CHECK(all.judge(1, zk_errc::no_auth) == verdict::error);
    // The absence of /new has not been proved yet.
    CHECK(all.judge(3, zk_errc::no_node) == verdict::not_known);
    CHECK(all.judge(4, zk_errc::node_exists) == verdict::conflict);
    CHECK(all.judge(4, zk_errc::no_node) == verdict::error);
    CHECK(all.judge(5, zk_errc::not_empty) == verdict::error);
    attempt_steps apart(record, true, true);
    const std::size_t blind = apart.checks;
    CHECK(blind == 5);
    CHECK(apart.judge(blind, zk_errc::no_node) == verdict::error);
    CHECK(apart.judge(blind + 1, zk_errc::node_exists) == verdict::error);
}

TEST_CASE("optimistic transaction: invalid writes") {
    attempt_record path;
    path.set("relative", "x");
    CHECK(path.fault() == errc::bad_path);
    CHECK_FALSE(path.writes());
    for (bool ttl : {false, true}) {
        create_options options;
        options.mode = ttl ? create_mode::persistent_with_ttl : create_mode::persistent_sequential;
        attempt_record record;
        record.create("/a", "", options);
        CHECK(record.fault() == errc::bad_option);
    }
    attempt_record good;
    create_options options;
    options.mode = create_mode::persistent_with_ttl;
    options.ttl = std::chrono::seconds(1);
    good.create("/a", "", options);
    CHECK_FALSE(good.fault());
}

}  // namespace corozk::testing::optimistic_transaction_test
