// SPDX-License-Identifier: Apache-2.0
// Drivers that recipes share, as shipped, against a script of answers: each fault at each step.
#include "driver/ensure_path.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/contention/limit.hpp"
#include "recipe/contention/node_name.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/locks/semaphore_rule.hpp"
#include "recipe/locks/shared_lock_rule.hpp"
#include "recipe/priority_lock/attempt.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/backoff.hpp"
#include "scripted_port.hpp"
#include "session/watch_registry.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corozk::testing::drivers_test {

using namespace corozk;
using detail::task;
using namespace std::chrono_literals;

namespace {

task<> keep_result(task<error_code> driver, std::optional<error_code>& result) {
    error_code ec = co_await driver;
    result = ec;
}

/// Starts a driver on the port; the result is there when it has ended.
class driven {
public:
    driven(scripted_port& p, task<error_code> driver) {
        p.spawn(keep_result(std::move(driver), result_));
    }
    bool ended() const { return result_.has_value(); }
    error_code error() const { return result_.value(); }

private:
    std::optional<error_code> result_;
};

const acl open = {};

/// A contention queue of which each request is answered by hand.
struct scripted_queue {
    explicit scripted_queue(const detail::contention_rule& rule) {
        settings.parent = "/l";
        settings.rule = &rule;
        settings.names = detail::naming("", {"-r-", "-w-"});
    }

    detail::contention_queue& queue() { return detail::queue_of(p, settings); }

    detail::user_call<ownership> call(std::optional<error_code>& result, ownership& held) {
        auto done = [&](error_code ec, ownership granted) {
            result = ec;
            held = std::move(granted);
        };
        return detail::user_call<ownership>(p, done);
    }

    /// @return the path of the node
    std::string create(std::int32_t sequence) {
        REQUIRE(p.asked().starts_with("create /l/"));
        std::string digits = std::to_string(sequence);
        std::string path = p.front().path + std::string(10 - digits.size(), '0') + digits;
        p.front().answer = path;
        p.front().sent_in = 1;
        p.front().record.ephemeral_owner = p.status().session_id;
        p.front().record.czxid = 10 * std::int64_t{sequence};
        p.answer();
        return path;
    }

    void list(const std::string& path) {
        REQUIRE(p.asked() == "get_children /l");
        p.front().names.push_back(path.substr(3));
        p.answer();
    }

    scripted_port p;
    detail::contention_settings settings;
    const detail::contender_data data = std::make_shared<const std::string>();
};

}  // namespace

TEST_CASE("ensure_path: what exists is found in one request") {
    scripted_port p;
    driven run(p, detail::ensure_path(p, "/a/b", open));
    REQUIRE(p.asked() == "create /a/b");
    p.answer(zk_errc::node_exists);
    REQUIRE(run.ended());
    CHECK(!run.error());
    CHECK(p.asked().empty());
}

TEST_CASE("ensure_path: missing parents are created from the top, whatever is lost on the way") {
    scripted_port p;
    driven run(p, detail::ensure_path(p, "/a/b/c", open));
    const std::pair<const char*, error_code> script[] = {
        {"create /a/b/c", zk_errc::no_node},
        {"create /a/b", zk_errc::connection_loss},
        {"create /a/b", zk_errc::no_node},
        {"create /a", error_code()},
        {"create /a/b", zk_errc::operation_timeout},
        {"create /a/b", zk_errc::node_exists},  // the lost one was carried out
        {"create /a/b/c", error_code()},
    };
    for (const auto& [request, ec] : script) {
        REQUIRE_FALSE(run.ended());
        REQUIRE(p.asked() == request);
        CHECK(p.front().mode == create_mode::container);
        p.answer(ec);
    }
    REQUIRE(run.ended());
    CHECK(!run.error());
}

TEST_CASE("ensure_path: no right to create is no matter where the node exists") {
    scripted_port p;
    driven run(p, detail::ensure_path(p, "/a", open));
    p.answer(zk_errc::no_auth);
    REQUIRE(p.asked() == "exists /a");
    SECTION("it exists") {
        p.answer();
        CHECK(!run.error());
    }
    SECTION("it does not") {
        p.answer(zk_errc::no_node);
        CHECK(run.error() == zk_errc::no_auth);
    }
    CHECK(run.ended());
}

TEST_CASE("ensure_path: a lost connection is not taken for a node that is missing") {
    scripted_port p;
    driven run(p, detail::ensure_path(p, "/a", open));
    p.answer(zk_errc::no_auth);
    REQUIRE(p.asked() == "exists /a");
    SECTION("asked again") {
        p.answer(zk_errc::connection_loss);
        REQUIRE(p.asked() == "create /a");
        p.answer(zk_errc::no_auth);
        REQUIRE(p.asked() == "exists /a");
        p.answer();
        REQUIRE(run.ended());
        CHECK(!run.error());
    }
    SECTION("an error of its own is reported") {
        p.answer(zk_errc::session_expired);
        REQUIRE(run.ended());
        CHECK(run.error() == zk_errc::session_expired);
    }
    CHECK(p.asked().empty());
}

