// SPDX-License-Identifier: Apache-2.0
#include "operation/path.hpp"

#include "operation/path_root.hpp"
#include "operation/step_path.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::path_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

std::string problem_of(std::string_view path, bool sequential = false) {
    const char* text = path_problem(path, sequential);
    return text ? text : "";
}

}  // namespace

TEST_CASE("path: what is fine") {
    for (std::string_view path : {"/",
                                  "/a",
                                  "/a/b/c",
                                  "/a b",
                                  "/.a",
                                  "/a.",
                                  "/...",
                                  "/a..b",
                                  "/\xc3\xa4\xc3\xb6",
                                  "/a-0000000001",
                                  "/zookeeper/config"}) {
        INFO(path);
        CHECK(problem_of(path).empty());
        CHECK(problem_of(path, true).empty());
    }
    CHECK(problem_of("/" + std::string(100'000, 'x')).empty());
}

TEST_CASE("path: each kind of bad path has its own words") {
    CHECK_THAT(problem_of(""), Catch::Contains("empty"));
    CHECK_THAT(problem_of("a"), Catch::Contains("relative"));
    CHECK_THAT(problem_of("a/b"), Catch::Contains("relative"));
    CHECK_THAT(problem_of("./a"), Catch::Contains("relative"));
    CHECK_THAT(problem_of("/a/"), Catch::Contains("ends with a slash"));
    CHECK_THAT(problem_of("//"), Catch::Contains("slash"));
    CHECK_THAT(problem_of("//a"), Catch::Contains("empty component"));
    CHECK_THAT(problem_of("/a//b"), Catch::Contains("empty component"));
    for (std::string_view path :
         {"/.", "/..", "/a/.", "/a/..", "/./a", "/../a", "/a/./b", "/a/../b"}) {
        INFO(path);
        CHECK_THAT(problem_of(path), Catch::Contains("'.' and '..'"));
    }
    CHECK_THAT(problem_of(std::string_view("/a\0b", 4)), Catch::Contains("control character"));
    CHECK_THAT(problem_of("/a\nb"), Catch::Contains("control character"));
    CHECK_THAT(problem_of("/a\x7f"), Catch::Contains("control character"));
}

TEST_CASE("path: characters that the server refuses") {
    // Where its ranges end, and what is beside them.
    for (std::string_view allowed : {"\x20",
                                     "\x7e",
                                     "\xc2\xa0",
                                     "\xdf\xbf",
                                     "\xe0\xa0\x80",
                                     "\xed\x9f\xbf",
                                     "\xef\xa4\x80",
                                     "\xef\xbf\xaf"}) {
        INFO(allowed);
        CHECK(problem_of("/a" + std::string(allowed)).empty());
        CHECK(is_node_name(allowed));
    }
    for (std::string_view control : {"\x01", "\x1f", "\x7f", "\xc2\x80", "\xc2\x9f"}) {
        CHECK_THAT(problem_of("/a/" + std::string(control)), Catch::Contains("control character"));
        CHECK_FALSE(is_node_name(control));
    }
    for (std::string_view refused : {"\xed\xa0\x80",      // a surrogate
                                     "\xee\x80\x80",      // private use
                                     "\xef\xa3\xbf",      // the last of it
                                     "\xef\xbf\xb0",      // specials
                                     "\xef\xbf\xbd",      // the replacement
                                     "\xef\xbf\xbf",      // the last of 16 bits
                                     "\xf0\x9f\x98\x80",  // beyond them
                                     "\xf4\x8f\xbf\xbf",  // the last of all
                                     "\x80",              // no UTF-8: no first byte,
                                     "\xff",              // none, either,
                                     "\xc3",              // a byte is missing,
                                     "\xe2\x82",          // here, too,
                                     "\xc3x",             // no continuation,
                                     "\xc0\xaf",          // longer than it need be
                                     "\xe0\x80\xaf"}) {
        CHECK_THAT(problem_of("/a/" + std::string(refused) + "b"), Catch::Contains("not allow"));
        CHECK_FALSE(is_node_name(refused));
    }
    CHECK_FALSE(is_node_name(""));
    CHECK_FALSE(is_node_name("."));
    CHECK_FALSE(is_node_name("a/b"));
    CHECK(is_node_name("a b"));
}

TEST_CASE("path: of a step of a transaction") {
    auto problem_of_step = [](const transaction& one) { return path_problem(one.steps().front()); };
    create_options sequential;
    sequential.mode = create_mode::ephemeral_sequential;
    CHECK(problem_of_step(transaction().create("/a/", "", sequential)) == nullptr);
    CHECK(problem_of_step(transaction().create("/a/", "")) != nullptr);
    CHECK(problem_of_step(transaction().create("/a/./b", "", sequential)) != nullptr);
    CHECK(problem_of_step(transaction().erase("/a/.")) != nullptr);
    CHECK(problem_of_step(transaction().set("a", "")) != nullptr);
    CHECK(problem_of_step(transaction().check("/a/")) != nullptr);
    CHECK(problem_of_step(transaction().check("/a")) == nullptr);
}

TEST_CASE("path: the server appends digits to a sequential name") {
    CHECK(problem_of("/a/", true).empty());
    CHECK(problem_of("/a/.", true).empty());
    CHECK(problem_of("/a/..", true).empty());
    CHECK_FALSE(problem_of("/a//", true).empty());
    CHECK_FALSE(problem_of("/a/./b", true).empty());
    CHECK_FALSE(problem_of("/../", true).empty());
    CHECK_FALSE(problem_of("//", true).empty());
    CHECK_FALSE(problem_of("a", true).empty());
    CHECK_FALSE(problem_of("", true).empty());
}

TEST_CASE("path: joined and taken apart") {
    CHECK(join_path("/", "a") == "/a");
    CHECK(join_path("/a", "b") == "/a/b");
    CHECK(join_path("/a/b", "c") == "/a/b/c");

    CHECK(parent_path("/").empty());
    CHECK(parent_path("").empty());
    CHECK(parent_path("/a") == "/");
    CHECK(parent_path("/a/b") == "/a");
    CHECK(parent_path("/a/b/c") == "/a/b");

    CHECK(base_name("/a") == "a");
    CHECK(base_name("/a/b") == "b");
    CHECK(base_name("/").empty());

    for (std::string path : {"/a", "/a/b", "/long name/x-0000000001"}) {
        CHECK(join_path(parent_path(path), base_name(path)) == path);
    }
}

TEST_CASE("path: at or below another") {
    CHECK(is_at_or_below("/a", "/a"));
    CHECK(is_at_or_below("/a/b/c", "/a"));
    CHECK_FALSE(is_at_or_below("/ab", "/a"));
    CHECK_FALSE(is_at_or_below("/", "/a"));
    CHECK_FALSE(is_at_or_below("/a", "/a/b"));
    CHECK(is_at_or_below("/", "/"));
    CHECK(is_at_or_below("/a", "/"));
}

TEST_CASE("path: relative to a root") {
    const path_root root("/app");
    for (std::string path : {"/", "/a", "/a/b"})
        CHECK(root.relative(root.absolute(path)) == path);
    CHECK(root.absolute("/") == "/app");
    CHECK(root.absolute("/a") == "/app/a");
    // The server appends digits.
    CHECK(root.absolute("/", true) == "/app/");
    CHECK(root.absolute("/a/", true) == "/app/a/");
    CHECK(root.relative("/app/0000000001") == "/0000000001");
    // Of others.
    for (std::string path : {"/", "/apple", "/ap", "/b"})
        CHECK(root.relative(path) == path);
    const path_root none("");
    for (std::string path : {"/", "/a"}) {
        CHECK(none.absolute(path) == path);
        CHECK(none.relative(path) == path);
    }
}

TEST_CASE("path: printable") {
    using namespace std::string_literals;
    CHECK(printable("").empty());
    CHECK(printable("/plain text") == "/plain text");
    CHECK(printable("/a\0b\x1f\x7f"s) == "/a?b??");
    CHECK(printable("\xc2\x85") == "?");
    // Whole characters stay, also those that ZooKeeper does not allow.
    for (std::string text : {"\xc3\xa4", "\xe2\x82\xac", "\xef\xbf\xbd", "\xf0\x9f\x98\x80"})
        CHECK(printable(text + "x" + text) == text + "x" + text);
    // One for each byte that belongs to none.
    CHECK(printable("a\xff\xfe"
                    "b") == "a??b");
    CHECK(printable("a\xc3") == "a?");
    CHECK(printable("\xed\xa0\x80") == "???");
}

}  // namespace corozk::testing::path_test
