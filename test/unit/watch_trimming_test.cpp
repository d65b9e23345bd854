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
private:
    void fired(watch_event_type) noexcept override {}
    void dropped(const error_code&) noexcept override {}
};

const error_code lost = zk_errc::connection_loss;

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
    w.connected(1);
    CHECK(w.has_retry());
    CHECK(w.take_retry() == watch_trimming::key{"/a", kind::data});
    CHECK_FALSE(w.has_retry());
    CHECK(w.unused(kind::data, "/a", true));
}

TEST_CASE("watch trimming: a removal that was too much for the server is due again") {
    watch_trimming w;
    w.armed(kind::data, "/a", 1, nullptr);
    CHECK(w.unused(kind::data, "/a", true));
    w.removed(kind::data, "/a", zk_errc::throttled);
    CHECK(w.take_retry() == watch_trimming::key{"/a", kind::data});
    CHECK(w.unused(kind::data, "/a", true));
}

TEST_CASE("watch trimming: a retry that is overtaken by another loss is not lost") {
    watch_trimming w;
    for (auto path : {"/a", "/b"}) {
        w.armed(kind::data, path, 1, nullptr);
        CHECK_FALSE(w.unused(kind::data, path, false));
    }
    w.connected(1);
    auto [path, k] = w.take_retry();
    CHECK_FALSE(w.unused(k, path, false));
    w.connected(1);
    w.take_retry();
    w.take_retry();
    CHECK_FALSE(w.has_retry());
}

TEST_CASE("watch trimming: with the session its watches go, and so does what was to be removed") {
    watch_trimming w;
    for (auto path : {"/a", "/b", "/c"})
        w.armed(kind::data, path, 1, nullptr);
    w.unused(kind::data, "/a", false);
    w.connected(1);
    w.unused(kind::data, "/b", false);
    CHECK(w.unused(kind::data, "/c", true));
    w.session_lost();
    w.removed(kind::data, "/c", zk_errc::session_expired);
    w.connected(1);
    CHECK_FALSE(w.has_retry());
}

}  // namespace corozk::testing::watch_trimming_test
