// SPDX-License-Identifier: Apache-2.0
#include "session/watch_registry.hpp"

#include "operation/operation.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace corozk::testing::watch_registry_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

class recorder final : public watch_node {
public:
    std::vector<watch_event_type> events;
    std::vector<error_code> ends;

private:
    void fired(watch_event_type type) noexcept override { events.push_back(type); }
    void dropped(const error_code& reason) noexcept override { ends.push_back(reason); }
};

}  // namespace

TEST_CASE("watch registry: a watch that is to be set again is armed, but in doubt") {
    watch_registry registry;
    recorder waiting, kept;
    registry.armed(watch_kind::data, "/a", 1, &waiting);
    registry.armed(watch_kind::data, "/b", 1, &kept);
    CHECK(waiting.certain());
    REQUIRE(registry.detach_surplus(registry.c_client_bytes() - 1, all).size() == 1);
    CHECK(waiting.armed());
    CHECK_FALSE(waiting.certain());
    CHECK(kept.certain());
    REQUIRE(registry.take_detached());
    CHECK_FALSE(waiting.certain());
    registry.detach_again(watch_kind::data, "/a");
    registry.armed(watch_kind::data, "/a", 1, nullptr);
    CHECK(waiting.certain());
    registry.drop_all(errc::closed);
    CHECK_FALSE(waiting.certain());
}

TEST_CASE("watch registry: another read of what is to be set again finds what was missed") {
    watch_registry registry;
    recorder missed, same, newcomer;
    registry.armed(watch_kind::data, "/a", 1, &missed);
    registry.armed(watch_kind::children, "/a", {1, 2}, &same);
    REQUIRE(registry.detach_surplus(0, all).size() == 1);
    registry.armed(watch_kind::data, "/a", 2, &newcomer);
    registry.armed(watch_kind::children, "/a", {1, 2}, nullptr);
    CHECK(missed.events == std::vector{watch_event_type::unknown});
    CHECK(newcomer.events.empty());
    CHECK(newcomer.certain());
    CHECK(same.events.empty());
    CHECK(same.certain());
    // Without an outage the event of a change is on its way.
    registry.armed(watch_kind::data, "/a", 3, nullptr);
    CHECK(newcomer.events.empty());
}

TEST_CASE("watch registry: fires once, and only who waits for this kind and path") {
    watch_registry registry;
    recorder first, second, children, elsewhere;
    registry.armed(watch_kind::data, "/a", 1, &first);
    registry.armed(watch_kind::data, "/a", 1, &second);
    registry.armed(watch_kind::children, "/a", 1, &children);
    registry.armed(watch_kind::data, "/b", 1, &elsewhere);
    CHECK(registry.size() == 3);
    CHECK(first.armed());
    CHECK(registry.has_waiters(watch_kind::data, "/a"));

    CHECK(registry.fire(watch_kind::data, "/a", watch_event_type::data_changed) == 2);
    CHECK(first.events == std::vector{watch_event_type::data_changed});
    CHECK(second.events == std::vector{watch_event_type::data_changed});
    CHECK(children.events.empty());
    CHECK(elsewhere.events.empty());
    CHECK_FALSE(first.armed());
    CHECK(children.armed());
    CHECK_FALSE(registry.contains(watch_kind::data, "/a"));

    CHECK(registry.fire(watch_kind::data, "/a", watch_event_type::erased) == 0);
    CHECK(first.events.size() == 1);
    CHECK(registry.fire(watch_kind::exists, "/nowhere", watch_event_type::created) == 0);
    CHECK(registry.size() == 2);
}

TEST_CASE("watch registry: a waiter that is armed again while it is armed is told once") {
    watch_registry registry;
    recorder again, moved;
    registry.armed(watch_kind::data, "/a", 1, &again);
    registry.armed(watch_kind::data, "/a", 2, &again);
    CHECK(registry.fire(watch_kind::data, "/a", watch_event_type::data_changed) == 1);
    CHECK(again.events.size() == 1);
    CHECK_FALSE(again.armed());

    registry.armed(watch_kind::exists, "/b", 1, &moved);
    registry.armed(watch_kind::data, "/b", 2, &moved);
    CHECK(registry.fire(watch_kind::exists, "/b", watch_event_type::created) == 0);
    CHECK(registry.fire(watch_kind::data, "/b", watch_event_type::erased) == 1);
    CHECK(moved.events == std::vector{watch_event_type::erased});
}

