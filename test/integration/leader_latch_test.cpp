// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/leader_latch.hpp>

#include <boost/asio/deferred.hpp>

namespace corozk::testing::leader_latch_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

std::size_t candidates(const std::string& path) {
    return observer().children(path).size();
}

awaitable<void> nothing_left(const std::string& path) {
    co_await eventually_async([&] { return candidates(path) == 0; });
    co_await eventually_async([&] { return watches_below(path) == 0; });
}

}  // namespace

TEST_CASE("leader_latch: leads, resigns, leads again, closes, starts again") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        leader_latch a(zk, path, election_options("a"));
        leader_latch b(other, path, election_options("b"));
        CHECK(a.path() == path);
        CHECK(a.status().state == latch_state::idle);
        auto [early, none] = co_await a.wait_leadership(as_tuple());
        CHECK(early == errc::not_a_member);
        a.start();
        CHECK(a.status().state == latch_state::candidate);
        std::int64_t first = co_await a.wait_leadership();
        CHECK(a.has_leadership());
        CHECK(a.status().state == latch_state::leader);
        CHECK(a.status().fencing_token == first);
        auto record = observer().stat(a.term_path());
        REQUIRE(record);
        CHECK(record->czxid == first);
        CHECK(record->ephemeral_owner == zk.session_id());
        CHECK(co_await a.wait_leadership() == first);  // at once
        b.start();
        b.start();  // no second candidate
        co_await eventually_async([&] { return candidates(path) == 2; });
        auto [late, none2] =
            co_await b.wait_leadership_until(std::chrono::steady_clock::now() + 30ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        CHECK(candidates(path) == 2);  // it stays a candidate
        pending_result<std::int64_t> second;
        b.wait_leadership(second.handler());
        co_await settle(other);
        CHECK_FALSE(b.has_leadership());
        latch_status seen = a.status();
        co_await a.resign();
        CHECK_FALSE(a.has_leadership());
        latch_status now = co_await a.next_status(seen);
        CHECK(now.state == latch_state::candidate);
        CHECK(now.revision > seen.revision);
        CHECK_FALSE(now.reason);
        CHECK(!co_await finished(second));
        CHECK(second.value() > first);
        CHECK(b.has_leadership());
        co_await eventually_async([&] { return candidates(path) == 2; });
        auto [not_leading] = co_await a.resign(as_tuple());
        CHECK(not_leading == errc::ownership_lost);
        // Closed: the next one leads, with what it said of itself.
        co_await b.acknowledge();
        election_leader leader = co_await a.as_election().get_leader();
        CHECK(leader.identity == "b");
        CHECK(leader.acknowledged);
        CHECK(leader.fencing_token == second.value());
        co_await b.close();
        CHECK(b.status().state == latch_state::idle);
        CHECK_FALSE(b.has_leadership());
        CHECK(b.term_path().empty());
        std::int64_t third = co_await a.wait_leadership();
        CHECK(third > second.value());
        CHECK(candidates(path) == 1);  // the acknowledgement has gone with its term
        co_await b.close();            // nothing to close
        b.start();
        co_await eventually_async([&] { return candidates(path) == 2; });
        co_await a.close();
        co_await b.wait_leadership();
        // Alone: who resigns leads again.
        std::int64_t before = b.status().fencing_token;
        co_await b.resign();
        CHECK(co_await b.wait_leadership() > before);
        co_await b.close();
        CHECK(candidates(path) == 0);
        co_await nothing_left(path);
        co_await other.close();
    });
}

TEST_CASE("leader_latch: a third party erases the leader's or the candidate's node") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        leader_latch a(zk, path);
        leader_latch b(other, path);
        a.start();
        co_await a.wait_leadership();
        b.start();
        co_await eventually_async([&] { return candidates(path) == 2; });
        latch_status seen = a.status();
        observer().erase(a.term_path());
        latch_status now = co_await a.next_status(seen);
        CHECK(now.state == latch_state::candidate);
        CHECK(now.reason == errc::ownership_lost);
        CHECK_FALSE(a.has_leadership());
        co_await b.wait_leadership();
        // It is a candidate again, behind the other one.
        co_await eventually_async([&] { return candidates(path) == 2; });
        CHECK_FALSE(a.has_leadership());
        // The whole folder.
        seen = b.status();
        observer().erase_recursively(path);
        now = co_await b.next_status(seen);
        CHECK(now.reason == errc::ownership_lost);
        co_await eventually_async([&] { return a.has_leadership() || b.has_leadership(); });
        co_await eventually_async([&] { return candidates(path) == 2; });
        CHECK(a.has_leadership() != b.has_leadership());
        co_await a.close();
        co_await b.wait_leadership();
        co_await b.close();
        co_await nothing_left(path);
        co_await other.close();
    });
}

