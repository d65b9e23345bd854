// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include <corozk/recipe/two_phase_commit_types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

// Two-phase commit.
//
//   transaction               persistent: form, guid of its `begin`, sites, payload
//   transaction/id-<guid>     persistent, created and deleted with it: its identity
//   transaction/site-<name>   ephemeral, owned by the site: empty, then its vote
//   transaction/joined-<name> persistent, created with the site's node: the site has joined; a guid
//                             of the object that is the site
//   transaction/decision      persistent, created once: "commit" or "abort", the guid, the reason
//   transaction/done-<name>   persistent: the site no longer needs the decision
//
// Invariants:
//   * The decision is the only node that counts. It is created and never changed, so that two
//     deciders cannot disagree: the second one reads the decision of the first.
//   * "commit" is created by a transaction that checks every site's node at the version of its
//     vote: each site is alive and has voted to commit. A vote is the only write to a site's node.
//   * "abort" may be created by anyone with a reason: a vote to abort, a site that has joined and
//     whose node was deleted or replaced, the deadline of a decider, or the loss of the own node.
//   * In the form `coordinator`, a site that has voted to commit never decides: it is in doubt.
//   * The decision is deleted last, together with the transaction's node: a transaction without a
//     decision was never decided.
//   * There may be another transaction at the same path later. Every step checks the identity of
//     its transaction, and the decision contains it.

/// The state of a site, as read by a decider.
enum class site_state : std::uint8_t {
    absent,  ///< has not joined
    silent,  ///< has joined, has not voted
    commit,
    abort,
    dead,     ///< has joined, its node was deleted
    foreign,  ///< its node was written by another client
};

struct commit_header {
    commit_header() = default;
    commit_form form = commit_form::all_sites;
    std::string guid;
    std::vector<std::string> sites;
    std::string payload;

    friend bool operator==(const commit_header&, const commit_header&) = default;
};

std::string format_header(const commit_header& header);
std::optional<commit_header> parse_header(std::string_view data);

/// Whether the list is not empty, without duplicates, and all names are valid node names.
bool sites_are_good(const std::vector<std::string>& sites);

struct commit_decision {
    commit_outcome outcome;
    std::string guid;  ///< of the transaction's header
};

std::string format_decision(const commit_outcome& outcome, std::string_view guid);
std::optional<commit_decision> parse_decision(std::string_view data);

std::string_view format_vote(commit_vote vote) noexcept;

/// Parses the data of a site's node.
site_state read_vote(std::string_view data) noexcept;

/// The outcome that follows from the votes, if any yet.
std::optional<commit_outcome> decide_commit(const std::vector<std::string>& sites,
                                            const std::vector<site_state>& states);

/// The paths below a transaction, except its decision and identity.
struct commit_leftovers {
    std::vector<std::string> acknowledgements;  ///< of its sites: deleted last
    std::vector<std::string> others;
    bool identified = false;  ///< its identity node exists
};

commit_leftovers sort_leftovers(std::string_view transaction,
                                const commit_header& header,
                                const name_list& children);

std::string identity_node(std::string_view transaction, std::string_view guid);
std::string site_node(std::string_view transaction, std::string_view site);
std::string joined_node(std::string_view transaction, std::string_view site);
std::string done_node(std::string_view transaction, std::string_view site);
std::string decision_node(std::string_view transaction);

}  // namespace corozk::detail
