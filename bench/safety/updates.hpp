// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// How a worker's update of the shared set ended.
enum class update_outcome {
    added,    ///< it was told that it was written
    refused,  ///< it was told that it was not, for the lock was lost
    unknown,  ///< neither
};

/// One update under the lock, with the time for which the worker believed to hold it, by the clock
/// that all processes of a machine share.
struct update {
    update() = default;

    std::string element;
    update_outcome outcome = update_outcome::added;
    std::int64_t granted_ns = 0;
    std::int64_t ended_ns = 0;
};

/// "added ELEMENT GRANTED ENDED". @throws std::runtime_error if the line is none
update parse_update(std::string_view line);
std::string to_line(const update& u);

/// Set elements, as they are stored: with spaces between them.
std::set<std::string> parse_elements(std::string_view text);

/// Elements that were added, as their writers were told, and are not in the set.
std::vector<std::string> lost_updates(const std::vector<update>& updates,
                                      const std::set<std::string>& final_set);

/// Elements in the set although their writers were told that they are not.
std::vector<std::string> ghosts(const std::vector<update>& updates,
                                const std::set<std::string>& final_set);

/// How many of them began while another one held the lock, or believed to.
std::size_t overlaps(std::vector<update> updates);

}  // namespace corozk::bench
