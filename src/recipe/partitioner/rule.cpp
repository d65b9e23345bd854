// SPDX-License-Identifier: Apache-2.0
#include "recipe/partitioner/rule.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

namespace corozk::detail {

namespace {

constexpr std::string_view first_line = "corozk partition 1";
constexpr char between_names = '\t';

/// Removes and returns the text up to the separator.
std::string_view take_until(std::string_view& text, char separator) noexcept {
    const std::size_t end = text.find(separator);
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return taken;
}

/// Those who may have one more than the others: who has most has least to give up then.
std::set<std::string_view> favoured(const assignment& kept, std::size_t count) {
    std::vector<const assignment::value_type*> order;
    for (const auto& one : kept)
        order.push_back(&one);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        const std::size_t had = a->second.size();
        return had != b->second.size() ? had > b->second.size() : a->first < b->first;
    });
    std::set<std::string_view> chosen;
    for (std::size_t i = 0; i < count; ++i)
        chosen.insert(order[i]->first);
    return chosen;
}

}  // namespace

assignment assign(const assignment& before,
                  const std::vector<std::string>& members,
                  const std::vector<std::string>& resources) {
    assignment next;
    for (const std::string& member : members)
        next.try_emplace(member);
    if (next.empty())
        return next;
    // What stays, and what is free.
    std::set<std::string_view> free(resources.begin(), resources.end());
    for (auto& [member, share] : next) {
        auto had = before.find(member);
        if (had == before.end())
            continue;
        for (const std::string& resource : had->second) {
            if (free.erase(resource) > 0)
                share.push_back(resource);
        }
    }
    const std::size_t least = resources.size() / next.size();
    const std::set<std::string_view> more = favoured(next, resources.size() % next.size());
    auto due = [&](const std::string& member) { return least + (more.contains(member) ? 1 : 0); };
    auto name_of = [&resources](const std::string& one) -> std::string_view {
        return *std::lower_bound(resources.begin(), resources.end(), one);
    };
    for (auto& [member, share] : next) {
        for (; share.size() > due(member); share.pop_back())
            free.insert(name_of(share.back()));
    }
    for (auto& [member, share] : next) {
        for (; share.size() < due(member); free.erase(free.begin()))
            share.emplace_back(*free.begin());
        std::sort(share.begin(), share.end());
    }
    return next;
}

std::string write_assignment(const assignment& decided) {
    std::string text(first_line);
    for (const auto& [member, share] : decided) {
        (text += '\n') += member;
        for (const std::string& resource : share)
            (text += between_names) += resource;
    }
    return text;
}

std::optional<assignment> read_assignment(std::string_view data) {
    assignment decided;
    if (data.empty())
        return decided;
    if (take_until(data, '\n') != first_line)
        return std::nullopt;
    std::set<std::string_view> known;
    while (!data.empty()) {
        std::string_view line = take_until(data, '\n');
        const std::string_view member = take_until(line, between_names);
        if (member.empty())
            continue;
        auto& share = decided[std::string(member)];
        while (!line.empty()) {
            const std::string_view resource = take_until(line, between_names);
            if (!resource.empty() && known.insert(resource).second)
                share.emplace_back(resource);
        }
        std::sort(share.begin(), share.end());
    }
    return decided;
}

claim_step decide(const claim_view& v) noexcept {
    if (v.failed)
        return claim_step::wait;
    if (!v.asked)
        return v.wanted && v.session ? claim_step::ask : claim_step::wait;
    if (v.wanted)
        return claim_step::wait;
    if (!v.delivered)
        return claim_step::withdraw;
    return v.revoked ? claim_step::wait : claim_step::revoke;
}

}  // namespace corozk::detail
