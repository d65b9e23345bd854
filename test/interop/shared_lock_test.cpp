// SPDX-License-Identifier: Apache-2.0
// The shared lock, with Curator's InterProcessReadWriteLock and Kazoo's ReadLock and WriteLock on
// the same path.
#include "contest.hpp"
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::testing::shared_lock_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

shared_lock_options options_with(party_kind which) {
    shared_lock_options options(our_party);
    options.compatibility =
        which == party_kind::curator ? compatibility::curator : compatibility::kazoo;
    return options;
}

contest shared_contest(party_kind with) {
    contest c;
    c.with = with;
    c.kind = "shared";
    c.roles = {"read", "write", "read"};
    c.goal.handovers = 250;
    c.goal.together = 20;
    c.recipe = [with](client& zk, std::string path) -> acquire_function {
        auto ours = std::make_shared<shared_lock>(zk, path, options_with(with));
        return [ours](std::string role) -> boost::asio::awaitable<ownership> {
            if (role == "read") {
                ownership reading = co_await ours->acquire_read();
                co_return reading;
            }
            ownership writing = co_await ours->acquire_write();
            co_return writing;
        };
    };
    return c;
}

}  // namespace

TEST_CASE("our shared lock and Curator's read/write lock exclude each other") {
    turns result = contend(shared_contest(party_kind::curator));
    CHECK(result.together >= 20);
}

// Kazoo 2.8's reader waits for the last writer of all, those behind it included, who wait for it
// (Kazoo issue 649). So its readers cannot contend freely with anybody's writers, not even its own:
// writers contend with ours here, and its readers take turns with our writer below.

TEST_CASE("our shared lock and Kazoo's write lock exclude each other") {
    contest c = shared_contest(party_kind::kazoo);
    c.goal.together = 0;
    c.more = {"roles=write"};
    turns result = contend(c);
    CHECK(result.to_them >= 250);
}

