// SPDX-License-Identifier: Apache-2.0
// The decisions of a line: all states, and random schedules against a server that is only a list.
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/node_name.hpp"
#include "recipe/contention/predecessor_rule.hpp"
#include "recipe/locks/shared_lock_rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace corozk::testing::line_test {

using namespace corozk::detail;

TEST_CASE("line: a try is refused because of what stays, and only by fresh news") {
    head_state s;
    s.blocked = true;
    CHECK(decide_try(s, false) == try_step::look);
    CHECK(decide_try(s, true) == try_step::refuse);
    s.blocked_by_local = true;
    CHECK(decide_try(s, false) == try_step::refuse);
    CHECK(decide_try(s, true) == try_step::refuse);
    s.blocked_by_leaving = true;
    CHECK(decide_try(s, false) == try_step::wait);
    CHECK(decide_try(s, true) == try_step::wait);
}

TEST_CASE("line: every state is decided as the invariants want it") {
    for (int bits = 0; bits < 256; ++bits) {
        head_state s;
        s.connected = (bits & 1) != 0;
        s.blocked = (bits & 2) != 0;
        s.blocked_by_local = (bits & 4) != 0;
        s.covered = (bits & 8) != 0;
        s.stale = (bits & 16) != 0;
        s.proved = (bits & 32) != 0;
        s.patient = (bits & 64) != 0;
        s.announced = (bits & 128) != 0;
        if (s.blocked_by_local && !s.blocked)
            continue;  // cannot be
        CAPTURE(s.connected,
                s.blocked,
                s.blocked_by_local,
                s.covered,
                s.stale,
                s.proved,
                s.patient,
                s.announced);
        head_step step = decide(s);
        // 1 and 2: a grant needs the session, a proof, knowledge of all ahead, and no blocker. 8:
        // an announcement is all of that but the session.
        bool may_go = s.connected && (s.announced || (!s.blocked && s.covered && s.proved));
        CHECK((step == head_step::grant) == may_go);
        // 6: whoever waits is blocked by what tells us of its end, or the session tells.
        if (step == head_step::wait && s.connected) {
            CHECK(s.blocked);
            CHECK((s.blocked_by_local || !s.stale));
        }
        // 5: a proof is left to the one ahead only for a while.
        if (s.connected && s.blocked && !s.proved && !s.patient && !s.announced)
            CHECK(step != head_step::wait);
        // Nothing is asked that would not help.
        if (step == head_step::look)
            CHECK((!s.covered || s.stale));
        if (step == head_step::prove)
            CHECK_FALSE(s.proved);
        if (step == head_step::look || step == head_step::prove)
            CHECK(s.connected);
    }
}

namespace {

/// A server that is only a list of nodes, and clients that know of it what they were told, late.
/// The decisions are the shipped ones; what a client knows follows the rules in contention/contention_rule.hpp.
class simulation {
public:
    explicit simulation(std::uint32_t seed, std::int32_t first_sequence)
        : random_(seed), next_(first_sequence), clients_(2 + random_() % 3) {}

