// SPDX-License-Identifier: Apache-2.0
#include "recipe/priority_lock/rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace corozk::testing::priority_lock_test {

using namespace corozk::detail;

namespace {

/// One participant in a process of its own: what it knows, and what the server has of it.
struct actor {
    enum class state : std::uint8_t {
        absent,    ///< has not come yet
        waiting,   ///< is to look
        decided,   ///< asks for the record; the folder's version that it read is `version`
        unknown,   ///< asked; the answer was lost, and the request may still be carried out
        watching,  ///< until `watched` goes
        holding,
        gone,
    };
    state at = state::absent;
    int version = 0;
    int watched = -1;
    bool node = false;
    bool record = false;
    bool late = false;  ///< a request for the record is still on its way

    auto tie() const { return std::tie(at, version, watched, node, record, late); }
    friend bool operator<(const actor& a, const actor& b) { return a.tie() < b.tie(); }
};

struct model {
    std::vector<ranked_place> kinds;  ///< who wants what; `order` is given at arrival
    std::int32_t ageing = 0;
    std::vector<actor> actors;
    std::vector<std::int64_t> order;
    std::int64_t next_order = 0;
    int version = 0;
    // Off: the model must find what is wrong then.
    bool check_version = true;
    bool watch_own_record = true;

    bool operator<(const model& o) const {
        return std::tie(actors, order, version) < std::tie(o.actors, o.order, o.version);
    }

    /// What a listing gives, with whose each place is.
    std::vector<ranked_place> list(std::vector<int>& whose) const {
        std::vector<ranked_place> places;
        for (std::size_t i = 0; i < actors.size(); ++i) {
            if (!actors[i].node && !actors[i].record)
                continue;
            ranked_place p = kinds[i];
            p.order = order[i];
            p.holds = actors[i].record;
            places.push_back(p);
            whose.push_back(static_cast<int>(i));
        }
        return places;
    }

    bool safe() const {
        int readers = 0;
        int writers = 0;
        for (std::size_t i = 0; i < actors.size(); ++i) {
            if (!actors[i].record)
                continue;
            ++(kinds[i].kind == priority_write ? writers : readers);
        }
        return writers == 0 || (writers == 1 && readers == 0);
    }

    void wake(int gone) {
        for (actor& a : actors) {
            if (a.at == actor::state::watching && a.watched == gone)
                a.at = actor::state::waiting;
        }
    }

    bool create_record(actor& a) {
        bool good = a.node && !a.record && (!check_version || a.version == version);
        if (good) {
            a.record = true;
            ++version;
        }
        return good;
    }

    void arrive(std::size_t i) {
        actors[i].node = true;
        actors[i].at = actor::state::waiting;
        order[i] = next_order++;
    }

    void look(std::size_t i) {
        actor& a = actors[i];
        if (a.record) {  // found again
            a.at = actor::state::holding;
            return;
        }
        std::vector<int> whose;
        auto places = list(whose);
        auto me = static_cast<std::size_t>(
            std::find(whose.begin(), whose.end(), static_cast<int>(i)) - whose.begin());
        ranked_verdict verdict = judge(places, me, ageing);
        if (verdict.grant) {
            a.at = actor::state::decided;
            a.version = version;
        } else {
            a.at = actor::state::watching;
            a.watched = whose[*verdict.watch];
        }
    }

    void ask(std::size_t i) {
        actor& a = actors[i];
        a.at = create_record(a) ? actor::state::holding : actor::state::waiting;
    }

    /// Forgets what makes no difference any more: fewer states.
    void normalise() {
        for (std::size_t i = 0; i < actors.size(); ++i) {
            actor& a = actors[i];
            bool asks = a.at == actor::state::decided || a.late;
            a.version = asks && a.version == version ? 0 : -1;
            if (a.at != actor::state::watching)
                a.watched = -1;
            if (a.at == actor::state::gone)
                order[i] = 0;
        }
        version = 0;
    }

