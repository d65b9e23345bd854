// SPDX-License-Identifier: Apache-2.0
#include "session/watch_registry.hpp"

#include "operation/operation.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
    CHECK(registry.fire(watch_kind::exists, "/a", watch_event_type::created) == 0);
    CHECK_FALSE(registry.contains(watch_kind::exists, "/a"));
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
    for (recorder* r : {&a, &b, &c}) {
        CHECK_FALSE(r->armed());
        CHECK(r->ends.empty());
    }
    CHECK(registry.notifying());
    registry.notify_dropped(all);
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
    registry.notify_dropped(20);
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
        registry.notify_dropped(20);
        ++pieces;
    }
    CHECK(pieces >= count / 20);
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
    registry.notify_dropped(all);
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
    registry.notify_dropped(all);
    CHECK_FALSE(first.other);
}

namespace {

/// "data /a, children /b since 5" for each batch.
std::string text_of(const watch_batch& batch) {
    constexpr std::string_view names[] = {"data ", "exists ", "children "};
    std::string text;
    for (std::size_t kind = 0; kind < batch.paths.size(); ++kind) {
        for (const std::string& path : batch.paths[kind])
            text.append(text.empty() ? "" : ", ").append(names[kind]).append(path);
    }
    return text + " since " + std::to_string(batch.since);
}

std::vector<watch_batch> take_all(watch_registry& registry, std::size_t bytes = 1000) {
    std::vector<watch_batch> batches;
    while (registry.has_unset()) {
        if (auto batch = registry.take_unset(bytes))
            batches.push_back(std::move(*batch));
    }
    return batches;
}

std::vector<std::string> texts_of(const std::vector<watch_batch>& batches) {
    std::vector<std::string> texts;
    for (const watch_batch& batch : batches)
        texts.push_back(text_of(batch));
    return texts;
}

using texts = std::vector<std::string>;
const error_code lost = zk_errc::connection_loss;

}  // namespace

TEST_CASE("watch registry: after a reconnect all are set again, in batches") {
    watch_registry registry;
    recorder a, b, c, d, gone;
    registry.armed(watch_kind::data, "/a", 1, &a);
    registry.armed(watch_kind::data, "/bb", 2, &b);
    registry.armed(watch_kind::exists, "/c", 3, &c);
    registry.armed(watch_kind::children, "/a", 4, &d);
    registry.armed(watch_kind::data, "/gone", 5, &gone);
    gone.disarm();
    CHECK_FALSE(registry.has_unset());
    registry.connected(7);
    CHECK(a.certain());  // as they are set before any other request
    const std::size_t bytes = GENERATE(std::size_t{1}, std::size_t{13}, std::size_t{1000});
    auto batches = take_all(registry, bytes);
    const texts one_by_one{
        "data /a since 7", "data /bb since 7", "exists /c since 7", "children /a since 7"};
    const texts two_each{"data /a, data /bb since 7", "exists /c, children /a since 7"};
    const texts together{"data /a, data /bb, exists /c, children /a since 7"};
    CHECK(texts_of(batches) == (bytes == 1 ? one_by_one : bytes == 13 ? two_each : together));
    CHECK_FALSE(registry.contains(watch_kind::data, "/gone"));
    for (const watch_batch& batch : batches)
        registry.were_set(batch, {});
    CHECK(registry.fire(watch_kind::data, "/a", watch_event_type::data_changed) == 1);
    registry.connected(9);
    CHECK(text_of(take_all(registry)[0]) == "data /bb, exists /c, children /a since 9");
}

TEST_CASE("watch registry: what one connection did not confirm, the next one asks from the start") {
    watch_registry registry;
    recorder a, b;
    registry.armed(watch_kind::data, "/a", 1, &a);
    registry.armed(watch_kind::data, "/b", 2, &b);
    registry.connected(5);
    SECTION("no request was sent") {}
    SECTION("not all were sent") {
        auto batch = registry.take_unset(1);
        REQUIRE(batch);
        registry.were_set(*batch, {});
        CHECK(registry.has_unset());
    }
    SECTION("not all were answered") {
        auto batches = take_all(registry, 1);
        REQUIRE(batches.size() == 2);
        registry.were_set(batches[0], {});
        registry.were_set(batches[1], lost);
    }
    SECTION("and the second failure comes after the next connection") {
        auto batches = take_all(registry, 1);
        registry.were_set(batches[0], {});
        registry.connected(6);
        registry.were_set(batches[1], lost);
        CHECK(texts_of(take_all(registry)) == texts{"data /a, data /b since 5"});
        return;
    }
    registry.connected(8);
    auto batches = take_all(registry);
    CHECK(texts_of(batches) == texts{"data /a, data /b since 5"});
    registry.were_set(batches[0], {});
    registry.connected(9);
    CHECK(texts_of(take_all(registry)) == texts{"data /a, data /b since 9"});
}