    void run() {
        for (int step = 0; step < 400; ++step)
            act(random_() % clients_.size(), true);
        // Nobody comes any more: all that is under way must come to its end.
        for (int step = 0; step < 20'000 && !idle(); ++step)
            act(random_() % clients_.size(), false);
        CHECK(idle());
    }

    int announcements() const noexcept { return announcements_; }

private:
    struct node {
        std::int32_t sequence = 0;
        std::size_t owner = 0;
    };

    /// A contender of a client.
    struct contender {
        contention_entry entry;
        std::int32_t sequence = 0;
        bool covered = false;
        bool proved = false;
        bool patient = true;
        bool erasing = false;
    };

    /// What a client was told and has not read yet, in order.
    struct message {
        enum class kind {
            created,
            listing,
            watch_set,
            watch_missing,
            fired,
            announced,
            proof,
            erased
        } what;
        std::int32_t sequence = 0;
        std::vector<std::int32_t> listed = {};
    };

    struct client {
        std::map<std::int64_t, contender> local;  ///< by order
        std::map<std::int64_t, std::int32_t> foreign;
        std::vector<message> inbox;
        std::set<std::int32_t> watched;
        std::set<std::int32_t> asked;
        std::set<std::int32_t> listening;       ///< of its own: on what announces their turns
        std::optional<std::int32_t> announced;  ///< whose turn it is
        bool listing = false;
        bool stale = true;
        bool proving = false;
        std::int32_t base = 0;
        std::int64_t base_order = 0;
        std::optional<std::int32_t> holds;
        std::optional<std::int32_t> checked;  ///< known to exist right now
        std::size_t creating = 0;
    };

    class walk final : public ahead_of {
    public:
        walk(const client& c, std::int64_t me, std::int64_t without = no_order) {
            for (const auto& [order, l] : c.local) {
                if (order < me && order != without)
                    entries_.push_back(l.entry);
            }
            for (const auto& [order, sequence] : c.foreign) {
                contention_entry e;
                e.order = order;
                if (order < me && order != without)
                    entries_.push_back(e);
            }
            std::sort(entries_.begin(),
                      entries_.end(),
                      [](const contention_entry& a, const contention_entry& b) {
                          return a.order > b.order;
                      });
        }
        const contention_entry* next() override {
            return at_ < entries_.size() ? &entries_[at_++] : nullptr;
        }

    private:
        std::vector<contention_entry> entries_;
        std::size_t at_ = 0;
    };

    bool idle() const {
        return nodes_.empty() && std::all_of(clients_.begin(), clients_.end(), [](const client& c) {
                   return c.local.empty() && c.inbox.empty() && c.creating == 0;
               });
    }

    std::int64_t order_of(const client& c, std::int32_t sequence) const {
        return c.base_order + sequence_distance(c.base, sequence);
    }

    bool exists(std::int32_t sequence) const {
        return std::any_of(
            nodes_.begin(), nodes_.end(), [&](const node& n) { return n.sequence == sequence; });
    }

    void erase_node(std::int32_t sequence) {
        std::erase_if(nodes_, [&](const node& n) { return n.sequence == sequence; });
        for (client& c : clients_) {
            if (c.watched.erase(sequence) > 0) {
                c.inbox.push_back({message::kind::fired, sequence});
            }
        }
    }

    void act(std::size_t index, bool more) {
        client& c = clients_[index];
        std::uint32_t dice = random_() % 16;
        if (dice < 9) {
            read(c);
        } else if (dice < 12) {
            if (more)
                enter(index);
        } else if (dice < 14) {
            if (c.holds)
                release(c, *c.holds);
        } else if (dice == 14) {
            abandon_one(c);
        }
        if (contender* head = first_waiting(c); head && random_() % 4 == 0)
            head->patient = false;
        think(c);
        c.checked.reset();
        if (std::exchange(c.announced, std::nullopt))
            c.stale = true;
    }

    /// The contender right behind, if it is somebody else's and it is its turn when `mine` goes.
    std::optional<std::int32_t> next_after(const client& c, std::int64_t mine) const {
        auto behind = c.foreign.upper_bound(mine);
        auto ours = c.local.upper_bound(mine);
        if (behind == c.foreign.end() || (ours != c.local.end() && ours->first < behind->first))
            return std::nullopt;
        contention_entry me;
        me.order = behind->first;
        walk before(c, me.order);
        walk after(c, me.order, mine);
        if (!is_next(the_exclusive_rule(), before, after, me) || !exists(behind->second))
            return std::nullopt;
        return behind->second;
    }

    void announce(std::int32_t next) {
        ++announcements_;
        for (client& c : clients_) {
            if (c.listening.erase(next) > 0)
                c.inbox.push_back({message::kind::announced, next});
        }
    }

    void enter(std::size_t index) {
        client& c = clients_[index];
        if (c.local.size() + c.creating >= 5)
            return;
        nodes_.push_back({next_, index});
        ++c.creating;
        c.inbox.push_back({message::kind::created, next_});
        next_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(next_) + 1);
        if (c.local.empty() && c.creating == 1)
            list(c);
    }

    void list(client& c) {
        if (c.listing)
            return;
        c.listing = true;
        c.stale = false;
        message m{message::kind::listing};
        for (const node& n : nodes_)
            m.listed.push_back(n.sequence);
        std::shuffle(m.listed.begin(), m.listed.end(), random_);
        c.inbox.push_back(std::move(m));
    }

