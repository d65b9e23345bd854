// SPDX-License-Identifier: Apache-2.0
#include "recipe/configuration/rule.hpp"

#include "operation/path.hpp"
#include "operation/read_number.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t number_digits = 10;

/// Higher numbers are foreign, and incrementing them might overflow.
constexpr std::uint64_t highest_number = std::numeric_limits<std::int64_t>::max();

constexpr std::size_t steps_per_request = 128;
constexpr std::size_t overhead_per_step = 256;

constexpr std::size_t largest_response = 64UL * 1024 * 1024;

}  // namespace

bool good_part_name(configuration_layout layout, std::string_view name) noexcept {
    if (!is_node_name(name))
        return false;
    if (layout == configuration_layout::ready)
        return name != ready_name && name != writer_name;
    return name != version_writer_name;
}

std::string version_name(std::uint64_t number, std::string_view guid) {
    char text[32];
    std::snprintf(text, sizeof text, "%010llu-", static_cast<unsigned long long>(number));
    return text + std::string(guid);
}

std::optional<std::uint64_t> version_number(std::string_view name) noexcept {
    std::size_t dash = name.find('-');
    if (dash == std::string_view::npos || dash < number_digits || dash + 1 == name.size()) {
        return std::nullopt;
    }
    if (!good_part_name(configuration_layout::versioned, name))
        return std::nullopt;
    std::uint64_t number = 0;
    if (!read_number(name.substr(0, dash), number) || number > highest_number)
        return std::nullopt;
    return number;
}

std::int64_t erased_children(const stat& node) noexcept {
    return (std::int64_t{node.cversion} - node.num_children) / 2;
}

std::size_t readable_at_once(const std::vector<std::string>& names,
                             std::size_t begin,
                             std::string_view parent,
                             std::size_t max_request_size) noexcept {
    const std::size_t most = std::max<std::size_t>(largest_response / max_request_size, 1);
    const std::size_t end = std::min(names.size(), begin + most);
    std::size_t bytes = 0;
    std::size_t i = begin;
    for (; i < end; ++i) {
        bytes += parent.size() + names[i].size() + overhead_per_step;
        if (bytes > max_request_size && i > begin)
            break;
    }
    return i - begin;
}

std::vector<std::vector<transaction::step>> cut_into_requests(std::vector<transaction::step> steps,
                                                              std::size_t max_bytes) {
    std::vector<std::vector<transaction::step>> requests;
    std::size_t bytes = 0;
    for (transaction::step& step : steps) {
        std::size_t size = step.path.size() + step.data.size() + overhead_per_step;
        if (requests.empty() || bytes + size > max_bytes ||
            requests.back().size() == steps_per_request) {
            requests.emplace_back();
            bytes = 0;
        }
        requests.back().push_back(std::move(step));
        bytes += size;
    }
    return requests;
}

std::vector<std::string> outdated_versions(std::vector<std::string> versions,
                                           std::string_view current,
                                           const std::vector<std::string>& in_use,
                                           std::size_t keep) {
    std::erase_if(versions, [&](const std::string& name) {
        return !version_number(name) || name == current ||
               std::find(in_use.begin(), in_use.end(), name) != in_use.end();
    });
    std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
        return std::pair(*version_number(a), std::string_view(a)) >
               std::pair(*version_number(b), std::string_view(b));
    });
    // One that is listed twice counts as one of those to keep.
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
    const auto present = version_number(current);
    auto older = std::find_if(versions.begin(), versions.end(), [&](const std::string& name) {
        return !present || *version_number(name) < *present;
    });
    const auto count = static_cast<std::size_t>(versions.end() - older);
    versions.erase(older, older + static_cast<std::ptrdiff_t>(std::min(keep, count)));
    return versions;
}

}  // namespace corozk::detail
