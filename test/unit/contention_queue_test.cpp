// SPDX-License-Identifier: Apache-2.0
// What a queue's view decides: all states of the head, step by step, and random schedules against a
// server that is only a list.
#include "contention_model.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/contention_view.hpp"
#include "recipe/contention/node_creation.hpp"
#include "recipe/locks/semaphore_rule.hpp"
#include "recipe/locks/shared_lock_rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::contention_queue_test {

using namespace corozk::detail;

TEST_CASE("contention queue: a try is refused because of what stays, and only by fresh news") {
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

TEST_CASE("contention queue: every state is decided as the invariants want it") {
    for (int bits = 0; bits < 512; ++bits) {
        head_state s;
        s.connected = (bits & 1) != 0;
        s.blocked = (bits & 2) != 0;
        s.blocked_by_local = (bits & 4) != 0;
        s.covered = (bits & 8) != 0;
        s.stale = (bits & 16) != 0;
        s.proved = (bits & 32) != 0;
        s.patient = (bits & 64) != 0;
        s.announced = (bits & 128) != 0;
        s.listing = (bits & 256) != 0;
        if (s.blocked_by_local && !s.blocked)
            continue;  // cannot be
        CAPTURE(s.connected,
                s.blocked,
                s.blocked_by_local,
                s.covered,
                s.stale,
                s.proved,
                s.patient,
                s.announced,
                s.listing);
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
        // No node is watched while a listing that may show a nearer one is on its way.
        if ((step == head_step::wait || step == head_step::prove) && s.connected && s.blocked &&
            !s.blocked_by_local)
            CHECK((s.covered || !s.listing));
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

contention_settings limited(const contention_rule& rule) {
    contention_settings settings = settings_for(rule);
    settings.fixed_limit = 4;
    return settings;
}

struct member final : local_node {
    std::string name;  ///< of its node
    bool watched = false;
    bool proving = false;
    bool checked = false;  ///< by a transaction in flight
    bool listening = false;

    static bool known(const local_node& n) noexcept {
        const auto& m = static_cast<const member&>(n);
        return m.watched || m.proving || m.checked;
    }
};

/// A server that is only a list of nodes, and clients that know of it what they were told, late. What
/// they know and do is the shipped `contention_view`; the server knows better, and checks each grant.
class simulation {
public:
    simulation(const contention_rule& rule, std::uint32_t seed, std::int32_t first_sequence)
        : settings_(limited(rule)), random_(seed), next_(first_sequence) {
        for (std::size_t i = 2 + random_() % 3; i > 0; --i)
            clients_.push_back(std::make_unique<client>(settings_));
    }

    void run() {
        for (int step = 0; step < 400; ++step)
            act(*clients_[random_() % clients_.size()], true);
        // Nobody comes any more: all that is under way must come to its end.
        for (int step = 0; step < 20'000 && !idle(); ++step)
            act(*clients_[random_() % clients_.size()], false);
        CHECK(idle());
    }

    std::uint64_t contenders() const noexcept { return guids_; }
    int announcements() const noexcept { return announcements_; }

    /// Besides creates and deletes.
    std::uint64_t requests() const noexcept { return requests_; }

private:
    /// What a client was told and has not read yet, in order.
    struct message {
        enum class kind { created, listing, read, fired, announced, proof, erased } what;
        std::string name;
        bool exists = true;
        std::vector<local_node*> seen = {};
        name_list names = {};
    };

    struct client {
        explicit client(const contention_settings& s) : view(s) {}
        ~client() {
            for (auto& [guid, m] : members) {
                if (m->has_node())
                    view.left(*m, false);
                else if (m->stage() != local_node::stage_type::gone)
                    creation.remove(*m);
            }
        }
        contention_view view;
        node_creation creation;
        std::map<std::string, std::unique_ptr<member>> members;  ///< by guid
        std::deque<message> inbox;
        std::set<std::string> watched;
        std::set<std::string> reading;
        time_point now{};
    };

    struct node {
        std::string name;
        contention_entry entry;
        client* owner;
    };

    bool idle() const {
        return nodes_.empty() && std::all_of(clients_.begin(), clients_.end(), [](const auto& c) {
                   return c->members.empty() && c->inbox.empty();
               });
    }

    bool exists(const std::string& name) const {
        return std::any_of(
            nodes_.begin(), nodes_.end(), [&](const node& n) { return n.name == name; });
    }

    static member* find(client& c, const std::string& name) {
        for (auto& [guid, m] : c.members) {
            if (m->name == name)
                return m.get();
        }
        return nullptr;
    }

    static remote_node* find_remote(client& c, const std::string& name) {
        for (contention_node& n : c.view.nodes()) {
            if (!n.local() && static_cast<remote_node&>(n).name == name)
                return &static_cast<remote_node&>(n);
        }
        return nullptr;
    }

    void act(client& c, bool more) {
        std::uint32_t dice = random_() % 16;
        if (dice < 9)
            read(c);
        else if (dice < 12 && more)
            enter(c);
        else if (dice >= 12 && dice < 14)
            release_one(c, local_node::stage_type::granted);
        else if (dice == 14 && random_() % 2 == 0)
            release_one(c, local_node::stage_type::waiting);
        if (random_() % 8 == 0)
            c.now += std::chrono::milliseconds(random_() % 2000);
        c.view.heed_announcement();
        evaluate(c);
        c.view.announcement_heeded();
    }

    void enter(client& c) {
        if (c.members.size() >= 5)
            return;
        auto owned = std::make_unique<member>();
        member& m = *owned;
        m.kind = static_cast<std::uint8_t>(random_() % 2);
        m.weight = 1 + static_cast<std::int32_t>(random_() % 3);
        m.try_only = random_() % 8 == 0;
        m.since = c.now;
        node created{node_name_of(settings_, ++guids_, m, next_), m, &c};
        std::copy_n(created.name.begin(), m.guid_text.size(), m.guid_text.begin());
        c.members.emplace(m.guid(), std::move(owned));
        c.creation.add(m);
        REQUIRE(c.creation.next() == &m);
        created.entry.order = static_cast<std::int64_t>(guids_);
        m.name = created.name;
        m.sequence = next_;
        m.czxid = ++zxid_;
        next_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(next_) + 1);
        nodes_.push_back(std::move(created));
        c.inbox.push_back({message::kind::created, m.name});
        carry_out(c, c.view.entered(c.creation.size()));
    }

    void release_one(client& c, local_node::stage_type stage) {
        for (auto& [guid, m] : c.members) {
            if (m->stage() == stage)
                return release(c, *m);
        }
    }

    void release(client& c, member& m) {
        bool held = m.stage() == local_node::stage_type::granted;
        message answer{message::kind::erased, m.name};
        c.view.releasing(m);
        if (held) {
            const remote_node* next = c.view.successor_of(m);
            if (next && exists(next->name))
                announce(next->name);
            // In the same step the server checks the next ones' nodes.
            if (!next)
                answer.seen = c.view.to_prove(&member::known);
            for (local_node* n : answer.seen)
                static_cast<member*>(n)->checked = true;
        }
        ++zxid_;
        std::erase_if(nodes_, [&](const node& n) { return n.name == m.name; });
        for (auto& other : clients_) {
            if (other->watched.erase(m.name) > 0)
                other->inbox.push_back({message::kind::fired, m.name});
        }
        c.inbox.push_back(std::move(answer));
    }

    void announce(const std::string& next) {
        ++announcements_;
        for (auto& c : clients_) {
            member* m = find(*c, next);
            if (m && std::exchange(m->listening, false))
                c->inbox.push_back({message::kind::announced, next});
        }
    }

    void read(client& c) {
        if (c.inbox.empty())
            return;
        message m = std::move(c.inbox.front());
        c.inbox.pop_front();
        member* mine = find(c, m.name);
        remote_node* remote = find_remote(c, m.name);
        switch (m.what) {
            case message::kind::created:
                CHECK(c.creation.answered(*mine, {}, 1) == node_creation::step::place);
                c.creation.remove(*mine);
                c.view.placed(*mine, m.name);
                evaluate(c, {mine});
                break;
            case message::kind::listing:
                CHECK(c.view.listed(m.names).empty());
                evaluate(c, {}, true);
                break;
            case message::kind::read:
                c.reading.erase(m.name);
                if (remote)
                    c.view.answered(*remote, m.exists ? error_code() : zk_errc::no_node);
                break;
            case message::kind::fired:
                if (remote && c.view.touched(*remote, watch_event_type::erased))
                    watch(c, *remote);
                break;
            case message::kind::announced:
                if (mine)
                    c.view.announced(*mine);
                break;
            case message::kind::proof:
                if (mine) {
                    mine->proving = false;
                    mine->watched = true;
                }
                break;
            case message::kind::erased:
                c.view.left(*mine, true);
                c.members.erase(std::string(mine->guid()));
                for (local_node* n : m.seen)
                    static_cast<member*>(n)->checked = false;
                evaluate(c, m.seen);
                break;
        }
    }

    void watch(client& c, const remote_node& n) {
        if (c.watched.contains(n.name) || !c.reading.insert(n.name).second)
            return;
        ++requests_;
        bool there = exists(n.name);
        if (there)
            c.watched.insert(n.name);
        c.inbox.push_back({message::kind::read, n.name, there});
    }

    void carry_out(client& c, const queue_step& step) {
        auto* head = static_cast<member*>(c.view.head());
        CHECK_FALSE(step.read_limit);
        CHECK_FALSE(step.watch_parent);
        if (step.list) {
            ++requests_;
            message m{message::kind::listing, {}};
            std::vector<std::string> names{"no contender"};
            for (const node& n : nodes_)
                names.push_back(n.name);
            std::shuffle(names.begin(), names.end(), random_);
            for (const std::string& name : names)
                m.names.push_back(name);
            c.inbox.push_back(std::move(m));
        }
        auto prove = [&](member& m) {
            m.proving = true;
            ++requests_;
            c.inbox.push_back({message::kind::proof, m.name});
        };
        if (step.prove && !head->proving) {
            prove(*head);
            for (local_node* n : c.view.to_prove(&member::known))
                prove(static_cast<member&>(*n));
        }
        if (step.watch_blockers)
            c.view.for_each_blocker([&](remote_node& n) { watch(c, n); });
        if (step.listen && !std::exchange(head->listening, true))
            ++requests_;
    }

    void evaluate(client& c, const std::vector<local_node*>& seen = {}, bool listed = false) {
        for (;;) {
            auto* head = static_cast<member*>(c.view.head());
            decision_facts facts;
            facts.now = c.now;
            facts.connected = true;
            facts.exists =
                head && (head->watched || std::count(seen.begin(), seen.end(), head) > 0);
            facts.listed = listed;
            queue_step step = c.view.next(facts);
            carry_out(c, step);
            if (step.what == queue_step::type::settled)
                return;
            auto& m = static_cast<member&>(*step.who);
            if (step.what == queue_step::type::refuse) {
                CHECK(step.reason == errc::would_block);
                CHECK(m.try_only);
                release(c, m);
                continue;
            }
            m.since = c.now;
            check_grant(m);
        }
    }

    /// The rule, asked about the whole truth: nothing ahead of it blocks it.
    void check_grant(const member& m) const {
        std::vector<contention_entry> all;
        std::size_t me = nodes_.size();
        for (const node& n : nodes_) {
            if (n.name == m.name)
                me = all.size();
            all.push_back(n.entry);
        }
        REQUIRE(me < nodes_.size());
        REQUIRE(blockers_of(*settings_.rule, all, me, settings_.fixed_limit).empty());
    }

    const contention_settings settings_;
    std::mt19937 random_;
    std::int32_t next_;
    std::int64_t zxid_ = 0;
    std::uint64_t guids_ = 0;
    std::vector<node> nodes_;  ///< in the order of their creation
    std::vector<std::unique_ptr<client>> clients_;
    int announcements_ = 0;
    std::uint64_t requests_ = 0;
};

/// One session's part of a queue, step by step: what it asks for, in a word each.
struct one_session {
    static constexpr std::uint64_t ours = 1;

    explicit one_session(const contention_rule& rule = the_exclusive_rule)
        : settings(limited(rule)), view(settings) {}
    ~one_session() {
        for (member& m : members) {
            if (m.has_node())
                view.left(m, false);
        }
    }

    member& come(std::int32_t sequence, std::int64_t czxid) {
        member& m = members.emplace_back();
        m.sequence = sequence;
        m.czxid = czxid;
        m.session = 1;
        m.name = name_of(sequence, ours);
        std::copy_n(m.name.begin(), m.guid_text.size(), m.guid_text.begin());
        return m;
    }
    member& placed(std::int32_t sequence, std::int64_t czxid = 0) {
        member& m = come(sequence, czxid != 0 ? czxid : sequence);
        view.placed(m, m.name);
        return m;
    }
    std::string name_of(std::int32_t sequence, std::uint64_t guid = 2) const {
        return node_name_of(settings, guid, contention_entry(), sequence);
    }
    std::vector<local_node*> listed(const std::vector<std::string>& names) {
        name_list list;
        for (const std::string& name : names)
            list.push_back(name);
        return view.listed(list);
    }
    remote_node& remote(std::size_t index) {
        for (contention_node& n : view.nodes()) {
            if (!n.local() && index-- == 0)
                return static_cast<remote_node&>(n);
        }
        throw std::logic_error("no such node");
    }

    static std::string words(const queue_step& step) {
        std::string text;
        auto add = [&text](bool is, const char* word) {
            if (is)
                text += text.empty() ? word : std::string(" ") + word;
        };
        add(step.list, "list");
        add(step.read_limit, "limit");
        add(step.prove, "prove");
        add(step.watch_blockers, "watch");
        add(step.watch_parent, "watch-parent");
        add(step.listen, "listen");
        add(step.what == queue_step::type::grant, "grant");
        add(step.what == queue_step::type::refuse, "refuse");
        return text;
    }
    std::string next() { return words(view.next(facts)); }
    std::vector<local_node*> to_prove() {
        return view.to_prove([](const local_node&) { return false; });
    }
    std::string entered() { return words(view.entered(1)); }

    contention_settings settings;
    contention_view view;
    std::list<member> members;
    decision_facts facts = connected();

private:
    static decision_facts connected() {
        decision_facts f;
        f.connected = true;
        return f;
    }
};

}  // namespace

TEST_CASE("contention queue: without others a create and a listing are enough, then the create") {
    one_session s;
    CHECK(s.entered() == "list");
    member& first = s.placed(7, 100);
    s.facts.exists = true;
    CHECK(s.next().empty());  // a listing is in flight
    CHECK(s.listed({first.name}).empty());
    s.facts.exists = false;
    s.facts.listed = true;
    CHECK(s.next() == "grant");
    CHECK(s.next().empty());
    s.facts.listed = false;
    s.view.releasing(first);
    s.view.left(first, true);

    CHECK(s.entered() == "list");
    member& second = s.placed(8, 102);
    s.facts.exists = true;
    CHECK(s.next() == "grant");  // right behind one that had nothing ahead of it
    s.view.releasing(second);
    s.view.left(second, true);
    s.view.listing_failed();

    CHECK(s.entered().empty());
    member& third = s.placed(9, 104);
    s.facts.exists = true;
    CHECK(s.next() == "grant");
    s.view.releasing(third);
    s.view.left(third, false);  // deleted by another client
    s.view.distrust_sequences();
    CHECK(s.entered() == "list");
}

TEST_CASE("contention queue: a local predecessor needs no listing, no watch, and hands over") {
    one_session s;
    s.entered();
    member& holder = s.placed(7);
    s.listed({holder.name});
    s.facts.listed = true;
    REQUIRE(s.next() == "grant");
    s.facts.listed = false;
    member& waiter = s.placed(8);
    CHECK(s.words(s.view.entered(0)).empty());
    CHECK(s.next().empty());  // its turn may come at once
    s.facts.now += watch_delay;
    CHECK(s.next() == "prove");
    s.view.releasing(holder);
    CHECK(s.view.to_prove([](const local_node&) { return true; }).empty());
    CHECK(s.to_prove() == std::vector<local_node*>{&waiter});
    CHECK(s.next() == "prove");
    s.view.left(holder, true);
    s.facts.exists = true;
    CHECK(s.next() == "grant");
}

TEST_CASE("contention queue: releases at the same time prove a waiter each") {
    one_session s(the_semaphore_rule);  // four permits
    s.entered();
    std::vector<std::string> names;
    for (std::int32_t sequence = 1; sequence <= 10; ++sequence)
        names.push_back(s.placed(sequence).name);
    s.listed(names);
    std::vector<local_node*> all;
    for (member& m : s.members)
        all.push_back(&m);
    s.facts.listed = true;
    for (int permit = 0; permit < 4; ++permit)
        REQUIRE(s.next() == "grant");
    REQUIRE(s.next().empty());
    s.facts.listed = false;
    CHECK(s.to_prove().empty());
    for (std::size_t holder = 0; holder < 4; ++holder) {
        s.view.releasing(static_cast<local_node&>(*all[holder]));
        const std::vector<local_node*> next(all.begin() + 4,
                                            all.begin() + 5 + static_cast<std::ptrdiff_t>(holder));
        CHECK(s.to_prove() == next);
    }
    // In the order of the responses.
    for (std::size_t holder = 0; holder < 4; ++holder) {
        s.facts.exists = false;
        CHECK(s.next().empty());
        s.view.left(*all[holder], true);
        s.facts.exists = true;
        const queue_step step = s.view.next(s.facts);
        CHECK(step.what == queue_step::type::grant);
        CHECK(step.who == all[holder + 4]);
    }
    CHECK(s.next().empty());
}

TEST_CASE("contention queue: all readers behind a writer are proved together") {
    one_session s(the_shared_rule);
    s.entered();
    std::vector<local_node*> readers;
    auto placed = [&s](std::int32_t sequence, std::uint8_t kind) -> member& {
        member& m = s.come(sequence, sequence);
        m.kind = kind;
        m.name = node_name_of(s.settings, s.ours, m, sequence);
        s.view.placed(m, m.name);
        return m;
    };
    member& writer = placed(1, write_kind);
    s.listed({writer.name});
    for (std::int32_t sequence = 2; sequence <= 100; ++sequence)
        readers.push_back(&placed(sequence, read_kind));
    s.facts.exists = true;
    REQUIRE(s.view.next(s.facts).who == &writer);
    CHECK(s.to_prove().empty());
    s.view.releasing(writer);
    const std::vector<local_node*> first = s.to_prove();
    CHECK(first.size() == 64);
    CHECK(std::equal(first.begin(), first.end(), readers.begin()));
    // A writer behind them waits for them.
    s.view.left(writer, true);
    for (std::size_t i = 0; i < readers.size(); ++i)
        REQUIRE(s.view.next(s.facts).who == readers[i]);
    placed(101, write_kind);
    CHECK(s.to_prove().empty());
}

TEST_CASE("contention queue: a reader behind one that may belong to a deleted parent lists") {
    one_session s(the_shared_rule);
    s.entered();
    auto come = [&s](std::int32_t sequence, std::int64_t czxid) -> member& {
        member& m = s.come(sequence, czxid);
        m.kind = read_kind;
        m.name = node_name_of(s.settings, s.ours, m, sequence);
        return m;
    };
    member& first = come(0, 100);
    s.view.placed(first, first.name);
    s.listed({first.name});
    s.facts.exists = true;
    REQUIRE(s.view.next(s.facts).who == &first);
    // Elsewhere the parent was deleted and made again, with a writer whose sequence is 0.
    member& second = come(1, 200);
    SECTION("nothing shows that the first one is there: a listing would show the writer") {
        s.view.placed(second, second.name);
        CHECK(s.next() == "list");
        CHECK(s.listed({s.name_of(0), second.name}) == std::vector<local_node*>{&first});
    }
    SECTION("a watch shows it") {
        s.view.placed(second, second.name, [](const local_node&) { return true; });
        CHECK(s.view.next(s.facts).who == &second);
    }
}

TEST_CASE(
    "contention queue: behind a remote contender one watch and the announcement are waited for") {
    one_session s;
    const std::string ahead = s.name_of(6);
    s.entered();
    member& waiter = s.placed(7);
    s.listed({waiter.name, ahead});
    s.facts.listed = true;
    CHECK(s.next() == "watch listen");
    s.facts.listed = false;

    SECTION("announced") {
        s.view.announced(waiter);
        CHECK_FALSE(s.view.touched(s.remote(0), watch_event_type::erased));
        s.view.heed_announcement();
        CHECK(s.next() == "grant");
        CHECK(s.view.nodes().size() == 1);
    }
    SECTION("announced to one that was abandoned") {
        s.view.announced(waiter);
        s.view.releasing(waiter);
        s.view.heed_announcement();
        CHECK(s.next().empty());
    }
    SECTION("announced without a connection: what was ahead is gone anyway") {
        s.facts.connected = false;
        s.view.announced(waiter);
        s.view.heed_announcement();
        CHECK(s.next().empty());
        s.view.announcement_heeded();
        s.facts.connected = true;
        CHECK(s.next() == "prove");
    }
    SECTION("changed: a read of it alone tells") {
        CHECK(s.view.touched(s.remote(0), watch_event_type::data_changed));
        CHECK(s.next() == "watch listen");
        s.view.answered(s.remote(0), zk_errc::no_node);
        CHECK(s.next() == "prove");
    }
    SECTION("perhaps deleted: the same") {
        CHECK(s.view.touched(s.remote(0), watch_event_type::unknown));
    }
    SECTION("deleted: a proof is needed") {
        CHECK_FALSE(s.view.touched(s.remote(0), watch_event_type::erased));
        CHECK(s.view.nodes().size() == 1);
        CHECK(s.next() == "prove");
        s.facts.exists = true;
        CHECK(s.next() == "grant");
    }
    SECTION("it may not be read: the parent is watched instead") {
        s.view.answered(s.remote(0), zk_errc::no_auth);
        CHECK(s.next() == "watch-parent listen");
    }
    SECTION("one of several is touched: a listing tells more") {
        s.listed({waiter.name, ahead, s.name_of(5)});
        CHECK(s.next() == "watch listen");
        CHECK_FALSE(s.view.touched(s.remote(1), watch_event_type::data_changed));
        CHECK(s.next() == "list");
    }
    SECTION("one of several is deleted: which of them are left, a listing tells") {
        s.listed({waiter.name, ahead, s.name_of(5)});
        CHECK(s.next() == "watch listen");
        CHECK_FALSE(s.view.touched(s.remote(1), watch_event_type::erased));
        CHECK(s.view.nodes().size() == 2);
        CHECK(s.next() == "list");
    }
    SECTION("its own node is not listed: it was deleted") {
        CHECK(s.listed({ahead}) == std::vector<local_node*>{&waiter});
    }
    SECTION("the session ends: nothing counts any more") {
        s.view.session_ended();
        CHECK(s.next() == "list");
    }
}

TEST_CASE("contention queue: the head lists again because of what blocks it, and of nothing else") {
    one_session s(the_semaphore_rule);
    s.entered();
    member& waiter = s.placed(16);
    std::vector<std::string> names{waiter.name};
    for (std::int32_t sequence = 10; sequence < 16; ++sequence)
        names.push_back(s.name_of(sequence));
    s.listed(names);
    s.facts.listed = true;
    CHECK(s.next() == "watch listen");
    s.facts.listed = false;
    auto touched = [&s](std::size_t index, watch_event_type type) {
        return s.view.touched(s.remote(index), type);
    };
    // Four permits: it is blocked by the nearest four of the six ahead of it.
    CHECK_FALSE(touched(0, watch_event_type::data_changed));
    CHECK_FALSE(touched(1, watch_event_type::data_changed));
    CHECK(s.next() == "watch listen");
    auto watched = [&s] {
        std::vector<std::string> all;
        s.view.for_each_blocker([&](remote_node& n) { all.push_back(n.name); });
        return all;
    };
    CHECK(watched() == std::vector<std::string>{names[6], names[5], names[4], names[3]});
    // Those that are not watched may be gone as well.
    CHECK_FALSE(touched(5, watch_event_type::erased));
    CHECK(s.next() == "list");
    CHECK(s.listed({waiter.name, names[5], names[4], names[3], names[2]}).empty());
    CHECK(s.next() == "watch listen");
    CHECK(watched() == std::vector<std::string>{names[5], names[4], names[3], names[2]});
    // Now all are watched.
    CHECK_FALSE(touched(1, watch_event_type::erased));
    CHECK(s.view.nodes().size() == 4);
    CHECK(s.next() == "prove");
}

TEST_CASE("contention queue: a remote successor is told, unless that is forbidden") {
    one_session s;
    s.entered();
    member& holder = s.placed(7);
    s.listed({holder.name, s.name_of(8)});
    s.facts.listed = true;
    REQUIRE(s.next() == "grant");
    CHECK_FALSE(s.view.look_behind(holder));
    s.view.releasing(holder);
    CHECK(s.view.successor_of(holder) == &s.remote(0));
    for (const error_code ec : {error_code(zk_errc::no_node), error_code(errc::not_connected)}) {
        s.view.announcement_failed(ec);
        CHECK(s.view.successor_of(holder) != nullptr);
    }
    s.view.announcement_failed(zk_errc::no_auth);
    CHECK(s.view.successor_of(holder) == nullptr);
}

TEST_CASE("contention queue: one that would rather not wait is refused, wherever it is") {
    one_session s;
    s.entered();
    member& waiter = s.placed(7);
    member& tries = s.come(8, 0);
    tries.try_only = true;
    s.view.placed(tries, tries.name);
    s.listed({waiter.name, tries.name, s.name_of(6)});
    queue_step step = s.view.next(s.facts);
    CHECK(step.what == queue_step::type::refuse);
    CHECK(step.who == &tries);
    CHECK(step.reason == errc::would_block);
}

TEST_CASE(
    "contention queue: an upgrade is not refused while the session's own nodes are searched for") {
    one_session s(the_shared_rule);
    member& held = s.placed(5);
    s.view.left(s.placed(4), true);
    s.listed({held.name});
    REQUIRE(s.next() == "prove");
    s.facts.exists = true;
    REQUIRE(s.next() == "grant");
    member& upgrade = s.come(7, 7);
    upgrade.kind = write_kind;
    upgrade.name = node_name_of(s.settings, one_session::ours, upgrade, 7);
    upgrade.except = held.order;
    s.view.placed(upgrade, upgrade.name);
    contention_entry writer;
    writer.kind = write_kind;
    s.listed({held.name, node_name_of(s.settings, 2, writer, 6), upgrade.name});
    s.facts.searching = true;
    CHECK(s.words(s.view.next(s.facts)).find("refuse") == std::string::npos);
    s.facts.searching = false;
    queue_step step = s.view.next(s.facts);
    CHECK(step.what == queue_step::type::refuse);
    CHECK(step.who == &upgrade);
    CHECK(step.reason == errc::would_deadlock);
}

TEST_CASE("contention queue: nothing is decided without the limit") {
    one_session s;
    s.settings.fixed_limit = 0;
    s.settings.initial_limit = 3;
    contention_view view(s.settings);
    CHECK(s.words(view.entered(1)) == "list limit");
    member& m = s.come(7, 0);
    m.weight = 3;
    view.placed(m, m.name);
    name_list names;
    names.push_back(s.settings.names.format(m.guid(), 0, 3) + "0000000007");
    CHECK(view.listed(names).empty());
    s.facts.listed = true;
    CHECK(s.words(view.next(s.facts)).empty());
    view.limit().answered({3, 1}, false);  // and has changed since
    CHECK(s.words(view.next(s.facts)) == "limit");
    view.limit().answered({3, 1}, true);
    CHECK(s.words(view.next(s.facts)) == "grant");
    view.left(m, true);
}

TEST_CASE("contention queue: creates in order, and one search for those whose answers were lost") {
    using step = node_creation::step;
    node_creation creation;
    std::list<member> members(creates_in_flight + 2);
    for (member& m : members)
        creation.add(m);
    auto at = members.begin();
    member& first = *at++;
    member& second = *at++;
    member& third = *at++;
    CHECK(creation.next() == &first);
    CHECK(creation.next() == &second);
    for (std::size_t i = 2; i < creates_in_flight; ++i)
        CHECK(creation.next() != nullptr);
    CHECK(creation.next() == nullptr);  // enough
    CHECK(members.back().stage() == local_node::stage_type::queued);

    CHECK(creation.answered(first, zk_errc::connection_loss, 1) == step::find);
    CHECK(creation.answered(second, zk_errc::connection_loss, 2) == step::wait);
    CHECK(creation.answered(third, zk_errc::connection_loss, 1) == step::wait);
    CHECK(creation.next_search() == std::vector<local_node*>{&first, &third});
    creation.still_unknown(third);
    CHECK(creation.next_search() == std::vector<local_node*>{&second});
    CHECK(creation.next_search() == std::vector<local_node*>{&third});
    CHECK(creation.next_search().empty());
    creation.again(first);
    CHECK(creation.answered(first, zk_errc::no_node, 0) == step::make_parent);
    creation.again(first);
    CHECK(creation.answered(first, zk_errc::throttled, 0) == step::again);
    creation.again(first);
    first.state = local_node::stage_type::unwanted;
    CHECK(creation.answered(first, zk_errc::no_node, 0) == step::fail);
    creation.again(first);
    CHECK(creation.answered(first, zk_errc::no_auth, 0) == step::fail);
    creation.again(first);
    CHECK(creation.answered(first, {}, 3) == step::place);
    CHECK(first.session == 3);
    for (member& m : members)
        creation.remove(m);
    CHECK(creation.empty());
}

TEST_CASE(
    "contention queue: right behind one that is gone, by sequence and by the number of "
    "transactions") {
    const std::int64_t epoch = std::int64_t{3} << 32;
    const past_contender gone{7, epoch + 100};
    CHECK(right_behind(gone, 8, epoch + 102));  // its end, and the new one
    CHECK(right_behind(gone, 8, epoch + 109));
    CHECK_FALSE(
        right_behind(gone, 8, epoch + 110));  // enough for a new folder with eight before it
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

        // The folder erased and made again, with a first one in it, by one transaction.
        zxid = epoch + 1'002;
        for (std::int32_t others = 1; others <= sequence; ++others)
            ++zxid;
        CHECK_FALSE(right_behind(one, sequence + 1, zxid + 1));
    }
}

TEST_CASE(
    "contention queue: random schedules, nobody is granted too early, everybody gets a turn") {
    const std::vector<const contention_rule*> rules{
        &the_exclusive_rule, &the_shared_rule, &the_semaphore_rule};
    for (const contention_rule* rule : rules) {
        int announcements = 0;
        std::uint64_t requests = 0;
        std::uint64_t contenders = 0;
        for (std::uint32_t seed = 1; seed <= 400; ++seed) {
            CAPTURE(seed);
            simulation s(*rule, seed, 0);
            s.run();
            announcements += s.announcements();
            requests += s.requests();
            contenders += s.contenders();
        }
        CHECK(announcements > 0);
        CHECK(requests < 4 * contenders);
    }
}

TEST_CASE("contention queue: whose turn it is when one of those ahead goes") {
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
    std::vector<const contention_entry*> scratch;
    const contention_rule& lock = the_exclusive_rule;
    CHECK(next(lock, {}, entry(1, 0), entry(2, 0)));
    CHECK_FALSE(next(lock, {entry(0, 0)}, entry(1, 0), entry(2, 0)));  // something else is left
    CHECK(blocks(lock, entry(1, 0), entry(2, 0), 0, scratch));

    const contention_rule& shared = the_shared_rule;
    const std::uint8_t write = 1;
    CHECK(next(shared, {}, entry(1, write), entry(2, read_kind)));
    CHECK(next(shared, {}, entry(1, read_kind), entry(2, write)));
    CHECK_FALSE(next(shared, {entry(0, read_kind)}, entry(1, read_kind), entry(2, write)));
    // A reader behind a reader could go already.
    CHECK_FALSE(next(shared, {}, entry(1, read_kind), entry(2, read_kind)));
    CHECK_FALSE(blocks(shared, entry(1, read_kind), entry(2, read_kind), 0, scratch));
    CHECK(blocks(shared, entry(1, write), entry(2, read_kind), 0, scratch));
}

TEST_CASE("contention queue: random schedules across the wrap-around of the sequence") {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        simulation(the_exclusive_rule, seed, 2'147'483'647 - 20).run();
    }
}

}  // namespace corozk::testing::contention_queue_test