TEST_CASE("ensure_path: a chroot that is missing is said") {
    scripted_port p;
    driven run(p, detail::ensure_path(p, "/a", open));
    p.answer(zk_errc::no_node);
    REQUIRE(run.ended());
    CHECK(run.error() == errc::chroot_missing);
}

TEST_CASE("guaranteed delete: repeated for as long as the session lives, and no longer") {
    scripted_port p;
    driven run(p, detail::delete_reliably(p, "/a", 1));
    for (int i = 0; i < 3; ++i) {
        REQUIRE(p.asked() == "erase /a");
        CHECK(p.front().generation == 1);
        p.answer(zk_errc::connection_loss);
        REQUIRE_FALSE(run.ended());
    }
    SECTION("an answer that was lost had deleted it") {
        p.answer(zk_errc::no_node);
        CHECK(!run.error());
    }
    SECTION("the session has ended, and with it the node") {
        p.set_state(session_state::connected, 2);
        p.answer(zk_errc::session_expired);
        CHECK(is_session_lost(run.error()));
    }
    SECTION("the server refuses") {
        p.answer(zk_errc::no_auth);
        CHECK(run.error() == zk_errc::no_auth);
    }
    SECTION("the server has no quorum: when there is one again") {
        p.set_state(session_state::read_only, 1);
        p.answer(zk_errc::not_read_only);
        CHECK_FALSE(run.ended());
        CHECK(p.asked().empty());
        p.set_state(session_state::connected, 1);
        REQUIRE(p.asked() == "erase /a");
        p.answer();
        CHECK(!run.error());
    }
    REQUIRE(run.ended());
    CHECK(p.asked().empty());
}

TEST_CASE("late delete: looked for again when there is a quorum") {
    scripted_port p;
    p.use_service<detail::background_deleter>().erase_late("/l", "_c_1-", 1);
    p.advance(20s);
    for (bool read_only : {true, false}) {
        p.set_state(read_only ? session_state::read_only : session_state::connected, 1);
        REQUIRE(p.asked() == "sync /l");
        p.answer(read_only ? make_error_code(zk_errc::not_read_only) : error_code());
        REQUIRE(p.asked() == "get_children /l");
        p.front().names.push_back("_c_1-lock-0000000007");
        p.answer();
        if (read_only)
            CHECK(p.asked().empty());
    }
    CHECK(p.asked() == "erase /l/_c_1-lock-0000000007");
}

TEST_CASE("delete exactly one: after a lost answer another node of the name is left alone") {
    scripted_port p;
    bool erased = false;
    driven run(p, detail::erase_one(p, nullptr, "/a", erased));
    auto exists = [&](std::int64_t czxid) {
        while (p.asked().starts_with("sync"))
            p.answer();
        REQUIRE(p.asked() == "exists /a");
        p.front().record.czxid = czxid;
        p.answer();
    };
    exists(7);
    REQUIRE(p.asked() == "erase /a");
    p.answer(zk_errc::connection_loss);
    SECTION("it is still there: deleted again") {
        exists(7);
        REQUIRE(p.asked() == "erase /a");
        p.answer();
    }
    SECTION("made again by another client: the first one was deleted") {
        exists(8);
    }
    SECTION("a server without a quorum does not say: asked when there is one again") {
        p.set_state(session_state::read_only, 2);
        REQUIRE(p.asked() == "sync /a");
        p.answer(zk_errc::not_read_only);
        exists(7);
        CHECK(p.asked().empty());
        p.set_state(session_state::connected, 2);
        exists(7);
        REQUIRE(p.asked() == "erase /a");
        p.set_state(session_state::read_only, 2);
        p.answer(zk_errc::not_read_only);
        CHECK(p.asked().empty());
        p.set_state(session_state::connected, 2);
        exists(8);
    }
    REQUIRE(run.ended());
    CHECK(!run.error());
    CHECK(erased);
    CHECK(p.asked().empty());
}

TEST_CASE("delete exactly one: a server without a quorum refuses, if nothing is in doubt") {
    struct pending final : detail::interest {
        bool waiting() const noexcept override { return true; }
    } call;
    scripted_port p;
    p.set_state(session_state::read_only, 1);
    bool erased = false;
    driven run(p, detail::erase_one(p, &call, "/a", erased));
    // A look that is lost leaves no doubt.
    for (error_code ec : {zk_errc::connection_loss, zk_errc::not_read_only}) {
        REQUIRE(p.asked() == "sync /a");
        p.answer(ec);
        REQUIRE(p.asked() == "exists /a");
        p.answer();
    }
    REQUIRE(run.ended());
    CHECK(run.error() == zk_errc::not_read_only);
    CHECK_FALSE(erased);
    CHECK(p.asked().empty());
}

TEST_CASE("delete exactly one: one that was made after the call began is left alone") {
    scripted_port p;
    bool erased = false;
    driven run(p, detail::erase_one(p, nullptr, "/a", erased));
    for (std::int64_t czxid : {7, 8}) {
        while (p.asked().starts_with("sync"))
            p.answer();
        REQUIRE(p.asked() == "exists /a");
        p.front().record.czxid = czxid;
        p.answer();
        if (czxid == 7) {
            REQUIRE(p.asked() == "erase /a");
            p.answer(errc::not_connected);  // it was not sent
        }
    }
    REQUIRE(run.ended());
    CHECK(!run.error());
    CHECK_FALSE(erased);
    CHECK(p.asked().empty());
}

