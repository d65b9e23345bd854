// SPDX-License-Identifier: Apache-2.0
// The drivers behind a queue, as shipped, against a script of answers.
#include "recipe/queue/claim.hpp"
#include "recipe/queue/consumer.hpp"
#include "recipe/queue/producer.hpp"
#include "scripted_port.hpp"
#include "session/watch_registry.hpp"

#include <catch2/catch.hpp>

#include <optional>

namespace corozk::testing::queue_drivers_test {

using namespace corozk;
using namespace corozk::detail;
using namespace std::chrono_literals;

namespace {

const std::string ledger_node = "create /q-control/ledger-";

struct result {
    std::optional<error_code> error;
    queue_item item;
};

struct fixture {
    explicit fixture(std::size_t bound = 0,
                     std::size_t window = 1,
                     queue_order order = queue_order::arrival) {
        queue_options options;
        options.bound = bound;
        options.window = window;
        p.set_state(session_state::connected, 1);
        auto shared = std::make_shared<const queue_settings>("/q", options, order);
        producer = std::make_shared<queue_producer>(p, shared);
        acknowledger = std::make_shared<queue_acknowledger>(p, shared);
        consumer = std::make_shared<queue_consumer>(
            p, shared, acknowledger, queue_consumer::wall_clock(), std::weak_ptr<session_view>());
    }

    void put(result& r, bool no_wait = false, time_limit limit = time_limit::for_ever()) {
        queue_producer::put_call put;
        put.items.emplace_back("data");
        put.no_wait = no_wait;
        handler_of<> handler = [&r](error_code ec) { r.error = ec; };
        put.call = make_call(p, producer->wake(), std::move(handler), limit);
        producer->enqueue(std::move(put));
    }

    void take(result& r, bool no_wait = false, time_limit limit = time_limit::for_ever()) {
        consumer_call call;
        call.no_wait = no_wait;
        handler_of<queue_item> handler = [&r](error_code ec, queue_item item) {
            r.error = ec;
            r.item = std::move(item);
        };
        call.result = make_call(p, consumer->wake(), std::move(handler), limit);
        consumer->enqueue(std::move(call));
    }

    void peek(result& r) {
        consumer_call call;
        call.what = consumer_call::kind::peek;
        call.no_wait = true;
        handler_of<queue_item> handler = [&r](error_code ec, queue_item item) {
            r.error = ec;
            r.item = std::move(item);
        };
        call.result = make_call(p, consumer->wake(), std::move(handler));
        consumer->enqueue(std::move(call));
    }

    void consume(time_limit limit = time_limit::for_ever()) {
        consumer_call call;
        call.what = consumer_call::kind::consume;
        handler_of<queue_claim> handler = [this](error_code ec, queue_claim c) {
            claim_error = ec;
            claim = std::move(c);
        };
        call.result = make_call(p, consumer->wake(), std::move(handler), limit);
        consumer->enqueue(std::move(call));
    }

    /// A claim that is held, with the czxid 9.
    std::shared_ptr<claim_impl> held_claim(const std::string& name = "queue-0000000001",
                                           std::uint64_t generation = 1) {
        queue_item item;
        item.name = name;
        claim_node node{p, "/q/" + name + "/claim", "guid", generation, stat()};
        node.record.czxid = 9;
        return std::make_shared<claim_impl>(consumer, std::move(item), std::move(node));
    }

    std::unique_ptr<pending_call<>> call_of(claim_impl& claimed, result& r) {
        handler_of<> handler = [&r](error_code ec) { r.error = ec; };
        return make_call(p, claimed.wake(), std::move(handler));
    }

    void answer_sync() {
        REQUIRE(p.asked().starts_with("sync "));
        p.answer();
    }

    /// What a read of the claim shows.
    void read_claim(std::int64_t czxid) {
        REQUIRE(p.asked() == "get " + claim_path);
        p.front().record.czxid = czxid;
        p.answer(czxid == 0 ? make_error_code(zk_errc::no_node) : error_code());
    }

    void open_ledger() {
        REQUIRE(p.asked().starts_with(ledger_node));
        p.answer();
        // How many there are, to find abandoned ones: not told here.
        REQUIRE(p.asked() == "exists /q-control");
        p.answer(zk_errc::no_node);
    }

    void list(const std::vector<std::string>& children, std::int64_t parent = 7) {
        REQUIRE(p.asked() == "get_children /q");
        p.front().record.czxid = parent;
        for (const std::string& child : children)
            p.front().names.push_back(child);
        p.answer();
    }

    /// The same with a watch, which fires later.
    void list_with_watch(const std::vector<std::string>& children) {
        REQUIRE(p.asked() == "get_children /q");
        REQUIRE(p.front().watch);
        registry.armed(watch_kind::children, "/q", 1, p.front().watcher());
        list(children);
    }

    void change() {
        registry.fire(watch_kind::children, "/q", watch_event_type::children_changed);
        p.advance(0s);
    }

    void read(const std::string& name) {
        REQUIRE(p.asked() == "get /q/" + name);
        p.front().answer = "data of " + name;
        p.front().record.version = 3;
        p.answer();
    }

    /// @param failed  the step that fails; 0 is that of `exactly_once`
    void commit(error_code ec = {}, std::size_t failed = 0) {
        REQUIRE(p.asked() == "commit ");
        detail::operation& op = p.front();
        op.results.resize(op.steps.size());
        op.results[failed].error = ec;
        p.answer(ec);
    }

    /// Up to the transaction that deletes the first item.
    void list_and_read() {
        list({"queue-0000000002", "queue-0000000001"});
        open_ledger();
        read("queue-0000000001");
        // What the next call will want is read at the same time.
        read("queue-0000000002");
        REQUIRE(p.front().steps.size() == 2);
        CHECK(p.front().steps[1].path == "/q/queue-0000000001");
        CHECK(p.front().steps[1].version == 3);
    }

    /// Up to that transaction, and its call's deadline.
    void take_too_late(result& r) {
        take(r, false, std::chrono::seconds(1));
        list_and_read();
        p.advance(std::chrono::seconds(2));
    }

