// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/double_barrier_rule.hpp"

#include "operation/read_number.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace corozk::detail {

namespace {

constexpr std::string_view member_mark = "-member-";
constexpr std::size_t participant_digits = 16;

/// Higher numbers are foreign, and incrementing them might overflow to 0.
constexpr std::uint64_t highest_round = std::numeric_limits<std::int64_t>::max();

/// Removes "key=value" and the separator from the front.
template <class Number>
bool take_field(std::string_view& text, std::string_view key, Number& value) {
    if (!text.starts_with(key))
        return false;
    text.remove_prefix(key.size());
    std::size_t end = std::min(text.find(' '), text.size());
    bool number = read_number(text.substr(0, end), value);
    text.remove_prefix(std::min(end + 1, text.size()));
    return number;
}

bool in_order(const barrier_member& a, const barrier_member& b) noexcept {
    return a.sequence < b.sequence;
}

/// Keeps the last node of each participant, sorted, unless its number is in no order: its participant
/// is refused.
/// @return the others
std::vector<barrier_member> take_others(std::vector<barrier_member>& members) {
    std::unordered_set<std::string_view> participants;
    std::vector<barrier_member> last;
    std::vector<barrier_member> others;
    for (auto m = members.rbegin(); m != members.rend(); ++m) {
        bool is_last = participants.insert(m->name.substr(0, participant_digits)).second;
        (is_last && !sequence_spent(m->sequence) ? last : others).push_back(*m);
    }
    members.assign(last.rbegin(), last.rend());
    return {others.rbegin(), others.rend()};
}

}  // namespace

std::string member_guid(std::string_view participant, std::string_view random) {
    return std::string(participant.substr(0, participant_digits))
        .append(random.substr(participant_digits));
}

std::optional<round_record> parse_round(std::string_view data) {
    if (data.empty())
        return round_record();
    const std::string_view whole = data;
    round_record record;
    if (!take_field(data, "round=", record.round) || !take_field(data, "size=", record.size) ||
        !take_field(data, "last=", record.last))
        return std::nullopt;
    if (record.round == 0 || record.round > highest_round || record.size == 0)
        return std::nullopt;
    // Only the canonical form.
    if (format_round(record) != whole)
        return std::nullopt;
    return record;
}

std::string format_round(const round_record& record) {
    return "round=" + std::to_string(record.round) + " size=" + std::to_string(record.size) +
           " last=" + std::to_string(record.last);
}

std::string member_prefix(std::string_view guid) {
    return std::string(guid).append(member_mark);
}

std::optional<std::int32_t> parse_member(std::string_view name) {
    if (!is_guid(name.substr(0, guid_digits)))
        return std::nullopt;
    name.remove_prefix(guid_digits);
    if (!name.starts_with(member_mark))
        return std::nullopt;
    return parse_sequence(name.substr(member_mark.size()));
}

bool barrier_view::has(const barrier_member& member) const noexcept {
    for (const auto* group : {&inside, &waiting, &others}) {
        auto [first, last] = std::equal_range(group->begin(), group->end(), member, in_order);
        if (std::any_of(first, last, [&](const auto& m) { return m.name == member.name; }))
            return true;
    }
    return false;
}

barrier_view view_barrier(const name_list& names, const round_record& record) {
    barrier_view view;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::optional<std::int32_t> sequence = parse_member(names[i]);
        if (!sequence)
            continue;
        auto& group = is_inside(record, *sequence) ? view.inside : view.waiting;
        group.push_back({names[i], *sequence});
    }
    std::sort(view.inside.begin(), view.inside.end(), in_order);
    std::sort(view.waiting.begin(), view.waiting.end(), in_order);
    view.others = take_others(view.waiting);
    return view;
}

std::optional<round_record> next_round(const barrier_view& view,
                                       const round_record& record,
                                       std::uint32_t size) {
    if (!view.inside.empty() || view.waiting.size() < size)
        return std::nullopt;
    return round_record{record.round + 1, size, view.waiting[size - 1].sequence};
}

leave_plan plan_leave(const barrier_view& view,
                      std::int32_t last,
                      const std::set<std::int32_t>& own) {
    leave_plan plan;
    std::vector<barrier_member> left;
    for (const auto* group : {&view.inside, &view.waiting}) {
        for (const barrier_member& m : *group) {
            if (m.sequence <= last)
                left.push_back(m);
        }
    }
    if (left.empty()) {
        plan.done = true;
        return plan;
    }
    auto is_own = [&own](const barrier_member& m) { return own.contains(m.sequence); };
    bool all_own = std::all_of(left.begin(), left.end(), is_own);
    bool lowest_own = is_own(left.front());
    for (const barrier_member& m : left) {
        if (!is_own(m))
            continue;
        if (all_own || m.sequence != left.front().sequence)
            plan.erase.insert(m.sequence);
    }
    if (all_own)
        return plan;
    if (!lowest_own) {
        plan.watch = left.front().name;
    } else {
        // The highest that is not leaving.
        auto highest = std::find_if_not(left.rbegin(), left.rend(), is_own);
        plan.watch = highest->name;
    }
    return plan;
}

}  // namespace corozk::detail
