// SPDX-License-Identifier: Apache-2.0
#include "session/persistent_watches.hpp"

#include "operation/operation.hpp"
#include "session/wire_request.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corozk::testing::persistent_watches_test {

using namespace corozk;
using namespace corozk::detail;
using enum watch_event_type;
using enum watch_mode;

namespace {

class recorder final : public persistent_watch_node {
public:
    std::vector<std::string> events;
    std::vector<error_code> ends;
    recorder* destroys = nullptr;

private:
    void changed(watch_event_type type, const std::string& path) noexcept override {
        events.push_back(std::string(to_string(type)) + " " + path);
        if (destroys)
            destroys->disarm();
    }
    void interrupted() noexcept override { events.push_back("interrupted"); }
    void dropped(const error_code& reason) noexcept override { ends.push_back(reason); }
};

class one_shot final : public watch_node {
public:
    std::vector<watch_event_type> events;

private:
    void fired(watch_event_type type) noexcept override { events.push_back(type); }
    void dropped(const error_code&) noexcept override {}
};

struct some_operation final : operation {
    using operation::operation;
    void finished() noexcept override {}
};

/// What a session does with requests, without a server.
struct scene {
    int woken = 0;
    std::int64_t zxid = 0;
    persistent_watches watches{[this] { ++woken; }};

    std::unique_ptr<some_operation> add(const std::string& path, watch_mode mode, recorder* node) {
        auto op = std::make_unique<some_operation>(op_code::add_watch, path);
        if (node)
            op->attach(*node, mode);
        op->watching = mode;
        watches.add_started(path);
        CHECK(watches.sending(*op));
        return op;
    }

    void answer(some_operation& op, error_code ec = {}) {
        op.error = ec;
        watches.add_finished(op, true);
        op.detach();
    }

    std::unique_ptr<some_operation> read(op_code code, const std::string& path, one_shot& node) {
        auto op = std::make_unique<some_operation>(code, path);
        op->attach(node);
        CHECK(watches.sending(*op));
        return op;
    }

    void answer_read(some_operation& op) {
        op.zxid = ++zxid;
        watches.armed(op.code == op_code::children ? watch_kind::children : watch_kind::data, op);
        op.detach();
    }

    /// Whether the request is sent.
    bool remove(const std::string& path, std::int32_t type) {
        some_operation op(op_code::remove_watches, path);
        op.version = type;
        return watches.sending(op);
    }

    /// The kinds of watches that are set again, and since when.
    std::vector<std::pair<watch_kind, std::int64_t>> unset() {
        std::vector<std::pair<watch_kind, std::int64_t>> all;
        while (watches.has_unset()) {
            auto batch = watches.take_unset(1000);
            for (std::size_t kind = 0; batch && kind < batch->paths.size(); ++kind)
                all.resize(all.size() + batch->paths[kind].size(),
                           {static_cast<watch_kind>(kind), batch->since});
            if (batch)
                watches.were_set(*batch, {});
        }
        return all;
    }
};

using kinds = std::vector<std::pair<watch_kind, std::int64_t>>;

}  // namespace

TEST_CASE("persistent watches: the server has the old mode until it has responded") {
    scene s;
    recorder names, all;
    s.answer(*s.add("/a", persistent, &names));
    auto recursive = s.add("/a", persistent_recursive, &all);
    s.watches.report(children_changed, "/a");
    CHECK(names.events == std::vector<std::string>{"children_changed /a"});
    s.answer(*recursive);
    s.watches.report(created, "/a/b");
    s.watches.report(children_changed, "/a");  // for a one-shot watch
    CHECK(names.events == std::vector<std::string>{"children_changed /a", "children_changed /a"});
    CHECK(all.events == std::vector<std::string>{"created /a/b"});
}

TEST_CASE("persistent watches: who is told of which event") {
    scene s;
    recorder names, all, above, beside, root;
    s.answer(*s.add("/a/b", persistent, &names));
    s.answer(*s.add("/a/b", persistent_recursive, &all));
    s.answer(*s.add("/a", persistent_recursive, &above));
    s.answer(*s.add("/a/bc", persistent_recursive, &beside));
    s.answer(*s.add("/", persistent, &root));
    s.watches.report(data_changed, "/a/b");
    s.watches.report(created, "/a/b/c");
    s.watches.report(children_changed, "/a/b");  // for a one-shot watch
    s.watches.report(created, "/a/b/c/d");
    s.watches.report(erased, "/a/b/c");
    s.watches.report(children_changed, "/");
    s.watches.report(created, "/x");
    CHECK(names.events == std::vector<std::string>{"data_changed /a/b",
                                                   "children_changed /a/b",
                                                   "children_changed /a/b"});
    CHECK(all.events ==
          std::vector<std::string>{
              "data_changed /a/b", "created /a/b/c", "created /a/b/c/d", "erased /a/b/c"});
    CHECK(above.events == all.events);
    CHECK(beside.events.empty());
    CHECK(root.events == std::vector<std::string>{"children_changed /"});
}

