// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/admin.hpp"
#include "corozk/testing/error.hpp"
#include "corozk/testing/eventually.hpp"
#include "corozk/testing/fault_proxy.hpp"
#include "corozk/testing/server.hpp"
#include "jute.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace corozk::testing::fault_proxy_rule_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/** A proxy with a session through it and a hand at the server. */
struct scene {
    scene() {
        hand.erase_recursively("/rule");
        hand.plant("/rule");
        zk.emplace(proxy.port());
    }
    ~scene() {
        zk.reset();
        hand.erase_recursively("/rule");
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    /** Connects again with the same session. */
    void reconnect() {
        // An attempt that fails leaves `zk` empty; the next one needs the same session.
        if (zk)
            last = raw_session_options{.session_id = zk->session_id(), .password = zk->password()};
        zk.emplace(proxy.port(), last);
    }

    std::string set_request(std::string_view data) const {
        detail::jute_writer writer;
        return writer.buffer("/rule").buffer(data).int32(-1).bytes();
    }

    raw_session_options last;
    admin hand{shared_server().port()};
    fault_proxy proxy{shared_server().port()};
    std::optional<raw_session> zk;
};

template <class Action>
bool connection_lost(Action what) {
    try {
        what();
        return false;
    } catch (const zookeeper_error& error) {
        return error.code() == zk_code::connection_loss;
    }
}

}  // namespace

TEST_CASE("a dropped request is not applied") {
    scene s;
    const auto rule = s.proxy.arm(at_op(op_code::create), drop_request_and_cut());
    CHECK(s.proxy.fired(rule) == 0);
    CHECK(connection_lost([&] { s.zk->create("/rule/x"); }));
    CHECK(s.proxy.fired(rule) == 1);
    CHECK_FALSE(s.hand.exists("/rule/x"));
    s.reconnect();
    s.zk->create("/rule/x");
    CHECK(s.hand.exists("/rule/x"));
}

TEST_CASE("a request whose reply is swallowed is applied") {
    scene s;
    s.proxy.arm(at_op(op_code::create, 2), swallow_reply_and_cut());
    s.zk->create("/rule/x");
    CHECK(connection_lost([&] { s.zk->create("/rule/y"); }));
    CHECK(s.hand.exists("/rule/y"));
    CHECK(s.proxy.log().back().fate == frame_fate::swallowed);
    s.reconnect();
    CHECK(s.zk->exists("/rule/y"));
}

TEST_CASE("a connection is cut behind a reply") {
    scene s;
    s.proxy.arm(at_op(op_code::create), cut_after_reply());
    CHECK(s.zk->create("/rule/x") == "/rule/x");
    CHECK(connection_lost([&] { s.zk->exists("/rule/x"); }));
    s.reconnect();
    CHECK(s.zk->exists("/rule/x"));
}

TEST_CASE("every request of a run can be hit by its number") {
    const auto run = [](scene& s) {
        s.zk->create("/rule/x");
        s.zk->set("/rule/x", "1");
        s.zk->erase("/rule/x");
    };
    std::uint64_t length = 0;
    {
        scene s;
        run(s);
        length = s.proxy.requests();
    }
    REQUIRE(length == 3);
    for (std::uint64_t k = 1; k <= length; ++k) {
        for (const bool delivered : {false, true}) {
            scene s;
            s.proxy.arm(at_request(k),
                        delivered ? swallow_reply_and_cut() : drop_request_and_cut());
            CHECK(connection_lost([&] { run(s); }));
            const auto applied = k - (delivered ? 0 : 1);
            const auto stat = s.hand.stat("/rule/x");
            CHECK(stat.has_value() == (applied == 1 || applied == 2));
            CHECK((stat ? stat->version : 0) == (applied == 2 ? 1 : 0));
            CHECK(s.proxy.requests() == k);
        }
    }
}

TEST_CASE("of pipelined requests those before the fault are answered, those behind not delivered") {
    scene s;
    const auto what = GENERATE(drop_request_and_cut(), swallow_reply_and_cut(), cut_after_reply());
    s.proxy.arm(at_request(3), what);
    const auto first = s.zk->send(op_code::set_data, s.set_request("1"));
    const auto second = s.zk->send(op_code::set_data, s.set_request("2"));
    const auto third = s.zk->send(op_code::set_data, s.set_request("3"));
    const auto fourth = s.zk->send(op_code::set_data, s.set_request("4"));
    CHECK(s.zk->receive(first).error == zk_code::ok);
    CHECK(s.zk->receive(second).error == zk_code::ok);
    if (what.what() == action::kind::cut_after_reply) {
        CHECK(s.zk->receive(third).error == zk_code::ok);
    } else {
        CHECK(connection_lost([&] { s.zk->receive(third); }));
    }
    CHECK(connection_lost([&] { s.zk->receive(fourth); }));
    CHECK(s.hand.data("/rule") == (what.what() == action::kind::drop_request_and_cut ? "2" : "3"));
}