TEST_CASE("delete exactly one: requests belong to the user's call") {
    scripted_port p;
    bool erased = false;
    detail::user_call<> call(p, [](error_code) {});
    driven run(p, detail::erase_one(p, &call, "/a", erased));
    CHECK(p.front().wanted());
    p.answer();  // sync
    REQUIRE(p.asked() == "exists /a");
    p.answer();
    REQUIRE(p.asked() == "erase /a");
    CHECK(p.front().wanted());
    call.fail(boost::asio::error::operation_aborted);
    CHECK_FALSE(p.front().wanted());
    p.answer(boost::asio::error::operation_aborted);
    REQUIRE(run.ended());
    CHECK(p.asked().empty());
}

TEST_CASE("request: who it is sent for learns that it is sent") {
    struct counting final : detail::interest {
        bool waiting() const noexcept override { return true; }
        void sent() const noexcept override { ++times; }
        mutable int times = 0;
    };
    scripted_port p;
    const counting who;
    detail::request get(p, detail::op_code::get, "/a");
    get.only_for(&who);
    get.send();
    CHECK(who.times == 0);
    p.front().submitted();
    CHECK(who.times == 1);
    p.answer();
}

TEST_CASE(
    "contention queue: the node of a lost create is deleted although it cannot be looked up") {
    scripted_port p;
    detail::contention_settings settings;
    settings.parent = "/l";
    settings.rule = &detail::the_exclusive_rule;
    settings.names = detail::naming("", {"-lock-"});
    error_code result;
    auto done = [&result](error_code ec, ownership) { result = ec; };
    detail::queue_of(p, settings)
        .enter(detail::acquire_request(),
               std::make_shared<const std::string>(),
               detail::user_call<ownership>(p, done));
    REQUIRE(p.asked().starts_with("create /l/"));
    const std::string node = p.front().path + "0000000007";
    p.front().sent_in = 1;
    p.answer(zk_errc::connection_loss);
    REQUIRE(p.asked() == "get_children /l");
    p.answer();
    REQUIRE(p.asked() == "sync /l");
    p.answer();
    REQUIRE(p.asked() == "get_children /l");
    SECTION("the listing is refused: looked for again later") {
        p.answer(zk_errc::no_auth);
        CHECK(result == zk_errc::no_auth);
        p.advance(20s);
        REQUIRE(p.asked() == "sync /l");
        p.answer();
        REQUIRE(p.asked() == "get_children /l");
        p.front().names.push_back(node.substr(3));
        p.answer();
    }
    SECTION("it is listed, but reading it is refused") {
        p.front().names.push_back(node.substr(3));
        p.answer();
        REQUIRE(p.asked() == "exists " + node);
        p.answer(zk_errc::no_auth);
        CHECK(result == zk_errc::no_auth);
    }
    REQUIRE(p.asked() == "erase " + node);
    CHECK(p.front().generation == 1);
    p.answer();
    CHECK(p.asked().empty());
}

TEST_CASE("contention queue: what was deleted cannot be replaced, however late that is known") {
    scripted_queue q(detail::the_shared_rule);
    scripted_port& p = q.p;
    std::optional<error_code> result;
    ownership held;
    auto reader =
        q.queue().enter(detail::acquire_request(detail::read_kind), q.data, q.call(result, held));
    const std::string read = q.create(1);
    q.list(read);
    REQUIRE(result == error_code());
    REQUIRE(held.valid());
    std::optional<error_code> upgraded;
    ownership none;
    q.queue().replace(
        reader, detail::acquire_request(detail::write_kind), q.data, q.call(upgraded, none));
    // Between the two there may have been a writer, which was granted when the reader was deleted.
    const std::string write = q.create(3);
    q.list(write);
    CHECK_FALSE(upgraded);
    REQUIRE(p.asked() == "get " + read);
    SECTION("at once") {}
    SECTION("after another outage") {
        p.answer(zk_errc::connection_loss);
        REQUIRE(p.asked() == "get_children /l");
        p.set_state(session_state::suspended, 1);
        p.answer(zk_errc::connection_loss);
        p.set_state(session_state::connected, 1);
        q.list(write);
        CHECK_FALSE(upgraded);
        REQUIRE(p.asked() == "get " + read);
    }
    p.answer(zk_errc::no_node);
    CHECK(upgraded == make_error_code(errc::ownership_lost));
    CHECK_FALSE(held.valid());
    q.list(write);
    REQUIRE(p.asked() == "erase " + write);
    p.answer();
    CHECK(p.asked().empty());
}