TEST_CASE("persistent watches: a waiter that is disarmed by another is not called") {
    scene s;
    recorder first, second, third;
    for (recorder* r : {&first, &second, &third})
        s.answer(*s.add("/a", persistent, r));
    first.destroys = &second;
    third.destroys = &third;
    s.watches.report(erased, "/a");
    s.watches.report(created, "/a");
    CHECK(first.events.size() == 2);
    CHECK(second.events.empty());
    CHECK(third.events.size() == 1);
}

TEST_CASE("persistent watches: the server has the mode that all need, and loses it with the last") {
    scene s;
    recorder names, all;
    auto first = s.add("/a", persistent, &names);
    auto second = s.add("/a", persistent_recursive, &all);
    auto third = s.add("/a", persistent, nullptr);  // cancelled
    CHECK(first->watching == persistent);
    CHECK(second->watching == persistent_recursive);
    CHECK(third->watching == persistent_recursive);
    s.answer(*first);
    s.answer(*second);
    s.answer(*third);
    CHECK_FALSE(s.watches.take_unused());
    all.disarm();
    CHECK_FALSE(s.watches.take_unused());
    CHECK(s.woken > 0);
    names.disarm();
    CHECK(s.watches.has_unused());
    CHECK(s.watches.take_unused() == "/a");
    CHECK(s.remove("/a", all_watches));
    CHECK_FALSE(s.remove("/a", all_watches));
    s.watches.removed_from_server("/a");
    CHECK_FALSE(s.watches.take_unused());
    CHECK(s.watches.persistent() == 0);
}

TEST_CASE("persistent watches: reads of the same node set no watch that would replace it") {
    scene s;
    recorder node;
    one_shot data, children, later;
    auto before = s.read(op_code::get, "/a", data);
    CHECK_FALSE(before->covered);
    auto adding = s.add("/a", persistent_recursive, &node);
    auto after = s.read(op_code::get, "/a", later);
    CHECK(after->covered);
    auto listing = s.read(op_code::children, "/a", children);
    CHECK_FALSE(listing->covered);
    CHECK_FALSE(s.remove("/a", 2));
    CHECK(s.remove("/a", 1));
    s.answer_read(*before);
    s.answer(*adding);
    CHECK(s.unset().empty());  // it serves what was set before
    CHECK(data.certain());
    s.answer_read(*after);
    s.answer_read(*listing);
    CHECK(s.unset().empty());
    s.watches.report(data_changed, "/a");
    CHECK(data.events == std::vector{data_changed});
    CHECK(later.events == std::vector{data_changed});
    CHECK(children.events.empty());
    CHECK(s.watches.has_waiters(watch_kind::children, "/a"));
}

TEST_CASE("persistent watches: one in another mode serves no listings any more") {
    scene s;
    recorder names, all;
    one_shot children;
    s.answer(*s.add("/a", persistent, &names));
    auto listing = s.read(op_code::children, "/a", children);
    CHECK(listing->covered);
    s.answer_read(*listing);
    s.answer(*s.add("/a", persistent_recursive, &all));
    CHECK_FALSE(children.certain());
    CHECK(s.unset() == kinds{{watch_kind::children, 1}});
    CHECK(children.certain());
}

TEST_CASE("persistent watches: one that follows another at once may have left a gap") {
    scene s;
    recorder first, second;
    one_shot data;
    s.answer(*s.add("/a", persistent, &first));
    auto reading = s.read(op_code::get, "/a", data);
    s.answer_read(*reading);
    first.disarm();
    CHECK(s.watches.take_unused() == "/a");
    CHECK(s.remove("/a", all_watches));
    auto adding = s.add("/a", persistent, &second);
    s.watches.removed_from_server("/a");
    CHECK(data.events == std::vector{unknown});
    CHECK(s.unset().empty());  // which would replace it
    s.answer(*adding);
    CHECK(second.armed());
}

