// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/statement.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace corozk::bench {

/// Puts what several processes say into an order in which they can have said it; of several such
/// orders, into one that speaks for the recipe.
///
/// Their pipes are read one after the other, again and again. Whatever was said before a line of one
/// reading is found by the end of the next. So a `holding` waits for two readings more: the next may
/// bring another `holding` that came before it, and the one after that what came before the other.
/// Then somebody who has gone on comes before somebody who still holds it.
class line_order {
public:
    struct line {
        std::size_t who = 0;
        statement what;
        clock::time_point read{};
    };

    explicit line_order(std::size_t speakers) : all_(speakers) {}

    /// All pipes are about to be read.
    void begin_reading() { ++readings_; }

    void add(std::size_t who, const statement& what, clock::time_point read) {
        all_[who].lines.push_back({{who, what, read}, readings_});
    }

    bool empty() const {
        return std::all_of(
            all_.begin(), all_.end(), [](const speaker& s) { return s.lines.empty(); });
    }
    bool empty(std::size_t who) const { return all_[who].lines.empty(); }

    /// The next one that is certain to be the next; nothing if it takes another reading to know.
    std::optional<line> take() {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!all_[i].lines.empty() && !grants(i))
                return take_of(i);
        }
        std::optional<std::size_t> first;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (grants(i) && (!first || reading_of(i) < reading_of(*first)))
                first = i;
        }
        if (!first || reading_of(*first) + 2 > readings_)
            return std::nullopt;
        std::size_t best = *first;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (grants(i) && reading_of(i) <= reading_of(*first) + 1 && is_earlier(i, best))
                best = i;
        }
        return take_of(best);
    }

private:
    struct entry {
        line what;
        std::size_t reading = 0;
    };

    struct speaker {
        std::deque<entry> lines;
        clock::time_point asked{};  ///< when it has said `waiting`
    };

    const statement& next_of(std::size_t who) const { return all_[who].lines.front().what.what; }
    std::size_t reading_of(std::size_t who) const { return all_[who].lines.front().reading; }

    bool grants(std::size_t who) const {
        return !all_[who].lines.empty() && next_of(who).kind == statement_kind::holding;
    }

    /// Of two that say `holding`.
    bool is_earlier(std::size_t a, std::size_t b) const {
        const auto& token = next_of(a).token;
        const auto& other = next_of(b).token;
        if (token && other && *token != *other)
            return *token < *other;
        bool goes_on = all_[a].lines.size() > 1;
        bool other_goes_on = all_[b].lines.size() > 1;
        if (goes_on != other_goes_on)
            return goes_on;
        return all_[a].asked < all_[b].asked;
    }

    line take_of(std::size_t who) {
        speaker& s = all_[who];
        line next = s.lines.front().what;
        s.lines.pop_front();
        if (next.what.kind == statement_kind::waiting)
            s.asked = next.read;
        return next;
    }

    std::vector<speaker> all_;
    std::size_t readings_ = 0;
};

}  // namespace corozk::bench
