// SPDX-License-Identifier: Apache-2.0
// Group membership, with Curator's GroupMember and Kazoo's Party and ShallowParty on the same path.
#include "contest.hpp"
#include <corozk/recipe/membership.hpp>

namespace corozk::testing::membership_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

struct foreign_group {
    party_kind with;
    const char* kind;
    compatibility whose;
    const char* our_name;  ///< empty: any
    const char* we_alone;  ///< what they print
    const char* both;
    const char* they_alone;
};

constexpr foreign_group foreign_groups[] = {
    {party_kind::curator,
     "group",
     compatibility::curator,
     "us",
     "members us=we",
     "members them=data of them us=we",
     "members them=data of them"},
    {party_kind::kazoo,
     "party",
     compatibility::kazoo,
     "",
     "members we",
     "members them we",
     "members them"},
    {party_kind::kazoo,
     "shallow_party",
     compatibility::native,
     "0123456789abcdef0123456789abcdef-we",
     "members we",
     "members them we",
     "members them"},
};

membership_options options_of(const foreign_group& foreign) {
    membership_options options;
    options.compatibility = foreign.whose;
    return options;
}

std::vector<std::string> a_member(meeting& at, const foreign_group& foreign) {
    return at.arguments(
        {"task=member", std::string("kind=") + foreign.kind, "identity=them", short_session});
}

/// The next difference that is not empty.
boost::asio::awaitable<membership_change> difference(membership& group) {
    pending_result<membership_change> next;
    group.next(next.handler());
    co_await eventually_async([&] { return next.done(); }, party_limit, "a change of the group");
    CHECK_FALSE(next.error());
    membership_change change = next.value();
    co_return change;
}

}  // namespace

TEST_CASE("members of both libraries see each other come and go") {
    auto which = GENERATE(range(std::size_t(0), std::size(foreign_groups)));
    const foreign_group& foreign = foreign_groups[which];
    CAPTURE(foreign.kind);
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        membership ours(zk, at.path, options_of(foreign));
        membership_change change = co_await ours.next();
        CHECK(change.empty());
        co_await ours.join(foreign.our_name, "we");
        change = co_await difference(ours);
        REQUIRE(change.joined.size() == 1);
        CHECK(change.joined[0].name == ours.name());
        CHECK(change.joined[0].data == "we");

        party theirs(foreign.with, a_member(at, foreign));
        co_await theirs.says(foreign.both);
        change = co_await difference(ours);
        REQUIRE(change.joined.size() == 1);
        CHECK(change.joined[0].session_id != zk.session_id());
        const std::string their_data =
            foreign.with == party_kind::curator ? "data of them" : "them";
        CHECK(change.joined[0].data == their_data);
        std::vector<member_info> members = co_await ours.list_members();
        CHECK(members.size() == 2);

        co_await ours.leave();
        co_await theirs.says(foreign.they_alone);
        change = co_await difference(ours);
        REQUIRE(change.left.size() == 1);
        CHECK(change.left[0].data == "we");
        at.tell_to_leave();
        co_await theirs.end();
        change = co_await difference(ours);
        REQUIRE(change.left.size() == 1);
        CHECK(change.left[0].data == their_data);
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("members of both libraries see each other die") {
    auto which = GENERATE(range(std::size_t(0), std::size(foreign_groups)));
    const foreign_group& foreign = foreign_groups[which];
    CAPTURE(foreign.kind);
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        mortal_client dying;
        co_await dying.connect();
        membership ours(dying.zk, at.path, options_of(foreign));
        co_await ours.join(foreign.our_name, "we");
        party theirs(foreign.with, a_member(at, foreign));
        co_await theirs.says(foreign.both);
        membership watcher(zk, at.path, options_of(foreign));
        membership_change change = co_await difference(watcher);
        CHECK(change.joined.size() == 2);

        dying.die();
        co_await theirs.says(foreign.they_alone);
        change = co_await difference(watcher);
        REQUIRE(change.left.size() == 1);
        CHECK(change.left[0].data == "we");
        dying.come_back();
        change = co_await difference(watcher);
        REQUIRE(change.joined.size() == 1);
        CHECK(change.joined[0].session_id == dying.zk.session_id());
        CHECK(ours.joined());

        theirs.kill();
        change = co_await difference(watcher);
        REQUIRE(change.left.size() == 1);
        CHECK(change.left[0].session_id != dying.zk.session_id());

        // The next one of theirs finds ours.
        party later(foreign.with, a_member(at, foreign));
        co_await later.says(foreign.both);
        co_await ours.leave();
        at.tell_to_leave();
        co_await later.end();
        co_await dying.zk.close(as_tuple());
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("a party ignores what is not a member of it") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        membership_options options;
        options.compatibility = compatibility::kazoo;
        membership party_of_ours(zk, at.path, options);
        membership native(zk, at.path);
        co_await native.join("stranger", "not of the party");
        co_await party_of_ours.join("us", "we");
        CHECK(at.hand.exists(at.path + "/us__party__"));
        std::vector<member_info> members = co_await party_of_ours.list_members();
        REQUIRE(members.size() == 1);
        CHECK(members[0].name == "us");
        members = co_await native.list_members();
        CHECK(members.size() == 2);
    });
}

}  // namespace corozk::testing::membership_test
