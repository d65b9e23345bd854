// SPDX-License-Identifier: Apache-2.0
// A line of contenders without a server: for the tests of the rules.
#pragma once

#include "recipe/contention/contention_rule.hpp"

#include <algorithm>
#include <map>
#include <set>
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

/// Contenders of which each sits in a process of its own, looks when it arrives, and again only
/// when one of those has gone that the rule named when it looked.
class contention_model {
public:
    explicit contention_model(const detail::contention_rule& rule, std::int32_t limit = 0)
        : rule_(rule), limit_(limit) {}

    const std::vector<detail::contention_entry>& entries() const { return entries_; }
    bool holds(const detail::contention_entry& e) const { return holders_.contains(e.order); }
    std::size_t leaves() const { return leaves_; }

    /// Looks that found nothing to wait for less.
    std::size_t wasted() const { return wasted_; }

    void arrive(detail::contention_entry e) {
        e.order = next_++;
        entries_.push_back(e);
        look(e.order, true);
    }

    void leave(std::size_t index) {
        std::int64_t gone = entries_[index].order;
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
        holders_.erase(gone);
        waits_for_.erase(gone);
        ++leaves_;
        std::vector<std::int64_t> woken;
        for (const auto& [who, whom] : waits_for_) {
            if (whom.contains(gone))
                woken.push_back(who);
        }
        for (std::int64_t who : woken)
            look(who, false);
    }

    void change_limit(std::int32_t limit) {
        limit_ = limit;
        std::vector<std::int64_t> waiting;
        for (const auto& [who, whom] : waits_for_)
            waiting.push_back(who);
        for (std::int64_t who : waiting)
            look(who, true);
    }

    /// Whether nobody waits who would be granted if it looked now.
    bool complete() const {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (holds(entries_[i]))
                continue;
            if (blockers_of(rule_, entries_, i, limit_).empty())
                return false;
        }
        return true;
    }

private:
    void look(std::int64_t order, bool expected) {
        auto at = std::find_if(
            entries_.begin(), entries_.end(), [order](const auto& e) { return e.order == order; });
        auto me = static_cast<std::size_t>(at - entries_.begin());
        auto blockers = blockers_of(rule_, entries_, me, limit_);
        waits_for_.erase(order);
        if (blockers.empty()) {
            holders_.insert(order);
            return;
        }
        if (!expected)
            ++wasted_;
        for (std::size_t b : blockers)
            waits_for_[order].insert(entries_[b].order);
    }

    const detail::contention_rule& rule_;
    std::int32_t limit_;
    std::vector<detail::contention_entry> entries_;
    std::set<std::int64_t> holders_;
    std::map<std::int64_t, std::set<std::int64_t>> waits_for_;
    std::int64_t next_ = 0;
    std::size_t leaves_ = 0;
    std::size_t wasted_ = 0;
};

}  // namespace corozk::testing