TEST_CASE("watch registry: a waiter that goes leaves the entry, whose end is up to others") {
    watch_registry registry;
    {
        recorder gone;
        registry.armed(watch_kind::exists, "/a", 0, &gone);
    }
    CHECK(registry.contains(watch_kind::exists, "/a"));
    CHECK_FALSE(registry.has_waiters(watch_kind::exists, "/a"));
    CHECK(registry.c_client_bytes() == 6);
    CHECK(registry.fire(watch_kind::exists, "/a", watch_event_type::created) == 0);
    CHECK_FALSE(registry.contains(watch_kind::exists, "/a"));
    CHECK(registry.c_client_bytes() == 0);
}

TEST_CASE("watch registry: forgets only what nobody waits for") {
    watch_registry registry;
    auto node = std::make_unique<recorder>();
    registry.armed(watch_kind::data, "/a", 1, node.get());
    registry.forget(watch_kind::data, "/a");
    CHECK(registry.contains(watch_kind::data, "/a"));
    node.reset();
    registry.forget(watch_kind::data, "/a");
    CHECK_FALSE(registry.contains(watch_kind::data, "/a"));
    registry.forget(watch_kind::data, "/a");
    CHECK(registry.c_client_bytes() == 0);
    CHECK(registry.size() == 0);
}

TEST_CASE("watch registry: drops everything with the reason") {
    watch_registry registry;
    recorder a, b, c;
    registry.armed(watch_kind::data, "/a", 1, &a);
    registry.armed(watch_kind::exists, "/b", 0, &b);
    registry.armed(watch_kind::children, "/c", 1, &c);
    registry.drop_all(errc::closed);
    CHECK(registry.size() == 0);
    CHECK(registry.c_client_bytes() == 0);
    for (recorder* r : {&a, &b, &c}) {
        CHECK_FALSE(r->armed());
        CHECK(r->ends.empty());
    }
    CHECK(registry.notifying());
    registry.notify_dropped(all, nullptr);
    CHECK_FALSE(registry.notifying());
    for (recorder* r : {&a, &b, &c}) {
        CHECK(r->events.empty());
        REQUIRE(r->ends.size() == 1);
        CHECK(r->ends[0] == errc::closed);
    }
    registry.drop_all(errc::closed);
    CHECK_FALSE(registry.notifying());
    CHECK(a.ends.size() == 1);
}

TEST_CASE("watch registry: many are told in pieces, and not if they watch again meanwhile") {
    constexpr std::size_t count = 100;
    watch_registry registry;
    std::vector<recorder> nodes(count);
    for (std::size_t i = 0; i < count; ++i)
        registry.armed(watch_kind::data, "/" + std::to_string(1000 + i), 1, &nodes[i]);
    registry.drop_all(zk_errc::session_expired);
    auto told = [&nodes] {
        return std::count_if(
            nodes.begin(), nodes.end(), [](const recorder& r) { return !r.ends.empty(); });
    };
    std::set<std::string> forgotten;
    auto forget = [&forgotten](const std::string& path) { forgotten.insert(path); };
    registry.notify_dropped(20, forget);
    const auto first = told();
    CHECK(first > 0);
    CHECK(first <= 20);

    // The last one watches the same in the next session, which ends as well.
    recorder& again = nodes.back();
    CHECK_FALSE(again.armed());
    registry.armed(watch_kind::data, "/again", 2, &again);
    CHECK(again.armed());
    CHECK(registry.contains(watch_kind::data, "/again"));
    std::size_t pieces = 0;
    while (registry.notifying()) {
        registry.notify_dropped(20, forget);
        ++pieces;
    }
    CHECK(pieces >= count / 20);
    CHECK(forgotten.size() == count);
    CHECK(again.ends.empty());
    CHECK(told() == static_cast<long>(count - 1));

    CHECK(registry.fire(watch_kind::data, "/again", watch_event_type::erased) == 1);
    CHECK(again.events.size() == 1);
}

TEST_CASE("watch registry: two sessions may end before anybody is told") {
    watch_registry registry;
    recorder a, b;
    registry.armed(watch_kind::data, "/a", 1, &a);
    registry.drop_all(zk_errc::session_expired);
    registry.armed(watch_kind::data, "/a", 1, &b);
    registry.drop_all(errc::closed);
    registry.notify_dropped(all, nullptr);
    CHECK(a.ends == std::vector<error_code>{zk_errc::session_expired});
    CHECK(b.ends == std::vector<error_code>{errc::closed});
}

