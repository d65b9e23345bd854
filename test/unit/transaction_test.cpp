// SPDX-License-Identifier: Apache-2.0
#include <corozk/transaction.hpp>

#include <catch2/catch.hpp>

namespace corozk::testing::transaction_test {

using namespace corozk;

TEST_CASE("transaction: steps in the order in which they were added") {
    transaction t;
    CHECK(t.empty());
    CHECK(t.size() == 0);
    create_options options;
    options.mode = create_mode::ephemeral_sequential;
    const acl only_read = read_only_acl();
    options.acl = &only_read;
    t.create("/a", "data", options).set("/b", "x", 3).check("/c", 4).erase("/d", 5).create("/e");
    REQUIRE(t.size() == 5);
    CHECK_FALSE(t.empty());
    const auto& s = t.steps();
    CHECK(s[0].kind == transaction::step_kind::create);
    CHECK(s[0].path == "/a");
    CHECK(s[0].data == "data");
    CHECK(s[0].mode == create_mode::ephemeral_sequential);
    CHECK(s[0].acl == only_read);
    CHECK(s[1].kind == transaction::step_kind::set);
    CHECK(s[1].path == "/b");
    CHECK(s[1].data == "x");
    CHECK(s[1].version == 3);
    CHECK(s[2].kind == transaction::step_kind::check);
    CHECK(s[2].version == 4);
    CHECK(s[3].kind == transaction::step_kind::erase);
    CHECK(s[3].version == 5);
    CHECK(s[4].kind == transaction::step_kind::create);
    CHECK(s[4].mode == create_mode::persistent);
    CHECK(s[4].data.empty());
    CHECK(s[4].acl.empty());
}

TEST_CASE("transaction: versions default to any, and the list of rights is copied") {
    transaction t;
    t.set("/a", "x").check("/a").erase("/a");
    for (const auto& step : t.steps())
        CHECK(step.version == any_version);
    transaction with_rights;
    {
        acl entries = creator_acl();
        create_options options;
        options.acl = &entries;
        with_rights.create("/a", "", options);
        entries.clear();
    }
    CHECK(with_rights.steps()[0].acl == creator_acl());
}

TEST_CASE("transaction: appended to another, and to itself") {
    transaction a;
    a.create("/a").check("/b");
    transaction b;
    b.erase("/c").append(a);
    REQUIRE(b.size() == 3);
    CHECK(b.steps()[0].path == "/c");
    CHECK(b.steps()[1].path == "/a");
    CHECK(b.steps()[2].path == "/b");
    CHECK(a.size() == 2);
    a.append(a);
    REQUIRE(a.size() == 4);
    CHECK(a.steps()[2].path == "/a");
    CHECK(a.steps()[3].path == "/b");
}

}  // namespace corozk::testing::transaction_test