TEST_CASE("leader_latch: writes of the term only") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        leader_latch a(zk, path);
        auto step = [&](const char* data) {
            transaction steps;
            steps.set(path + "-data", data);
            return steps;
        };
        observer().plant(path + "-data", "0");
        auto [no_term, none] = co_await a.commit(step("1"), as_tuple());
        CHECK(no_term == errc::ownership_lost);
        try {
            co_await a.read(path + "-data");
            FAIL("no error");
        } catch (const error& e) {
            CHECK(e.code() == errc::ownership_lost);
            CHECK(e.operation() == "leader_latch.read");
            CHECK(e.path() == path + "-data");
        }
        leader_latch nobody;
        auto [never] = co_await nobody.wait_release_requested(as_tuple());
        CHECK(never == errc::closed);
        a.start();
        co_await a.wait_leadership();
        co_await a.commit(step("2"));
        node_data read = co_await a.read(path + "-data");
        CHECK(read.data == "2");
        pending_result<> asked;
        a.wait_release_requested(asked.handler());
        co_await a.as_election().request_release(a.term_path());
        CHECK(!co_await finished(asked));
        const latch_status led = a.status();
        observer().erase(a.term_path());
        auto [late, none2] = co_await a.commit(step("3"), as_tuple());
        CHECK((!late || late == errc::ownership_lost));  // it may be of the next term already
        co_await a.next_status(led);
        co_await a.wait_leadership();
        auto of_this_term = a.commit(step("4"), boost::asio::deferred);
        co_await a.resign();
        co_await a.wait_leadership();
        auto [next_term, none4] = co_await std::move(of_this_term)(as_tuple());
        CHECK(next_term == errc::ownership_lost);
        co_await a.close();
        auto [closed, none3] = co_await a.commit(step("4"), as_tuple());
        CHECK(closed == errc::ownership_lost);
        CHECK(observer().data(path + "-data") != "4");
    });
}

TEST_CASE("leader_latch: what can never lead says so") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        leader_latch bad(zk, "relative");
        bad.start();
        auto [ec, none] = co_await bad.wait_leadership(as_tuple());
        CHECK(ec == errc::bad_path);
        co_await eventually_async([&] { return bad.status().state == latch_state::idle; });
        CHECK(bad.status().reason == errc::bad_path);
        auto [again, none2] = co_await bad.wait_leadership(as_tuple());
        CHECK(again == errc::bad_path);

        // Nobody may create anything here.
        std::vector<corozk::testing::acl_entry> read_only(1);
        read_only[0].permissions = 1;
        observer().plant(path, "", node_kind::persistent, read_only);
        leader_latch denied(zk, path);
        denied.start();
        auto [no_auth, none3] = co_await denied.wait_leadership(as_tuple());
        CHECK(no_auth == zk_errc::no_auth);

        // The client is closed.
        leader_latch a(zk, path + "-closed");
        a.start();
        co_await a.wait_leadership();
        pending_result<latch_status> change;
        a.next_status(a.status(), change.handler());
        co_await zk.close();
        co_await finished(change);
        CHECK(change.calls() == 1);
        CHECK_FALSE(a.has_leadership());
        co_await eventually_async([&] { return a.status().state == latch_state::idle; });
        auto [no_change, nothing] = co_await a.next_status(a.status(), as_tuple());
        CHECK(no_change == errc::closed);
        a.start();
        auto [closed, none4] = co_await a.wait_leadership(as_tuple());
        CHECK(closed == errc::closed);
        leader_latch moved = std::move(a);
        auto [empty, none5] = co_await a.wait_leadership(as_tuple());
        CHECK(empty == errc::closed);
        CHECK_FALSE(a.has_leadership());
    });
}

TEST_CASE("leader_latch: destroyed while it leads, waits, resigns") {
    for (int how = 0; how < 4; ++how) {
        with_client([how](client& zk, std::string path) -> awaitable<void> {
            leader_latch other(zk, path);
            if (how == 1) {
                other.start();
                co_await other.wait_leadership();
            }
            auto a = std::make_unique<leader_latch>(zk, path);
            pending_result<std::int64_t> leads;
            pending_result<> resigned;
            a->start();
            a->wait_leadership(leads.handler());
            if (how != 1 && how != 3)
                co_await finished(leads);
            if (how == 2)
                a->resign(resigned.handler());
            a.reset();
            co_await finished(leads);
            CHECK(leads.calls() == 1);
            if (how == 2) {
                co_await finished(resigned);
                CHECK(resigned.calls() == 1);
            }
            if (how == 1)
                co_await other.close();
            co_await nothing_left(path);
        });
    }
}

TEST_CASE("leader_latch: whoever asks while it ends is told why") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        leader_latch leader(zk, path);
        leader.start();
        co_await leader.wait_leadership();
        client other = co_await one_more_client();
        leader_latch candidate(other, path);
        candidate.start();
        co_await eventually_async([&] { return candidates(path) == 2; });
        { client gone = std::move(other); }
        while (candidate.status().state != latch_state::idle) {
            auto [ec, token] = co_await candidate.wait_leadership(as_tuple());
            CHECK(ec == errc::closed);
        }
        CHECK(candidate.status().reason == errc::closed);
        co_await leader.close();
        co_await nothing_left(path);
    });
}

}  // namespace corozk::testing::leader_latch_test