    /// It releases, gives up, or dies: what it has goes, and in this model at once.
    void leave(std::size_t i) {
        actor& a = actors[i];
        a.node = a.record = false;
        a.at = actor::state::gone;
        wake(static_cast<int>(i));
    }
};

/// Everything that may happen next.
std::vector<model> successors(const model& m, bool faults) {
    using state = actor::state;
    std::vector<model> result;
    auto add = [&](auto change) {
        model next = m;
        change(next);
        next.normalise();
        result.push_back(std::move(next));
    };
    for (std::size_t i = 0; i < m.actors.size(); ++i) {
        const actor& a = m.actors[i];
        if (a.at == state::absent)
            add([i](model& n) { n.arrive(i); });
        if (a.at == state::waiting)
            add([i](model& n) { n.look(i); });
        if (a.at == state::decided) {
            add([i](model& n) { n.ask(i); });
            if (faults && !a.late) {
                add([i](model& n) {
                    n.actors[i].late = true;
                    n.actors[i].at = state::waiting;
                });
            }
        }
        if (a.late) {
            add([i](model& n) {
                actor& late = n.actors[i];
                late.late = false;
                // It watches for the record that it may still get.
                bool seen = n.create_record(late) && n.watch_own_record;
                if (seen && late.at == state::watching)
                    late.at = state::waiting;
            });
        }
        if (a.at == state::holding)
            add([i](model& n) { n.leave(i); });
        bool waits = a.at == state::waiting || a.at == state::watching || a.at == state::decided;
        if (faults && waits)
            add([i](model& n) { n.leave(i); });
    }
    return result;
}

struct findings {
    bool overlap = false;
    bool stuck = false;
    std::size_t states = 0;
};

/// Whether somebody who does not give up can do something, some day.
bool goes_on(const model& m) {
    return std::any_of(m.actors.begin(), m.actors.end(), [](const actor& a) {
        return a.at == actor::state::absent || a.at == actor::state::waiting ||
               a.at == actor::state::decided || a.at == actor::state::holding || a.late;
    });
}

findings explore(const model& start, bool faults) {
    findings found;
    std::set<model> seen{start};
    std::vector<model> open{start};
    while (!open.empty()) {
        model at = open.back();
        open.pop_back();
        ++found.states;
        found.overlap = found.overlap || !at.safe();
        auto next = successors(at, faults);
        bool done = std::all_of(at.actors.begin(), at.actors.end(), [](const actor& a) {
            return a.at == actor::state::gone;
        });
        found.stuck = found.stuck || (!goes_on(at) && !done);
        for (model& n : next) {
            if (seen.insert(n).second)
                open.push_back(std::move(n));
        }
    }
    return found;
}

model make_model(const std::vector<std::pair<std::uint8_t, int>>& wishes, int ageing = 0) {
    model m;
    for (auto [kind, priority] : wishes) {
        ranked_place p;
        p.kind = kind;
        p.priority = priority;
        m.kinds.push_back(p);
    }
    m.actors.resize(wishes.size());
    m.order.resize(wishes.size());
    m.ageing = ageing;
    return m;
}

}  // namespace