TEST_CASE("contention queue: to abandon what was granted changes nothing") {
    scripted_queue q(detail::the_exclusive_rule);
    scripted_port& p = q.p;
    std::optional<error_code> result;
    ownership held;
    auto c = q.queue().enter(detail::acquire_request(), q.data, q.call(result, held));
    const std::string node = q.create(1);
    q.list(node);
    REQUIRE(result == error_code());
    // For example by a driver that has not been told of the grant yet, and keeps it then.
    c->abandon(boost::asio::error::operation_aborted);
    CHECK(p.asked().empty());
    CHECK(held.valid());
    p.advance(detail::watch_delay);
    REQUIRE(p.asked() == "get " + node);
    p.answer(zk_errc::no_node);
    CHECK_FALSE(held.valid());
}

TEST_CASE("contention queue: nothing is granted by a limit whose watch is in doubt") {
    detail::watch_registry watches;
    scripted_queue q(detail::the_semaphore_rule);
    scripted_port& p = q.p;
    q.settings.initial_limit = 1;
    auto watched = [&] {
        watches.armed(detail::watch_kind::data, p.front().path, 0, p.front().watcher());
        p.answer();
    };
    std::optional<error_code> first, second;
    ownership held, waits;
    q.queue().enter(detail::acquire_request(), q.data, q.call(first, held));
    const std::string node = q.create(1);
    q.list(node);
    REQUIRE(p.asked() == "get /l");
    p.front().answer = "1";
    watched();
    REQUIRE(p.asked() == "get " + node);
    p.front().record.czxid = 10;
    watched();
    REQUIRE(first == error_code());
    q.queue().enter(detail::acquire_request(), q.data, q.call(second, waits));
    q.create(2);
    held = ownership();
    REQUIRE(p.asked() == "commit " + node);
    // A persistent watch at the path was removed, and with it perhaps the other one.
    watches.set_again(detail::watch_kind::data, "/l");
    p.answer();
    CHECK_FALSE(second);
    CHECK(p.asked() == "get /l");
}

TEST_CASE("contention queue: the limit is read, and its node created, for those that still wait") {
    scripted_queue q(detail::the_semaphore_rule);
    scripted_port& p = q.p;
    q.settings.initial_limit = 1;
    std::optional<error_code> first, second;
    ownership held, other;
    auto c = q.queue().enter(detail::acquire_request(), q.data, q.call(first, held));
    const std::string node = q.create(1);
    q.list(node);
    REQUIRE(p.asked() == "get /l");
    CHECK(p.front().wanted());
    p.answer(zk_errc::no_node);
    REQUIRE(p.asked() == "create /l");
    CHECK(p.front().wanted());
    c->abandon(boost::asio::error::operation_aborted);
    CHECK_FALSE(p.front().wanted());
    SECTION("nobody is left") {
        p.answer(boost::asio::error::operation_aborted);
        REQUIRE(p.asked().starts_with("erase /l/"));
        p.answer();
        CHECK(p.asked().empty());
    }
    SECTION("another one enters before") {
        q.queue().enter(detail::acquire_request(), q.data, q.call(second, other));
        CHECK(p.front().wanted());
    }
    SECTION("another one enters after that") {
        q.queue().enter(detail::acquire_request(), q.data, q.call(second, other));
        p.answer(boost::asio::error::operation_aborted);
        REQUIRE(p.asked().starts_with("erase /l/"));
        p.answer();
        q.create(2);
        CHECK_FALSE(second);
        while (p.asked() != "get /l")
            p.answer();
        CHECK(p.front().wanted());
    }
}

TEST_CASE("contention queue: what leaves without a quorum is deleted when there is one") {
    scripted_queue q(detail::the_exclusive_rule);
    scripted_port& p = q.p;
    const bool announces = GENERATE(false, true);
    const std::string remote = p.new_guid() + "-r-0000000005";
    std::optional<error_code> result;
    ownership held;
    auto c = q.queue().enter(detail::acquire_request(), q.data, q.call(result, held));
    const std::string node = q.create(1);
    if (announces)
        p.front().names.push_back(remote);
    q.list(node);
    REQUIRE(result == error_code());
    p.set_state(session_state::read_only, 1);
    std::optional<error_code> released;
    c->release(detail::user_call<>(p, [&](error_code ec) { released = ec; }));
    if (announces) {
        REQUIRE(p.asked() == "commit " + node);
        p.answer(zk_errc::not_read_only);
    }
    REQUIRE(p.asked() == "erase " + node);
    p.answer(zk_errc::not_read_only);
    CHECK_FALSE(released);
    REQUIRE(p.asked().empty());
    SECTION("it is deleted") {
        p.set_state(session_state::connected, 1);
        REQUIRE(p.asked() == "erase " + node);
        p.answer();
        CHECK(released == error_code());
        // The next turn is announced as usual.
        c = q.queue().enter(detail::acquire_request(), q.data, q.call(result, held));
        const std::string next = q.create(2);
        p.front().names.push_back(remote);
        q.list(next);
        c->release(detail::user_call<>(p, [](error_code) {}));
        CHECK(p.asked() == "commit " + next);
    }
    SECTION("the session ends") {
        p.set_state(session_state::lost, 1);
        CHECK(released == make_error_code(zk_errc::session_expired));
        CHECK(p.asked().empty());
    }
}

