// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/** @brief Who watches the votes. */
enum class commit_form : std::uint8_t {
    /// Every site watches every vote and decides by itself: O(n²) messages, and no need of the
    /// coordinator once the transaction has begun.
    all_sites,
    /// Only the coordinator watches the votes, the sites wait for its decision: O(n) messages.
    coordinator,
};

/** @brief What a site wants. */
enum class commit_vote : std::uint8_t { commit, abort };

/** @brief What was decided; the same for everybody, for ever. */
struct commit_outcome {
    commit_outcome() = default;
    commit_outcome(bool committed_, std::string reason_)
        : committed(committed_), reason(std::move(reason_)) {}

    bool committed = false;  ///< By everybody; otherwise by nobody.
    std::string reason;      ///< of an abort, for people
};

/** @brief A transaction as its coordinator has described it. */
struct commit_transaction {
    commit_transaction() = default;
    commit_form form = commit_form::all_sites;  ///< Who decides.
    std::vector<std::string> sites;             ///< Who takes part.
    std::string payload;                        ///< What it is about.
    std::optional<commit_outcome> outcome;      ///< if it has been decided already
};

}  // namespace corozk
