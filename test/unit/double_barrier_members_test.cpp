// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/double_barrier_members.hpp"

#include <catch2/catch.hpp>

#include <cstdio>

namespace corozk::testing::double_barrier_members_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

using member = std::shared_ptr<local_member>;

std::string with_sequence(const std::string& prefix, std::int32_t sequence) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%010d", sequence);
    return prefix + digits;
}

/// A different one for each number.
std::string guid_of(std::uint32_t number) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%016x", static_cast<unsigned>(number));
    return std::string(digits) + digits;
}

/// The name of another client's member.
std::string other(std::int32_t sequence) {
    return with_sequence(member_prefix(guid_of(0xf000U + static_cast<std::uint32_t>(sequence))),
                         sequence);
}

/// The members of a client, and the responses of a server in whose transactions they appear.
struct client_members {
    explicit client_members(std::uint32_t size) : members(size) {}

    member enters(bool refuse_to_wait = false) {
        auto m = std::make_shared<local_member>();
        m->refuse_to_wait = refuse_to_wait;
        members.add(m, barrier_phase::entering);
        return m;
    }

    /// "sync get list", as far as a pass reads them.
    std::string begins_pass() {
        members.session_is(session, true);
        const barrier_reads reads = members.begin_pass();
        std::string text;
        for (auto [read, name] : {std::pair(reads.sync, "sync "),
                                  std::pair(reads.record, "get "),
                                  std::pair(reads.list, "list ")}) {
            if (read)
                text += name;
        }
        return text;
    }

    std::string name(local_member& m) { return members.name_node(m, guid_of(++guids), session); }

    void created(local_member& m, std::int32_t sequence) {
        members.created(m, {}, with_sequence(name(m), sequence));
    }

    response_fields record(const std::string& data, std::int32_t children) const {
        response_fields get = listing({});
        get.answer = data;
        get.record.num_children = children;
        return get;
    }

    response_fields listing(const std::vector<std::string>& names) const {
        response_fields list;
        list.record.czxid = parent;
        list.record.version = version;
        list.record.num_children = static_cast<std::int32_t>(names.size());
        for (const std::string& n : names)
            list.names.push_back(n);
        return list;
    }

    std::optional<barrier_start> read(const response_fields& get) {
        return members.read(&get, nullptr);
    }

    /// Has entered the first round, of three, with this sequence number.
    member inside(std::int32_t sequence) {
        member m = enters();
        begins_pass();
        created(*m, sequence);
        m->watched = true;
        read(record("round=1 size=3 last=2", 3));
        REQUIRE(members.take_finished() == std::vector{m});
        REQUIRE(m->phase == barrier_phase::inside);
        return m;
    }

    local_members members;
    std::uint64_t session = 1;
    std::int64_t parent = 77;
    std::int32_t version = 0;
    std::uint32_t guids = 0;
};

}  // namespace

TEST_CASE("double barrier members: enough of them start a round") {
    client_members c(3);
    member a = c.enters();
    member b = c.enters();
    CHECK(c.begins_pass() == "get ");
    c.created(*a, 0);
    c.created(*b, 1);
    CHECK_FALSE(c.read(c.record("", 2)));
    CHECK_FALSE(c.members.due());
    CHECK(a->waits());
    CHECK(c.members.take_finished().empty());

    // One more child, which may be a member.
    CHECK(c.begins_pass() == "get ");
    CHECK_FALSE(c.read(c.record("", 3)));
    CHECK(c.members.due());
    CHECK(c.begins_pass() == "get list ");
    c.version = 4;
    const response_fields get = c.record("", 3);
    const response_fields list = c.listing({b->name, other(2), a->name, "ready"});
    const auto round = c.members.read(&get, &list);
    REQUIRE(round);
    CHECK(round->record == round_record{1, 3, 2});
    CHECK(round->version == 4);
    CHECK(round->members.size() == 3);

    SECTION("it has started") {
        c.members.started(round->record);
        CHECK_FALSE(c.members.due());
        CHECK(c.members.take_finished() == std::vector{a, b});
        CHECK(c.members.empty());
        CHECK(a->phase == barrier_phase::inside);
        CHECK(a->round.number == 1);
        CHECK(a->round.last == 2);
    }
    SECTION("it has not: they look again") {
        c.members.failed(GENERATE(make_error_code(zk_errc::bad_version),
                                  make_error_code(zk_errc::no_node),
                                  make_error_code(zk_errc::connection_loss)));
        CHECK(c.members.due());
        CHECK(c.begins_pass() == "get list ");
        CHECK(a->waits());
    }
    SECTION("it must not start") {
        c.members.failed(zk_errc::no_auth);
        CHECK(a->node == member_node::unwanted);
        c.members.deleted(*a, {});
        CHECK(c.members.take_finished() == std::vector{a});
        CHECK(a->result == zk_errc::no_auth);
    }
    SECTION("one has given up meanwhile") {
        c.members.give_up(*a);
        c.members.started(round->record);
        CHECK(c.members.take_finished() == std::vector{b});
        CHECK(a->node == member_node::unwanted);
    }
}