TEST_CASE("watch registry: what fires while it is set again is done") {
    watch_registry registry;
    recorder a, b, again;
    registry.armed(watch_kind::data, "/a", 1, &a);
    registry.armed(watch_kind::data, "/b", 1, &b);
    registry.connected(5);
    auto first = registry.take_unset(1);
    REQUIRE(first);
    registry.fire("/a", watch_event_type::data_changed);
    registry.fire("/b", watch_event_type::erased);
    CHECK(a.events.size() == 1);
    CHECK(b.events.size() == 1);
    CHECK(take_all(registry).empty());
    registry.armed(watch_kind::data, "/a", 6, &again);
    registry.were_set(*first, {});
    CHECK(again.armed());
    CHECK(registry.size() == 1);
}

TEST_CASE(
    "watch registry: what was read meanwhile does not hide what a lost request was to report") {
    watch_registry registry;
    recorder early, newcomer;
    registry.armed(watch_kind::data, "/a", 3, &early);
    registry.set_again(watch_kind::data, "/a");
    auto batches = take_all(registry);
    CHECK(texts_of(batches) == texts{"data /a since 3"});
    registry.armed(watch_kind::data, "/a", 6, &newcomer);  // sent before it
    registry.were_set(batches[0], zk_errc::connection_loss);
    CHECK_FALSE(early.certain());
    registry.connected(8);
    CHECK(texts_of(take_all(registry)) == texts{"data /a since 8", "data /a since 3"});
}

TEST_CASE(
    "watch registry: a watch that the server may have forgotten is in doubt until it is set") {
    watch_registry registry;
    recorder early, late, other, newcomer;
    registry.armed(watch_kind::data, "/a", 3, &early);
    registry.armed(watch_kind::children, "/a", 3, &other);
    registry.armed(watch_kind::data, "/b", 4, &late);
    registry.set_again(watch_kind::data, "/nothing");
    CHECK_FALSE(registry.has_unset());
    for (auto [kind, path] : {std::pair{watch_kind::data, "/a"},
                              std::pair{watch_kind::children, "/a"},
                              std::pair{watch_kind::data, "/b"}})
        registry.set_again(kind, path);
    registry.set_again(watch_kind::data, "/a");
    CHECK(early.armed());
    CHECK_FALSE(early.certain());
    // Another read tells nothing of what the first one may have missed.
    registry.armed(watch_kind::data, "/a", 6, &newcomer);
    CHECK_FALSE(newcomer.certain());
    auto batches = take_all(registry);
    CHECK(texts_of(batches) == texts{"data /a, children /a since 3", "data /b since 4"});
    // Responses to earlier requests may arrive before that to this one.
    CHECK_FALSE(early.certain());
    CHECK(take_all(registry).empty());

    SECTION("until the response") {
        for (const watch_batch& batch : batches)
            registry.were_set(batch, {});
        CHECK(early.certain());
        CHECK(newcomer.certain());
        CHECK(late.certain());
    }
    SECTION("and once more, until the second response") {
        registry.set_again(watch_kind::data, "/a");
        registry.were_set(batches[0], {});
        CHECK_FALSE(early.certain());
        CHECK(other.certain());
        auto again = take_all(registry);
        CHECK(texts_of(again) == texts{"data /a since 3"});
        registry.were_set(again[0], {});
        CHECK(early.certain());
    }
    SECTION("with the connection, the request was lost") {
        registry.were_set(batches[0], lost);
        registry.connected(8);
        batches = take_all(registry);
        CHECK(texts_of(batches) ==
              texts{"data /a, data /b, children /a since 8", "data /a, children /a since 3"});
    }
    SECTION("the last waiter goes") {
        registry.set_again(watch_kind::data, "/b");
        late.disarm();
        CHECK(take_all(registry).empty());
        CHECK_FALSE(registry.contains(watch_kind::data, "/b"));
    }
    SECTION("the session ends") {
        registry.set_again(watch_kind::data, "/b");
        registry.drop_all(errc::closed);
        CHECK_FALSE(early.certain());
        CHECK_FALSE(registry.has_unset());
        registry.were_set(batches[0], zk_errc::session_expired);
        CHECK_FALSE(registry.has_unset());
    }
}

}  // namespace corozk::testing::watch_registry_test
