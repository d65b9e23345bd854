// SPDX-License-Identifier: Apache-2.0
// The smaller machines of a session: its requests, and its turns.
#include "session/agenda.hpp"
#include "session/identity.hpp"
#include "session/traffic.hpp"

#include <catch2/catch.hpp>

#include <deque>

namespace corozk::testing::session_parts_test {

using namespace corozk::detail;
using namespace std::chrono_literals;

namespace {

class test_request final : public operation {
public:
    explicit test_request(op_code code = op_code::get) : operation(code, "/") {
        state = progress::queued;
    }
    bool gone = false;

private:
    void finished() noexcept override {}
    void abandoned() noexcept override { gone = true; }
};

const time_point start = time_point() + 1h;

/// What is left to dispatch.
std::vector<operation*> arrivals(traffic& t) {
    std::vector<operation*> result;
    t.begin_dispatch(start);
    while (arrival* a = t.next_arrival())
        result.push_back(a->op);
    return result;
}

}  // namespace

TEST_CASE("traffic: requests are sent in order, and counted until they are answered") {
    traffic t;
    test_request a, b;
    CHECK_FALSE(t.can_send());
    t.queue(a);
    t.queue(b);
    CHECK(t.queued() == 2);
    REQUIRE(t.can_send());
    operation& first = t.take_queued();
    CHECK(&first == &a);
    first.state = operation::progress::sent;
    t.mark_sent(first);
    CHECK(t.in_flight() == 1);
    t.arriving().emplace_back(first);
    CHECK(t.has_arrivals());
    CHECK(arrivals(t) == std::vector<operation*>{&a});
    CHECK_FALSE(t.has_arrivals());
    CHECK(t.arrived_at() == start);
    t.mark_answered(a);
    CHECK(t.in_flight() == 0);
    t.abandon();
    CHECK_FALSE(a.gone);
    CHECK(b.gone);
}

TEST_CASE("traffic: not more in flight than the server can use") {
    traffic t;
    std::deque<test_request> many(send_window::largest + 1);
    for (auto& op : many)
        t.queue(op);
    std::size_t sent = 0;
    for (; t.can_send(); ++sent) {
        operation& op = t.take_queued();
        op.state = operation::progress::sent;
        t.mark_sent(op);
    }
    CHECK(sent == send_window::largest);
    t.mark_answered(many.front());
    CHECK(t.can_send());
    t.abandon();
}

TEST_CASE(
    "traffic: fewer in flight where responses take long, as behind data on a slow connection") {
    constexpr std::chrono::milliseconds session = 12s;
    send_window w;
    w.answered(start, start + 1s, session);
    CHECK(w.size() == send_window::largest);
    // Of all that were sent at once only the first one counts.
    for (auto took : {2001ms, 3000ms, 4000ms})
        w.answered(start, start + took, session);
    CHECK(w.size() == send_window::largest / 2);
    w.answered(start + 2001ms, start + 5s, session);
    CHECK(w.size() == send_window::largest / 4);
    w.answered(start + 5s, start + 5s + 599ms, session);
    CHECK(w.size() == send_window::largest / 4 + 1);
    SECTION("and far fewer after the session was lost for that") {
        w.overwhelmed(300, start + 6s);
        CHECK(w.size() == 75);
        w.overwhelmed(75, start + 7s);
        w.overwhelmed(18, start + 8s);
        CHECK(w.size() == send_window::smallest);
        for (int i = 0; i < 2048; ++i)
            w.answered(start + 9s, start + 9s, session);
        CHECK(w.size() == send_window::largest);
    }
    SECTION("but not where hardly any was") {
        w.overwhelmed(send_window::smallest, start + 6s);
        CHECK(w.size() == send_window::largest / 4 + 1);
    }
}

TEST_CASE("traffic: during a pause nothing is sent, and afterwards everything") {
    traffic t;
    test_request a, b;
    t.queue(a);
    t.pause_until(start + 100ms);
    t.queue(b);
    CHECK_FALSE(t.can_send());
    CHECK(t.resumes_at() == start + 100ms);
    t.resume(start + 99ms);
    CHECK_FALSE(t.can_send());
    // Each request that is throttled begins it anew.
    t.pause_until(start + 200ms);
    t.resume(start + 199ms);
    CHECK_FALSE(t.can_send());
    t.resume(start + 200ms);
    CHECK(t.can_send());
    CHECK(t.resumes_at() == time_point::max());
    t.abandon();
}

TEST_CASE("traffic: a heartbeat is due after silence, and sooner while a response is missing") {
    traffic t;
    test_request a(op_code::set), b(op_code::sync), c(op_code::create);
    t.connected(start);
    CHECK(t.heartbeat_due(12s) == start + 12s);
    auto send = [&](test_request& op, time_point when) {
        op.state = operation::progress::sent;
        op.sent_at = when;
        t.mark_sent(op);
    };
    send(a, start + 5s);
    CHECK(t.heartbeat_due(12s) == start + 6s);
    CHECK(t.heartbeat_due(600ms) == start + 5'600ms);
    send(b, start + 6s);
    CHECK(t.heartbeat_due(12s) == start + 7s);
    // At 1, 2, 4, 8 s, but not more seldom than without a missing response.
    send(c, start + 7s);
    CHECK(t.heartbeat_due(12s) == start + 9s);
    c.sent_at = start + 25s;
    t.mark_answered(c);
    send(c, start + 25s);
    CHECK(t.heartbeat_due(12s) == start + 37s);
    for (auto* op : {&a, &b, &c})
        t.mark_answered(*op);
    CHECK(t.heartbeat_due(12s) == start + 37s);
    t.connected(start + 50s);
    CHECK(t.heartbeat_due(12s) == start + 62s);
}

TEST_CASE("traffic: what any server can answer puts off no heartbeat") {
    traffic t;
    t.connected(start);
    for (op_code code : {op_code::get, op_code::exists, op_code::children, op_code::add_auth}) {
        test_request read(code);
        read.state = operation::progress::sent;
        read.sent_at = start + 5s;
        t.mark_sent(read);
        CHECK(t.heartbeat_due(12s) == start + 6s);
        CHECK(t.heartbeat_due(5'500ms) == start + 5'500ms);
        t.mark_answered(read);
        CHECK(t.heartbeat_due(12s) == start + 12s);
    }
    for (op_code code : {op_code::sync,
                         op_code::create,
                         op_code::erase,
                         op_code::set,
                         op_code::set_acl,
                         op_code::multi,
                         op_code::reconfigure}) {
        test_request write(code);
        write.state = operation::progress::sent;
        write.sent_at = start + 5s;
        t.connected(start);
        t.mark_sent(write);
        t.mark_answered(write);
        CHECK(t.heartbeat_due(12s) == start + 17s);
    }
}

TEST_CASE("traffic: the leader is awaited while nothing but its response is owed") {
    traffic t;
    t.connected(start);
    CHECK(t.leader_awaited_since() == time_point::max());
    test_request read(op_code::get), heartbeat(op_code::sync), later(op_code::get);
    for (auto* op : {&read, &heartbeat, &later}) {
        op->state = operation::progress::sent;
        op->sent_at = start + 5s;
        t.mark_sent(*op);
    }
    CHECK(t.leader_awaited_since() == time_point::max());
    t.arriving().emplace_back(read);
    CHECK(t.leader_awaited_since() == time_point::max());
    t.begin_dispatch(start + 7s);
    CHECK(t.leader_awaited_since() == time_point::max());
    t.mark_answered(*t.next_arrival()->op);
    // Before, the server was busy with the read.
    CHECK(t.leader_awaited_since() == start + 7s);
    t.mark_answered(heartbeat);
    CHECK(t.leader_awaited_since() == time_point::max());
    t.mark_answered(later);
    test_request write(op_code::set);
    write.state = operation::progress::sent;
    write.sent_at = start + 9s;
    t.mark_sent(write);
    CHECK(t.leader_awaited_since() == start + 9s);
    t.mark_answered(write);
}

TEST_CASE("traffic: credentials without a response do not hide that the leader is awaited") {
    traffic t;
    t.connected(start);
    test_request credentials(op_code::add_auth), heartbeat(op_code::sync);
    credentials.state = heartbeat.state = operation::progress::sent;
    credentials.sent_at = start + 1s;
    heartbeat.sent_at = start + 5s;
    t.mark_sent(credentials);
    CHECK(t.leader_awaited_since() == time_point::max());
    t.mark_sent(heartbeat);
    CHECK(t.leader_awaited_since() == start + 5s);
    t.mark_answered(heartbeat);
    CHECK(t.leader_awaited_since() == time_point::max());
    t.mark_answered(credentials);
}

TEST_CASE("traffic: what is refused is answered in order, behind what has arrived") {
    traffic t;
    test_request a, b, c;
    a.queued_at = start;
    b.queued_at = start + 1s;
    c.queued_at = start + 2s;
    for (auto* op : {&a, &b, &c})
        t.queue(*op);
    CHECK(t.deadline(5s) == start + 5s);
    CHECK(t.deadline(time_limit::for_ever()) == time_point::max());
    t.refuse_late(time_limit::for_ever(), start + 24h);
    CHECK(t.queued() == 3);
    t.refuse_late(5s, start + 6s);
    CHECK(t.queued() == 1);
    t.refuse_queued(errc::closed);
    CHECK(t.deadline(5s) == time_point::max());
    CHECK(arrivals(t) == std::vector<operation*>{&a, &b, &c});
    CHECK(b.error == errc::not_connected);
    CHECK(c.error == errc::closed);
    for (auto* op : {&a, &b, &c})
        t.mark_answered(*op);
    CHECK(t.in_flight() == 0);
}

TEST_CASE("traffic: what arrives during a dispatch waits for the next; old session events go") {
    traffic t;
    test_request a, b;
    t.arriving().emplace_back(handle_state::connected);
    t.arriving().emplace_back(a);
    t.arriving().emplace_back(handle_state::disconnected);
    t.begin_dispatch(start);
    CHECK(t.next_arrival()->session == handle_state::connected);
    t.arriving().emplace_back(handle_state::expired);
    t.arriving().emplace_back(b);
    t.begin_dispatch(start);  // the first batch is not done
    t.drop_session_events();
    CHECK(t.next_arrival()->op == &a);
    CHECK(t.next_arrival() == nullptr);
    CHECK(arrivals(t) == std::vector<operation*>{&b});
}

TEST_CASE("agenda: one turn is posted for any number of wishes, and not from inside of a turn") {
    agenda a;
    CHECK(a.want_turn());
    CHECK_FALSE(a.want_turn());
    CHECK(a.take_posted());
    REQUIRE(a.begin_turn());
    CHECK(a.running());
    CHECK_FALSE(a.begin_turn());
    CHECK_FALSE(a.want_turn());
    a.end_turn();
    CHECK_FALSE(a.running());
    CHECK(a.want_turn());
}

TEST_CASE("agenda: a posted turn is not done twice") {
    agenda a;
    CHECK(a.want_turn());
    REQUIRE(a.begin_turn());  // the socket was ready first
    a.end_turn();
    CHECK_FALSE(a.take_posted());
    CHECK(a.want_turn());
    REQUIRE(a.begin_turn());
    a.end_turn();
    CHECK_FALSE(a.want_turn());  // still posted
    CHECK(a.take_posted());
}

TEST_CASE("agenda: around handlers no turn is under way; what they want is done by this one") {
    agenda a;
    REQUIRE(a.begin_turn());
    a.suspend_turn();
    CHECK_FALSE(a.running());
    CHECK_FALSE(a.want_turn());
    a.resume_turn();
    CHECK(a.running());
    a.end_turn();
    CHECK_FALSE(a.take_posted());
    CHECK(a.want_turn());
}

TEST_CASE(
    "agenda: a handler that runs the loop gets turns; after a handler that throws, one is posted") {
    agenda a;
    REQUIRE(a.begin_turn());
    a.suspend_turn();
    REQUIRE(a.begin_turn());  // the socket is ready within the handler
    a.end_turn();
    CHECK(a.want_turn());
    a.resume_turn();
    a.end_turn();
    CHECK_FALSE(a.take_posted());
    REQUIRE(a.begin_turn());
    a.suspend_turn();
    a.end_turn();
    CHECK(a.want_turn());
    CHECK(a.take_posted());
}

TEST_CASE("agenda: stopped it stays stopped") {
    agenda a;
    REQUIRE(a.begin_turn());
    a.suspend_turn();
    a.stop();
    a.suspend_turn();
    a.resume_turn();
    a.end_turn();
    CHECK(a.stopped());
    CHECK_FALSE(a.running());
    CHECK_FALSE(a.want_turn());
    CHECK_FALSE(a.begin_turn());
    CHECK_FALSE(a.take_posted());
}

TEST_CASE("agenda: handlers and deferred work, each once and in order") {
    struct work final : deferred {
        void run() noexcept override {}
    } first, second;
    struct counted final : bound_handler {
        void call(const boost::asio::any_completion_executor&) override {}
        void drop() noexcept override { ++dropped; }
        int dropped = 0;
    } handlers[3];
    agenda a;
    a.defer(first);
    a.defer(second);
    a.defer(first);
    CHECK(&a.take_deferred() == &first);
    CHECK(&a.take_deferred() == &second);
    CHECK_FALSE(a.has_deferred());
    for (auto& h : handlers)
        a.add(completion(&h));
    CHECK_FALSE(a.handled(2));
    CHECK(a.take_handler().release() == &handlers[0]);
    CHECK(a.take_handler().release() == &handlers[1]);
    CHECK(a.handled(2));
    CHECK_FALSE(a.handled(2));
    a.drop_handlers();
    CHECK_FALSE(a.has_handlers());
    CHECK(handlers[0].dropped == 0);
    CHECK(handlers[2].dropped == 1);
}

TEST_CASE("session identity: which session is asked for, and which one lives on at the server") {
    const session_credentials first{1, std::string(16, 'a')};
    const session_credentials second{2, std::string(16, 'b')};
    session_identity identity(first);
    CHECK(identity.at_server(true));
    SECTION("it is continued") {
        CHECK(identity.established(first));
        CHECK_FALSE(identity.to_continue());
        CHECK(identity.at_server(false));
        CHECK_FALSE(identity.established(first));  // a reconnect
        identity.lost();
        CHECK(identity.credentials().id == 1);  // as far as the server has said
        identity.expired();
        CHECK_FALSE(identity.at_server(false));
    }
    SECTION("it had expired, and another one was established") {
        CHECK_FALSE(identity.established(second));
        CHECK_FALSE(identity.to_continue());
        CHECK(identity.credentials().id == 2);
    }
    SECTION("there is no need of it any more") {
        identity = {};
        CHECK_FALSE(identity.at_server(true));
        CHECK_FALSE(identity.at_server(false));
    }
}

}  // namespace corozk::testing::session_parts_test
