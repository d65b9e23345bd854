// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include "recipe/contention/node_name.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

/// The election: candidates queue as for an exclusive lock, and the first one leads. (Recipes page,
/// "Leader Election".)
///
///  1. A leader's node belongs to its session and was seen without a node ahead of it. There are
///     never two leaders: the next node is first only after that node was deleted.
///  2. The first candidate may not know yet that it leads. Once its leader procedure has run, it
///     acknowledges with a node named after the candidate's, which is created only if the
///     candidate's node exists, and deleted before it.
///  3. So an acknowledgement belongs to exactly one candidacy, and a remnant does not refer to a
///     later leader.

/// The name of a candidate's acknowledgement. It does not end in a sequence, so that it is not taken
/// for a candidate.
inline std::string acknowledgement_of(std::string_view candidate) {
    return std::string(candidate) + "-acknowledged";
}

/// The leader according to a listing.
struct election_view {
    election_view() = default;
    std::string leader;  ///< the name of the first candidate's node, or empty
    bool acknowledged = false;
};

/// `listing`: anything with `size` and `[]`.
template <class Names>
election_view view_election(const naming& names, const Names& listing) {
    election_view view;
    std::optional<std::int32_t> first;
    for (std::size_t i = 0; i < listing.size(); ++i) {
        auto name = names.parse(listing[i]);
        if (!name)
            continue;
        if (first && sequence_distance(*first, name->sequence) >= 0)
            continue;
        first = name->sequence;
        view.leader = std::string(listing[i]);
    }
    if (!first)
        return view;
    std::string acknowledgement = acknowledgement_of(view.leader);
    for (std::size_t i = 0; i < listing.size(); ++i) {
        if (listing[i] == acknowledgement)
            view.acknowledged = true;
    }
    return view;
}

}  // namespace corozk::detail
