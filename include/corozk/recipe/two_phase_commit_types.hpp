// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/** @brief Who decides. */
enum class commit_form : std::uint8_t {
    /// Every site watches all votes and may decide, and so does the coordinator in `decide`: O(n²)
    /// messages, but the coordinator is not needed after the beginning.
    all_sites,
    /// Only the coordinator watches the votes; the sites wait for its decision: O(n) messages.
    coordinator,
};

/** @brief A site's vote. */
enum class commit_vote : std::uint8_t { commit, abort };

/** @brief The decision, which is final and the same for all sites. */
struct commit_outcome {
    commit_outcome() = default;
    commit_outcome(bool committed_, std::string reason_)
        : committed(committed_), reason(std::move(reason_)) {}

    bool committed = false;  ///< Committed by all sites; otherwise aborted by all.
    std::string reason;      ///< The reason for an abort, for humans.
};

/** @brief The description of a transaction. */
struct commit_transaction {
    commit_transaction() = default;
    commit_form form = commit_form::all_sites;  ///< Who decides.
    std::vector<std::string> sites;             ///< The names of the sites.
    std::string payload;                        ///< The payload passed to `begin`.
    std::optional<commit_outcome> outcome;      ///< The decision, if there is one.
};

}  // namespace corozk