    void release(client& c, std::int32_t sequence) {
        message answer{message::kind::erased, sequence};
        contender* next = first_waiting(c);
        if (c.holds == sequence) {
            c.holds.reset();
            --owners_;
            auto foreign = next_after(c, order_of(c, sequence));
            if (foreign)
                announce(*foreign);
            // In the same step the server checks the next one's node.
            if (!foreign && next && !next->proved && exists(next->sequence)) {
                answer.listed.push_back(next->sequence);
            }
        }
        c.local.at(order_of(c, sequence)).erasing = true;
        erase_node(sequence);
        c.inbox.push_back(std::move(answer));
    }

    contender* first_waiting(client& c) {
        for (auto& [order, l] : c.local) {
            if (!l.erasing && c.holds != l.sequence)
                return &l;
        }
        return nullptr;
    }

    void abandon_one(client& c) {
        for (auto& [order, l] : c.local) {
            if (l.erasing || c.holds == l.sequence || random_() % 2 == 0)
                continue;
            release(c, l.sequence);
            return;
        }
    }

    void read(client& c) {
        if (c.inbox.empty())
            return;
        message m = std::move(c.inbox.front());
        c.inbox.erase(c.inbox.begin());
        std::int64_t order = order_of(c, m.sequence);
        switch (m.what) {
            case message::kind::created: {
                --c.creating;
                c.base = m.sequence;
                c.base_order = order;
                contender l;
                l.sequence = m.sequence;
                l.entry.order = order;
                auto before = c.local.find(order - 1);
                l.covered = before != c.local.end() && before->second.covered;
                c.local.emplace(order, l);
                break;
            }
            case message::kind::listing:
                c.listing = false;
                c.foreign.clear();
                for (std::int32_t sequence : m.listed) {
                    auto mine = c.local.find(order_of(c, sequence));
                    if (mine == c.local.end()) {
                        c.foreign.emplace(order_of(c, sequence), sequence);
                    } else {
                        mine->second.covered = true;
                    }
                }
                break;
            case message::kind::watch_set:
                c.asked.erase(m.sequence);
                break;
            case message::kind::watch_missing:
                c.asked.erase(m.sequence);
                c.foreign.erase(order);
                break;
            case message::kind::fired:
                if (!c.announced)
                    c.stale = true;
                break;
            case message::kind::announced:
                if (c.local.contains(order) && !c.local.at(order).erasing)
                    c.announced = m.sequence;
                break;
            case message::kind::proof:
                c.proving = false;
                if (auto l = c.local.find(order); l != c.local.end())
                    l->second.proved = true;
                break;
            case message::kind::erased:
                c.local.erase(order);
                if (!m.listed.empty())
                    c.checked = m.listed.front();
                break;
        }
    }

    void think(client& c) {
        for (;;) {
            contender* head = first_waiting(c);
            if (!head)
                return;
            contender& me = *head;
            walk ahead(c, me.entry.order);
            std::vector<const contention_entry*> blockers;
            the_exclusive_rule().blockers(ahead, me.entry, blockers);
            head_state s;
            s.connected = true;
            s.blocked = !blockers.empty();
            s.blocked_by_local = s.blocked && c.local.contains(blockers.front()->order);
            s.covered = me.covered;
            s.stale = c.stale;
            s.proved = me.proved || c.checked == me.sequence;
            s.patient = me.patient;
            s.announced = c.announced == me.sequence;
            switch (decide(s)) {
                case head_step::grant:
                    if (s.announced) {
                        // Nothing can be ahead of it.
                        c.announced.reset();
                        c.foreign.erase(c.foreign.begin(), c.foreign.lower_bound(me.entry.order));
                    }
                    c.holds = me.sequence;
                    REQUIRE(++owners_ == 1);
                    REQUIRE(exists(me.sequence));
                    REQUIRE(nodes_.front().sequence == me.sequence);
                    continue;
                case head_step::prove:
                    if (!c.proving)
                        c.inbox.push_back({message::kind::proof, me.sequence});
                    c.proving = true;
                    return;
                case head_step::look:
                    list(c);
                    return;
                case head_step::wait: {
                    if (s.blocked_by_local)
                        return;
                    c.listening.insert(me.sequence);
                    std::int32_t watched = c.foreign.at(blockers.front()->order);
                    if (c.watched.contains(watched) || c.asked.contains(watched))
                        return;
                    c.asked.insert(watched);
                    bool there = exists(watched);
                    if (there)
                        c.watched.insert(watched);
                    c.inbox.push_back(
                        {there ? message::kind::watch_set : message::kind::watch_missing, watched});
                    return;
                }
            }
        }
    }

