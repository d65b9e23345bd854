// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/retry.hpp"

#include "scripted_port.hpp"

#include <boost/asio/error.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace corozk::testing::retry_test {

using namespace corozk;
using detail::retry;
using detail::retry_policy;

namespace {

constexpr retry_policy policies[] = {detail::until_closed,
                                     detail::while_reachable,
                                     detail::in_session,
                                     detail::in_session_while_reachable};

/// Every code that an operation can fail with, and some numbers that are none yet.
std::vector<error_code> all_errors() {
    std::vector<error_code> errors{boost::asio::error::operation_aborted};
    for (int code = -130; code < 0; ++code)
        errors.push_back(zk_errc(code));
    for (int code = 1; code <= int(errc::busy) + 3; ++code)
        errors.push_back(errc(code));
    return errors;
}

bool is_one_of(const error_code& ec, std::vector<error_code> these) {
    return std::find(these.begin(), these.end(), ec) != these.end();
}

}  // namespace

TEST_CASE("retry: what each policy outlives, of all error codes") {
    for (retry_policy policy : policies) {
        std::vector<error_code> outlived{zk_errc::connection_loss,
                                         zk_errc::operation_timeout,
                                         zk_errc::session_moved,
                                         zk_errc::throttled};
        if (policy.next_session)
            outlived.push_back(zk_errc::session_expired);
        if (policy.long_outage)
            outlived.push_back(errc::not_connected);
        CHECK_FALSE(detail::is_transient(error_code(), policy));
        for (const error_code& ec : all_errors()) {
            CAPTURE(ec.message(), policy.next_session, policy.long_outage);
            CHECK(detail::is_transient(ec, policy) == is_one_of(ec, outlived));
        }
    }
}

TEST_CASE("retry: an error stays what it is, unless only the end of the session is the reason") {
    for (session_state state : {session_state::connected, session_state::closed}) {
        scripted_port p;
        p.set_state(state, 1);
        bool closed = state == session_state::closed;
        for (retry_policy policy : policies) {
            for (const error_code& was : all_errors()) {
                CAPTURE(was.message(), closed);
                error_code ec = was;
                bool again = retry(p, 1, policy).again(ec);
                CHECK(again == (!closed && detail::is_transient(was, policy)));
                bool ended = closed && detail::is_transient(was, policy);
                CHECK(ec == (ended ? make_error_code(errc::closed) : was));
            }
        }
    }
}

TEST_CASE("retry: a request of one session is not sent in the next") {
    scripted_port p;
    error_code ec = zk_errc::connection_loss;
    CHECK(retry(p, 1).again(ec));
    p.set_state(session_state::connected, 2);
    CHECK_FALSE(retry(p, 1).again(ec));
    CHECK(ec == zk_errc::session_expired);
    ec = zk_errc::connection_loss;
    CHECK(retry(p).again(ec));
    CHECK(retry(p, 0, detail::in_session).again(ec));
}

TEST_CASE("retry: what may have been carried out is remembered, and outlives an outage") {
    scripted_port p;
    retry attempts(p, detail::while_reachable);
    error_code ec = errc::not_connected;
    CHECK_FALSE(attempts.again(ec));
    CHECK_FALSE(attempts.doubtful());
    ec = zk_errc::throttled;
    CHECK(attempts.again(ec));
    CHECK_FALSE(attempts.doubtful());
    ec = zk_errc::connection_loss;
    CHECK(attempts.again(ec));
    CHECK(attempts.doubtful());
    ec = errc::not_connected;
    CHECK(attempts.again(ec));
    ec = zk_errc::node_exists;
    CHECK_FALSE(attempts.again(ec));
    CHECK(attempts.doubtful());
}

}  // namespace corozk::testing::retry_test