TEST_CASE("priority_lock: three participants, all kinds and priorities, all schedules and faults") {
    const std::vector<std::pair<std::uint8_t, int>> kinds{
        {priority_read, 0}, {priority_write, 0}, {priority_read, 1}, {priority_write, 1}};
    std::size_t states = 0;
    // They come in any order: which of them is the first one in this list makes no difference.
    for (std::size_t a = 0; a < kinds.size(); ++a) {
        for (std::size_t b = a; b < kinds.size(); ++b) {
            for (std::size_t c = b; c < kinds.size(); ++c) {
                for (int ageing : {0, 2}) {
                    findings f = explore(make_model({kinds[a], kinds[b], kinds[c]}, ageing), true);
                    REQUIRE_FALSE(f.overlap);
                    REQUIRE_FALSE(f.stuck);
                    states += f.states;
                }
            }
        }
    }
    CHECK(states > 10'000);
}

TEST_CASE("priority_lock: without the check of the version there would be two holders") {
    model m = make_model({{priority_write, 0}, {priority_write, 1}});
    m.check_version = false;
    CHECK(explore(m, false).overlap);
}

TEST_CASE(
    "priority_lock: a record that comes late and is not noticed makes two wait for each other") {
    model m = make_model({{priority_write, 1}, {priority_write, 0}});
    m.watch_own_record = false;
    CHECK(explore(m, true).stuck);
    m.watch_own_record = true;
    CHECK_FALSE(explore(m, true).stuck);
}

TEST_CASE("priority_lock: the order is total, and the same for all") {
    std::mt19937 random(5);
    for (int round = 0; round < 2'000; ++round) {
        int ageing = static_cast<int>(random() % 3) * 5;
        std::vector<ranked_place> places(6);
        for (std::size_t i = 0; i < places.size(); ++i) {
            places[i].priority = static_cast<int>(random() % 7) - 3;
            places[i].order = static_cast<std::int64_t>(i);
        }
        for (const auto& a : places) {
            CHECK_FALSE(comes_before(a, a, ageing));
            for (const auto& b : places) {
                if (a.order != b.order)
                    CHECK(comes_before(a, b, ageing) != comes_before(b, a, ageing));
                if (ageing == 0 && a.priority < b.priority)
                    CHECK(comes_before(a, b, ageing));
                if (a.priority == b.priority && a.order < b.order)
                    CHECK(comes_before(a, b, ageing));
                // Overtaken only by those who come soon enough.
                std::int64_t steps = std::int64_t{a.priority} - b.priority;
                if (ageing > 0 && steps > 0 && b.order > a.order + steps * ageing)
                    CHECK(comes_before(a, b, ageing));
                for (const auto& c : places) {
                    if (comes_before(a, b, ageing) && comes_before(b, c, ageing))
                        CHECK(comes_before(a, c, ageing));
                }
            }
        }
    }
}

TEST_CASE("priority_lock: whom all wait for is whom each of them waits for") {
    std::mt19937 random(6);
    for (int round = 0; round < 3'000; ++round) {
        int ageing = static_cast<int>(random() % 3) * 5;
        std::vector<ranked_place> places(random() % 12);
        for (ranked_place& place : places) {
            place.priority = static_cast<int>(random() % 5) - 2;
            place.order = static_cast<std::int64_t>(random() % 8);  // strangers share them
            place.kind = random() % 2 ? priority_read : priority_write;
            place.holds = random() % 4 == 0;
        }
        auto nearest = nearest_ahead(places, ageing);
        REQUIRE(nearest.size() == places.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i].holds) {
                CHECK_FALSE(nearest[i]);
                continue;
            }
            auto watch = judge(places, i, ageing).watch;
            bool for_holder = watch && places[*watch].holds;
            CHECK(nearest[i] == (for_holder ? std::optional<std::size_t>() : watch));
        }
    }
}

TEST_CASE("priority_lock: many participants at random: no overlap, all are served, in order") {
    std::mt19937 random(9);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::pair<std::uint8_t, int>> wishes;
        for (int i = 0; i < 12; ++i)
            wishes.emplace_back(static_cast<std::uint8_t>(random() % 2), random() % 4);
        model m = make_model(wishes, static_cast<int>(random() % 2) * 4);
        std::size_t steps = 0;
        for (;;) {
            auto next = successors(m, round % 2 == 1);
            if (next.empty())
                break;
            m = next[random() % next.size()];
            REQUIRE(m.safe());
            REQUIRE(++steps < 10'000);
        }
        for (const actor& a : m.actors)
            CHECK(a.at == actor::state::gone);
    }
}