    std::mt19937 random_;
    std::int32_t next_;
    std::vector<node> nodes_;  ///< in the order of their creation
    std::vector<client> clients_;
    int owners_ = 0;
    int announcements_ = 0;
};

}  // namespace

TEST_CASE("line: right behind one that is gone, by sequence and by the number of transactions") {
    const std::int64_t epoch = std::int64_t{3} << 32;
    const past_contender gone{7, epoch + 100};
    CHECK(right_behind(gone, 8, epoch + 102));  // its end, and the new one
    CHECK(right_behind(gone, 8, epoch + 111));
    CHECK_FALSE(
        right_behind(gone, 8, epoch + 112));  // enough for a new folder with eight before it
    CHECK_FALSE(right_behind(gone, 9, epoch + 103));  // somebody between
    CHECK_FALSE(right_behind(gone, 7, epoch + 102));
    CHECK_FALSE(right_behind(gone, 8, epoch + 100));
    CHECK_FALSE(right_behind(gone, 8, (epoch * 2) + 102));  // another leader of the ensemble
    CHECK_FALSE(right_behind({2'147'483'647, epoch}, -2'147'483'647 - 1, epoch + 2));
    CHECK_FALSE(right_behind({-5, epoch}, -4, epoch + 2));

    // Whatever happens to a folder, as few transactions as can be: never taken for the same folder.
    for (std::int32_t sequence = 0; sequence < 50; ++sequence) {
        std::int64_t zxid = epoch + 1'000;
        const past_contender one{sequence, zxid};
        ++zxid;  // it is erased
        CHECK(right_behind(one, sequence + 1, zxid + 1));
        ++zxid;  // the folder is erased
        ++zxid;  // and made again
        for (std::int32_t others = 0; others <= sequence; ++others) {
            ++zxid;
            CHECK_FALSE((right_behind(one, others, zxid) && others <= sequence));
        }
        CHECK_FALSE(right_behind(one, sequence + 1, zxid + 1));
    }
}

TEST_CASE("line: random schedules, never two owners, and everybody gets a turn") {
    int announcements = 0;
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        simulation s(seed, 0);
        s.run();
        announcements += s.announcements();
    }
    CHECK(announcements > 0);
}

TEST_CASE("line: whose turn it is when one of those ahead goes") {
    struct entries final : ahead_of {
        explicit entries(std::vector<contention_entry> all_) : all(std::move(all_)) {}
        const contention_entry* next() override { return at < all.size() ? &all[at++] : nullptr; }
        std::vector<contention_entry> all;  ///< the nearest first
        std::size_t at = 0;
    };
    auto entry = [](std::int64_t order, std::uint8_t kind) {
        contention_entry e;
        e.order = order;
        e.kind = kind;
        return e;
    };
    auto next = [&](const contention_rule& rule,
                    const std::vector<contention_entry>& rest,
                    const contention_entry& goes,
                    const contention_entry& me) {
        entries after(rest);
        std::vector<contention_entry> all{goes};
        all.insert(all.end(), rest.begin(), rest.end());
        entries before(all);
        return is_next(rule, before, after, me);
    };
    const contention_rule& lock = the_exclusive_rule();
    CHECK(next(lock, {}, entry(1, 0), entry(2, 0)));
    CHECK_FALSE(next(lock, {entry(0, 0)}, entry(1, 0), entry(2, 0)));  // something else is left
    CHECK(blocks(lock, entry(1, 0), entry(2, 0), 0));

    const contention_rule& shared = the_shared_rule();
    const std::uint8_t write = 1;
    CHECK(next(shared, {}, entry(1, write), entry(2, read_kind)));
    CHECK(next(shared, {}, entry(1, read_kind), entry(2, write)));
    CHECK_FALSE(next(shared, {entry(0, read_kind)}, entry(1, read_kind), entry(2, write)));
    // A reader behind a reader could go already.
    CHECK_FALSE(next(shared, {}, entry(1, read_kind), entry(2, read_kind)));
    CHECK_FALSE(blocks(shared, entry(1, read_kind), entry(2, read_kind), 0));
    CHECK(blocks(shared, entry(1, write), entry(2, read_kind), 0));
}

TEST_CASE("line: random schedules across the wrap-around of the sequence") {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        simulation(seed, 2'147'483'647 - 20).run();
    }
}

}  // namespace corozk::testing::line_test
