// SPDX-License-Identifier: Apache-2.0
// What a queue's consumer knows and decides, event by event, as shipped.
#include "recipe/queue/item_index.hpp"

#include "session/watch_registry.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>

namespace corozk::testing::item_index_test {

using namespace corozk;
using namespace corozk::detail;
using namespace std::chrono_literals;
using std::chrono::system_clock;
using names = std::vector<std::string>;

namespace {

class claim_watch final : public watch_node {
    void fired(watch_event_type) noexcept override {}
    void dropped(const error_code&) noexcept override {}
};

std::string nth(int sequence) {
    char text[32];
    std::snprintf(text, sizeof text, "queue-%010d", sequence);
    return text;
}

names first(int count) {
    names result;
    for (int i = 0; i < count; ++i)
        result.push_back(nth(i));
    return result;
}

/// An index, and what its driver would do.
struct fixture {
    explicit fixture(queue_order order = queue_order::arrival)
        : index(queue_names(compatibility::native, order)) {}

    next_step decide(bool all_calls_can_wait = false) {
        return index.decide(revision, first_call, all_calls_can_wait);
    }

    void list(const names& children) {
        index.listing_begins();
        response(children);
    }

    void response(const names& children) {
        index.parent_seen(parent, revision);
        name_list listing;
        for (const std::string& child : children)
            listing.push_back(child);
        index.listed(std::move(listing));
    }

    names next(std::size_t count = 100, std::size_t skipped = 0) {
        names result;
        for (const available_item& item : index.next(count, skipped))
            result.push_back(item.name);
        return result;
    }

    void claimed_elsewhere(const std::string& name) {
        index.claimed_elsewhere(name, std::make_shared<claim_watch>());
    }

    void watch_claims() {
        for (claimed_item& item : index.unwatched(100))
            registry.armed(watch_kind::children, item.name, 1, item.watch.get());
    }