TEST_CASE("contention queue: a waiter that gave up without a quorum is deleted when there is one") {
    scripted_queue q(detail::the_exclusive_rule);
    scripted_port& p = q.p;
    std::optional<error_code> result;
    ownership held;
    q.queue().enter(detail::acquire_request(), q.data, q.call(result, held));
    const std::string holder = q.create(1);
    q.list(holder);
    std::optional<error_code> cancelled;
    ownership none;
    auto waiter = q.queue().enter(detail::acquire_request(), q.data, q.call(cancelled, none));
    const std::string node = q.create(2);
    p.set_state(session_state::read_only, 1);
    waiter->abandon(boost::asio::error::operation_aborted);
    REQUIRE(p.asked() == "erase " + node);
    p.answer(zk_errc::not_read_only);
    CHECK(cancelled == make_error_code(boost::asio::error::operation_aborted));
    REQUIRE(p.asked().empty());
    p.set_state(session_state::connected, 1);
    REQUIRE(p.asked() == "get " + holder);  // not watched so far
    p.front().record.czxid = 10;
    p.answer();
    CHECK(p.asked() == "erase " + node);
    CHECK(held.valid());
}

TEST_CASE("contention queue: in doubt, only a quorum says what became of a downgrade") {
    scripted_queue q(detail::the_shared_rule);
    scripted_port& p = q.p;
    std::optional<error_code> result;
    ownership held;
    auto c =
        q.queue().enter(detail::acquire_request(detail::write_kind), q.data, q.call(result, held));
    const std::string write = q.create(1);
    q.list(write);
    REQUIRE(result == error_code());
    std::optional<error_code> downgraded;
    q.queue().convert(
        c, detail::read_kind, detail::user_call<>(p, [&](error_code ec) { downgraded = ec; }));
    auto try_once = [&](error_code ec) {
        REQUIRE(p.asked() == "get " + write);
        p.answer();
        REQUIRE(p.asked().starts_with("commit"));
        p.answer(ec);
    };
    SECTION("in doubt") {
        try_once(zk_errc::connection_loss);
        p.set_state(session_state::read_only, 1);
        try_once(zk_errc::not_read_only);  // it lags behind
        CHECK_FALSE(downgraded);
        REQUIRE(p.asked().empty());
        p.set_state(session_state::connected, 1);
        REQUIRE(p.asked() == "get " + write);
        p.answer(zk_errc::no_node);
        std::string read;
        for (const bool lost : {true, false}) {
            REQUIRE(p.asked().starts_with("exists /l/"));
            CHECK_FALSE(downgraded);
            read = p.front().path;
            p.front().record.czxid = 20;
            p.answer(lost ? make_error_code(zk_errc::connection_loss) : error_code());
        }
        CHECK(downgraded == error_code());
        CHECK(held.path() == read);
        CHECK(held.fencing_token() == 10);
    }
    SECTION("not in doubt") {
        p.set_state(session_state::read_only, 1);
        try_once(zk_errc::not_read_only);
        CHECK(downgraded == make_error_code(zk_errc::not_read_only));
        CHECK(held.path() == write);
    }
    CHECK(held.valid());
}

TEST_CASE("contention queue: in doubt, only a quorum says whether a node was created") {
    scripted_queue q(detail::the_exclusive_rule);
    scripted_port& p = q.p;
    std::optional<error_code> result;
    ownership held;
    q.queue().enter(detail::acquire_request(), q.data, q.call(result, held));
    const std::string node = p.front().path + "0000000001";
    p.front().sent_in = 1;
    p.answer(zk_errc::connection_loss);
    p.set_state(session_state::read_only, 1);
    REQUIRE(p.asked() == "get_children /l");
    p.answer();
    for (const bool quorum : {false, true}) {
        if (quorum)
            p.set_state(session_state::connected, 1);
        REQUIRE(p.asked() == "sync /l");
        p.answer(quorum ? error_code() : make_error_code(zk_errc::not_read_only));
        if (quorum)
            p.front().names.push_back(node.substr(3));
        REQUIRE(p.asked() == "get_children /l");
        p.answer();
        CHECK_FALSE(result);
        if (!quorum)
            REQUIRE(p.asked().empty());
    }
    REQUIRE(p.asked() == "exists " + node);
    p.front().record.ephemeral_owner = p.status().session_id;
    p.front().record.czxid = 10;
    p.answer();
    q.list(node);
    CHECK(result == error_code());
    CHECK(held.path() == node);
}

TEST_CASE("priority_lock: in doubt, only a quorum says whether a node was created") {
    scripted_port p;
    detail::contention_settings settings;
    settings.parent = "/l";
    detail::user_call<> call(p, [](error_code) {});
    detail::ranked_node node(p, settings, 1);
    auto make = [&] { return node.make(detail::acquire_request(), std::string(), call); };
    driven creating(p, make());
    REQUIRE(p.asked().starts_with("create /l/"));
    const std::string path = p.front().path + "0000000001";
    p.answer(zk_errc::connection_loss);
    REQUIRE(creating.ended());
    p.set_state(session_state::read_only, 1);
    for (const bool quorum : {false, true}) {
        driven looking(p, make());
        REQUIRE(p.asked() == "sync /l");
        p.answer(quorum ? error_code() : make_error_code(zk_errc::not_read_only));
        REQUIRE(p.asked() == "get_children /l");
        if (quorum)
            p.front().names.push_back(path.substr(3));
        p.answer();
        CHECK(looking.ended() == quorum);
        REQUIRE(p.asked().empty());
        p.set_state(session_state::connected, 1);
        REQUIRE(looking.ended());
        CHECK(!looking.error());
        CHECK(node.known() == quorum);
    }
    CHECK(node.path() == path);
}