TEST_CASE("a cut waits for the answers before it, or comes at once") {
    scene s;
    const bool at_once = GENERATE(false, true);
    const auto held = s.proxy.arm(at_request(1), hold_reply());
    auto cut = drop_request_and_cut();
    const auto rule = s.proxy.arm(at_request(2), at_once ? std::move(cut).at_once() : cut);
    const auto first = s.zk->send(op_code::set_data, s.set_request("1"));
    s.proxy.wait_for([](const auto& statistics) { return statistics.held == 1; });
    const auto second = s.zk->send(op_code::set_data, s.set_request("2"));
    s.proxy.wait_for([&](const auto& statistics) { return statistics.fired(rule) == 1; });
    s.proxy.release(held);
    if (at_once) {
        CHECK(connection_lost([&] { s.zk->receive(first); }));
    } else {
        CHECK(s.zk->receive(first).error == zk_code::ok);
    }
    CHECK(connection_lost([&] { s.zk->receive(second); }));
    CHECK(s.hand.data("/rule") == "1");
}

TEST_CASE("a cut can be followed by a time without connections") {
    scene s;
    SECTION("that ends by itself") {
        s.proxy.arm(at_op(op_code::create), drop_request_and_cut().then_refuse(5s));
        CHECK(connection_lost([&] { s.zk->create("/rule/x"); }));
        CHECK(connection_lost([&] { s.reconnect(); }));
        eventually([&] {
            s.reconnect();
            return true;
        });
    }
    SECTION("that the test ends") {
        s.proxy.arm(at_op(op_code::create), swallow_reply_and_cut().then_refuse());
        CHECK(connection_lost([&] { s.zk->create("/rule/x"); }));
        CHECK(connection_lost([&] { s.reconnect(); }));
        CHECK(s.hand.exists("/rule/x"));
        s.proxy.set_acceptance(acceptance::normal);
        s.reconnect();
    }
    CHECK(s.zk->exists("/rule"));
}

TEST_CASE("a session whose making was answered into the void exists") {
    scene s;
    SECTION("answer swallowed") {
        s.proxy.arm(at_connect(), swallow_reply_and_cut());
        CHECK(connection_lost([&] { raw_session{s.proxy.port()}; }));
        CHECK(s.proxy.sessions().size() == 2);
        const auto lost = s.proxy.session();
        CHECK(expire_session(shared_server().port(), lost.session_id, lost.password));
    }
    SECTION("request dropped") {
        s.proxy.arm(at_connect(), drop_request_and_cut());
        CHECK(connection_lost([&] { raw_session{s.proxy.port()}; }));
        CHECK(s.proxy.sessions().size() == 1);
    }
}

TEST_CASE("a reply is held until it is released") {
    scene s;
    const auto rule = s.proxy.arm(at_op(op_code::set_data), hold_reply());
    const auto xid = s.zk->send(op_code::set_data, s.set_request("1"));
    s.proxy.wait_for([](const auto& statistics) { return statistics.held == 1; });
    CHECK(s.hand.data("/rule") == "1");
    s.zk->set_operation_timeout(30ms);
    CHECK_THROWS_AS(s.zk->receive(xid), timeout_error);
    s.zk->set_operation_timeout(10s);
    s.proxy.release(rule);
    CHECK(s.zk->receive(xid).error == zk_code::ok);
    CHECK(s.proxy.statistics().held == 0);
}

TEST_CASE("a request is held until it is released, and those behind it wait") {
    scene s;
    const auto rule = s.proxy.arm(at_op(op_code::set_data), hold_request());
    s.zk->send(op_code::set_data, s.set_request("1"));
    const auto second = s.zk->send(op_code::set_data, s.set_request("2"));
    s.proxy.wait_for([](const auto& statistics) { return statistics.held == 1; });
    CHECK(s.hand.data("/rule").empty());
    CHECK(s.proxy.requests() == 1);
    s.proxy.release(rule);
    CHECK(s.zk->receive(second).error == zk_code::ok);
    CHECK(s.proxy.requests() == 2);
    CHECK(s.hand.data("/rule") == "2");
}

TEST_CASE("a rule that is released or disarmed early does nothing") {
    scene s;
    const auto first = s.proxy.arm(at_op(op_code::set_data), hold_request());
    const auto second = s.proxy.arm(at_op(op_code::set_data), hold_request());
    s.proxy.release(first);
    s.proxy.disarm(second);
    s.zk->set("/rule", "1");
    s.proxy.arm(at_op(op_code::set_data).times(0), hold_reply());
    const auto xid = s.zk->send(op_code::set_data, s.set_request("2"));
    s.proxy.disarm_all();
    CHECK(s.zk->receive(xid).error == zk_code::ok);
    s.zk->set("/rule", "3");
}

TEST_CASE("what is held vanishes with its connection") {
    scene s;
    s.proxy.arm(at_op(op_code::set_data), hold_request());
    s.zk->send(op_code::set_data, s.set_request("1"));
    s.proxy.wait_for([](const auto& statistics) { return statistics.held == 1; });
    s.proxy.cut();
    CHECK(s.proxy.statistics().held == 0);
    s.reconnect();
    CHECK(s.zk->get("/rule").first.empty());
}