TEST_CASE(
    "double barrier members: one of a round that others have started is inside if it exists") {
    client_members c(3);
    member a = c.enters();
    c.begins_pass();
    c.created(*a, 1);
    CHECK_FALSE(c.read(c.record("", 1)));
    const response_fields get = c.record("round=1 size=3 last=2", 3);
    SECTION("it is watched") {
        a->watched = true;
        c.begins_pass();
        c.read(get);
        CHECK(a->phase == barrier_phase::inside);
    }
    SECTION("it is listed") {
        c.begins_pass();
        c.read(get);
        CHECK(a->waits());
        CHECK(c.begins_pass() == "get list ");
        const response_fields list = c.listing({other(0), a->name});
        c.members.read(&get, &list);
        CHECK(a->phase == barrier_phase::inside);
    }
    SECTION("it was deleted: it enters again") {
        c.begins_pass();
        c.read(get);
        c.begins_pass();
        const response_fields list = c.listing({other(0), other(2)});
        c.members.read(&get, &list);
        CHECK(a->phase == barrier_phase::entering);
        CHECK(a->node == member_node::none);
        CHECK(c.members.due());
    }
    SECTION("the round has another size") {
        a->watched = true;
        c.begins_pass();
        c.read(c.record("round=1 size=2 last=2", 3));
        CHECK(a->node == member_node::unwanted);
        c.members.deleted(*a, {});
        CHECK(a->phase == barrier_phase::outside);
        CHECK(a->result == errc::limit_mismatch);
    }
    SECTION("the record belongs to a parent of before") {
        c.begins_pass();
        c.read(get);
        c.begins_pass();
        c.parent = 78;
        const response_fields list = c.listing({a->name});
        CHECK_FALSE(c.members.read(&get, &list));
        CHECK(a->waits());
        CHECK(c.begins_pass() == "get list ");
    }
}

TEST_CASE("double barrier members: those that wait while others are inside watch the lowest") {
    client_members c(2);
    member patient = c.enters();
    c.begins_pass();
    c.created(*patient, 4);
    c.read(c.record("round=1 size=2 last=2", 3));
    CHECK(c.begins_pass() == "get list ");
    const response_fields get = c.record("round=1 size=2 last=2", 3);
    response_fields list = c.listing({other(2), other(1), patient->name});
    CHECK_FALSE(c.members.read(&get, &list));
    CHECK_FALSE(c.members.due());
    CHECK(c.members.target() == other(1));

    member impatient = c.enters(true);
    CHECK(c.begins_pass() == "get list ");
    c.created(*impatient, 5);
    list = c.listing({other(2), patient->name, impatient->name});
    CHECK_FALSE(c.members.read(&get, &list));
    CHECK(c.members.due());
    CHECK(c.begins_pass() == "get ");
    c.members.deleted(*impatient, {});
    CHECK(c.members.take_finished() == std::vector{impatient});
    CHECK(impatient->result == errc::would_block);
    CHECK(patient->waits());
}