TEST_CASE("priority_lock: nobody is granted by a version of the parent that is not compared") {
    scripted_port p;
    detail::contention_settings settings;
    settings.parent = "/l";
    const priority_lock_options options;
    const detail::acquire_request what(detail::priority_write, 5);
    detail::user_call<> call(p, [](error_code) {});
    detail::signal wake(p);
    detail::priority_attempt attempt(p, settings, options, what, call, wake);
    auto drive = [&attempt]() -> task<> {
        while (!attempt.over())
            co_await attempt.advance();
    };
    p.spawn(drive());
    REQUIRE(p.asked().starts_with("create /l/"));
    const std::string node = p.front().path + "0000000001";
    p.front().answer = node;
    p.answer();
    for (const std::int32_t version : {any_version, 0}) {
        REQUIRE(p.asked() == "get /l");
        p.front().answer = "0";
        p.front().record.version = version;
        p.answer();
        REQUIRE(p.asked() == "get_children /l");
        p.front().names.push_back(node.substr(3));
        p.answer();
        if (version == any_version) {
            REQUIRE(p.asked() == "set /l");
            CHECK(p.front().data == "0");
            p.answer();
        }
    }
    CHECK(p.asked().starts_with("commit"));
}

namespace {

/// An attempt to acquire "/l" with its driver. Its node is created in the order of the attempts.
struct ranked_attempt {
    ranked_attempt(scripted_port& p_,
                   const detail::contention_settings& settings,
                   const priority_lock_options& options,
                   int priority,
                   std::uint8_t kind = detail::priority_write)
        : p(p_),
          call(p, [](error_code) {}),
          wake(p),
          attempt(p, settings, options, detail::acquire_request(kind, priority), call, wake) {
        p.spawn(drive());
    }

    task<> drive() {
        while (!attempt.over()) {
            const bool settled = co_await attempt.advance();
            if (settled && !attempt.over())
                co_await wake.wait();
        }
    }

    /// Answers its create.
    void create(int sequence) {
        REQUIRE(p.asked().starts_with("create /l/"));
        path = p.front().path;
        detail::append_sequence(path, sequence);
        p.front().answer = path;
        p.answer();
    }

    scripted_port& p;
    std::string path;
    detail::user_call<> call;
    detail::signal wake;
    detail::priority_attempt attempt;
};

/// Answers a look at "/l".
void show_nodes(scripted_port& p, const std::vector<std::string>& nodes) {
    REQUIRE(p.asked() == "get /l");
    p.front().answer = "0";
    p.answer();
    REQUIRE(p.asked() == "get_children /l");
    for (const std::string& node : nodes)
        p.front().names.push_back(node.substr(3));
    p.answer();
}

}  // namespace

TEST_CASE("priority_lock: of the attempts of a session the most urgent one is next") {
    scripted_port p;
    detail::contention_settings settings;
    settings.parent = "/l";
    const priority_lock_options options;
    std::deque<ranked_attempt> attempts;
    std::vector<std::string> nodes;
    for (int priority : {5, 5, 5, 0})
        attempts.emplace_back(p, settings, options, priority);
    for (ranked_attempt& a : attempts) {
        a.create(static_cast<int>(nodes.size()));
        nodes.push_back(a.path);
    }
    show_nodes(p, nodes);
    // One view is enough: all nodes are in it.
    std::vector<std::string> watched;
    while (p.asked().starts_with("get ")) {
        watched.push_back(p.front().path);
        p.answer();
    }
    REQUIRE(p.asked().starts_with("commit"));
    CHECK(p.front().steps.front().path == nodes[3]);
    CHECK(std::find(watched.begin(), watched.end(), "/l") == watched.end());
    // It is the last one that this view has served.
    p.front().results.resize(3);
    p.front().results[1].stat.mzxid = 9;
    p.answer();
    REQUIRE(attempts[3].attempt.over());
    nodes.push_back(detail::record_of(nodes[3]));
    std::size_t views = 0;
    watched.clear();
    while (!p.asked().empty()) {
        if (p.asked() == "get /l") {
            ++views;
            show_nodes(p, nodes);
        } else {
            watched.push_back(p.asked());
            p.answer();
        }
    }
    CHECK(views == 1);
    for (std::size_t ahead = 0; ahead < 2; ++ahead)
        CHECK(std::count(watched.begin(), watched.end(), "get " + nodes[ahead]) >= 1);
}

