// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/two_phase_commit/decision.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace corozk::detail {

/// Watches all votes and decides.
class vote_tally {
public:
    /// @param own the site, if the decider is one; null: the coordinator
    vote_tally(port& p,
               const this_transaction& mine,
               std::vector<std::string> sites,
               const own_site* own,
               signal& wake);

    /// Runs until there is an outcome or the call is over. Aborts when the votes are due, even if
    /// the call has ended at its deadline by then.
    task<error_code> run(outcome_call& call, const alarm& due, outcome_slot& outcome);

private:
    struct vote {
        explicit vote(signal& wake) : data_watch(wake), missing_watch(wake) {}
        watch_signal data_watch;
        watch_signal missing_watch;
        std::int32_t version = 0;  ///< of the node
    };

    task<error_code> read_votes(bool& again);
    task<error_code> look_for_traces(std::size_t i, std::uint64_t generation, bool& again);
    task<error_code> write_commit(outcome_slot& outcome);
    void forget();

    std::string node_of(std::size_t i) const { return site_node(mine_.path, sites_[i]); }

    port& port_;
    const this_transaction& mine_;
    const std::vector<std::string> sites_;
    const own_site* own_;
    signal& wake_;
    watch_signal decision_watch_;
    watch_signal transaction_watch_;
    std::deque<vote> votes_;
    std::vector<site_state> states_;
};

}  // namespace corozk::detail
