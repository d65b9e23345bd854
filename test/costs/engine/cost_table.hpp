// SPDX-License-Identifier: Apache-2.0
// What operations cost, as numbers that do not depend on the machine, and the file that records them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace corozk::testing {

/// What went over the connections for an operation, up to when all was quiet again.
struct cost {
    std::uint64_t requests = 0;
    std::uint64_t events = 0;          ///< of watches
    std::uint64_t bytes_sent = 0;      ///< of the requests
    std::uint64_t bytes_received = 0;  ///< of their answers and the events
    std::string operations;            ///< The requests, such as "getData 1, multi 2".

    bool operator==(const cost&) const = default;
};

/// An operation of a recipe and its cost. The group is the recipe.
struct cost_line {
    std::string group;
    std::string name;
    cost of;

    bool operator==(const cost_line&) const = default;
};

/// One line of text without an end of line.
std::string to_string(const cost_line& line);

/**
 * @brief Reads lines as to_string() writes them; those that begin with '#' are left out.
 * @throws std::runtime_error quoting a line that is none
 */
std::vector<cost_line> read_costs(std::istream& from);

/**
 * @brief Says, for a person, where the measured lines of a group differ from the recorded ones: other
 * numbers, an operation that is not recorded, one that is recorded and was not measured. Empty if they
 * do not.
 */
std::string differences(const std::vector<cost_line>& recorded,
                        const std::vector<cost_line>& measured,
                        const std::string& group);

/// Puts the measured lines in place of the recorded ones of the group.
std::vector<cost_line> replaced(std::vector<cost_line> recorded,
                                const std::vector<cost_line>& measured,
                                const std::string& group);

/// The whole file: what its columns are, and the lines.
std::string table_text(const std::vector<cost_line>& lines);

}  // namespace corozk::testing
