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
//   transaction/id-<guid>     persistent, made with it, and gone with it: which one it is
//   transaction/site-<name>   ephemeral, the site's own: "" while it thinks, then its vote
//   transaction/joined-<name> persistent, made with the site's node: that the site has come
//   transaction/decision      persistent, created once: "commit" or "abort", the guid, and why
//   transaction/done-<name>   persistent: the site needs the decision no more
//
// Invariants:
//   * The decision is the one node that counts, and it is created, never changed: two deciders
//     cannot disagree, the second reads what the first has written.
//   * "commit" is created in one transaction that checks every site's node at the version of its
//     vote: each was there, alive, and had voted to commit. A vote is the only write to its node.
//   * Everybody may create "abort" who knows a reason: a vote to abort, a site that has come and
//     whose node is gone (or is another one), the deadline of a decider, the loss of one's own
//     node.
//   * A site that has voted to commit in the second form never decides: it is in doubt.
//   * The decision goes last, together with the transaction's node: while there is a transaction
//     without a decision, it was never decided.
//   * Another transaction may be at the same path later. Every step checks the identity of the one
//     that it is meant for, and a decision names its own.

/// What a decider knows of a site.
enum class site_state : std::uint8_t {
    absent,  ///< has not come yet
    silent,  ///< has come, has not voted
    commit,
    abort,
    dead,     ///< had come, and is gone
    foreign,  ///< its node was written by somebody else
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

/// Whether these can be the sites of a transaction: some, all different, fit for nodes' names.
bool sites_are_good(const std::vector<std::string>& sites);

/// A decision as it is written: whose it is, too.
struct commit_decision {
    commit_outcome outcome;
    std::string guid;  ///< of the transaction's header
};

std::string format_decision(const commit_outcome& outcome, std::string_view guid);
std::optional<commit_decision> parse_decision(std::string_view data);

std::string_view format_vote(commit_vote vote) noexcept;

/// What the data of a site's node means.
site_state read_vote(std::string_view data) noexcept;

/// What follows from the votes: nothing yet, or an outcome.
std::optional<commit_outcome> decide_commit(const std::vector<std::string>& sites,
                                            const std::vector<site_state>& states);

/// What is below a transaction, beside its decision and its identity: paths.
struct commit_leftovers {
    std::vector<std::string> acknowledgements;  ///< of its sites: these go last
    std::vector<std::string> others;
    bool identified = false;  ///< its identity is there
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