TEST_CASE("our writer and Kazoo's reader take turns") {
    constexpr int rounds = 250;
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        client pen = co_await interop_client();
        record book(std::move(pen), at.record_path, contest_goal());
        shared_lock ours(zk, at.path, options_with(party_kind::kazoo));
        ownership writing = co_await ours.acquire_write();
        party theirs(
            party_kind::kazoo,
            at.arguments({"task=read_in_turn", "kind=shared", "count=" + std::to_string(rounds)}));
        for (int i = 0; i < rounds; ++i) {
            std::string role = "write";
            std::string marker = co_await book.enter(role);
            auto it_waits = [&] { return at.hand.children(at.path).size() == 2; };
            co_await theirs.until(it_waits, "queueing behind our writer");
            co_await book.leave(marker);
            co_await writing.release();
            // It releases after it has seen our node, not before.
            auto it_reads = [&] { return at.result().theirs == i + 1; };
            co_await theirs.until(it_reads, "reading");
            writing = co_await ours.acquire_write();
        }
        co_await writing.release();
        co_await theirs.end();
        co_await book.close();
    });
    CHECK(violations(at.hand, at.record_path) == std::vector<std::string>());
    turns result = at.result();
    CHECK(result.to_us == rounds);
    CHECK(result.to_them == rounds);
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("readers of both parties are inside together, and a writer waits for both") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        shared_lock ours(zk, at.path, options_with(which));
        ownership reading = co_await ours.acquire_read();
        party theirs(which, at.arguments({"task=hold", "kind=shared", "role=read"}));
        auto they_read = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_read, "reading beside us");
        CHECK(reading.valid());

        pending_result<ownership> writing;
        ours.acquire_write(writing.handler());
        auto all_are_there = [&] { return at.hand.children(at.path).size() == 3; };
        co_await theirs.until(all_are_there, "our writer's node");
        std::vector<contender_info> line = co_await ours.list_contenders();
        REQUIRE(line.size() == 3);
        CHECK(line[0].kind == "read");
        CHECK(line[0].holds);
        CHECK(line[1].kind == "read");
        CHECK(line[1].holds);
        CHECK(line[2].kind == "write");
        CHECK_FALSE(line[2].holds);
        auto [blocked, none] = co_await ours.try_acquire_read(as_tuple());
        CHECK(blocked == errc::would_block);

        co_await reading.release();
        line = co_await ours.list_contenders();
        REQUIRE(line.size() == 2);
        CHECK(line[1].waits_for == std::vector<std::string>{line[0].path});
        CHECK_FALSE(writing.done());
        at.tell_to_leave();
        error_code written = co_await finished(writing);
        REQUIRE_FALSE(written);
        CHECK(at.inside(name_of(which)) == 0);
        co_await theirs.end();
        co_await writing.value().release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("another library's writer waits for our readers") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        shared_lock ours(zk, at.path, options_with(which));
        ownership first = co_await ours.acquire_read();
        ownership second = co_await ours.acquire_read();
        party theirs(which, at.arguments({"task=hold", "kind=shared", "role=write"}));
        auto they_wait = [&] { return watches_below(second.path()) == 2; };
        co_await theirs.until(they_wait, "waiting for our nodes");
        CHECK(at.inside(name_of(which)) == 0);
        co_await second.release();
        auto they_wait_for_first = [&] { return watches_below(first.path()) == 2; };
        co_await theirs.until(they_wait_for_first, "waiting for our other node");
        CHECK(at.inside(name_of(which)) == 0);

        // No other contender comes first: the writer is next.
        pending_result<ownership> third;
        ours.acquire_read(third.handler());
        co_await first.release();
        auto they_write = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_write, "writing");
        CHECK_FALSE(third.done());
        at.tell_to_leave();
        error_code read = co_await finished(third);
        CHECK_FALSE(read);
        co_await theirs.end();
        co_await third.value().release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("a downgrade lets the other library's readers in and keeps its writers out") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        shared_lock ours(zk, at.path, options_with(which));
        ownership held = co_await ours.acquire_write();
        party reader(which, at.arguments({"task=hold", "kind=shared", "role=read"}));
        auto it_waits = [&] { return watches_below(held.path()) == 2; };
        co_await reader.until(it_waits, "the reader waiting for our writer");
        CHECK(at.inside(name_of(which)) == 0);
        co_await ours.downgrade(held);
        auto it_reads = [&] { return at.inside(name_of(which)) == 1; };
        co_await reader.until(it_reads, "reading beside us");
        CHECK(held.valid());
        at.tell_to_leave();
        co_await reader.end();

        // A writer must wait for what is a reader now.
        meeting later;
        std::vector<std::string> arguments{"task=hold",
                                           "kind=shared",
                                           "role=write",
                                           "path=" + at.path,
                                           "record=" + later.record_path};
        party writer(which, arguments);
        auto it_waits_again = [&] { return watches_below(held.path()) == 2; };
        co_await writer.until(it_waits_again, "the writer waiting for our reader");
        CHECK(later.inside(name_of(which)) == 0);
        co_await held.release();
        later.tell_to_leave();
        co_await writer.end();
        CHECK(violations(later.hand, later.record_path).empty());
        CHECK(later.result().theirs == 1);
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("Curator releases its write lock when we ask for it") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        shared_lock ours(zk, at.path, options_with(party_kind::curator));
        party theirs(party_kind::curator, at.arguments({"task=revocable", "kind=shared"}));
        auto they_are_inside = [&] { return at.inside("curator") == 1; };
        co_await theirs.until(they_are_inside, "holding the lock");
        std::vector<contender_info> line = co_await ours.list_contenders();
        REQUIRE(line.size() == 1);
        pending_result<ownership> acquiring;
        ours.acquire_write(acquiring.handler());
        std::string holder = line[0].path;
        co_await ours.request_release(holder);
        error_code acquired = co_await finished(acquiring);
        CHECK_FALSE(acquired);
        co_await theirs.end();
        co_await acquiring.value().release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("we hear of Curator's revocation") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        shared_lock ours(zk, at.path, options_with(party_kind::curator));
        ownership held = co_await ours.acquire_read();
        pending_result<> asked;
        held.wait_release_requested(asked.handler());
        party theirs(party_kind::curator, at.arguments({"task=revoke", "node=" + held.path()}));
        co_await theirs.end();
        error_code heard = co_await finished(asked);
        CHECK_FALSE(heard);
        CHECK(held.valid());
        co_await held.release();
    });
    CHECK(at.hand.children(at.path).empty());
}

}  // namespace corozk::testing::shared_lock_test