TEST_CASE("single frames are delayed") {
    scene s;
    const auto what = GENERATE(delay_reply(60ms), delay_request(60ms));
    s.proxy.arm(at_op(op_code::set_data), what);
    const auto begin = std::chrono::steady_clock::now();
    s.zk->set("/rule", "1");
    CHECK(std::chrono::steady_clock::now() - begin >= 60ms);
}

TEST_CASE("a black hole begins at a request") {
    scene s;
    SECTION("and ends by itself") {
        s.proxy.arm(at_request(2), black_hole_from_here(3s));
        s.zk->exists("/");
        s.zk->set_operation_timeout(30ms);
        CHECK_THROWS_AS(s.zk->set("/rule", "1"), timeout_error);
        eventually([&] { return s.hand.data("/rule") == "1"; });
    }
    SECTION("and ends when told") {
        s.proxy.arm(at_request(2), black_hole_from_here());
        s.zk->exists("/");
        s.zk->set_operation_timeout(30ms);
        CHECK_THROWS_AS(s.zk->set("/rule", "1"), timeout_error);
        s.zk->disconnect();
        s.proxy.black_hole(false);
        s.reconnect();
        CHECK(s.zk->get("/rule").first.empty());
    }
}

TEST_CASE("the test acts between two frames") {
    scene s;
    SECTION("before the request arrives") {
        s.proxy.arm(at_op(op_code::get_data), call_at_request([&](const frame_info& frame) {
                        s.hand.set(frame.path, "slipped in");
                    }));
        CHECK(s.zk->get("/rule").first == "slipped in");
    }
    SECTION("before the reply arrives") {
        s.proxy.arm(at_op(op_code::get_data), call_at_reply([&](const frame_info& frame) {
                        s.hand.set(frame.path, "too late");
                    }));
        CHECK(s.zk->get("/rule").first.empty());
        CHECK(s.hand.data("/rule") == "too late");
    }
    SECTION("with the proxy itself") {
        s.proxy.arm(at_op(op_code::get_data), call_at_request([&](const frame_info&) {
                        s.proxy.arm(at_op(op_code::set_data), drop_request_and_cut());
                    }));
        CHECK(s.zk->get("/rule").first.empty());
        CHECK(connection_lost([&] { s.zk->set("/rule", "never"); }));
        s.reconnect();
        s.proxy.arm(at_op(op_code::get_data),
                    call_at_reply([&](const frame_info&) { s.proxy.cut(); }));
        CHECK(connection_lost([&] { s.zk->get("/rule"); }));
    }
}

TEST_CASE("notifications are held, and lost with the connection") {
    scene s;
    s.zk->get("/rule", true);
    SECTION("held") {
        const auto rule = s.proxy.arm(at_notification(), hold_reply());
        s.hand.set("/rule", "1");
        s.proxy.wait_for([](const auto& statistics) { return statistics.held == 1; });
        CHECK_THROWS_AS(s.zk->next_notification(20ms), timeout_error);
        s.proxy.release(rule);
        CHECK(s.zk->next_notification(10s).type == 3);
    }
    SECTION("lost") {
        s.proxy.arm(at_notification(), swallow_reply_and_cut());
        s.hand.set("/rule", "1");
        CHECK(connection_lost([&] { s.zk->next_notification(10s); }));
    }
    SECTION("lost, and with it the answer behind it") {
        s.proxy.arm(at_notification(), swallow_reply_and_cut());
        CHECK(connection_lost([&] { s.zk->set("/rule", "1"); }));
        CHECK(s.hand.data("/rule") == "1");
    }
    CHECK_THROWS_AS(s.proxy.arm(at_notification(), hold_request()), std::invalid_argument);
}

TEST_CASE("a server that stands still does not keep a cut from happening") {
    server zk;
    fault_proxy proxy{zk.port()};
    raw_session session{proxy.port()};
    proxy.arm(at_request(2), drop_request_and_cut());
    detail::jute_writer request;
    request.buffer("/").boolean(false);
    zk.stop();
    session.send(op_code::exists, request.bytes());
    session.send(op_code::exists, request.bytes());
    CHECK(connection_lost([&] { session.receive(2); }));
}

TEST_CASE("the session of a client that nobody knows is expired through what the proxy saw") {
    scene s;
    s.zk->create("/rule/mine", "", node_kind::ephemeral);
    const auto victim = s.proxy.session();
    CHECK(expire_session(shared_server().port(), victim.session_id, victim.password));
    CHECK_FALSE(s.hand.exists("/rule/mine"));
    s.proxy.cut_session(victim.session_id);
    CHECK_THROWS_WITH(s.reconnect(), Catch::Contains("session expired"));
    s.zk.emplace(s.proxy.port());
}

}  // namespace corozk::testing::fault_proxy_rule_test
