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
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace corozk::detail {

using outcome_slot = std::optional<commit_outcome>;
using outcome_call = waiting_call<commit_outcome>;

/// The times of one who decides to abort when the votes have not come in time. The call ends at its
/// deadline; so the votes are due a while before, which is for writing the decision.
struct decision_times {
    decision_times(time_limit limit, time_point begin);

    time_point votes_due;
    time_point deadline;
};

/// Rings when the votes are due.
class votes_alarm {
public:
    votes_alarm(port& p, signal& wake, time_point due) : alarm_(p, wake) {
        if (due != no_deadline)
            alarm_.set(due);
    }

    bool rang() const noexcept { return alarm_.rang(); }

private:
    alarm alarm_;
};

/// One transaction, which a later one at the same path is not.
struct this_transaction {
    this_transaction(std::string path_, acl entries_)
        : path(std::move(path_)), entries(std::move(entries_)) {}

    void is(const commit_header& header) {
        guid = header.guid;
        identity = identity_node(path, guid);
    }

    /// Before that, nothing is asked or changed of it.
    bool is_known() const { return !guid.empty(); }

    /// The first step of whatever changes it.
    transaction steps() const {
        transaction result;
        result.check(identity, any_version);
        return result;
    }

    create_options how() const {
        create_options result;
        if (!entries.empty())
            result.acl = &entries;
        return result;
    }

    std::string path;
    acl entries;           ///< of its nodes
    std::string guid;      ///< empty: not known yet
    std::string identity;  ///< the node that says so, there as long as the transaction is
};

/// A site of this client, and its node.
struct own_site {
    explicit own_site(std::string name_) : name(std::move(name_)) {}

    /// With the node went the vote that it carried.
    bool is_dead(const port& p) const { return has_node && !p.alive(generation); }

    const std::string name;
    bool has_node = false;
    std::uint64_t generation = 0;  ///< the session that owns it
};

/// Learns which transaction is there, unless it is known which one is meant.
task<error_code> learn_identity(port& p, this_transaction& mine);

/// After something of the transaction was found missing, or another one's in its place.
/// @return `no_node` if the transaction is over; `foreign_data` if it is not: somebody else has been at
///         its nodes, and asking again would find the same for ever
task<error_code> why_missing(port& p, const this_transaction& mine);

/// Reads the decision if there is one; if not, `watch` waits for its creation.
/// @return as `why_missing` if there is one, but the next transaction's (or the one's before, at a
///         server that lags behind: this is believed behind a sync only)
task<error_code> look_for_decision(port& p,
                                   const this_transaction& mine,
                                   watch_signal* watch,
                                   outcome_slot& outcome);

/// Whether the transaction is there; `watch` tells of its end: without a decision none will come.
/// It was there once: that it is not is believed behind a sync only, because a server may lag behind
/// what an earlier session has seen.
task<error_code> watch_transaction(port& p, const this_transaction& mine, watch_signal& watch);

/// Decides to abort, unless it has been decided.
task<error_code> write_abort(port& p,
                             const this_transaction& mine,
                             std::string reason,
                             outcome_slot& outcome);

/// The same because our own site is dead.
task<error_code> abort_as_dead(port& p,
                               const this_transaction& mine,
                               const own_site& dead,
                               outcome_slot& outcome);

/// Waits for a decision that others make, until the call is over or the votes are due.
/// @param own  a site of ours that has voted, or may; null: none
task<error_code> await_decision(port& p,
                                const this_transaction& mine,
                                const own_site* own,
                                signal& wake,
                                outcome_call& call,
                                const votes_alarm& due,
                                outcome_slot& outcome);

/// Ends an operation that was to give an outcome.
void finish_call(outcome_call& call, error_code ec, const outcome_slot& outcome);

}  // namespace corozk::detail