TEST_CASE("priority_lock: nothing is left of a hold whose nodes were deleted at once") {
    scripted_port p;
    auto hold = std::make_shared<detail::priority_hold>(p, "/l/a", "/l/a-held", "unlock", 1, 7);
    hold->start();
    const std::weak_ptr<detail::priority_hold> left = hold;
    const bool record = GENERATE(false, true);
    REQUIRE(p.asked() == "get /l/a");
    p.answer(record ? error_code() : make_error_code(zk_errc::no_node));
    if (record) {
        REQUIRE(p.asked() == "get /l/a-held");
        p.answer(zk_errc::no_node);
    }
    CHECK_FALSE(hold->valid());
    REQUIRE(p.asked() == (record ? "erase /l/a" : "erase /l/a-held"));
    p.answer(zk_errc::no_node);
    CHECK(p.asked().empty());
    hold.reset();
    CHECK(left.expired());
}

TEST_CASE("ownership: a commit for which its session was over is one of a lost ownership") {
    scripted_queue q(detail::the_exclusive_rule);
    scripted_port& p = q.p;
    std::optional<error_code> result;
    ownership held;
    q.queue().enter(detail::acquire_request(), q.data, q.call(result, held));
    q.list(q.create(1));
    transaction write;
    write.create("/x", "y");
    std::optional<error_code> written;
    detail::guarded_commit({held.implementation()},
                           write,
                           [&](error_code ec, std::vector<transaction_result>) { written = ec; });
    REQUIRE(p.asked().starts_with("commit"));
    p.front().sent_in = 1;
    p.answer(zk_errc::session_expired);
    CHECK(written == make_error_code(errc::ownership_lost));
}

TEST_CASE("limit: a change by another client after a lost answer stays") {
    scripted_port p;
    detail::contention_settings settings;
    settings.parent = "/s";
    const detail::user_call<> call(p, [](error_code) {});
    driven run(p, detail::change_limit(p, settings, 5, call));
    auto read = [&p](const char* limit, std::int32_t version) {
        REQUIRE(p.asked() == "sync /s");
        p.answer();
        REQUIRE(p.asked() == "get /s");
        p.front().answer = limit;
        p.front().record.version = version;
        p.answer();
    };
    read("3", 10);
    REQUIRE(p.asked() == "set /s");
    p.answer(zk_errc::connection_loss);
    SECTION("changed") {
        read("7", 12);
    }
    SECTION("changed before, so that it was not applied: written again") {
        read("7", 11);
        REQUIRE(p.asked() == "set /s");
        CHECK(p.front().version == 11);
        p.answer();
    }
    SECTION("the outcome is known after a long outage, in the next session") {
        const error_code outage[] = {errc::not_connected, zk_errc::session_expired};
        for (error_code ec : outage) {
            REQUIRE(p.asked() == "sync /s");
            p.answer(ec);
            REQUIRE(p.asked() == "get /s");
            p.answer(ec);
        }
        read("5", 11);
    }
    SECTION("the outcome is known after a while without a quorum") {
        p.set_state(session_state::read_only, 2);
        REQUIRE(p.asked() == "sync /s");
        p.answer(zk_errc::not_read_only);
        REQUIRE(p.asked() == "get /s");
        p.answer();
        CHECK_FALSE(run.ended());
        CHECK(p.asked().empty());
        p.set_state(session_state::connected, 2);
        read("5", 11);
    }
    SECTION("deleted, and there is no quorum to create it again") {
        REQUIRE(p.asked() == "sync /s");
        p.answer();
        REQUIRE(p.asked() == "get /s");
        p.answer(zk_errc::no_node);
        REQUIRE(p.asked() == "create /s");
        p.set_state(session_state::read_only, 2);
        p.answer(zk_errc::not_read_only);
        CHECK_FALSE(run.ended());
        CHECK(p.asked().empty());
        p.set_state(session_state::connected, 2);
        read("5", 11);
    }
    SECTION("not changed: written again") {
        read("3", 10);
        REQUIRE(p.asked() == "set /s");
        CHECK(p.front().data == "5");
        SECTION("without a quorum: when there is one") {
            p.set_state(session_state::read_only, 2);
            p.answer(zk_errc::not_read_only);
            CHECK_FALSE(run.ended());
            CHECK(p.asked().empty());
            p.set_state(session_state::connected, 2);
            read("5", 11);
        }
        SECTION("and it succeeds") {
            p.answer();
        }
        SECTION("and another client was faster") {
            p.answer(zk_errc::bad_version);
            read("7", 12);
        }
    }
    REQUIRE(run.ended());
    CHECK(!run.error());
    CHECK(p.asked().empty());
}