    const std::string claim_path = "/q/queue-0000000001/claim";
    scripted_port p;
    watch_registry registry;
    std::optional<error_code> claim_error;
    queue_claim claim;
    std::shared_ptr<queue_producer> producer;
    std::shared_ptr<queue_acknowledger> acknowledger;
    std::shared_ptr<queue_consumer> consumer;
};

}  // namespace

TEST_CASE("queue, put: one transaction, begun with the step of `exactly_once`") {
    fixture f;
    result first, second, third;
    f.put(first);
    f.put(second);
    f.open_ledger();
    REQUIRE(f.p.front().steps.size() == 2);
    CHECK(f.p.front().steps[1].path == "/q/queue-");
    CHECK(f.p.front().steps[1].data == "data");
    CHECK(f.p.front().steps[1].mode == create_mode::persistent_sequential);
    f.put(third);
    f.commit();
    CHECK(first.error == error_code());
    CHECK_FALSE(second.error);
    CHECK(f.p.front().steps.size() == 3);  // what was asked for meanwhile
    f.commit();
    CHECK(second.error == error_code());
    CHECK(third.error == error_code());
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, put: those that share a transaction do not share the error of a step") {
    fixture f;
    result first, large, small, later;
    f.put(first);
    f.put(large);
    f.put(small);
    f.open_ledger();
    f.commit();
    REQUIRE(first.error);
    REQUIRE(f.p.front().steps.size() == 3);
    f.put(later);
    f.commit(zk_errc::quota_exceeded, 1);
    CHECK_FALSE(large.error);
    REQUIRE(f.p.front().steps.size() == 2);
    f.commit(zk_errc::quota_exceeded, 1);
    CHECK(large.error == zk_errc::quota_exceeded);
    CHECK_FALSE(small.error);
    REQUIRE(f.p.front().steps.size() == 2);
    f.commit();
    CHECK(small.error == error_code());
    CHECK_FALSE(later.error);
    f.commit();
    CHECK(later.error == error_code());
}

TEST_CASE("queue, put: a missing parent znode is created, and a lost response repeated") {
    fixture f;
    result r;
    f.put(r);
    f.open_ledger();
    f.commit(zk_errc::no_node, 1);
    REQUIRE(f.p.asked() == "create /q");
    CHECK(f.p.front().mode == create_mode::persistent);
    f.p.answer();
    REQUIRE(f.p.asked() == "commit ");
    f.p.answer(zk_errc::connection_loss);
    CHECK_FALSE(r.error);
    f.commit(zk_errc::bad_version, 0);  // the lost one was applied
    CHECK(r.error == error_code());
}

TEST_CASE("queue, put: what was lost on its way is not sent again for a call that has ended") {
    fixture f;
    result r, next;
    f.put(r, false, 1s);
    f.open_ledger();
    f.p.answer(zk_errc::connection_loss);
    REQUIRE(f.p.asked() == "commit ");
    CHECK(f.p.front().wanted());
    f.p.advance(2s);
    CHECK(r.error == errc::deadline_exceeded);
    CHECK_FALSE(f.p.front().wanted());
    f.put(next);
    f.p.answer(boost::asio::error::operation_aborted);
    // Nor does the first request arrive any more.
    REQUIRE(f.p.asked().starts_with("erase /q-control/ledger-"));
    SECTION("it has not arrived") {
        f.p.answer();
        REQUIRE(f.p.asked().starts_with(ledger_node));
        f.p.answer();
    }
    SECTION("it had arrived") {
        f.p.answer(zk_errc::bad_version);
    }
    REQUIRE(f.p.front().steps.size() == 2);
    f.commit();
    REQUIRE(next.error);
    CHECK_FALSE(*next.error);
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue: nothing is created for a call that has ended") {
    result r, next;
    SECTION("the node of a transaction") {
        fixture f;
        f.put(r, false, 1s);
        REQUIRE(f.p.asked().starts_with(ledger_node));
        CHECK(f.p.front().wanted());
        f.p.advance(2s);
        CHECK(r.error == errc::deadline_exceeded);
        CHECK_FALSE(f.p.front().wanted());
        f.put(next);
        f.p.answer(boost::asio::error::operation_aborted);
        f.open_ledger();
        f.commit();
        CHECK(next.error == error_code());
    }
    SECTION("the parent of a put") {
        fixture f;
        f.put(r, false, 1s);
        f.open_ledger();
        f.commit(zk_errc::no_node, 1);
        REQUIRE(f.p.asked() == "create /q");
        CHECK(f.p.front().wanted());
        f.p.advance(2s);
        CHECK_FALSE(f.p.front().wanted());
        f.put(next);
        f.p.answer(boost::asio::error::operation_aborted);
        f.commit();
        CHECK(next.error == error_code());
    }
    SECTION("the bound") {
        fixture f(5);
        f.put(r, false, 1s);
        REQUIRE(f.p.asked() == "get /q-control/bound");
        f.p.answer(zk_errc::no_node);
        REQUIRE(f.p.asked() == "exists /q");
        f.p.answer(zk_errc::no_node);
        REQUIRE(f.p.asked() == "create /q-control/bound");
        CHECK(f.p.front().wanted());
        f.p.advance(2s);
        CHECK(r.error == errc::deadline_exceeded);
        CHECK_FALSE(f.p.front().wanted());
        f.p.answer(boost::asio::error::operation_aborted);
        CHECK(f.p.asked().empty());
    }
    SECTION("the parent of a take") {
        fixture f;
        f.take(r, false, 1s);
        REQUIRE(f.p.asked() == "get_children /q");
        f.p.answer(zk_errc::no_node);
        REQUIRE(f.p.asked() == "create /q");
        CHECK(f.p.front().wanted());
        f.p.advance(2s);
        CHECK_FALSE(f.p.front().wanted());
        f.take(next, true);
        CHECK(f.p.front().wanted());
        f.p.answer();
        f.list({});
        CHECK(next.error == errc::would_block);
    }
    SECTION("the node of a take") {
        fixture f;
        f.take(r, false, 1s);
        f.list({"queue-0000000001"});
        REQUIRE(f.p.asked().starts_with(ledger_node));
        CHECK(f.p.front().wanted());
        f.p.advance(2s);
        CHECK_FALSE(f.p.front().wanted());
        f.p.answer(boost::asio::error::operation_aborted);
        CHECK(f.p.asked().empty());
    }
}

TEST_CASE("queue, put: one in doubt waits for a server that has a quorum") {
    fixture f;
    result r;
    f.put(r);
    f.open_ledger();
    f.p.answer(zk_errc::connection_loss);
    f.p.set_state(session_state::read_only, 1);
    f.commit(zk_errc::not_read_only);
    CHECK(f.p.asked().empty());
    CHECK_FALSE(r.error);
    f.p.set_state(session_state::connected, 1);
    f.commit(zk_errc::bad_version, 0);  // the lost one was applied
    REQUIRE(r.error);
    CHECK_FALSE(*r.error);
}

TEST_CASE("queue, put: what may have been put is not put again") {
    fixture f;
    result r;
    f.put(r);
    f.open_ledger();
    f.p.answer(zk_errc::connection_loss);
    f.commit(zk_errc::no_auth, 1);
    REQUIRE(f.p.asked().starts_with("erase /q-control/ledger-"));
    f.p.answer(zk_errc::no_auth);
    CHECK(r.error == zk_errc::connection_loss);
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, put: a bounded queue counts first, and names the version of before") {
    fixture f(2);
    result r, next;
    f.put(r);
    REQUIRE(f.p.asked() == "get /q-control/bound");
    f.p.answer(zk_errc::no_node);
    f.p.answer(zk_errc::no_node);
    REQUIRE(f.p.asked() == "create /q-control/bound");
    f.p.answer();
    auto count = [&](std::int32_t items, std::int32_t version) {
        REQUIRE(f.p.asked() == "get /q-control/bound");
        f.p.front().answer = "2";
        f.p.front().record.version = version;
        f.p.answer();
        REQUIRE(f.p.asked() == "exists /q");
        f.p.front().record.num_children = items;
        f.p.answer();
    };
    count(1, 5);
    f.open_ledger();
    REQUIRE(f.p.front().steps.size() == 3);
    CHECK(f.p.front().steps[1].path == "/q-control/bound");
    CHECK(f.p.front().steps[1].version == 5);
    SECTION("another producer was faster: the queue is full, and has room again later") {
        f.commit(zk_errc::bad_version, 1);
        f.put(next, true);
        count(2, 6);
        CHECK(next.error == errc::would_block);
        CHECK_FALSE(r.error);
        REQUIRE(f.p.asked() == "get_children /q");
        CHECK(f.p.front().watch);
        f.p.front().names.push_back("one");
        f.p.answer();
        CHECK(f.p.front().steps.at(1).version == 6);
        f.commit();
        CHECK(r.error == error_code());
    }
    SECTION("it was the last one that fits: the next put counts again") {
        f.put(next, true);
        f.commit();
        CHECK(r.error == error_code());
        count(2, 6);
        CHECK(next.error == errc::would_block);
    }
    SECTION("its response is lost: nothing is known about the bound") {
        f.p.answer(zk_errc::connection_loss);
        f.put(next);
        f.commit(zk_errc::bad_version, 0);
        CHECK(r.error == error_code());
        count(1, 6);
        CHECK(f.p.asked() == "commit ");
    }
    SECTION("the parameters of other producers") {
        f.commit(zk_errc::bad_version, 1);
        REQUIRE(f.p.asked() == "get /q-control/bound");
        f.p.front().answer = "3";
        f.p.answer();
        f.p.answer();
        CHECK(r.error == errc::limit_mismatch);
    }
}

TEST_CASE("queue, put: what was put after the deadline is deleted") {
    fixture f;
    result r;
    f.put(r, false, 1s);
    f.open_ledger();
    f.p.advance(2s);
    f.p.front().results.resize(2);
    f.p.front().results[1].path = "/q/queue-0000000001";
    f.p.answer();
    CHECK(r.error == errc::deadline_exceeded);
    // Even while the client is being closed.
    CHECK(f.p.front().owed);
    auto without_quorum = [&f] {
        f.p.set_state(session_state::read_only, 1);
        f.p.answer(zk_errc::not_read_only);
    };
    auto with_quorum = [&f] {
        CHECK(f.p.asked().empty());
        f.p.set_state(session_state::connected, 1);
    };
    const bool quorum_is_lost = GENERATE(false, true);
    if (quorum_is_lost) {
        without_quorum();
        f.p.answer();
        with_quorum();
    }
    f.answer_sync();
    REQUIRE(f.p.asked() == "exists /q/queue-0000000001");
    CHECK(f.p.front().owed);
    f.p.answer();
    REQUIRE(f.p.asked() == "erase /q/queue-0000000001");
    CHECK(f.p.front().owed);
    if (quorum_is_lost) {
        without_quorum();
        with_quorum();
        f.answer_sync();
        f.p.answer();
        REQUIRE(f.p.asked() == "erase /q/queue-0000000001");
    }
    f.p.answer();
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, take: list, read, delete") {
    fixture f;
    result first, second;
    f.take(first);
    f.list_and_read();
    f.commit();
    CHECK(first.error == error_code());
    CHECK(first.item.name == "queue-0000000001");
    CHECK(first.item.data == "data of queue-0000000001");
    CHECK(f.p.asked().empty());
    f.take(second);
    // After a rest the parent znode may be another one.
    f.answer_sync();
    REQUIRE(f.p.asked() == "exists /q");
    SECTION("it is not: the listing serves on, and the item was read already") {
        f.p.front().record.czxid = 7;
        f.p.answer();
        CHECK(f.p.front().steps.at(1).path == "/q/queue-0000000002");
        f.commit();
        CHECK(second.item.data == "data of queue-0000000002");
    }
    SECTION("it is: all that was known is about other items") {
        f.p.front().record.czxid = 8;
        f.p.answer();
        f.list({"queue-0000000002"}, 8);
        f.read("queue-0000000002");
        f.commit();
        CHECK(second.error == error_code());
    }
}

TEST_CASE("queue, take: calls that begin during a listing do not delay those before them") {
    result first, second;
    SECTION("with ranks") {
        fixture f(0, 1, queue_order::priority);
        f.take(first);
        f.take(second);
        f.list({"queue-1-0000000001", "queue-2-0000000002"});
        f.open_ledger();
        f.read("queue-1-0000000001");
        REQUIRE(f.p.front().steps.size() == 2);
        f.commit();
        CHECK(first.item.name == "queue-1-0000000001");
        CHECK_FALSE(second.error);
        f.list({"queue-2-0000000002"});
    }
    SECTION("that cannot wait, at an empty queue") {
        fixture f;
        f.take(first, true);
        f.take(second, true);
        f.list({});
        CHECK(first.error == errc::would_block);
        CHECK_FALSE(second.error);
        f.list({});
        CHECK(second.error == errc::would_block);
        CHECK(f.p.asked().empty());
    }
    SECTION("that cannot wait, behind one that waits") {
        fixture f;
        f.take(first);
        f.list({});
        f.list_with_watch({});
        f.take(second, true);
        f.p.advance(0s);
        f.list({});
        CHECK(second.error == errc::would_block);
        CHECK_FALSE(first.error);
        CHECK(f.p.asked().empty());
    }
}

TEST_CASE("queue: what is refused to one kind of call is not refused to others") {
    fixture f;
    result taken, peeked;
    f.consume();
    f.take(taken);
    f.peek(peeked);
    f.list({"queue-0000000001"});
    REQUIRE(f.p.asked() == "create " + f.claim_path);
    f.p.answer(zk_errc::no_children_for_ephemerals);
    f.read("queue-0000000001");
    CHECK(f.claim_error == errc::not_supported);
    f.list({"queue-0000000001"});
    f.open_ledger();
    f.read("queue-0000000001");
    f.commit();
    CHECK(taken.error == error_code());
    CHECK(peeked.error == errc::would_block);
}

TEST_CASE("queue, peek: without a quorum") {
    fixture f;
    result r;
    f.peek(r);
    f.list({"queue-0000000001"});
    f.read("queue-0000000001");
    REQUIRE(r.error == error_code());
    f.p.set_state(session_state::read_only, 1);
    f.peek(r);
    REQUIRE(f.p.asked() == "exists /q");
    f.p.front().record.czxid = 7;
    f.p.answer();
    f.read("queue-0000000001");
    CHECK(r.error == error_code());
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, take: an item that is listed twice is deleted once, whoever waits") {
    fixture f;
    result first, second;
    f.take(first);
    f.take(second);
    f.list({"queue-0000000001", "queue-0000000001"});
    f.open_ledger();
    f.read("queue-0000000001");
    REQUIRE(f.p.front().steps.size() == 2);
    CHECK(f.p.front().steps[1].path == "/q/queue-0000000001");
    f.commit();
    CHECK(first.error == error_code());
    CHECK_FALSE(second.error);
}

TEST_CASE("queue, take: the delete is sent once") {
    fixture f;
    result r;
    f.take(r);
    f.list_and_read();
    f.p.answer(zk_errc::connection_loss);
    REQUIRE(f.p.asked().starts_with("erase /q-control/ledger-"));
    SECTION("it was applied") {
        f.p.answer(zk_errc::bad_version);
        CHECK(r.error == error_code());
        CHECK(r.item.name == "queue-0000000001");
    }
    SECTION("it was not, and never will be") {
        f.p.answer();
        CHECK_FALSE(r.error);
        CHECK(f.p.asked() == "get_children /q");
    }
    SECTION("that cannot be found out") {
        f.p.answer(errc::closed);
        CHECK(r.error == zk_errc::connection_loss);
        CHECK(r.item.name == "queue-0000000001");
    }
}

TEST_CASE("queue, take: other clients are faster") {
    fixture f;
    result r;
    f.take(r);
    f.list_and_read();
    SECTION("one has taken it: lists again after a pause") {
        f.commit(zk_errc::no_node, 1);
        CHECK(f.p.asked().empty());
        f.p.advance(50ms);
        f.list({"queue-0000000002"});
    }
    SECTION("one has claimed it: takes the next one, and watches that claim") {
        f.commit(zk_errc::not_empty, 1);
        REQUIRE(f.p.asked() == "get_children /q/queue-0000000001");
        CHECK(f.p.front().watch);
        f.p.front().names.push_back("claim");
        f.p.answer();
        CHECK(f.p.front().steps.at(1).path == "/q/queue-0000000002");
        f.commit();
        CHECK(r.item.name == "queue-0000000002");
    }
}

TEST_CASE("queue, take: consumers that wait at an empty queue list it once for an item of others") {
    fixture f;
    result r;
    f.take(r);
    f.list({});
    f.list_with_watch({});
    CHECK(f.p.asked().empty());
    f.change();
    f.list_with_watch({"queue-0000000001"});
    f.open_ledger();
    f.read("queue-0000000001");
    f.change();
    f.commit(zk_errc::no_node, 1);
    f.p.advance(50ms);
    f.list_with_watch({});
    // Others were as fast the last time: waits for them before it looks.
    f.p.guid_start = "ffffffff";
    f.change();
    CHECK(f.p.asked().empty());
    f.p.advance(50ms);
    f.list_with_watch({});
    CHECK(f.p.asked().empty());
    f.change();
    f.p.advance(50ms);
    f.list_with_watch({"queue-0000000003"});
    f.read("queue-0000000003");
    f.commit();
    CHECK(r.item.name == "queue-0000000003");
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, take: in a long queue what others took is passed over") {
    fixture f;
    result r;
    std::vector<std::string> items;
    for (int i = 100; i < 200; ++i)
        items.push_back("queue-0000000" + std::to_string(i));
    f.take(r);
    f.list(items);
    f.open_ledger();
    f.read("queue-0000000100");
    f.read("queue-0000000101");  // what the next call will want
    f.commit(zk_errc::no_node, 1);
    f.p.advance(50ms);
    // Read again: others may have been faster once more.
    REQUIRE(f.p.asked() == "get /q/queue-0000000101");
    f.p.answer(zk_errc::no_node);
    // More at a time, without their data.
    REQUIRE(f.p.asked() == "get /q/queue-0000000102");
    f.p.answer(zk_errc::no_node);
    REQUIRE(f.p.asked() == "exists /q/queue-0000000103");
    f.p.answer(zk_errc::no_node);
    REQUIRE(f.p.asked() == "get /q/queue-0000000104");
    f.p.front().answer = "data";
    f.p.answer();
    for (int i = 105; i < 108; ++i) {
        REQUIRE(f.p.asked() == "exists /q/queue-0000000" + std::to_string(i));
        f.p.answer();
    }
    f.commit();
    CHECK(r.item.name == "queue-0000000104");
}

TEST_CASE("queue, take: in a window at random, and on from there") {
    fixture f(0, 3);
    result r;
    std::vector<std::string> items;
    for (int i = 1; i < 6; ++i)
        items.push_back("queue-000000000" + std::to_string(i));
    f.p.guid_start = "00000002";
    f.take(r);
    f.list(items);
    f.open_ledger();
    f.read("queue-0000000003");
    f.read("queue-0000000004");
    CHECK(f.p.front().steps.at(1).path == "/q/queue-0000000003");
    SECTION("others are not there") {
        f.p.guid_start = "00000000";
        f.commit();
        CHECK(r.item.name == "queue-0000000003");
        f.take(r);
        f.answer_sync();
        f.p.front().record.czxid = 7;
        f.p.answer();
        f.read("queue-0000000005");
        CHECK(f.p.front().steps.at(1).path == "/q/queue-0000000004");
    }
    SECTION("another one is") {
        f.p.guid_start = "00000000";
        f.commit(zk_errc::no_node, 1);
        f.p.advance(50ms);
        f.list({items[0], items[1], items[3], items[4]});
        f.read("queue-0000000001");
        f.commit();
        CHECK(r.item.name == "queue-0000000001");
    }
}

TEST_CASE("queue: abandoned nodes are looked for by few of many clients") {
    fixture f;
    result r;
    const auto looks = [&](std::int32_t nodes, const std::string& random) {
        f.p.guid_start = random;
        f.put(r);
        REQUIRE(f.p.asked().starts_with(ledger_node));
        f.p.answer();
        REQUIRE(f.p.asked() == "exists /q-control");
        f.p.front().record.num_children = nodes;
        f.p.answer();
        f.commit();
        CHECK(r.error == error_code());
    };
    SECTION("there is no other one") {
        looks(1, "00000000");
        CHECK(f.p.asked().empty());
    }
    SECTION("there are few") {
        looks(4, "ffffffff");
        CHECK(f.p.asked().starts_with("exists /q-control/ledger-ffffffff"));
    }
    SECTION("there are many, and it is another one's turn") {
        looks(1000, "00000004");
        CHECK(f.p.asked().empty());
    }
    SECTION("there are many: all that are an hour old are deleted") {
        constexpr std::int64_t hour = 60 * 60 * 1000;
        looks(1000, "00000003");
        REQUIRE(f.p.asked().starts_with("exists /q-control/ledger-00000003"));
        f.p.front().record.ctime = 3 * hour;
        f.p.answer();
        REQUIRE(f.p.asked() == "get_children /q-control");
        for (const char* name : {"bound", "ledger-old", "ledger-young"})
            f.p.front().names.push_back(name);
        f.p.answer();
        REQUIRE(f.p.asked() == "exists /q-control/ledger-old");
        f.p.front().record.mtime = 2 * hour;
        f.p.front().record.version = 5;
        f.p.answer();
        REQUIRE(f.p.asked() == "erase /q-control/ledger-old");
        CHECK(f.p.front().version == 5);
        f.p.answer();
        REQUIRE(f.p.asked() == "exists /q-control/ledger-young");
        f.p.front().record.mtime = 2 * hour + 1;
        f.p.answer();
        CHECK(f.p.asked().empty());
    }
}

TEST_CASE("queue, take: an item whose call has ended is put back") {
    fixture f;
    result r;
    f.take_too_late(r);
    CHECK(r.error == errc::deadline_exceeded);
    f.commit();
    REQUIRE(f.p.asked() == "commit ");
    CHECK(f.p.front().steps[1].kind == transaction::step_kind::create);
    CHECK(f.p.front().steps[1].path == "/q/queue-0000000001");
    CHECK(f.p.front().steps[1].data == "data of queue-0000000001");
    f.commit();
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, take: putting back, whatever is lost on the way") {
    fixture f;
    result r;
    f.take_too_late(r);
    f.commit();
    auto puts_back = [&] {
        REQUIRE(f.p.asked() == "commit ");
        REQUIRE(f.p.front().steps.size() == 2);
        CHECK(f.p.front().steps[1].path == "/q/queue-0000000001");
        CHECK(f.p.front().owed);
    };
    puts_back();
    f.p.answer(zk_errc::connection_loss);
    puts_back();
    SECTION("a response") {
        f.commit(zk_errc::bad_version);
    }
    SECTION("a request") {
        f.commit();
    }
    SECTION("both, twice") {
        f.p.answer(zk_errc::connection_loss);
        puts_back();
        f.commit(zk_errc::bad_version);
    }
    SECTION("the parent, too") {
        f.commit(zk_errc::no_node, 1);
        // Does an attempt of before still arrive?
        REQUIRE(f.p.asked().starts_with("erase /q-control/ledger-"));
        f.p.answer();
        REQUIRE(f.p.asked() == "create /q");
        f.p.answer();
        REQUIRE(f.p.asked().starts_with(ledger_node));
        f.p.answer();
        puts_back();
        f.commit();
    }
    SECTION("the quorum") {
        f.p.set_state(session_state::read_only, 1);
        f.p.answer(zk_errc::not_read_only);
        CHECK(f.p.asked().empty());
        f.p.set_state(session_state::connected, 1);
        puts_back();
        f.commit();
    }
    SECTION("the client") {
        f.p.answer(errc::closed);
        REQUIRE(f.p.logged.size() == 1);
        CHECK(f.p.logged[0].starts_with("could not put the item queue-0000000001 back into /q: "));
    }
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, take: an item that the server refuses is put back later, or given to somebody") {
    fixture f;
    result r, later;
    f.take_too_late(r);
    f.commit();
    const error_code why = GENERATE(zk_errc::quota_exceeded, zk_errc::not_read_only);
    CAPTURE(why);
    f.commit(why, 1);
    CHECK(f.p.asked().empty());
    f.p.advance(1s);
    f.commit(why, 1);
    REQUIRE(f.p.logged.size() == 1);  // once is enough
    CHECK(f.p.logged[0].starts_with("could not put the item queue-0000000001 back into /q: "));
    CHECK(f.p.asked().empty());
    SECTION("later") {
        f.p.advance(1s);
        f.commit();
    }
    SECTION("to somebody") {
        f.take(later, false);
        f.p.advance(0s);
        REQUIRE(later.error);
        CHECK_FALSE(*later.error);
    }
    SECTION("later, which those that cannot wait are told") {
        f.peek(later);
        f.p.advance(1s);
        CHECK(later.error == why);
        f.commit();
    }
    SECTION("not at all, if the client is closed") {
        f.p.set_state(session_state::closed, 1);
        f.commit(why, 1);
    }
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, take: an item whose name is another one's by now is not put back") {
    fixture f;
    result r;
    f.take_too_late(r);
    f.commit();
    f.commit(zk_errc::node_exists, 1);
    CHECK(f.p.asked().empty());
    REQUIRE(f.p.logged.size() == 1);
    CHECK(f.p.logged[0].starts_with("could not put the item queue-0000000001 back into /q: "));
}

TEST_CASE("queue, take: the log says if an item was perhaps deleted for nobody") {
    fixture f;
    result r;
    f.take_too_late(r);
    f.p.answer(zk_errc::connection_loss);
    REQUIRE(f.p.asked().starts_with("erase /q-control/ledger-"));
    SECTION("it was not") {
        f.p.answer();
        CHECK(f.p.logged.empty());
    }
    SECTION("it was, and is put back") {
        f.p.answer(zk_errc::bad_version);
        REQUIRE(f.p.asked() == "commit ");
        CHECK(f.p.logged.empty());
        f.commit();
        CHECK(f.p.logged.empty());
    }
    SECTION("that cannot be found out") {
        f.p.answer(errc::closed);
        REQUIRE(f.p.logged.size() == 1);
        CHECK(f.p.logged[0].starts_with("the item queue-0000000001 of /q may have been deleted "));
    }
}

TEST_CASE("queue, take: an empty queue") {
    fixture f;
    result r;
    SECTION("a call that cannot wait costs one listing") {
        f.take(r, true);
        f.list({});
        CHECK(r.error == errc::would_block);
    }
    SECTION("another one waits for a watch") {
        f.take(r);
        f.list({});
        REQUIRE(f.p.asked() == "get_children /q");
        CHECK(f.p.front().watch);
    }
    CHECK(f.p.asked().empty() == r.error.has_value());
}

TEST_CASE("queue, consume: a claim whose request was lost says nothing about the item") {
    fixture f;
    f.consume();
    // So many that one item that is gone is no reason to list again.
    std::vector<std::string> names;
    for (int i = 1; i <= 20; ++i)
        names.push_back("queue-00000000" + std::string(i < 10 ? "0" : "") + std::to_string(i));
    f.list(names);
    REQUIRE(f.p.asked() == "create " + f.claim_path);
    f.p.answer(zk_errc::connection_loss);
    f.read("queue-0000000001");
    f.answer_sync();
    REQUIRE(f.p.asked() == "get " + f.claim_path);
    f.p.answer(zk_errc::no_node);
    f.list(names);
    CHECK(f.p.asked() == "create " + f.claim_path);
}

TEST_CASE("queue, consume: no more is claimed than is waited for") {
    fixture f;
    f.consume(1s);
    f.consume();
    f.list({"queue-0000000001", "queue-0000000002"});
    REQUIRE(f.p.asked() == "create " + f.claim_path);
    CHECK(f.p.front().wanted());
    SECTION("one of the calls ends: what was not sent is not, and the other one begins again") {
        f.p.advance(2s);
        CHECK(f.claim_error == errc::deadline_exceeded);
        f.claim_error.reset();
        for (const char* name : {"queue-0000000001", "queue-0000000002"}) {
            REQUIRE(f.p.asked() == "create /q/" + std::string(name) + "/claim");
            CHECK_FALSE(f.p.front().wanted());
            f.p.answer(boost::asio::error::operation_aborted);
            f.read(name);
        }
        CHECK_FALSE(f.claim_error);
        f.list({"queue-0000000001", "queue-0000000002"});
        REQUIRE(f.p.asked() == "create " + f.claim_path);
        CHECK(f.p.front().wanted());
    }
    SECTION("one of them has its item: the other one waits for the rest") {
        f.p.front().record.czxid = 9;
        f.p.answer();
        f.read("queue-0000000001");
        CHECK(f.claim_error == error_code());
        REQUIRE(f.p.asked() == "create /q/queue-0000000002/claim");
        CHECK(f.p.front().wanted());
    }
    f.claim = queue_claim();
}

TEST_CASE("queue, consume: claim the first item, then read it") {
    fixture f;
    f.consume();
    f.list({"queue-0000000001"});
    REQUIRE(f.p.asked() == "create " + f.claim_path);
    const std::string guid = f.p.front().data;
    CHECK(f.p.front().mode == create_mode::ephemeral);
    CHECK(f.p.front().generation == 1);
    auto read_item = [&](std::int32_t earlier_claims = 0) {
        f.p.front().record.cversion = 2 * earlier_claims + 1;
        f.p.front().record.num_children = 1;
        f.read("queue-0000000001");
    };
    auto answer_create = [&] {
        f.p.front().record.czxid = 9;
        f.p.answer();
    };
    SECTION("it is ours") {
        answer_create();
        read_item();
        CHECK(f.claim_error == error_code());
        CHECK(f.claim.data() == "data of queue-0000000001");
        CHECK(f.claim.fencing_token() == 9);
    }
    SECTION("its version differs from that of the claim before it") {
        answer_create();
        read_item(1);
        REQUIRE(f.p.asked() == "set " + f.claim_path);
        CHECK(f.p.front().data == guid);
        CHECK(f.p.front().version == 0);
        f.p.answer();
        CHECK(f.claim_error == error_code());
    }
    SECTION("the response is lost: the GUID says whose it is") {
        f.p.answer(zk_errc::connection_loss);
        read_item();
        f.answer_sync();
        f.p.front().record.ephemeral_owner = 1;
        SECTION("ours") {
            f.p.front().answer = guid;
            f.read_claim(9);
            CHECK(f.claim_error == error_code());
            CHECK(f.claim.fencing_token() == 9);
        }
        SECTION("another client's: waits for its end") {
            f.p.front().answer = "guid";
            f.read_claim(8);
            CHECK(f.p.asked() == "get_children /q/queue-0000000001");
        }
    }
    SECTION("the object is destroyed meanwhile: the claim is deleted, and no other") {
        f.consumer->stop();
        answer_create();
        CHECK(f.claim_error == boost::asio::error::operation_aborted);
        read_item();
        REQUIRE(f.p.asked() == "erase " + f.claim_path);
        f.p.answer(zk_errc::connection_loss);
        f.answer_sync();
        SECTION("it was not deleted") {
            f.read_claim(9);
            CHECK(f.p.asked() == "erase " + f.claim_path);
        }
        SECTION("another one is there") {
            f.read_claim(10);
            CHECK(f.p.asked().empty());
        }
    }
    f.claim = queue_claim();
}

TEST_CASE("queue, consume: without a quorum, what must happen waits") {
    fixture f;
    auto lose_quorum = [&f] { f.p.set_state(session_state::read_only, 1); };
    auto regain_quorum = [&f](const char* what) {
        CHECK(f.p.asked().empty());
        f.p.set_state(session_state::connected, 1);
        CHECK(f.p.asked().starts_with(what));
    };
    auto list_and_create = [&f](error_code ec, std::int32_t earlier_claims = 0) {
        f.list({"queue-0000000001"});
        REQUIRE(f.p.asked() == "create " + f.claim_path);
        f.p.front().record.czxid = 9;
        const std::string guid = f.p.front().data;
        f.p.answer(ec);
        f.p.front().record.cversion = 2 * earlier_claims + 1;
        f.p.front().record.num_children = 1;
        f.read("queue-0000000001");
        return guid;
    };
    SECTION("finding out whether it was claimed") {
        f.consume();
        const std::string guid = list_and_create(zk_errc::connection_loss);
        lose_quorum();
        REQUIRE(f.p.asked().starts_with("sync "));
        f.p.answer(zk_errc::not_read_only);
        f.read_claim(0);
        regain_quorum("sync ");
        f.answer_sync();
        f.p.front().answer = guid;
        f.p.front().record.ephemeral_owner = 1;
        f.read_claim(9);
        CHECK(f.claim_error == error_code());
    }
    SECTION("telling it apart from the one before it") {
        f.consume();
        list_and_create({}, 1);
        lose_quorum();
        REQUIRE(f.p.asked() == "set " + f.claim_path);
        f.p.answer(zk_errc::not_read_only);
        regain_quorum("sync ");
        f.answer_sync();
        f.read_claim(9);
        REQUIRE(f.p.asked() == "set " + f.claim_path);
        f.p.answer();
        CHECK(f.claim_error == error_code());
    }
    SECTION("giving back what nobody waits for any more") {
        f.consume(1s);
        f.list({"queue-0000000001"});
        f.p.advance(2s);
        CHECK(f.claim_error == errc::deadline_exceeded);
        f.p.front().record.czxid = 9;
        f.p.answer();
        f.read("queue-0000000001");
        lose_quorum();
        REQUIRE(f.p.asked() == "erase " + f.claim_path);
        f.p.answer(zk_errc::not_read_only);
        regain_quorum("sync ");
        f.answer_sync();
        f.read_claim(9);
        REQUIRE(f.p.asked() == "erase " + f.claim_path);
        f.p.answer();
        CHECK(f.p.asked().empty());
    }
    SECTION("releasing it") {
        result r;
        auto claimed = f.held_claim();
        claimed->release(f.call_of(*claimed, r));
        lose_quorum();
        REQUIRE(f.p.asked() == "erase " + f.claim_path);
        f.p.answer(zk_errc::not_read_only);
        CHECK_FALSE(r.error);
        regain_quorum("sync ");
        f.answer_sync();
        f.read_claim(9);
        REQUIRE(f.p.asked() == "erase " + f.claim_path);
        f.p.answer();
        CHECK(r.error == error_code());
        CHECK_FALSE(claimed->valid());
    }
    f.claim = queue_claim();
}

TEST_CASE("queue, release: a claim that may not be deleted is still held") {
    fixture f;
    result refused, released;
    auto claimed = f.held_claim();
    claimed->release(f.call_of(*claimed, refused));
    CHECK_FALSE(claimed->valid());
    REQUIRE(f.p.asked() == "erase " + f.claim_path);
    f.p.answer(zk_errc::no_auth);
    CHECK(refused.error == zk_errc::no_auth);
    CHECK(claimed->valid());
    claimed->release(f.call_of(*claimed, released));
    REQUIRE(f.p.asked() == "erase " + f.claim_path);
    f.p.answer();
    CHECK(released.error == error_code());
    CHECK_FALSE(claimed->valid());
}

TEST_CASE("queue, acknowledge: the claim and the item are deleted in one transaction") {
    fixture f;
    result r;
    auto claimed = f.held_claim();
    claimed->acknowledge(transaction(), f.call_of(*claimed, r));
    f.open_ledger();
    REQUIRE(f.p.front().steps.size() == 3);
    CHECK(f.p.front().steps[1].path == f.claim_path);
    CHECK(f.p.front().steps[2].path == "/q/queue-0000000001");
    CHECK(f.p.front().generation == 1);
    CHECK(claimed->valid());
    auto withdraw = [&](error_code ec) {
        REQUIRE(f.p.asked().starts_with("erase /q-control/ledger-"));
        f.p.answer(ec);
    };
    SECTION("applied") {
        f.commit();
        CHECK(r.error == error_code());
        CHECK_FALSE(claimed->valid());
    }
    SECTION("the claim has ended") {
        f.commit(zk_errc::no_node, 1);
        CHECK(r.error == errc::ownership_lost);
        CHECK_FALSE(claimed->valid());
        CHECK(f.p.asked().empty());
    }
    SECTION("the claim has ended, or another client has set its data: then it is deleted") {
        f.commit(zk_errc::bad_version, 1);
        CHECK(r.error == errc::ownership_lost);
        CHECK_FALSE(claimed->valid());
        REQUIRE(f.p.asked() == "erase " + f.claim_path);
        f.p.answer(zk_errc::bad_version);
        f.answer_sync();
        f.p.front().record.version = 5;
        SECTION("another one is there") {
            f.read_claim(10);
        }
        SECTION("it is there") {
            f.read_claim(9);
            REQUIRE(f.p.asked() == "erase " + f.claim_path);
            CHECK(f.p.front().version == 5);
            f.p.answer();
        }
        CHECK(f.p.asked().empty());
    }
    SECTION("not permitted: the claim is still held") {
        f.commit(zk_errc::no_auth, 2);
        CHECK(r.error == zk_errc::no_auth);
        CHECK(claimed->valid());
    }
    SECTION("response lost, applied") {
        f.p.answer(zk_errc::connection_loss);
        f.commit(zk_errc::bad_version, 0);
        CHECK(r.error == error_code());
    }
    SECTION("response lost, not applied: once more") {
        f.p.answer(zk_errc::connection_loss);
        f.commit();
        CHECK(r.error == error_code());
    }
    SECTION("response lost, not applied, and the claim has ended") {
        f.p.answer(zk_errc::connection_loss);
        f.commit(zk_errc::no_node, 1);
        CHECK(r.error == errc::ownership_lost);
    }
    SECTION("response lost, and the record is gone: unknown, so the claim is released") {
        f.p.answer(zk_errc::connection_loss);
        f.commit(zk_errc::no_node, 0);
        CHECK(r.error == zk_errc::connection_loss);
        CHECK(f.p.asked() == "erase " + f.claim_path);
    }
    SECTION("response lost, and the session") {
        f.p.set_state(session_state::lost, 2);
        f.p.answer(zk_errc::connection_loss);
        SECTION("not applied, and never will be") {
            withdraw({});
            CHECK(r.error == errc::ownership_lost);
        }
        SECTION("applied") {
            withdraw(zk_errc::bad_version);
            CHECK(r.error == error_code());
        }
        SECTION("nobody knows") {
            withdraw(GENERATE(zk_errc::no_auth, zk_errc::no_node));
            CHECK(r.error == zk_errc::connection_loss);
        }
        CHECK_FALSE(claimed->valid());
    }
    SECTION("the session has ended, and nothing was sent") {
        std::optional<error_code> lost;
        error_code why;
        handler_of<error_code> handler = [&](error_code ec, error_code reason) {
            lost = ec;
            why = reason;
        };
        claimed->wait_lost(make_call(f.p, claimed->wake(), std::move(handler)));
        REQUIRE(f.p.asked() == "commit ");
        f.p.set_state(session_state::lost, 2);
        f.p.answer(GENERATE(make_error_code(zk_errc::session_expired),
                            make_error_code(errc::not_connected)));
        CHECK(r.error == errc::ownership_lost);
        CHECK(lost == error_code());
        CHECK(why == zk_errc::session_expired);
    }
}

TEST_CASE("queue, acknowledge: one that was lost on its way and is cancelled is not sent again") {
    fixture f;
    result r;
    auto claimed = f.held_claim();
    auto call = f.call_of(*claimed, r);
    pending_call<>& user = *call;
    claimed->acknowledge(transaction(), std::move(call));
    f.open_ledger();
    f.p.answer(zk_errc::connection_loss);
    user.give_up(boost::asio::error::operation_aborted);
    REQUIRE(f.p.asked() == "commit ");
    CHECK_FALSE(f.p.front().wanted());
    f.p.answer(boost::asio::error::operation_aborted);
    REQUIRE(f.p.asked().starts_with("erase /q-control/ledger-"));
    SECTION("it had not arrived: the claim is still held") {
        f.p.answer();
        CHECK(claimed->valid());
    }
    SECTION("it had arrived") {
        f.p.answer(zk_errc::bad_version);
        CHECK_FALSE(claimed->valid());
    }
    CHECK(r.error == boost::asio::error::operation_aborted);
    CHECK(f.p.asked().empty());
}

TEST_CASE("queue, acknowledge: those that wait share a transaction") {
    fixture f;
    result first, cancelled, second, third;
    auto of = [&](const char* name, std::uint64_t generation = 1) {
        return f.held_claim(name, generation);
    };
    auto one = of("queue-0000000001");
    auto other = of("queue-0000000002");
    auto two = of("queue-0000000003");
    auto three = of("queue-0000000004");
    one->acknowledge(transaction(), f.call_of(*one, first));
    auto call = f.call_of(*other, cancelled);
    pending_call<>& user = *call;
    other->acknowledge(transaction(), std::move(call));
    transaction extra;
    extra.set("/x", "1", 1);
    two->acknowledge(extra, f.call_of(*two, second));
    three->acknowledge(transaction(), f.call_of(*three, third));
    f.open_ledger();
    REQUIRE(f.p.front().steps.size() == 3);
    user.give_up(boost::asio::error::operation_aborted);
    f.commit();
    CHECK(first.error == error_code());
    CHECK(other->valid());  // it was not sent
    other->acknowledge(transaction(), f.call_of(*other, cancelled));
    REQUIRE(f.p.front().steps.size() == 6);
    CHECK(f.p.front().steps[1].path == "/q/queue-0000000003/claim");
    CHECK(f.p.front().steps[3].path == "/x");
    CHECK(f.p.front().steps[4].path == "/q/queue-0000000004/claim");
    SECTION("the first one fails: the others are repeated without it") {
        f.commit(zk_errc::bad_version, 3);
        CHECK(second.error == zk_errc::bad_version);
        CHECK(two->valid());
        CHECK_FALSE(third.error);
        REQUIRE(f.p.front().steps.size() == 5);
        CHECK(f.p.front().steps[1].path == "/q/queue-0000000004/claim");
        CHECK(f.p.front().steps[3].path == "/q/queue-0000000002/claim");
    }
    SECTION("another one fails, perhaps because of those before it: one by one") {
        f.commit(zk_errc::no_node, 4);
        CHECK_FALSE(second.error);
        REQUIRE(f.p.front().steps.size() == 4);
        f.commit();
        CHECK(second.error == error_code());
        CHECK_FALSE(third.error);
        REQUIRE(f.p.front().steps.size() == 3);
        f.commit(zk_errc::no_node, 1);
        CHECK(third.error == errc::ownership_lost);
        CHECK(f.p.front().steps[1].path == "/q/queue-0000000002/claim");
    }
    SECTION("it cannot be sent, because of one of them: one by one") {
        f.p.answer(errc::bad_path);
        REQUIRE(f.p.front().steps.size() == 4);
        f.p.answer(errc::bad_path);
        CHECK(second.error == errc::bad_path);
        CHECK(two->valid());
        f.commit();
        CHECK(third.error == error_code());
        CHECK(f.p.front().steps.size() == 3);
    }
    SECTION("the session ends: all are lost") {
        f.p.set_state(session_state::lost, 2);
        f.p.answer(zk_errc::session_expired);
        CHECK(second.error == errc::ownership_lost);
        CHECK(third.error == errc::ownership_lost);
    }
}

TEST_CASE("queue, acknowledge: after the queue object was destroyed") {
    fixture f;
    result r;
    auto claimed = f.held_claim();
    f.acknowledger->stop();
    claimed->acknowledge(transaction(), f.call_of(*claimed, r));
    f.open_ledger();
    f.commit();
    CHECK(r.error == error_code());
    CHECK(f.p.asked().starts_with("erase /q-control/ledger-"));
}

TEST_CASE("queue: a destroyed object leaves nothing behind") {
    fixture f;
    result put, taken;
    f.put(put);
    f.open_ledger();
    f.take(taken);
    f.consumer->stop();
    f.producer->stop();
    f.commit();
    CHECK(put.error == boost::asio::error::operation_aborted);  // it had been sent
    CHECK(taken.error == boost::asio::error::operation_aborted);
    while (f.p.asked() == "get_children /q")
        f.p.answer();
    CHECK(f.p.asked().starts_with("erase /q-control/ledger-"));
    f.p.set_state(session_state::read_only, 1);
    f.p.answer(zk_errc::not_read_only);
    CHECK(f.p.asked().empty());
    f.p.set_state(session_state::connected, 1);
    CHECK(f.p.asked().starts_with("erase /q-control/ledger-"));
    f.p.answer();
    CHECK(f.p.asked().empty());
}

}  // namespace corozk::testing::queue_drivers_test
