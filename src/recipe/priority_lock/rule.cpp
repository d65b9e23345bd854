// SPDX-License-Identifier: Apache-2.0
#include "recipe/priority_lock/rule.hpp"

#include "recipe/contention/node_name.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

namespace corozk::detail {

namespace {

constexpr std::string_view record_suffix = "-held";
constexpr std::string_view read_infix = "-read-";
constexpr std::string_view write_infix = "-write-";

/// Removes a number in canonical form from the front.
std::optional<std::int32_t> take_number(std::string_view& text) noexcept {
    std::int32_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
        return {};
    auto length = static_cast<std::size_t>(end - text.data());
    if (text.substr(0, length) != std::to_string(value))
        return {};
    text.remove_prefix(length);
    return value;
}

}  // namespace

bool comes_before(const ranked_place& a, const ranked_place& b, std::int32_t ageing) noexcept {
    auto key = [ageing](const ranked_place& p) {
        std::int64_t aged = ageing > 0 ? p.order + std::int64_t{p.priority} * ageing : 0;
        return std::tuple(aged, p.priority, p.order);
    };
    return key(a) < key(b);
}

ranked_verdict judge(const std::vector<ranked_place>& places, std::size_t me, std::int32_t ageing) {
    const ranked_place& mine = places[me];
    bool reader = mine.kind == priority_read;
    ranked_verdict verdict;
    std::optional<std::size_t> ahead;
    std::optional<std::size_t> holder;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const ranked_place& other = places[i];
        bool compatible = reader && other.kind == priority_read;
        if (i == me || compatible)
            continue;
        if (other.holds) {
            holder = i;
            if (other.priority > mine.priority)
                verdict.inferior.push_back(i);
        } else if (comes_before(other, mine, ageing)) {
            if (!ahead || comes_before(places[*ahead], other, ageing))
                ahead = i;
        }
    }
    verdict.watch = ahead ? ahead : holder;
    verdict.grant = !verdict.watch;
    return verdict;
}

std::vector<std::optional<std::size_t>> nearest_ahead(const std::vector<ranked_place>& places,
                                                      std::int32_t ageing) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!places[i].holds)
            waiting.push_back(i);
    }
    auto before = [&](std::size_t a, std::size_t b) {
        return comes_before(places[a], places[b], ageing);
    };
    std::sort(waiting.begin(), waiting.end(), [&before](std::size_t a, std::size_t b) {
        return before(a, b) || (!before(b, a) && a < b);
    });
    std::vector<std::optional<std::size_t>> nearest(places.size());
    std::optional<std::size_t> last;
    std::optional<std::size_t> last_writer;
    for (auto begin = waiting.begin(); begin != waiting.end();) {
        // Only forged names have equal places; none is ahead of the others.
        auto end = std::upper_bound(begin, waiting.end(), *begin, before);
        for (auto i = begin; i != end; ++i)
            nearest[*i] = places[*i].kind == priority_read ? last_writer : last;
        last = *begin;
        auto is_writer = [&](std::size_t i) { return places[i].kind != priority_read; };
        auto writer = std::find_if(begin, end, is_writer);
        if (writer != end)
            last_writer = *writer;
        begin = end;
    }
    return nearest;
}

std::optional<ranked_name> parse_ranked(std::string_view name) noexcept {
    ranked_name found;
    if (name.ends_with(record_suffix)) {
        found.record = true;
        name.remove_suffix(record_suffix.size());
    }
    found.contender = name;
    found.guid = name.substr(0, guid_digits);
    if (!is_guid(found.guid))
        return {};
    name.remove_prefix(guid_digits);
    if (name.starts_with(read_infix)) {
        found.kind = priority_read;
        name.remove_prefix(read_infix.size());
    } else if (name.starts_with(write_infix)) {
        name.remove_prefix(write_infix.size());
    } else {
        return {};
    }
    auto priority = take_number(name);
    if (!priority || !name.starts_with('-'))
        return {};
    auto sequence = parse_sequence(name.substr(1));
    if (!sequence)
        return {};
    found.priority = *priority;
    found.sequence = *sequence;
    return found;
}

std::string format_ranked(std::string_view guid, std::uint8_t kind, std::int32_t priority) {
    std::string name(guid);
    name.append(kind == priority_read ? read_infix : write_infix);
    name.append(std::to_string(priority)).append("-");
    return name;
}

std::string record_of(std::string_view contender) {
    return std::string(contender).append(record_suffix);
}

std::optional<std::int32_t> parse_ageing(std::string_view data) noexcept {
    auto value = take_number(data);
    if (!value || !data.empty() || *value < 0)
        return {};
    return value;
}

std::string ranked_listing::blocking_node(std::size_t place) const {
    return places[place].holds ? record_of(contenders[place]) : contenders[place];
}

std::optional<std::size_t> ranked_listing::find(std::string_view contender) const noexcept {
    auto at = std::find(contenders.begin(), contenders.end(), contender);
    if (at == contenders.end())
        return {};
    return static_cast<std::size_t>(at - contenders.begin());
}

ranked_listing sort_out(const std::vector<std::string_view>& names, std::int32_t origin) {
    ranked_listing listing;
    std::map<std::string_view, std::size_t> known;
    for (std::string_view name : names) {
        auto parsed = parse_ranked(name);
        if (!parsed)
            continue;
        auto [at, fresh] = known.try_emplace(parsed->contender, listing.places.size());
        if (fresh) {
            ranked_place place;
            place.priority = parsed->priority;
            place.kind = parsed->kind;
            place.order = sequence_distance(origin, parsed->sequence);
            listing.places.push_back(place);
            listing.contenders.emplace_back(parsed->contender);
            listing.waiting.push_back(false);
        }
        if (parsed->record) {
            listing.places[at->second].holds = true;
        } else {
            listing.waiting[at->second] = true;
        }
    }
    return listing;
}

}  // namespace corozk::detail