TEST_CASE("release request: in doubt its outcome is determined, whatever the outage") {
    scripted_port p;
    detail::contention_settings settings;
    settings.parent = "/l";
    settings.release_request = "release";
    settings.names = detail::naming("", {"-lock-"});
    const std::string node = "/l/" + p.new_guid() + "-lock-0000000001";
    std::optional<error_code> result;
    auto done = [&result](error_code ec) { result = ec; };
    const bool patient = GENERATE(false, true);
    p.spawn(detail::ask_for_release(p, settings, node, patient, detail::user_call<>(p, done)));
    const error_code outage[] = {errc::not_connected, zk_errc::session_expired};
    REQUIRE(p.asked() == "get " + node);
    SECTION("in doubt") {
        p.answer();
        REQUIRE(p.asked() == "set " + node);
        p.answer(zk_errc::connection_loss);
        for (error_code ec : outage) {
            REQUIRE(p.asked() == "sync " + node);
            p.answer(ec);
            REQUIRE(p.asked() == "get " + node);
            p.answer(ec);
            CHECK_FALSE(result);
        }
        REQUIRE(p.asked() == "sync " + node);
        p.answer();
        REQUIRE(p.asked() == "get " + node);
        p.front().record.version = 1;
        p.front().answer = "release";
        p.answer();
        CHECK(result == error_code());
    }
    SECTION("nothing was sent") {
        p.answer(errc::not_connected);
        if (patient) {
            REQUIRE(p.asked() == "get " + node);
            p.answer(zk_errc::no_node);
            CHECK(result == make_error_code(zk_errc::no_node));
        } else {
            CHECK(result == make_error_code(errc::not_connected));
        }
    }
    CHECK(p.asked().empty());
}

TEST_CASE("release request: a deletion in doubt is determined, whatever the outage") {
    scripted_queue q(detail::the_exclusive_rule);
    scripted_port& p = q.p;
    q.settings.release_request = "release";
    const std::string node = "/l/" + p.new_guid() + "-r-0000000001";
    std::optional<error_code> result;
    bool removed = false;
    auto done = [&](error_code ec, bool had_to) {
        result = ec;
        removed = had_to;
    };
    p.spawn(detail::insist_on_release(p, q.settings, node, 0s, detail::user_call<bool>(p, done)));
    for (const char* request : {"get ", "set ", "get "}) {
        REQUIRE(p.asked() == request + node);
        p.answer();
    }
    p.advance(0s);
    REQUIRE(p.asked() == "erase " + node);
    p.answer(zk_errc::connection_loss);
    REQUIRE(p.asked() == "erase " + node);
    SECTION("a long one, and another session") {
        p.answer(errc::not_connected);
        REQUIRE(p.asked() == "erase " + node);
        p.answer(zk_errc::session_expired);
    }
    SECTION("a server without a quorum") {
        p.set_state(session_state::read_only, 2);
        p.answer(zk_errc::not_read_only);
        CHECK_FALSE(result);
        CHECK(p.asked().empty());
        p.set_state(session_state::connected, 2);
    }
    REQUIRE(p.asked() == "erase " + node);
    p.answer(zk_errc::no_node);
    CHECK(result == error_code());
    CHECK(removed);
    CHECK(p.asked().empty());
}

TEST_CASE("release request: the grace period begins when it was written") {
    scripted_queue q(detail::the_exclusive_rule);
    scripted_port& p = q.p;
    q.settings.release_request = "release";
    const std::string node = "/l/" + p.new_guid() + "-r-0000000001";
    const bool fixed = GENERATE(false, true);
    const time_limit grace = fixed ? time_limit(p.now() + 5s) : time_limit(5s);
    p.spawn(detail::insist_on_release(
        p, q.settings, node, grace, detail::user_call<bool>(p, [](error_code, bool) {})));
    // An outage, before anybody could read it.
    p.advance(10s);
    for (const char* request : {"get ", "set ", "get "}) {
        REQUIRE(p.asked() == request + node);
        p.answer();
    }
    p.advance(0s);
    if (!fixed) {
        CHECK(p.asked().empty());
        p.advance(5s);
    }
    REQUIRE(p.asked() == "erase " + node);
    p.answer();
    CHECK(p.asked().empty());
}

TEST_CASE("backoff: failures count up to a limit, and successes count down") {
    detail::backoff b(1ms);
    b.succeeded();
    CHECK(b.failures() == 0);
    for (int i = 0; i < 20; ++i)
        b.failed();
    CHECK(b.failures() == 16);
    b.succeeded();
    CHECK(b.failures() == 15);
}

TEST_CASE("backoff: a pause ends by its timer, or when there is nothing to wait for any more") {
    scripted_port p;
    detail::signal wake(p);
    detail::backoff b(1h);
    bool over = false;
    bool ended = false;
    auto is_over = [&over] { return over; };
    auto pause = [&]() -> task<> {
        co_await b.pause(p, wake, 16, is_over);
        ended = true;
    };
    p.spawn(pause());
    CHECK_FALSE(ended);
    SECTION("the timer, soon enough whatever was measured") {
        p.advance(50ms);
        CHECK(ended);
    }
    SECTION("over") {
        over = true;
        wake.set();
        p.set_state(session_state::connected, 1);
        CHECK(ended);
    }
}

#ifndef NDEBUG
TEST_CASE("a driver that waits is destroyed with its session") {
    long before = detail::live_frames;
    {
        scripted_port p;
        driven run(p, detail::delete_reliably(p, "/a", 1));
        CHECK(p.asked() == "erase /a");
        CHECK(detail::live_frames > before);
    }
    CHECK(detail::live_frames == before);
}
#endif

}  // namespace corozk::testing::drivers_test
