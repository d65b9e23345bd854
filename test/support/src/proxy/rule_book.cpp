// SPDX-License-Identifier: Apache-2.0

#include "rule_book.hpp"

#include <stdexcept>
#include <utility>

namespace corozk::testing::detail {

rule_id rule_book::arm(trigger when, action what) {
    if (when.kind() == frame_kind::notification && !what.suits_notifications()) {
        throw std::invalid_argument{"this action cannot be applied to a notification"};
    }
    const auto id = rule_id{++last_id_};
    rules_.push_back({.id = id, .when = std::move(when), .what = std::move(what)});
    return id;
}

void rule_book::disarm(rule_id rule) {
    std::erase_if(rules_, [rule](const armed_rule& candidate) { return candidate.id == rule; });
}

std::optional<fired_rule> rule_book::match(const frame_info& frame) {
    std::optional<fired_rule> result;
    for (auto& rule : rules_) {
        if (rule.spent() || !rule.when.matches(frame)) {
            continue;
        }
        ++rule.seen;
        if (!result && rule.seen >= rule.when.occurrence()) {
            ++rule.fired;
            result = fired_rule{.id = rule.id, .what = rule.what};
        }
    }
    std::erase_if(rules_, [](const armed_rule& rule) { return rule.spent(); });
    return result;
}

}  // namespace corozk::testing::detail