TEST_CASE("watch registry: who is told may watch again or free another waiter at once") {
    class chain final : public watch_node {
    public:
        explicit chain(watch_registry& r) : registry(r) {}
        watch_registry& registry;
        std::unique_ptr<chain> other;
        int calls = 0;

    private:
        void fired(watch_event_type) noexcept override {
            ++calls;
            other.reset();
            registry.armed(watch_kind::data, "/a", 2, this);
        }
        void dropped(const error_code&) noexcept override { other.reset(); }
    };
    watch_registry registry;
    chain first(registry);
    first.other = std::make_unique<chain>(registry);
    registry.armed(watch_kind::data, "/a", 1, &first);
    registry.armed(watch_kind::data, "/a", 1, first.other.get());
    CHECK(registry.fire(watch_kind::data, "/a", watch_event_type::data_changed) == 1);
    CHECK(first.calls == 1);
    CHECK(first.armed());
    CHECK(registry.fire(watch_kind::data, "/a", watch_event_type::data_changed) == 1);
    CHECK(first.calls == 2);
    first.other = std::make_unique<chain>(registry);
    registry.armed(watch_kind::data, "/a", 1, first.other.get());
    registry.drop_all(errc::closed);
    registry.notify_dropped(all, nullptr);
    CHECK_FALSE(first.other);
}

TEST_CASE("watch registry: arming twice counts the path once") {
    watch_registry registry;
    recorder a, b;
    registry.armed(watch_kind::data, "/ab", 1, &a);
    registry.armed(watch_kind::data, "/ab", 2, &b);
    registry.armed(watch_kind::data, "/ab", 3, nullptr);
    CHECK(registry.c_client_bytes() == 7);
    CHECK(registry.size() == 1);
    registry.armed(watch_kind::children, "/ab", 3, nullptr);
    CHECK(registry.c_client_bytes() == 14);
}

TEST_CASE("watch registry: what is too much for one SetWatches packet is detached and set again") {
    watch_registry registry;
    constexpr int count = 100;
    std::vector<std::unique_ptr<recorder>> nodes;
    auto path_of = [](int i) { return "/node-" + std::to_string(1000 + i); };
    for (int i = 0; i < count; ++i) {
        nodes.push_back(std::make_unique<recorder>());
        registry.armed(watch_kind::data, path_of(i), i, nodes.back().get());
    }
    // One path is watched in two ways: the C client forgets both together.
    recorder both;
    registry.armed(watch_kind::children, path_of(0), 7, &both);
    const std::size_t packed = path_of(0).size() + 4;
    CHECK(registry.c_client_bytes() == (count + 1) * packed);

    const std::size_t limit = 40 * packed;
    std::vector<std::string> detached;
    while (registry.c_client_bytes() > limit) {
        std::vector<std::string> some = registry.detach_surplus(limit, 16);
        REQUIRE_FALSE(some.empty());
        CHECK(some.size() <= 16);
        detached.insert(detached.end(), some.begin(), some.end());
    }
    CHECK(registry.detach_surplus(limit, 16).empty());
    CHECK(std::set<std::string>(detached.begin(), detached.end()).size() == detached.size());
    CHECK(registry.size() == count + 1);

    // Who went meanwhile needs no watch any more.
    const std::string abandoned = detached.back();
    for (int i = 0; i < count; ++i) {
        if (path_of(i) == abandoned)
            nodes[static_cast<std::size_t>(i)].reset();
    }
    if (abandoned == path_of(0))
        both.disarm();
    std::vector<watch_registry::surplus> again;
    while (auto next = registry.take_detached())
        again.push_back(std::move(*next));
    CHECK_FALSE(registry.has_detached());
    std::set<std::string> paths;
    for (const auto& s : again) {
        CHECK(s.path != abandoned);
        if (s.kind == watch_kind::children) {
            CHECK(s.path == path_of(0));
            CHECK(s.version.zxid == 7);
        } else {
            CHECK(s.path == path_of(static_cast<int>(s.version.zxid)));
        }
        paths.insert(s.path);
    }
    CHECK(paths.size() == detached.size() - 1);
    CHECK_FALSE(registry.contains(watch_kind::data, abandoned));

    // One of them could not be set, and is taken once more.
    registry.detach_again(again[0].kind, again[0].path);
    auto once_more = registry.take_detached();
    REQUIRE(once_more);
    CHECK(once_more->path == again[0].path);

    // Set again: back in the packet, and the waiter is still there.
    for (const auto& s : again)
        registry.armed(s.kind, s.path, s.version, nullptr);
    CHECK_FALSE(registry.take_detached());
    std::size_t told = 0;
    for (int i = 0; i < count; ++i) {
        told += registry.fire(watch_kind::data, path_of(i), watch_event_type::data_changed);
        registry.fire(watch_kind::children, path_of(i), watch_event_type::children_changed);
    }
    CHECK(told == count - 1);
    CHECK(registry.c_client_bytes() == 0);
}

}  // namespace corozk::testing::watch_registry_test