TEST_CASE(
    "double barrier members: all but the lowest delete their nodes, and the lowest leaves last") {
    client_members c(3);
    member a = c.inside(0);
    member b = c.inside(1);
    c.members.add(a, barrier_phase::leaving);
    c.members.add(b, barrier_phase::leaving);
    CHECK(c.begins_pass() == "list ");
    response_fields list = c.listing({a->name, b->name, other(2), other(3)});
    CHECK_FALSE(c.members.read(nullptr, &list));
    CHECK(a->node == member_node::exists);
    CHECK(b->node == member_node::unwanted);
    CHECK(c.members.target() == other(2));

    CHECK(c.members.due());
    CHECK(c.begins_pass() == "list ");
    c.members.deleted(*b, {});
    list = c.listing({a->name, other(2), other(3)});
    c.members.read(nullptr, &list);
    CHECK_FALSE(c.members.due());
    CHECK(c.members.target() == other(2));
    CHECK(c.members.take_finished().empty());

    // The event of that node.
    CHECK(c.begins_pass() == "list ");
    list = c.listing({a->name, other(3)});
    c.members.read(nullptr, &list);
    CHECK(a->node == member_node::unwanted);
    CHECK(c.members.target().empty());
    CHECK(c.begins_pass() == "list ");
    SECTION("it is deleted") {
        c.members.deleted(*a, {});
        list = c.listing({other(3)});
        c.members.read(nullptr, &list);
        CHECK(c.members.take_finished() == std::vector{a, b});
        CHECK_FALSE(a->result);
        CHECK(a->phase == barrier_phase::outside);
    }
    SECTION("it is deleted later") {
        c.members.deleted(*a, zk_errc::connection_loss);
        c.members.failed(zk_errc::connection_loss);
        CHECK(c.members.due());
        CHECK(a->node == member_node::unwanted);
        CHECK(c.begins_pass() == "list ");
    }
    SECTION("it cannot be deleted") {
        c.members.deleted(*a, zk_errc::no_auth);
        CHECK(c.members.take_finished() == std::vector{a});
        CHECK(a->result == zk_errc::no_auth);
        CHECK(b->phase == barrier_phase::leaving);
    }
}

TEST_CASE("double barrier members: a round that is over keeps nobody") {
    client_members c(3);
    member a = c.inside(0);
    c.members.add(a, barrier_phase::leaving);
    response_fields list = c.listing({a->name, other(1)});
    SECTION("the parent was deleted") {
        c.begins_pass();
        c.members.parent_missing();
    }
    SECTION("the parent was re-created") {
        c.begins_pass();
        c.parent = 78;
        list = c.listing({other(0), other(1)});
        c.members.read(nullptr, &list);
    }
    SECTION("the next round has started") {
        member late = c.enters();
        CHECK(c.begins_pass() == "get list ");
        c.created(*late, 6);
        const response_fields get = c.record("round=2 size=3 last=5", 4);
        list = c.listing({other(3), other(4), other(5), late->name});
        c.members.read(&get, &list);
        CHECK(late->waits());
    }
    CHECK(c.members.take_finished() == std::vector{a});
    CHECK(a->phase == barrier_phase::outside);
    CHECK_FALSE(a->result);
}

TEST_CASE("double barrier members: a node whose create got no response is looked for") {
    client_members c(2);
    member a = c.enters();
    c.begins_pass();
    const std::string prefix = c.name(*a);
    c.members.created(*a, zk_errc::connection_loss, {});
    c.members.failed(zk_errc::connection_loss);
    CHECK(a->node == member_node::in_doubt);
    const bool given_up = GENERATE(false, true);
    if (given_up)
        c.members.give_up(*a);
    CHECK(c.begins_pass() == "sync get list ");
    const response_fields get = c.record("", 1);
    auto may_come_later = [&] {
        const auto late = c.members.take_late();
        REQUIRE(late.size() == 1);
        CHECK(late.front().prefix == prefix);
        CHECK(late.front().session == 1);
        CHECK(a->node == member_node::none);
        CHECK(a->phase == (given_up ? barrier_phase::outside : barrier_phase::entering));
    };
    SECTION("it exists") {
        const response_fields list = c.listing({other(0), with_sequence(prefix, 1)});
        const auto round = c.members.read(&get, &list);
        CHECK(c.members.take_late().empty());
        CHECK(a->name == with_sequence(prefix, 1));
        CHECK(a->node == (given_up ? member_node::unwanted : member_node::exists));
        CHECK(round.has_value() != given_up);
    }
    SECTION("it may come later") {
        const response_fields list = c.listing({other(0)});
        CHECK_FALSE(c.members.read(&get, &list));
        may_come_later();
        CHECK(c.members.due());
    }
    SECTION("the parent is missing: it may come later, when there is one again") {
        c.members.parent_missing();
        may_come_later();
    }
    SECTION("the listing is refused") {
        c.members.failed(zk_errc::no_auth);
        CHECK(c.members.take_late().empty() != given_up);
        if (!given_up)
            c.members.failed(zk_errc::no_auth);
        CHECK(a->phase == barrier_phase::outside);
        CHECK(a->result == zk_errc::no_auth);
    }
}