TEST_CASE(
    "persistent watches: others are set again when it ends, fails, or the connection is lost") {
    scene s;
    recorder node;
    one_shot data, children;
    auto adding = s.add("/a", persistent, &node);
    auto reading = s.read(op_code::exists, "/a", data);
    auto listing = s.read(op_code::children, "/a", children);
    CHECK(listing->covered);
    SECTION("ends") {
        s.answer(*adding);
        s.answer_read(*reading);
        s.answer_read(*listing);
        CHECK(s.unset().empty());
        node.disarm();
        CHECK(s.watches.take_unused() == "/a");
        CHECK(s.remove("/a", all_watches));
        s.watches.removed_from_server("/a");
    }
    SECTION("fails") {
        s.answer(*adding, zk_errc::unimplemented);
        s.answer_read(*reading);
        s.answer_read(*listing);
        CHECK_FALSE(node.armed());
    }
    SECTION("fails, and the responses to the reads come first") {
        s.answer_read(*reading);
        s.answer_read(*listing);
        s.answer(*adding, zk_errc::throttled);
    }
    SECTION("the connection is lost") {
        s.answer(*adding);
        s.answer_read(*reading);
        s.answer_read(*listing);
        s.watches.connected(9);
        auto lost = s.watches.take_lost();
        REQUIRE(lost);
        CHECK(lost->second == persistent);
        // As all others, and once more.
        CHECK(s.unset() == kinds{{watch_kind::data, 9},
                                 {watch_kind::children, 9},
                                 {watch_kind::data, 1},
                                 {watch_kind::children, 2}});
        return;
    }
    CHECK(s.unset() == kinds{{watch_kind::data, 1}, {watch_kind::children, 2}});
    CHECK(data.certain());
    auto again = s.read(op_code::exists, "/a", data);
    CHECK_FALSE(again->covered);
}

TEST_CASE("persistent watches: restored after a reconnect") {
    scene s;
    recorder names, all;
    s.answer(*s.add("/a", persistent, &names));
    s.answer(*s.add("/a", persistent_recursive, &all));
    s.watches.connected(9);
    CHECK_FALSE(s.watches.take_unused());
    auto lost = s.watches.take_lost();
    REQUIRE(lost);
    CHECK(lost->second == persistent_recursive);
    auto again = s.add("/a", lost->second, nullptr);
    SECTION("successfully") {
        s.watches.report(data_changed, "/a");  // of another watch, which was set again before
        CHECK(names.events.empty());
        CHECK(all.events.empty());
        s.answer(*again);
        s.watches.restored("/a", {});
        CHECK(names.events == std::vector<std::string>{"interrupted"});
        CHECK(all.events == names.events);
        CHECK_FALSE(s.watches.take_lost());
    }
    SECTION("when the connection is lost again") {
        s.answer(*again, zk_errc::connection_loss);
        s.watches.restored("/a", zk_errc::connection_loss);
        s.watches.connected(9);
        CHECK(s.watches.take_lost());
        CHECK_FALSE(s.watches.take_lost());
        CHECK(names.armed());
    }
    SECTION("when the server is busy") {
        s.answer(*again, zk_errc::throttled);
        s.watches.restored("/a", zk_errc::throttled, true);
        CHECK(s.watches.take_lost());
        // Other responses of this connection may show changes.
        CHECK(names.events == std::vector<std::string>{"interrupted"});
    }
    SECTION("by a server that does not know it") {
        s.answer(*again, zk_errc::unimplemented);
        s.watches.restored("/a", zk_errc::unimplemented);
        CHECK(names.ends == std::vector<error_code>{zk_errc::unimplemented});
        CHECK(all.ends == names.ends);
        CHECK_FALSE(s.watches.take_lost());
        CHECK_FALSE(s.watches.take_unused());
        CHECK(s.watches.persistent() == 0);
    }
    SECTION("unless nobody waits") {
        names.disarm();
        all.disarm();
        s.answer(*again);
        s.watches.restored("/a", {});
        CHECK(s.watches.take_unused() == "/a");
    }
}

TEST_CASE("persistent watches: the end of the session") {
    scene s;
    recorder first, second;
    s.answer(*s.add("/a", persistent, &first));
    auto adding = s.add("/a", persistent, &second);
    s.watches.drop_all(zk_errc::session_expired);
    CHECK(first.ends == std::vector<error_code>{zk_errc::session_expired});
    CHECK_FALSE(first.armed());
    CHECK(second.arming());
    s.answer(*adding, zk_errc::connection_loss);
    CHECK_FALSE(second.arming());
    CHECK_FALSE(s.watches.take_unused());
    CHECK(s.watches.persistent() == 0);
}

}  // namespace corozk::testing::persistent_watches_test
