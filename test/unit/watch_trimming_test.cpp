// SPDX-License-Identifier: Apache-2.0
#include "session/watch_trimming.hpp"

#include "operation/operation.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace corozk::testing::watch_trimming_test {

using namespace corozk::detail;
using kind = watch_kind;

namespace {

class waiter final : public watch_node {
public:
    int count = 0;

private:
    void fired(watch_event_type) noexcept override { ++count; }
    void dropped(const error_code&) noexcept override {}
};

class answer final : public operation {
public:
    answer(op_code code_, const error_code& ec, std::int64_t mzxid = 0, std::int64_t pzxid = 0)
        : operation(code_, "/a") {
        error = ec;
        record.mzxid = mzxid;
        record.pzxid = pzxid;
    }

private:
    void finished() noexcept override {}
};

const error_code lost = zk_errc::connection_loss;
const error_code no_node = zk_errc::no_node;

}  // namespace

TEST_CASE("watch trimming: what has no waiter is removed, once") {
    watch_trimming w;
    CHECK_FALSE(w.unused(kind::data, "/a", true));  // there is none
    w.armed(kind::data, "/a", 1, nullptr);
    CHECK(w.unused(kind::data, "/a", true));
    CHECK_FALSE(w.unused(kind::data, "/a", true));    // the request is in flight
    CHECK_FALSE(w.unused(kind::exists, "/a", true));  // and is for both
    w.removed(kind::data, "/a", {});
    CHECK(w.size() == 0);
    CHECK_FALSE(w.unused(kind::data, "/a", true));
}

TEST_CASE("watch trimming: the server has one list for data and exists, another for children") {
    watch_trimming w;
    waiter node;
    kind waited = GENERATE(kind::data, kind::exists, kind::children);
    for (kind k : {kind::data, kind::exists, kind::children})
        w.armed(k, "/a", 1, k == waited ? &node : nullptr);
    CHECK(w.unused(kind::data, "/a", true) == (waited == kind::children));
    CHECK(w.unused(kind::children, "/a", true) == (waited != kind::children));
    node.disarm();
    CHECK(w.unused(waited, "/a", true));
    w.removed(kind::exists, "/a", {});
    CHECK(w.size() == 1);
    w.removed(kind::children, "/a", {});
    CHECK(w.size() == 0);
}

TEST_CASE("watch trimming: not before the reads that set a watch on the same path are answered") {
    watch_trimming w;
    w.armed(kind::data, "/a", 1, nullptr);
    w.armed(kind::children, "/a", 1, nullptr);
    w.read_started("/a");
    w.read_started("/a");
    CHECK_FALSE(w.unused(kind::data, "/a", true));
    CHECK_FALSE(w.unused(kind::children, "/a", true));
    CHECK(w.read_ended("/b", true).empty());
    CHECK(w.read_ended("/a", true).empty());
    auto due = w.read_ended("/a", true);
    CHECK(due == std::set<watch_trimming::key>{{"/a", kind::data}, {"/a", kind::children}});
    CHECK(w.unused(kind::data, "/a", true));
    CHECK(w.read_ended("/a", true).empty());
}

TEST_CASE("watch trimming: what cannot be removed now is due after the next connection") {
    watch_trimming w;
    w.armed(kind::data, "/a", 1, nullptr);
    SECTION("disconnected") {
        CHECK_FALSE(w.unused(kind::data, "/a", false));
    }
    SECTION("disconnected, with a read on the same path") {
        w.read_started("/a");
        CHECK_FALSE(w.unused(kind::data, "/a", false));
        CHECK(w.read_ended("/a", false).empty());
    }
    SECTION("the request was lost") {
        CHECK(w.unused(kind::data, "/a", true));
        w.removed(kind::data, "/a", lost);
        CHECK(w.size() == 1);
    }
    SECTION("the request was not sent in time") {
        CHECK(w.unused(kind::data, "/a", true));
        w.removed(kind::data, "/a", errc::not_connected);
    }
    CHECK_FALSE(w.has_retry());
    w.connected();
    CHECK(w.has_retry());
    CHECK(w.take_retry() == watch_trimming::key{"/a", kind::data});
    CHECK_FALSE(w.has_retry());
    CHECK(w.unused(kind::data, "/a", true));
}

