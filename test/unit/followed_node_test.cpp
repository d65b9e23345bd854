// SPDX-License-Identifier: Apache-2.0
// Following nodes, as shipped, against a script of answers.
#include "recipe/toolkit/followed_node.hpp"

#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/read_children.hpp"
#include "scripted_port.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <optional>

namespace corozk::testing::followed_node_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

class follower final : public recipe_core {
public:
    explicit follower(port& p) : recipe_core(p, "follower", "/a"), reports(p, "/a") {}
    std::string describe(const node_view& view) const { return view.present ? view.data : "none"; }
    bool is_news(const node_view& view) const { return view.differs(reports.last()); }
    change_reports<followed_node, std::string> reports;
};

struct result {
    std::optional<error_code> error;
    std::string value;
    boost::asio::cancellation_signal cancel;
};

struct fixture {
    void next(result& r) {
        auto keep = [&r](error_code ec, std::string value) {
            r.error = ec;
            r.value = std::move(value);
        };
        handler_of<std::string> handler =
            boost::asio::bind_cancellation_slot(r.cancel.slot(), keep);
        report_next(core, std::move(handler));
    }

    /// What was sent in this session, and shows this.
    void read(const std::string& data, std::uint64_t generation = 1) {
        REQUIRE(p.asked() == "get /a");
        p.front().sent_in = generation;
        p.front().answer = data;
        p.answer();
    }

    void sync(std::uint64_t generation, error_code ec = {}) {
        REQUIRE(p.asked() == "sync /a");
        p.front().sent_in = generation;
        p.answer(ec);
    }

    scripted_port p;
    std::shared_ptr<follower> core = std::make_shared<follower>(p);
};

}  // namespace

TEST_CASE("following a node: after a cancelled call the next one is served, by the same driver") {
    fixture f;
    result first, cancelled, last;
    f.next(first);
    f.read("1");
    CHECK(first.value == "1");
    f.next(cancelled);
    SECTION("that was waiting for news") {
        f.read("1");
        CHECK_FALSE(cancelled.error);
        // Nothing runs in between, as in `co_await (watch.next() || timer)`.
        cancelled.cancel.emit(cancellation_type::terminal);
        f.next(last);
        f.p.set_state(session_state::connected, 1);
    }
    SECTION("that was waiting for a response, in an outage") {
        cancelled.cancel.emit(cancellation_type::terminal);
        f.p.set_state(session_state::suspended, 1);
        f.next(last);
        REQUIRE(f.p.asked() == "get /a");
        f.p.answer(zk_errc::connection_loss);
    }
    CHECK(cancelled.error == boost::asio::error::operation_aborted);
    f.read("2");
    CHECK(last.error == error_code());
    CHECK(last.value == "2");
    CHECK(f.p.asked().empty());
}

TEST_CASE(
    "following a node: a call is dropped with its session, although its handler owns the object") {
    std::weak_ptr<follower> left;
    {
        scripted_port p;
        auto core = std::make_shared<follower>(p);
        left = core;
        handler_of<std::string> handler = [core](error_code, std::string) {};
        report_next(core, std::move(handler));
        CHECK(p.asked() == "get /a");
        core.reset();
        CHECK_FALSE(left.expired());
    }
    CHECK(left.expired());
}

TEST_CASE("following a node: in a new session the server catches up first") {
    fixture f;
    result first, second;
    f.next(first);
    f.read("2");  // in the first session there is nothing to catch up with
    SECTION("it does") {
        f.p.set_state(session_state::connected, 2);
        f.next(second);
        f.sync(2);
        f.read("3", 2);
    }
    SECTION("it does, and was asked before the session began") {
        f.p.set_state(session_state::lost, 1);
        f.next(second);
        f.p.set_state(session_state::connected, 2);
        f.sync(2);
        f.read("3", 2);
    }
    SECTION("the session has changed once more before it was asked") {
        f.p.set_state(session_state::connected, 2);
        f.next(second);
        f.sync(2);
        f.p.set_state(session_state::connected, 3);
        f.read("1", 3);
        CHECK_FALSE(second.error);
        f.sync(3);
        f.read("3", 3);
    }
    SECTION("it has no quorum to catch up with") {
        f.p.set_state(session_state::read_only, 2);
        f.next(second);
        f.read("3", 2);
    }
    SECTION("it has no quorum, but was asked before that was known") {
        f.p.set_state(session_state::lost, 1);
        f.next(second);
        f.p.set_state(session_state::read_only, 2);
        f.sync(2, zk_errc::not_read_only);
        f.read("3", 2);
    }
    CHECK(second.value == "3");
    result third;
    f.next(third);
    CHECK(f.p.asked() == "get /a");  // once in each session
}

TEST_CASE("following a node: the session changes while it is read") {
    fixture f;
    result first, second;
    f.next(first);
    f.read("2");
    f.next(second);
    f.p.set_state(session_state::connected, 2);
    f.read("1", 2);
    CHECK_FALSE(second.error);
    f.sync(2);
    f.read("2", 2);
    CHECK_FALSE(second.error);
    f.read("3", 2);
    CHECK(second.value == "3");
}

TEST_CASE("reading children: not from the server of a later session than the listing's") {
    scripted_port p;
    std::map<std::string, node_view> found;
    std::optional<error_code> ended;
    auto read = [&]() -> task<> {
        error_code ec = co_await read_children(p, "/a", found);
        ended = ec;
    };
    p.spawn(read());
    REQUIRE(p.asked() == "get_children /a");
    p.front().names.push_back("x");
    p.front().sent_in = 1;
    p.answer();
    REQUIRE(p.asked() == "get /a/x");
    p.front().sent_in = 2;
    p.answer(zk_errc::no_node);
    CHECK_FALSE(ended);
    CHECK(p.asked() == "get_children /a");  // all of it again
}

}  // namespace corozk::testing::followed_node_test
