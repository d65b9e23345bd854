// SPDX-License-Identifier: Apache-2.0
#include "session/closing_steps.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::closing_steps_test {

using namespace corozk::detail;
using namespace std::chrono_literals;
using action = closing_steps::action;

namespace {

const time_point start = time_point() + 1h;
const error_code expires = errc::session_left_to_expire;

closing_steps::connection_type connection(bool connected, bool settled) {
    closing_steps::connection_type c;
    c.connected = connected;
    c.settled = settled;
    return c;
}

closing_steps begun() {
    closing_steps c;
    CHECK_FALSE(c.active());
    CHECK(c.deadline() == time_point::max());
    c.begin(true, true, start + 1s);
    CHECK(c.draining());
    CHECK(c.deadline() == start + 1s);
    return c;
}

}  // namespace

TEST_CASE("closing: waits for the last responses, says goodbye, is hung up on") {
    closing_steps c = begun();
    CHECK(c.next(connection(true, false), start) == action::wait);
    CHECK(c.next(connection(true, true), start) == action::send_close_request);
    CHECK(c.parting());
    CHECK(c.next(connection(true, true), start) == action::wait);  // once
    CHECK(c.active());
    c.hung_up();
    CHECK_FALSE(c.active());
    CHECK(c.deadline() == time_point::max());
    CHECK(c.next(connection(false, true), start + 2s) == action::finish);
    CHECK_FALSE(c.result());
    CHECK(c.session_ended());
}

TEST_CASE("closing: a server that is silent is sent a ping, once") {
    closing_steps c = begun();
    CHECK(c.next(connection(true, true), start + 400ms) == action::send_close_request);
    CHECK(c.deadline() == start + 600ms);  // after a third of the time
    CHECK(c.next(connection(true, true), start + 599ms) == action::wait);
    CHECK(c.next(connection(true, true), start + 600ms) == action::send_ping);
    CHECK(c.deadline() == start + 1s);
    CHECK(c.next(connection(true, true), start + 700ms) == action::wait);
    CHECK(c.next(connection(true, true), start + 1s) == action::finish);
    c.begin(true, true, start + 1h);
    CHECK(c.next(connection(true, true), start) == action::send_close_request);
    CHECK(c.deadline() == start + 1s);
    CHECK(c.next(connection(true, true), start + 1s) == action::send_ping);
}

TEST_CASE("closing: a session that was left does not make the next one remain") {
    closing_steps c;
    c.begin(true, true, start + 1s, true);
    CHECK(c.next(connection(true, true), start) == action::finish);
    CHECK(c.result() == expires);
    c.begin(true, true, start + 2s);
    CHECK(c.next(connection(true, true), start) == action::send_close_request);
    c.fail();
    CHECK(c.result() == expires);
}

TEST_CASE("closing: without a connection there is nobody to say goodbye to") {
    closing_steps c;
    SECTION("and no session either") {
        c.begin(false, false, start + 1s);
        CHECK_FALSE(c.result());
        CHECK_FALSE(c.session_ended());  // an earlier one may live on
    }
    SECTION("the session is left to expire") {
        c.begin(false, true, start + 1s);
        CHECK(c.result() == expires);
    }
    CHECK_FALSE(c.active());
    CHECK(c.next(connection(false, true), start) == action::finish);
}

TEST_CASE("closing: a connection that is lost leaves the session to expire") {
    closing_steps c = begun();
    CHECK(c.next(connection(false, false), start) == action::wait);  // the responses are to come
    CHECK(c.next(connection(false, true), start) == action::finish);
    CHECK(c.result() == expires);
}

TEST_CASE("closing: the deadline ends each step") {
    closing_steps c = begun();
    SECTION("draining") {
        CHECK(c.next(connection(true, false), start + 999ms) == action::wait);
        // In case that the server is only slow.
        CHECK(c.next(connection(true, false), start + 1s) == action::send_close_request);
        CHECK_FALSE(c.active());
    }
    SECTION("parting") {
        CHECK(c.next(connection(true, true), start + 999ms) == action::send_close_request);
    }
    SECTION("draining, without a connection any more") {
        CHECK(c.next(connection(false, false), start + 999ms) == action::wait);
    }
    CHECK(c.next(connection(c.parting(), true), start + 1s) == action::finish);
    CHECK(c.result() == expires);
}

TEST_CASE("closing: without time to wait, the session is ended nevertheless") {
    closing_steps c;
    c.begin(true, true, start);
    CHECK(c.next(connection(true, GENERATE(false, true)), start) == action::send_close_request);
    CHECK_FALSE(c.active());
    CHECK(c.next(connection(true, true), start) == action::finish);
    CHECK(c.result() == expires);
}

TEST_CASE("closing: a server that confirms the end of the session is not waited for much longer") {
    closing_steps c = begun();
    c.confirmed(start);  // of what was not asked for
    CHECK(c.deadline() == start + 1s);
    const bool late = GENERATE(false, true);
    CHECK(c.next(connection(true, true), start) == action::send_close_request);
    const time_point when = start + (late ? 950ms : 200ms);
    c.confirmed(when);
    CHECK(c.deadline() == (late ? start + 1s : when + 100ms));
    CHECK(c.next(connection(true, true), when + 20ms) == action::wait);
    c.confirmed(when + 20ms);
    CHECK(c.next(connection(true, true), when + 100ms) == action::finish);
    CHECK_FALSE(c.result());
    // The next session's is not confirmed yet.
    c.begin(true, true, start + 9s);
    CHECK(c.next(connection(true, true), start + 9s) == action::send_close_request);
    CHECK(c.next(connection(true, true), start + 9s) == action::finish);
    CHECK(c.result() == expires);
}

TEST_CASE("closing: what else may end it") {
    closing_steps c = begun();
    SECTION("the server says that the session is over") {
        c.hung_up();
        CHECK_FALSE(c.result());
    }
    SECTION("goodbye could not be sent, authentication was refused, the process is a child now") {
        c.fail();
        CHECK(c.result() == expires);
    }
    CHECK_FALSE(c.active());
    CHECK(c.next(connection(true, true), start) == action::finish);
    // And once more, for another session.
    c.begin(true, true, start + 5s);
    CHECK(c.draining());
}

TEST_CASE("closing: a session that is left is not ended, and not left to expire") {
    closing_steps c;
    SECTION("after the last responses") {
        c.begin(true, true, start + 1s, true);
        CHECK(c.draining());
        CHECK(c.next(connection(true, false), start) == action::wait);
        CHECK(c.next(connection(true, true), start) == action::finish);
    }
    SECTION("at the deadline") {
        c.begin(true, true, start + 1s, true);
        CHECK(c.next(connection(true, false), start + 1s) == action::finish);
    }
    SECTION("without a connection") {
        c.begin(false, true, start + 1s, true);
        CHECK(c.next(connection(false, true), start) == action::finish);
    }
    CHECK(c.result() == expires);  // for those that wanted to close it
}

}  // namespace corozk::testing::closing_steps_test