TEST_CASE("watch trimming: a retry that is overtaken by another loss is not lost") {
    watch_trimming w;
    for (auto path : {"/a", "/b"}) {
        w.armed(kind::data, path, 1, nullptr);
        CHECK_FALSE(w.unused(kind::data, path, false));
    }
    w.connected();
    auto [path, k] = w.take_retry();
    CHECK_FALSE(w.unused(k, path, false));
    w.connected();
    w.take_retry();
    w.take_retry();
    CHECK_FALSE(w.has_retry());
}

TEST_CASE("watch trimming: with the session its watches go, and so does what was to be removed") {
    watch_trimming w;
    for (auto path : {"/a", "/b", "/c"})
        w.armed(kind::data, path, 1, nullptr);
    w.unused(kind::data, "/a", false);
    w.connected();
    w.unused(kind::data, "/b", false);
    CHECK(w.unused(kind::data, "/c", true));
    w.session_lost();
    w.removed(kind::data, "/c", zk_errc::session_expired);
    w.connected();
    CHECK_FALSE(w.has_retry());
}

TEST_CASE("watch trimming: a surplus watch is set again, unless something has changed") {
    watch_trimming w;
    waiter node;
    auto set_again = [&](kind k, const answer& a, std::int64_t zxid = 5) {
        w.armed(k, "/a", zxid, &node);
        w.detach_surplus(0, 10);
        REQUIRE(w.has_surplus());
        auto next = w.take_surplus();
        REQUIRE(next);
        CHECK_FALSE(w.has_surplus());
        CHECK(next->kind == k);
        return w.set_again(*next, a);
    };
    SECTION("nothing has changed") {
        CHECK_FALSE(set_again(kind::data, answer(op_code::exists, {}, 5)));
        CHECK_FALSE(set_again(kind::children, answer(op_code::children, {}, 0, 5)));
        CHECK_FALSE(set_again(kind::exists, answer(op_code::exists, no_node)));
        CHECK(node.count == 0);
    }
    SECTION("it has: the waiters look again, and what the read has left is unused") {
        CHECK(set_again(kind::data, answer(op_code::exists, {}, 6)) == kind::data);
        CHECK(w.unused(kind::data, "/a", true));
        CHECK(set_again(kind::children, answer(op_code::children, {}, 0, 6)) == kind::children);
        CHECK(w.unused(kind::children, "/a", true));
        CHECK(node.count == 2);
    }
    SECTION("the node has gone, or come") {
        CHECK(set_again(kind::data, answer(op_code::exists, no_node)) == kind::exists);
        CHECK(set_again(kind::exists, answer(op_code::exists, {}, 6)) == kind::data);
        CHECK_FALSE(set_again(kind::children, answer(op_code::children, no_node)));
        CHECK(node.count == 3);
    }
    SECTION("it cannot be read any more") {
        CHECK_FALSE(set_again(kind::data, answer(op_code::exists, zk_errc::no_auth)));
        CHECK(node.count == 1);
    }
    SECTION("the connection was lost: once more, after the next one") {
        CHECK_FALSE(set_again(kind::data, answer(op_code::exists, lost)));
        CHECK(node.count == 0);
        CHECK(w.has_surplus());
    }
    SECTION("the last waiter goes before its turn") {
        w.armed(kind::data, "/a", 5, &node);
        w.detach_surplus(0, 10);
        node.disarm();
        CHECK_FALSE(w.take_surplus());
        CHECK(w.size() == 0);
    }
}

TEST_CASE("watch trimming: so many are set again at a time") {
    watch_trimming w;
    std::vector<std::unique_ptr<waiter>> nodes;
    for (int i = 0; i < 600; ++i) {
        nodes.push_back(std::make_unique<waiter>());
        w.armed(kind::data, "/" + std::to_string(i), 1, nodes.back().get());
    }
    w.detach_surplus(0, 1000);
    std::vector<watch_registry::surplus> taken;
    while (w.has_surplus())
        taken.push_back(*w.take_surplus());
    CHECK(taken.size() == 512);
    CHECK_FALSE(w.set_again(taken.front(), answer(op_code::exists, {}, 1)));
    CHECK(w.has_surplus());
}

}  // namespace corozk::testing::watch_trimming_test
