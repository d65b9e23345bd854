// SPDX-License-Identifier: Apache-2.0
// A contention queue without a server: for the tests of the rules.
#pragma once

#include "recipe/contention/contention_view.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace corozk::testing {

/// Walks towards the front of a vector of entries.
class vector_walk final : public detail::ahead_of {
public:
    vector_walk(const std::vector<detail::contention_entry>& entries,
                std::size_t me,
                std::int32_t limit_)
        : entries_(entries), at_(me) {
        limit = limit_;
    }
    const detail::contention_entry* next() override {
        return at_ == 0 ? nullptr : &entries_[--at_];
    }

private:
    const std::vector<detail::contention_entry>& entries_;
    std::size_t at_;
};

inline std::vector<std::size_t> blockers_of(const detail::contention_rule& rule,
                                            const std::vector<detail::contention_entry>& line,
                                            std::size_t me,
                                            std::int32_t limit = 0) {
    vector_walk ahead(line, me, limit);
    std::vector<const detail::contention_entry*> found;
    rule.blockers(ahead, line[me], found);
    std::vector<std::size_t> result;
    for (const auto* e : found)
        result.push_back(static_cast<std::size_t>(e - line.data()));
    return result;
}

inline detail::contention_settings settings_for(const detail::contention_rule& rule) {
    detail::contention_settings settings;
    settings.parent = "/queue";
    settings.names = detail::naming("", {"-r-", "-w-"});
    settings.names.weighted = true;
    settings.rule = &rule;
    return settings;
}

/// The name of a contender's node; `number` is its guid.
inline std::string node_name_of(const detail::contention_settings& settings,
                                std::uint64_t number,
                                const detail::contention_entry& e,
                                std::int32_t sequence) {
    char text[40];
    std::snprintf(text, sizeof text, "%032llx", static_cast<unsigned long long>(number));
    std::string name = settings.names.format(text, e.kind, e.weight);
    std::snprintf(text, sizeof text, "%010d", sequence);
    return name + text;
}

/// Contenders of which each is in a process of its own, with the shipped view of the queue: it lists
/// when it arrives, and is woken only when a node is deleted that it has watched since.
class contention_model {
public:
    explicit contention_model(const detail::contention_rule& rule, std::int32_t limit = 0)
        : settings_(settings_for(rule)), limit_(limit) {
        settings_.initial_limit = limit;
    }

    const std::vector<detail::contention_entry>& entries() const { return entries_; }
    bool holds(const detail::contention_entry& e) const {
        return std::any_of(members_.begin(), members_.end(), [&](const auto& m) {
            return m->arrival == e.order && m->stage() == member::stage_type::granted;
        });
    }
    std::size_t leaves() const { return leaves_; }

    /// Events after which nobody was granted.
    std::size_t wasted() const { return wasted_; }

    void arrive(detail::contention_entry e) {
        e.order = next_++;
        entries_.push_back(e);
        member& m = *members_.emplace_back(std::make_unique<member>(settings_));
        m.arrival = e.order;
        m.kind = e.kind;
        m.weight = e.weight;
        m.sequence = static_cast<std::int32_t>(e.order);
        m.name = node_name_of(settings_, static_cast<std::uint64_t>(e.order), e, m.sequence);
        std::copy_n(m.name.begin(), m.guid_text.size(), m.guid_text.begin());
        m.view.placed(m, m.name);
        if (limit_ > 0)
            m.view.limit().answered({limit_, 0}, true);
        if (m.view.list())
            list(m);
        evaluate(m);
    }

    void leave(std::size_t index) {
        const std::string gone = members_[index]->name;
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
        members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
        ++leaves_;
        for (auto& m : members_) {
            if (m->watched.erase(gone) == 0 || m->stage() != member::stage_type::waiting)
                continue;
            for (detail::contention_node& n : m->view.nodes()) {
                if (n.local() || static_cast<detail::remote_node&>(n).name != gone)
                    continue;
                if (m->view.touched(static_cast<detail::remote_node&>(n), watch_event_type::erased))
                    m->view.answered(static_cast<detail::remote_node&>(n), zk_errc::no_node);
                break;
            }
            evaluate(*m);
            if (m->stage() == member::stage_type::waiting)
                ++wasted_;
        }
    }

    void change_limit(std::int32_t limit) {
        limit_ = limit;
        for (auto& m : members_) {
            m->view.limit().answered({limit, 0}, true);
            evaluate(*m);
        }
    }

    /// Whether nobody waits who would be granted if it knew everything.
    bool complete() const {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!holds(entries_[i]) && blockers_of(*settings_.rule, entries_, i, limit_).empty())
                return false;
        }
        return true;
    }

private:
    struct member final : detail::local_node {
        explicit member(const detail::contention_settings& settings) : view(settings) {}
        ~member() { view.left(*this, false); }

        detail::contention_view view;
        std::int64_t arrival = 0;
        std::string name;  ///< of its node
        std::set<std::string> watched;
    };

    void list(member& m) {
        detail::name_list names;
        for (const auto& other : members_)
            names.push_back(other->name);
        m.view.listed(names);
    }

    void evaluate(member& m) {
        detail::decision_facts facts;
        facts.now += std::chrono::hours(1);  // patience is over
        facts.connected = facts.exists = true;
        std::vector<detail::remote_node*> gone;
        do {
            for (detail::remote_node* n : gone)
                m.view.answered(*n, zk_errc::no_node);
            gone.clear();
            detail::queue_step step = m.view.next(facts);
            if (step.list) {
                list(m);
                step = m.view.next(facts);
            }
            if (step.watch_blockers)
                m.view.for_each_blocker([&](detail::remote_node& n) {
                    if (exists(n.name))
                        m.watched.insert(n.name);
                    else
                        gone.push_back(&n);
                });
        } while (!gone.empty());
    }

    bool exists(const std::string& name) const {
        return std::any_of(
            members_.begin(), members_.end(), [&](const auto& m) { return m->name == name; });
    }

    detail::contention_settings settings_;
    std::int32_t limit_;
    std::vector<detail::contention_entry> entries_;
    std::vector<std::unique_ptr<member>> members_;
    std::int64_t next_ = 0;
    std::size_t leaves_ = 0;
    std::size_t wasted_ = 0;
};

}  // namespace corozk::testing
