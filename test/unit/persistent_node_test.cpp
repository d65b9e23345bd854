// SPDX-License-Identifier: Apache-2.0
// How long a kept node can be relied on: the rule, and the shipped driver against a script of answers.
#include "recipe/toolkit/kept_node.hpp"
#include "recipe/toolkit/lease_term.hpp"
#include "scripted_port.hpp"
#include "session/watch_registry.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

namespace corozk::testing::persistent_node_test {

using namespace corozk;
using namespace corozk::detail;
using namespace std::chrono_literals;

namespace {

struct change {
    bool held;
    error_code reason;
};

struct fixture final : private hold_follower {
    explicit fixture(create_mode mode, std::chrono::milliseconds ttl = 0ms)
        : node(std::make_shared<kept_node>(p, "/a", acl(), kept_node_kind{mode, ttl})) {
        node->follow(*this);
    }

    void keep(time_limit limit = time_limit::for_ever()) {
        auto kept = [this](error_code ec) { answers.push_back(ec); };
        node->keep("x", true, kept, limit);
        REQUIRE(p.asked() == "create /a");
    }

    /// Gives the answer to a read or write of the node.
    void answer(const std::string& question, std::int64_t czxid = 7, const char* data = "x") {
        REQUIRE(p.asked() == question);
        p.front().answer = data;
        p.front().record.czxid = czxid;
        p.front().record.version = version++;
        if (ephemeral)
            p.front().record.ephemeral_owner = p.status().session_id;
        if (p.front().watcher())
            watches.armed(watch_kind::data, "/a", version, p.front().watcher());
        p.answer();
    }

    /// Keeps it; `delay` passes between the request and its response.
    void keep_it(steady_clock::duration delay = 0s) {
        keep();
        p.advance(delay);
        answer("create /a");
        answer("get /a");
        REQUIRE(answers.size() == 1);
        CHECK_FALSE(answers.front());
    }

    void reconnect() {
        p.set_state(session_state::suspended, 1);
        p.set_state(session_state::connected, 1);
    }

    void hold_changed() noexcept override {
        changes.push_back({node->hold().held, node->hold().reason});
    }