TEST_CASE("priority_lock: a newcomer overtakes waiters, never a holder") {
    auto place = [](int priority, int order, bool holds, std::uint8_t kind = priority_write) {
        ranked_place p;
        p.priority = priority;
        p.order = order;
        p.holds = holds;
        p.kind = kind;
        return p;
    };
    std::vector<ranked_place> places{place(5, 0, true), place(5, 1, false), place(1, 2, false)};
    ranked_verdict newcomer = judge(places, 2, 0);
    CHECK_FALSE(newcomer.grant);
    CHECK(newcomer.watch == 0u);  // the holder
    CHECK(newcomer.inferior == std::vector<std::size_t>{0});
    ranked_verdict waiter = judge(places, 1, 0);
    CHECK(waiter.watch == 2u);  // it was overtaken
    CHECK(waiter.inferior.empty());
    places.erase(places.begin());
    CHECK(judge(places, 1, 0).grant);
    CHECK_FALSE(judge(places, 0, 0).grant);
    // Aged: the newcomer comes too late.
    places[1].order = 100;
    CHECK(judge(places, 0, 10).grant);
    // Readers go together, but not past a writer that comes first.
    std::vector<ranked_place> mixed{place(3, 0, true, priority_read),
                                    place(3, 1, false, priority_read),
                                    place(3, 2, false),
                                    place(3, 3, false, priority_read),
                                    place(1, 4, false, priority_read)};
    CHECK(judge(mixed, 1, 0).grant);
    CHECK(judge(mixed, 2, 0).watch == 1u);
    CHECK(judge(mixed, 3, 0).watch == 2u);
    CHECK(judge(mixed, 4, 0).grant);
}

TEST_CASE("priority_lock: names of contenders and records, and nobody else's") {
    const std::string guid = "0123456789abcdef0123456789abcdef";
    CHECK(format_ranked(guid, priority_write, -3) == guid + "-write--3-");
    auto name = parse_ranked(guid + "-write--3-0000000012");
    REQUIRE(name);
    CHECK(name->priority == -3);
    CHECK(name->sequence == 12);
    CHECK(name->kind == priority_write);
    CHECK_FALSE(name->record);
    std::string held = record_of(guid + "-read-2147483647--2147483648");
    auto record = parse_ranked(held);
    REQUIRE(record);
    CHECK(record->record);
    CHECK(record->kind == priority_read);
    CHECK(record->priority == 2147483647);
    CHECK(record->sequence == -2147483647 - 1);
    CHECK(record_of(record->contender) == held);
    for (std::string other : {"-write-0000000001",
                              "-write-3-1",
                              "-write-+3-0000000001",
                              "-write-03-0000000001",
                              "-lock-3-0000000001",
                              "-write--0000000001",
                              "-write-2147483648-0000000001",
                              "-read-3-0000000001-held-held",
                              ""})
        CHECK_FALSE(parse_ranked(guid + other));
    CHECK_FALSE(parse_ranked("0123-write-3-0000000001"));
    CHECK(parse_ageing("0") == 0);
    CHECK(parse_ageing("12") == 12);
    for (std::string_view other : {"", "-1", "01", "1 ", "x", "99999999999"})
        CHECK_FALSE(parse_ageing(other));
}

TEST_CASE("priority_lock: a listing is sorted out, also across the wrap-around of the sequence") {
    const std::string a = "0123456789abcdef0123456789abcde0-write-5-2147483647";
    const std::string b = "0123456789abcdef0123456789abcde1-write-5--2147483648";
    const std::string c = record_of("0123456789abcdef0123456789abcde2-read-5-2147483640");
    const std::string a_record = record_of(a);
    ranked_listing listing = sort_out({b, a_record, c, "something", a}, 2147483647);
    REQUIRE(listing.places.size() == 3);
    auto first = listing.find(a);
    auto second = listing.find(b);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(comes_before(listing.places[*first], listing.places[*second], 0));
    CHECK(comes_before(listing.places[*first], listing.places[*second], 7));
    CHECK(listing.places[*first].holds);
    CHECK(listing.waiting[*first]);
    CHECK(listing.blocking_node(*first) == a_record);
    CHECK(listing.blocking_node(*second) == b);
    // A record whose contender has gone blocks, too.
    auto lone = listing.find(parse_ranked(c)->contender);
    REQUIRE(lone);
    CHECK(listing.places[*lone].holds);
    CHECK_FALSE(listing.waiting[*lone]);
    ranked_verdict verdict = judge({listing.places[*second], listing.places[*lone]}, 0, 0);
    CHECK_FALSE(verdict.grant);
    CHECK(verdict.watch == std::size_t{1});
}

}  // namespace corozk::testing::priority_lock_test
