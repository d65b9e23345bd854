// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "driver/task.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/two_phase_commit/rule.hpp"
#include <corozk/recipe/two_phase_commit.hpp>
#include <corozk/time_limit.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace corozk::detail {

using outcome_slot = std::optional<commit_outcome>;
using outcome_call = waiting_call<commit_outcome>;

inline constexpr time_point no_deadline = time_point::max();

/// The times of a decider that aborts if votes are missing in time. As the call ends at its
/// deadline, votes are due earlier, to leave time for writing the decision.
struct decision_times {
    decision_times(time_limit limit, time_point begin);

    /// Sets an alarm for the votes.
    void start(alarm& due) const noexcept {
        if (votes_due != no_deadline)
            due.set(votes_due);
    }

    time_point votes_due;
    time_point deadline;
};

/// A transaction, as distinguished from later ones at the same path.
struct this_transaction {
    this_transaction(std::string path_, acl entries_)
        : path(std::move(path_)), entries(std::move(entries_)) {}

    void is(const commit_header& header) {
        guid = header.guid;
        identity = identity_node(path, guid);
    }

    /// Before that, nothing of it is read or changed.
    bool is_known() const { return !guid.empty(); }

    /// The first step of each transaction that changes it.
    transaction steps() const {
        transaction result;
        result.check(identity, any_version);
        return result;
    }

    create_options how(create_mode mode = create_mode::persistent) const {
        return {.mode = mode, .acl = &entries};
    }

    std::string path;
    acl entries;           ///< of its nodes
    std::string guid;      ///< empty: not known yet
    std::string identity;  ///< its identity node, which exists as long as the transaction
};

/// A site of this client.
struct own_site {
    explicit own_site(std::string name_) : name(std::move(name_)) {}

    /// The node was deleted with its session, and the vote with it.
    bool is_dead(const port& p) const { return has_node && !p.alive(generation); }

    const std::string name;
    bool has_node = false;
    std::uint64_t generation = 0;  ///< the session that owns it
};

/// What both kinds of participants know.
class commit_party : public recipe_core {
public:
    commit_party(port& p, std::string path_, commit_options options)
        : recipe_core(p, "two-phase commit", path_), mine(std::move(path_), options.acl) {}

    void is(commit_header found) {
        mine.is(found);
        header = std::move(found);
    }

    /// The transaction, which is known.
    commit_transaction describe(const outcome_slot& outcome) const;

    std::optional<commit_header> header;
    this_transaction mine;

protected:
    ~commit_party() = default;
};

/// Reads the transaction's node after a sync.
task<error_code> read_header(port& p, const std::string& path, std::optional<commit_header>& found);

/// Determines the present transaction, unless it is already known.
/// @param with_quorum  waits for a server that has one
task<error_code> learn_identity(port& p, this_transaction& mine, bool with_quorum = false);

/// After a node of the transaction was found missing or to belong to another one.
/// @return `no_node` if the transaction is over; otherwise `foreign_data`: another client has
/// changed its nodes, and a retry would not help
task<error_code> why_missing(port& p, const this_transaction& mine);

/// Reads the decision, or watches for its creation.
/// @return as `why_missing` if it belongs to the next transaction (or the previous one, on a server
/// that lags behind: therefore read again after a sync)
task<error_code> look_for_decision(port& p,
                                   const this_transaction& mine,
                                   watch_signal* watch,
                                   outcome_slot& outcome);

/// Checks that the transaction exists, with a watch for its deletion, after which there will be no
/// decision. As it existed before, its absence is confirmed after a sync: the server may lag behind
/// the one of an earlier session.
task<error_code> watch_transaction(port& p, const this_transaction& mine, watch_signal& watch);

/// Aborts, unless it has been decided.
/// @param call  if there is one: nothing is sent once it is over, and a server without a quorum is an
/// error; otherwise waits for one that has it
task<error_code> write_abort(port& p,
                             const this_transaction& mine,
                             std::string reason,
                             outcome_slot& outcome,
                             const interest* call = nullptr);

/// Same as above, because the own site is dead.
task<error_code> abort_as_dead(port& p,
                               const this_transaction& mine,
                               const own_site& dead,
                               outcome_slot& outcome);

/// Waits for the decision of another participant, until the call is over or the votes are due: then
/// aborts.
/// @param own a site of this client that has voted, or may have
task<error_code> await_decision(port& p,
                                const this_transaction& mine,
                                const own_site& own,
                                signal& wake,
                                outcome_call& call,
                                const alarm& due,
                                outcome_slot& outcome);

/// Completes an operation with the outcome or an error.
void finish_call(outcome_call& call, error_code ec, const outcome_slot& outcome);

}  // namespace corozk::detail