TEST_CASE("double barrier members: the end of a session") {
    client_members c(3);
    SECTION("one that waits enters again, as the same participant") {
        member a = c.enters();
        c.begins_pass();
        c.created(*a, 0);
        c.read(c.record("", 1));
        const std::string before = a->name;
        c.members.session_is(1, false);
        CHECK(a->node == member_node::none);
        c.session = 2;
        CHECK(c.begins_pass() == "get ");
        const std::string now = c.name(*a);
        CHECK(now.substr(0, 16) == before.substr(0, 16));
        CHECK(now != before.substr(0, now.size()));
    }
    SECTION("one inside has left it") {
        member a = c.inside(0);
        c.members.add(a, barrier_phase::leaving);
        c.session = 2;
        c.begins_pass();
        CHECK(c.members.take_finished() == std::vector{a});
        CHECK(a->result == zk_errc::session_expired);
    }
    SECTION("one whose node was deleted goes on, and asks a server that may lag behind") {
        member a = c.inside(1);
        c.members.add(a, barrier_phase::leaving);
        c.begins_pass();
        response_fields list = c.listing({other(0), a->name});
        c.members.read(nullptr, &list);
        CHECK(c.members.target() == other(0));
        CHECK(c.begins_pass().empty());  // what to watch is known
        c.members.deleted(*a, {});
        CHECK_FALSE(c.members.read(nullptr, nullptr));
        CHECK_FALSE(c.members.due());
        CHECK(c.members.target() == other(0));
        c.session = 2;
        CHECK(c.begins_pass() == "sync list ");
        list = c.listing({other(0)});
        c.members.read(nullptr, &list);
        CHECK(c.members.target() == other(0));
        CHECK(c.begins_pass() == "list ");
        list = c.listing({});
        c.members.read(nullptr, &list);
        CHECK(c.members.take_finished() == std::vector{a});
        CHECK_FALSE(a->result);
    }
    SECTION("one that has given up is outside") {
        member a = c.enters();
        c.begins_pass();
        c.created(*a, 0);
        c.members.give_up(*a);
        c.session = 2;
        c.begins_pass();
        CHECK(c.members.take_finished() == std::vector{a});
    }
}

TEST_CASE("double barrier members: what a failed create means") {
    client_members c(2);
    member a = c.enters();
    c.begins_pass();
    c.name(*a);
    SECTION("the parent is missing, or the server was too busy or without a quorum: again") {
        c.members.created(*a,
                          GENERATE(make_error_code(zk_errc::no_node),
                                   make_error_code(zk_errc::throttled),
                                   make_error_code(zk_errc::not_read_only)),
                          {});
        CHECK(c.members.due());
        CHECK(a->phase == barrier_phase::entering);
        CHECK(a->node == member_node::none);
    }
    SECTION("its call ends while the record is read, which is refused: its node is deleted") {
        c.created(*a, 0);
        c.members.give_up(*a);
        c.members.failed(zk_errc::no_auth);
        CHECK(c.members.take_finished().empty());
        CHECK(a->node == member_node::unwanted);
        CHECK(c.members.due());
        c.members.deleted(*a, {});
        CHECK(c.members.take_finished() == std::vector{a});
    }
    SECTION("it is refused") {
        c.members.created(*a, zk_errc::no_auth, {});
        CHECK(c.members.take_finished() == std::vector{a});
        CHECK(a->result == zk_errc::no_auth);
    }
    SECTION("a server without a quorum is left for another one") {
        c.members.failed(zk_errc::not_read_only);
        CHECK_FALSE(c.members.due());
        CHECK(a->phase == barrier_phase::entering);
    }
    SECTION("the data of others") {
        c.created(*a, 0);
        c.read(c.record("data of others", 1));
        CHECK(a->node == member_node::unwanted);
        c.members.deleted(*a, {});
        CHECK(a->result == errc::foreign_data);
    }
    SECTION("a name of others") {
        c.members.created(*a, {}, "without-a-number");
        CHECK(a->node == member_node::unwanted);
        CHECK(a->result == errc::foreign_data);
    }
}

}  // namespace corozk::testing::double_barrier_members_test