    watch_registry registry;
    item_index index;
    std::uint64_t first_call = 1;
    std::int64_t parent = 7;
    std::uint64_t revision = 1;
};

}  // namespace

TEST_CASE("item index: lists, then waits with a watch, and lists again only for who cannot wait") {
    fixture f;
    f.index.call_begins(false);
    REQUIRE(f.decide() == next_step::list);
    f.list({"no-item"});
    REQUIRE(f.decide() == next_step::wait);
    CHECK_FALSE(f.index.is_waiting());
    f.index.watch_begins();
    CHECK(f.index.is_waiting());
    f.index.call_begins(false);
    CHECK(f.index.is_waiting());
    SECTION("a call that must know at once") {
        f.index.call_begins(true);
        CHECK_FALSE(f.index.is_waiting());
        CHECK(f.index.last_call_before_listing() == 2);
        SECTION("also if one that can wait begins at the same time") {
            f.index.call_begins(false);
            CHECK_FALSE(f.index.is_waiting());
            CHECK(f.index.last_call_before_listing() == 2);
        }
        CHECK(f.index.is_outdated());
        f.first_call = 3;
        CHECK(f.decide() == next_step::list);
    }
    SECTION("the watch fires") {
        f.index.watch_ended();
        f.index.forget_listing();
        CHECK(f.decide() == next_step::list);
    }
    SECTION("a call after the watch has been removed") {
        f.index.watch_ended();
        CHECK(f.decide() == next_step::wait);
        f.index.call_begins(false);
        CHECK(f.decide() == next_step::wait);
        CHECK(f.index.is_outdated());
        f.first_call = 3;
        CHECK(f.decide() == next_step::list);
    }
}

TEST_CASE("item index: once a queue was empty, listings set the watch until there is more to get") {
    fixture f;
    f.index.call_begins(false);
    CHECK(f.decide(true) == next_step::list);
    f.list({});
    f.index.watch_begins();
    f.index.watch_ended();
    f.index.forget_listing();
    CHECK(f.decide(true) == next_step::wait);
    CHECK(f.decide(false) == next_step::list);  // a call that must know at once
    f.list({nth(1), nth(2), nth(3)});
    CHECK(f.decide(true) == next_step::get_available);
    SECTION("others are faster") {
        f.index.forget_listing();
        CHECK(f.decide(true) == next_step::wait);
    }
    SECTION("all is got") {
        f.index.deleted(f.index.next(3));
        f.index.round_succeeded();
        f.index.forget_listing();
        CHECK(f.decide(true) == next_step::wait);
    }
    SECTION("there is more") {
        f.index.deleted(f.index.next(2));
        f.index.round_succeeded();
        f.index.forget_listing();
        CHECK(f.decide(true) == next_step::list);
    }
}

TEST_CASE("item index: a call during the listing is not covered by it") {
    fixture f;
    f.index.call_begins(false);
    f.index.listing_begins();
    f.index.call_begins(false);
    f.response({});
    CHECK(f.decide() == next_step::wait);
    CHECK(f.index.last_call_before_listing() == 1);
    CHECK(f.index.is_outdated());
    f.index.watch_begins();
    CHECK_FALSE(f.index.is_waiting());
    f.first_call = 2;
    CHECK(f.decide() == next_step::list);
}

TEST_CASE("item index: one listing serves until it is used up") {
    fixture f;
    f.list({nth(3), "x", nth(1), nth(2)});
    f.index.call_begins(false);
    REQUIRE(f.decide() == next_step::get_available);
    CHECK(f.next() == names{nth(1), nth(2), nth(3)});
    CHECK(f.next(1) == names{nth(1)});
    CHECK(f.next(2, 1) == names{nth(2), nth(3)});
    CHECK(f.next(0).empty());
    f.index.deleted(f.index.next(2));
    CHECK(f.next() == names{nth(3)});
    f.index.call_begins(false);
    CHECK(f.index.last_covered_call() == 2);
    REQUIRE(f.decide() == next_step::get_available);
    f.index.deleted(f.index.next(1));
    CHECK(f.decide() == next_step::list);
}

TEST_CASE("item index: an item that is listed twice is one item") {
    fixture f;
    f.index.call_begins(false);
    f.list({nth(2), nth(1), nth(2), nth(1), nth(3)});
    CHECK(f.next() == names{nth(1), nth(2), nth(3)});
    std::vector<available_item> first_two = f.index.next(2);
    f.index.deleted(first_two);
    CHECK(f.next() == names{nth(3)});
    SECTION("claimed by another client, and back") {
        f.list({nth(3), nth(3)});
        f.claimed_elsewhere(nth(3));
        CHECK(f.next().empty());
        f.index.claim_elsewhere_ended(nth(3), false);
        CHECK(f.next() == names{nth(3)});
    }
}

TEST_CASE("item index: with ranks a listing serves one round of the calls before it") {
    fixture f(queue_order::priority);
    f.index.call_begins(false);
    f.list({"queue-5-0000000001", "queue-4-0000000002"});
    f.index.call_begins(false);
    CHECK(f.index.last_covered_call() == 1);
    CHECK(f.decide() == next_step::get_available);
    f.first_call = 2;
    CHECK(f.decide() == next_step::list);
    f.list({"queue-5-0000000001", "queue-4-0000000002"});
    CHECK(f.index.last_covered_call() == 2);
    REQUIRE(f.decide() == next_step::get_available);
    CHECK(f.next() == names{"queue-4-0000000002", "queue-5-0000000001"});
    f.index.round_begins();
    CHECK(f.decide() == next_step::list);
}

TEST_CASE("item index: what this object has claimed comes back with a new listing") {
    fixture f;
    f.list({nth(1), nth(2)});
    f.index.claimed(nth(1));
    CHECK(f.next() == names{nth(2)});
    SECTION("given back") {
        f.index.claim_ended(nth(1), false);
        CHECK(f.decide() == next_step::list);
        f.list({nth(1), nth(2)});
        CHECK(f.next() == names{nth(1), nth(2)});
    }
    SECTION("acknowledged: it is gone, even from a listing that was requested before") {
        f.index.listing_begins();
        f.index.claim_ended(nth(1), true);
        f.response({nth(1), nth(2)});
        CHECK(f.next() == names{nth(2)});
        // A later one has another item of its name.
        f.list({nth(1), nth(2)});
        CHECK(f.next() == names{nth(1), nth(2)});
    }
    SECTION("the session has ended") {
        f.index.session_ended();
        CHECK(f.decide() == next_step::list);
        f.list({nth(1), nth(2)});
        CHECK(f.next() == names{nth(1), nth(2)});
    }
}

TEST_CASE("item index: what another client has claimed comes back into its place") {
    fixture f;
    f.list({nth(1), nth(2), nth(3)});
    f.claimed_elsewhere(nth(1));
    CHECK(f.next() == names{nth(2), nth(3)});
    f.index.deleted(f.index.next(1));
    SECTION("the claim ends") {
        f.index.claim_elsewhere_ended(nth(1), false);
        CHECK(f.next() == names{nth(1), nth(3)});
    }
    SECTION("the item is gone") {
        f.index.claim_elsewhere_ended(nth(1), true);
        CHECK(f.next() == names{nth(3)});
    }
    SECTION("it is not listed any more") {
        f.list({nth(3)});
        CHECK(f.index.unwatched(100).empty());
    }
    SECTION("a batch is deleted across it") {
        f.claimed_elsewhere(nth(3));
        f.list({nth(1), nth(2), nth(3), nth(4)});
        f.index.deleted(f.index.next(2));
        CHECK(f.next().empty());
        f.index.claim_elsewhere_ended(nth(3), false);
        CHECK(f.next() == names{nth(3)});
    }
}

TEST_CASE("item index: waits as long as all claims of other clients are watched") {
    fixture f;
    f.index.call_begins(false);
    f.list({nth(1), nth(2)});
    f.claimed_elsewhere(nth(1));
    f.claimed_elsewhere(nth(2));
    f.index.watch_begins();
    CHECK_FALSE(f.index.is_waiting());
    CHECK(f.index.unwatched(1).size() == 1);
    f.watch_claims();
    CHECK(f.index.unwatched(100).empty());
    CHECK(f.index.is_waiting());
    f.registry.fire(watch_kind::children, nth(2), watch_event_type::children_changed);
    CHECK_FALSE(f.index.is_waiting());
    REQUIRE(f.index.unwatched(100).size() == 1);
    CHECK(f.index.unwatched(100).front().name == nth(2));
    // A claim that may have ended is read again, however many are watched; others are not.
    f.claimed_elsewhere(nth(3));
    REQUIRE(f.index.unwatched(1).size() == 1);
    CHECK(f.index.unwatched(1).front().name == nth(2));
    CHECK(f.index.forget_claims_elsewhere().size() == 3);
    CHECK(f.next() == names{nth(1), nth(2)});
}

TEST_CASE("item index: a new parent znode has other items") {
    fixture f;
    f.list({nth(1), nth(2)});
    available_item item = f.index.next(1).front();
    item.content.emplace();
    f.index.keep_content(item);
    f.index.claimed(nth(2));
    REQUIRE(f.index.next(1).front().content);
    CHECK(f.decide() == next_step::get_available);
    ++f.revision;
    CHECK(f.decide() == next_step::check_parent);
    CHECK_FALSE(f.index.parent_seen(f.parent, f.revision));
    CHECK(f.decide() == next_step::get_available);
    f.index.doubt_parent();
    CHECK(f.decide() == next_step::check_parent);
    CHECK(f.index.parent_seen(++f.parent, f.revision));
    f.index.forget_listing();
    CHECK(f.decide() == next_step::list);
    f.list({nth(1), nth(2)});
    CHECK(f.next() == names{nth(1), nth(2)});
    CHECK_FALSE(f.index.next(1).front().content);
}

TEST_CASE("item index: what others took is passed over, and listed again when it is much") {
    fixture f;
    const names listed = first(64);
    f.list(listed);
    for (int i = 0; i < 3; ++i) {
        REQUIRE(f.next(1) == names{nth(i)});
        f.index.was_gone(f.index.next(1).front());
        CHECK(f.decide() == next_step::get_available);
    }
    f.index.deleted(f.index.next(2, 10));
    CHECK(f.next().size() == 59);
    CHECK(f.next(2, 9) == names{nth(12), nth(15)});
    f.index.was_gone(f.index.next(1).front());
    CHECK(f.decide() == next_step::list);
    CHECK(f.next().empty());
}

TEST_CASE("item index: a place in the window is kept until another client turns out to be there") {
    fixture f;
    const names listed = first(64);
    f.list(listed);
    std::vector<std::size_t> limits;
    std::size_t choice = 0;
    auto place = [&](std::size_t window) {
        return f.index.place(window, [&](std::size_t limit) {
            limits.push_back(limit);
            return choice;
        });
    };
    CHECK(place(1) == 0);
    CHECK(limits.empty());
    choice = 5;
    CHECK(place(8) == 5);
    choice = 7;
    f.index.deleted(f.index.next(1, 5));
    CHECK(place(8) == 5);
    SECTION("an item was gone") {
        f.index.was_gone(f.index.next(1, 5).front());
    }
    SECTION("an item is claimed by another client") {
        f.index.claimed_elsewhere(f.next(1, 5).front(), std::make_shared<claim_watch>());
    }
    SECTION("a new listing") {
        f.list(listed);
    }
    SECTION("no item is left there") {
        CHECK(f.next(1, 1).size() == 1);
        CHECK(place(8) == 5);
        CHECK(f.next(1, 100).empty());
    }
    CHECK(place(8) == 7);
    CHECK(place(8) == 7);
    CHECK(limits == std::vector<std::size_t>{8, 8});
    f.list({nth(1), nth(2)});
    place(8);
    CHECK(limits.back() == 2);
}

TEST_CASE("item index: content that was read is used once") {
    fixture f;
    f.list({nth(1), nth(2)});
    available_item item = f.index.next(1).front();
    item.content.emplace().data = "data";
    f.index.keep_content(item);
    f.list({nth(1), nth(2)});
    auto items = f.index.next(2);
    REQUIRE(items[0].content);
    CHECK(items[0].content->data == "data");
    CHECK_FALSE(items[1].content);
    f.index.forget_content(items[0]);
    CHECK_FALSE(f.index.next(1).front().content);
}

TEST_CASE("item index: what is not due is not available") {
    fixture f(queue_order::due_time);
    auto at = [](int seconds) { return system_clock::time_point(std::chrono::seconds(seconds)); };
    f.index.call_begins(false);
    CHECK(f.decide() == next_step::list);
    CHECK(f.decide(true) == next_step::wait);
    f.list({"queue-0000000001000-0000000002", "queue-0000000002000-0000000001"});
    CHECK(f.next().empty());  // the clock was not read
    f.index.time_is(at(0));
    CHECK(f.decide() == next_step::wait);
    CHECK(f.index.next_due() == 1s);
    f.index.watch_begins();
    CHECK(f.index.is_waiting());
    f.index.time_is(at(1));
    CHECK_FALSE(f.index.is_waiting());
    CHECK(f.next() == names{"queue-0000000001000-0000000002"});
    f.index.time_is(at(0));
    CHECK(f.index.is_waiting());
    f.index.time_is(at(2));
    CHECK(f.next().size() == 2);
    CHECK_FALSE(f.index.next_due());
}

// Random events; what is available is compared with what follows from the definition alone.
TEST_CASE("item index: any order of events") {
    std::mt19937 random(23);
    auto any = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
    for (int round = 0; round < 300; ++round) {
        fixture f;
        std::set<std::string> server, listed, own, elsewhere, gone;
        int created = 0;
        for (int step = 0; step < 100; ++step) {
            INFO("round " << round << ", step " << step);
            auto one_of = [&](const std::set<std::string>& some) {
                auto at = some.begin();
                std::advance(at, any(static_cast<int>(some.size())));
                return *at;
            };
            auto forget_unlisted = [&](std::set<std::string>& known) {
                std::erase_if(known, [&](const auto& name) { return !listed.contains(name); });
            };
            switch (any(9)) {
                case 0: server.insert(nth(created++)); break;
                case 1:
                    listed = server;
                    gone.clear();
                    f.list(names(server.begin(), server.end()));
                    forget_unlisted(own);
                    forget_unlisted(elsewhere);
                    break;
                case 2:
                case 3: {
                    auto count = static_cast<std::size_t>(1 + any(3));
                    auto items = f.index.next(count, static_cast<std::size_t>(any(3)));
                    if (items.empty())
                        break;
                    f.index.deleted(items);
                    for (const auto& item : items) {
                        server.erase(item.name);
                        listed.erase(item.name);
                    }
                    break;
                }
                case 4:
                    if (names next = f.next(1); !next.empty()) {
                        f.claimed_elsewhere(next.front());
                        elsewhere.insert(next.front());
                    }
                    break;
                case 5:
                    if (names next = f.next(1); !next.empty()) {
                        f.index.claimed(next.front());
                        own.insert(next.front());
                    }
                    break;
                case 6:
                    if (!elsewhere.empty()) {
                        std::string name = one_of(elsewhere);
                        bool is_gone = any(2) == 0;
                        f.index.claim_elsewhere_ended(name, is_gone);
                        elsewhere.erase(name);
                        if (is_gone) {
                            gone.insert(name);
                            server.erase(name);
                        }
                    }
                    break;
                case 7:
                    if (!own.empty()) {
                        std::string name = one_of(own);
                        bool acknowledged = any(4) != 0;
                        f.index.claim_ended(name, acknowledged);
                        own.erase(name);
                        if (acknowledged) {
                            gone.insert(name);
                            server.erase(name);
                        } else {
                            listed.clear();
                        }
                    }
                    break;
                case 8:
                    if (auto next = f.index.next(1); !next.empty()) {
                        f.index.was_gone(next.front());
                        server.erase(next.front().name);
                        gone.insert(next.front().name);
                        if (f.index.is_outdated())
                            listed.clear();
                    }
                    break;
            }
            names expected;
            for (const std::string& name : listed) {
                if (!own.contains(name) && !elsewhere.contains(name) && !gone.contains(name))
                    expected.push_back(name);
            }
            REQUIRE(f.next() == expected);
        }
    }
}

}  // namespace corozk::testing::item_index_test