    watch_registry watches;
    scripted_port p;
    std::vector<error_code> answers;
    std::vector<change> changes;
    std::int32_t version = 0;
    bool ephemeral = false;
    std::shared_ptr<kept_node> node;
};

fixture with_ttl() {
    return fixture(create_mode::persistent_with_ttl, 10s);
}

}  // namespace

TEST_CASE("lease term: from the sending of the last confirmed write") {
    const time_point start = time_point() + 1h;
    lease_term term;
    CHECK_FALSE(term.holds(start));
    CHECK_FALSE(term.confirmed(start, start + 3s, 10s));
    CHECK(term.until() == start + 10s);
    CHECK(term.holds(start + 10s - 1ns));
    CHECK_FALSE(term.holds(start + 10s));
    // In time.
    CHECK(term.confirmed(start + 5s, start + 10s - 1ns, 10s));
    CHECK(term.until() == start + 15s);
    // One that was sent earlier shortens nothing.
    CHECK(term.confirmed(start + 1s, start + 12s, 10s));
    CHECK(term.until() == start + 15s);
    CHECK_FALSE(term.holds(start + 15s));
    term.end();
    CHECK_FALSE(term.holds(start));
}

TEST_CASE("lease term: a response after its end begins another one, if there is anything left") {
    const time_point start = time_point() + 1h;
    lease_term term;
    term.confirmed(start, start, 10s);
    lease_term late = term;
    CHECK_FALSE(late.confirmed(start + 5s, start + 10s, 10s));
    CHECK(late.until() == start + 15s);
    lease_term too_late = term;
    CHECK_FALSE(too_late.confirmed(start + 5s, start + 15s, 10s));
    CHECK_FALSE(too_late.holds(start + 15s));
}

TEST_CASE("lease term: half of it is left for another attempt, also for the shortest and longest") {
    const time_point start = time_point() + 1h;
    CHECK(renewal_time(start, 10s) == start + 5s);
    CHECK(renewal_time(start, 1ms) == start);
    const std::chrono::milliseconds longest((std::int64_t{1} << 40) - 1);
    lease_term term;
    term.confirmed(start, start, longest);
    CHECK(term.holds(start + longest - 1ns));
    CHECK(renewal_time(start, longest) > start);
}

TEST_CASE("persistent node: a lease is renewed at half of its term, and not lost") {
    fixture f = with_ttl();
    f.keep_it(1s);
    CHECK(f.node->held_until() == time_point() + 10s);
    f.p.advance(4s);
    CHECK(f.p.asked() == "set /a");
    f.p.advance(5s - 1ns);
    f.answer("set /a");
    CHECK(f.node->held_until() == time_point() + 15s);
    REQUIRE(f.changes.size() == 1);
    CHECK(f.changes[0].held);
    f.p.advance(1ns);  // when the first term would have ended
    CHECK(f.p.asked() == "set /a");
    CHECK(f.changes.size() == 1);
}

TEST_CASE("persistent node: a lease is lost while its renewal gets no response") {
    fixture f = with_ttl();
    f.keep_it();
    f.p.advance(5s);
    CHECK(f.p.asked() == "set /a");
    f.p.advance(5s - 1ns);
    CHECK(f.changes.size() == 1);
    f.p.advance(1ns);
    REQUIRE(f.changes.size() == 2);
    CHECK_FALSE(f.changes[1].held);
    CHECK(f.changes[1].reason == errc::lease_expired);
    CHECK(f.node->held_until() == time_point::min());
    // It was only late.
    f.answer("set /a");
    REQUIRE(f.changes.size() == 3);
    CHECK(f.changes[2].held);
    CHECK(f.node->held_until() == time_point() + 15s);
    CHECK(f.node->hold().revision == 3);
}

TEST_CASE("persistent node: a lease lost in a suspended process is not prolonged afterwards") {
    fixture f = with_ttl();
    f.keep_it();
    f.p.advance(5s);
    f.p.suspend(6s);
    f.answer("set /a");  // before any timer
    REQUIRE(f.changes.size() == 3);
    CHECK_FALSE(f.changes[1].held);
    CHECK(f.changes[2].held);
    f.p.suspend(1h);
    f.p.advance(0s);
    CHECK(f.changes.size() == 4);
}

TEST_CASE("persistent node: a lease that arrives after its own end is none") {
    fixture f = with_ttl();
    f.keep_it(10s);
    CHECK(f.changes.empty());
    CHECK(f.node->held_until() == time_point::min());
    f.p.advance(0s);
    f.answer("set /a");
    CHECK(f.changes.size() == 1);
    CHECK(f.node->held_until() == time_point() + 20s);
}

TEST_CASE("persistent node: a lease whose node is gone is lost at once, and gained with the next") {
    fixture f = with_ttl();
    f.keep_it();
    f.p.advance(5s);
    REQUIRE(f.p.asked() == "set /a");
    f.p.answer(zk_errc::no_node);
    REQUIRE(f.changes.size() == 2);
    CHECK(f.changes[1].reason == errc::ownership_lost);
    f.answer("create /a", 8);
    CHECK(f.changes.size() == 3);
    CHECK(f.node->held_until() == time_point() + 15s);
}

TEST_CASE("persistent node: a lease outlives its session, an ephemeral node does not") {
    SECTION("a lease") {
        fixture f = with_ttl();
        f.keep_it();
        f.p.set_state(session_state::lost, 1);
        f.p.set_state(session_state::connected, 2);
        CHECK(f.changes.size() == 1);
        CHECK(f.node->held_until() == time_point() + 10s);
        SECTION("its node is there") {
            REQUIRE(f.p.asked() == "create /a");
            f.p.answer(zk_errc::node_exists);
            f.answer("get /a");
            CHECK(f.changes.size() == 1);
        }
        SECTION("its node was deleted") {
            f.answer("create /a", 8);
            REQUIRE(f.changes.size() == 3);
            CHECK(f.changes[1].reason == errc::ownership_lost);
            CHECK(f.changes[2].held);
        }
        SECTION("its parent was deleted, too") {
            REQUIRE(f.p.asked() == "create /a");
            f.p.answer(zk_errc::no_node);
            REQUIRE(f.changes.size() == 2);
            CHECK(f.changes[1].reason == errc::ownership_lost);
            CHECK(f.p.asked() == "exists /");
        }
        SECTION("another one is in its place") {
            REQUIRE(f.p.asked() == "create /a");
            f.p.answer(zk_errc::node_exists);
            f.answer("get /a", 8);
            REQUIRE(f.changes.size() == 2);
            CHECK(f.changes[1].reason == errc::ownership_lost);
            f.answer("set /a", 8);
            CHECK(f.changes.size() == 3);
        }
    }
    SECTION("an ephemeral node") {
        fixture f(create_mode::ephemeral);
        f.ephemeral = true;
        f.keep_it();
        CHECK(f.node->held_until() == f.p.expiry_deadline());
        f.p.set_state(session_state::lost, 1);
        REQUIRE(f.changes.size() == 2);
        CHECK(f.changes[1].reason == zk_errc::session_expired);
    }
}

TEST_CASE("persistent node: a server without a quorum does not end the keeping") {
    fixture f(create_mode::ephemeral);
    f.ephemeral = true;
    f.keep_it();
    auto cannot_catch_up = [&f](const std::string& read) {
        f.p.set_state(session_state::suspended, 1);
        f.p.answer(zk_errc::connection_loss);
        f.p.set_state(session_state::connected, 1);
        REQUIRE(f.p.asked() == "sync /a");
        f.p.set_state(session_state::read_only, 1);
        f.p.answer(zk_errc::not_read_only);
        f.answer(read);
        CHECK(f.p.asked().empty());
        f.p.set_state(session_state::connected, 1);
        REQUIRE(f.p.asked() == "sync /a");
        f.p.answer();
        f.answer(read);
    };
    SECTION("it is to be written") {
        f.node->change("y", [&f](error_code ec) { f.answers.push_back(ec); });
        f.p.advance(0s);
        REQUIRE(f.p.asked() == "set /a");
        cannot_catch_up("get /a");
        CHECK(f.node->wanted());
        f.answer("set /a");
    }
    SECTION("it is to be deleted") {
        f.node->release([&f](error_code ec) { f.answers.push_back(ec); });
        f.p.advance(0s);
        REQUIRE(f.p.asked() == "erase /a");
        cannot_catch_up("exists /a");
        f.answer("erase /a");
    }
    REQUIRE(f.answers.size() == 2);
    CHECK_FALSE(f.answers.back());
}

TEST_CASE("persistent node: one that was only found is left, whatever is tried next") {
    fixture f(create_mode::persistent);
    f.version = 3;
    auto find_it = [&f] {
        f.keep();
        f.p.answer(zk_errc::node_exists);
        f.answer("get /a", 7, "theirs");
        REQUIRE(f.p.asked() == "set /a");
    };
    find_it();
    SECTION("it cannot be written, twice") {
        f.p.answer(zk_errc::no_auth);
        CHECK(f.answers == std::vector<error_code>{zk_errc::no_auth});
        find_it();
        f.p.answer(zk_errc::no_auth);
        CHECK(f.answers.size() == 2);
    }
    SECTION("a create in the next session gets no response") {
        f.p.set_state(session_state::lost, 1);
        f.p.answer(zk_errc::session_expired);
        for (const char* refused : {"sync /a", "get /a"}) {
            REQUIRE(f.p.asked() == refused);
            f.p.answer(zk_errc::session_expired);
        }
        f.p.set_state(session_state::connected, 2);
        REQUIRE(f.p.asked() == "create /a");
        f.node->release([](error_code) {});
        f.p.answer(zk_errc::connection_loss);
        REQUIRE(f.p.asked() == "sync /a");
        f.p.answer();
        f.answer("get /a", 7, "theirs");
    }
    CHECK(f.p.asked().empty());
}

TEST_CASE("persistent node: what was given up before the client is closed is deleted") {
    const auto mode = GENERATE(create_mode::persistent, create_mode::ephemeral);
    fixture f(mode);
    f.ephemeral = mode == create_mode::ephemeral;
    auto close = [&f] { f.p.set_state(session_state::closed, 1); };
    auto owed = [&f, mode](const char* question) {
        REQUIRE(f.p.asked() == question);
        CHECK(f.p.front().owed);
        CHECK(f.p.front().generation == (mode == create_mode::ephemeral ? 1 : 0));
    };
    auto deleted = [&] {
        owed("sync /a");
        f.p.answer();
        owed("exists /a");
        f.answer("exists /a");
        owed("erase /a");
    };
    auto look_refused = [&f] {
        for (const char* read : {"sync /a", "get /a"}) {
            REQUIRE(f.p.asked() == read);
            f.p.answer(errc::closed);
        }
    };
    SECTION("by its owner") {
        f.keep_it();
        f.node->abandon();
        close();
        deleted();
        f.p.answer();
    }
    SECTION("the server does not take part") {
        f.keep_it();
        f.node->abandon();
        close();
        deleted();
        f.p.answer(GENERATE(make_error_code(zk_errc::not_read_only),
                            make_error_code(zk_errc::throttled),
                            make_error_code(zk_errc::connection_loss),
                            make_error_code(errc::closed)));
    }
    SECTION("while it was looked at") {
        f.keep_it();
        f.reconnect();
        f.node->release([](error_code) {});
        f.p.advance(0s);
        REQUIRE(f.p.asked() == "sync /a");
        close();
        f.p.answer();
        f.answer("exists /a");
        deleted();
        f.p.answer();
    }
    SECTION("as its keep was late") {
        f.keep(1s);
        f.p.advance(1s);
        close();
        f.answer("create /a");
        look_refused();
        deleted();
        f.p.answer();
    }
    SECTION("but not what is kept until then") {
        f.keep_it();
        close();
        f.node->abandon();
    }
    SECTION("nor what is about to be kept") {
        f.keep();
        close();
        f.answer("create /a");
        look_refused();
    }
    f.p.advance(0s);
    CHECK(f.p.asked().empty());
}

TEST_CASE("persistent node: a look behind a sync that was refused shows nothing") {
    fixture f(create_mode::ephemeral);
    f.ephemeral = true;
    f.keep_it();
    f.reconnect();
    CHECK(f.p.asked().empty());
    f.watches.fire(watch_kind::data, "/a", watch_event_type::erased);
    f.p.advance(0s);
    REQUIRE(f.p.asked() == "sync /a");
    f.p.answer(zk_errc::throttled);
    f.answer("get /a", 8);
    CHECK(f.p.asked() == "sync /a");
}

TEST_CASE("persistent node: a release goes on if what was to be done before is refused") {
    auto release = [](fixture& f) {
        f.node->release([&f](error_code ec) { f.answers.push_back(ec); });
        f.p.advance(0s);
    };
    auto released = [](fixture& f) {
        REQUIRE(f.answers.size() == 1);
        f.answer("erase /a");
        REQUIRE(f.answers.size() == 2);
        CHECK_FALSE(f.answers.back());
        CHECK(f.p.asked().empty());
        CHECK(f.p.logged.empty());
    };
    SECTION("it may not be read any more") {
        fixture f(create_mode::ephemeral);
        f.ephemeral = true;
        f.keep_it();
        f.reconnect();
        error_code changed;
        f.node->change("y", [&changed](error_code ec) { changed = ec; });
        f.p.advance(0s);
        REQUIRE(f.p.asked() == "sync /a");
        f.p.answer();
        REQUIRE(f.p.asked() == "get /a");
        release(f);
        CHECK(changed == boost::asio::error::operation_aborted);
        f.p.answer(zk_errc::no_auth);
        REQUIRE(f.p.asked() == "sync /a");
        f.p.answer();
        f.answer("exists /a");
        released(f);
    }
    SECTION("its lease may not be renewed any more") {
        fixture f = with_ttl();
        f.keep_it();
        f.p.advance(5s);
        REQUIRE(f.p.asked() == "set /a");
        release(f);
        f.p.answer(zk_errc::no_auth);
        released(f);
    }
}

TEST_CASE("persistent node: who joins one that is being kept does not depend on the first") {
    fixture f(create_mode::persistent);
    std::vector<error_code> first;
    std::vector<error_code> second;
    auto keep = [&](time_limit limit) {
        f.node->keep(
            "x", true, [&](error_code ec) { first.push_back(ec); }, limit);
    };
    auto join = [&](time_limit limit) {
        f.node->join(
            "x", [&](error_code ec) { second.push_back(ec); }, limit);
    };
    SECTION("the first one is late") {
        keep(1s);
        join(time_limit::for_ever());
        f.p.advance(1s);
        CHECK(first == std::vector<error_code>{errc::deadline_exceeded});
        CHECK(f.node->wanted());
        f.answer("create /a");
        f.answer("set /a");
        f.answer("get /a");
        CHECK(second == std::vector<error_code>{error_code()});
        CHECK(f.node->wanted());
    }
    SECTION("the second one is late") {
        keep(time_limit::for_ever());
        join(1s);
        f.p.advance(1s);
        CHECK(second == std::vector<error_code>{errc::deadline_exceeded});
        CHECK(f.node->wanted());
        f.answer("create /a");
        f.answer("set /a");
        f.answer("get /a");
        CHECK(first == std::vector<error_code>{error_code()});
        CHECK(f.node->wanted());
    }
    SECTION("both are late: it is not kept") {
        keep(1s);
        join(2s);
        f.p.advance(2s);
        CHECK(first == std::vector<error_code>{errc::deadline_exceeded});
        CHECK(second == std::vector<error_code>{errc::deadline_exceeded});
        CHECK_FALSE(f.node->wanted());
        f.answer("create /a");
        f.answer("erase /a");
    }
    SECTION("one that only changes it ends with it") {
        keep(1s);
        f.node->change("y", [&](error_code ec) { second.push_back(ec); });
        f.p.advance(1s);
        CHECK_FALSE(f.node->wanted());
        f.answer("create /a");
        f.answer("erase /a");
        CHECK(second == std::vector<error_code>{errc::not_a_member});
    }
    SECTION("one that comes when it is kept already leaves it") {
        keep(time_limit::for_ever());
        f.answer("create /a");
        f.answer("get /a");
        CHECK(first == std::vector<error_code>{error_code()});
        join(1s);
        f.p.advance(1s);
        CHECK(second == std::vector<error_code>{errc::deadline_exceeded});
        CHECK(f.node->wanted());
        f.answer("set /a");
    }
    CHECK(f.p.asked().empty());
}

TEST_CASE("persistent node: what is given up is not held, without a reason") {
    fixture f = with_ttl();
    f.keep_it();
    f.node->release([](error_code) {});
    REQUIRE(f.changes.size() == 2);
    CHECK_FALSE(f.changes[1].held);
    CHECK_FALSE(f.changes[1].reason);
    f.p.advance(0s);
    REQUIRE(f.p.asked() == "erase /a");
    f.p.answer();
    CHECK(f.changes.size() == 2);
}

}  // namespace corozk::testing::persistent_node_test
