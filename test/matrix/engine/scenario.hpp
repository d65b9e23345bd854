// SPDX-License-Identifier: Apache-2.0
// The rows of the fault matrix: what a recipe registers.
#pragma once

#include "fault.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <map>
#include <string>
#include <vector>

namespace corozk::matrix {

class stage;

using boost::asio::awaitable;

/// A recipe at work, alone or with others, as a coroutine. It names its states, and says what holds
/// in each; what may go wrong, and how everything is ended, the engine knows.
struct scenario {
    scenario() = default;

    std::string recipe;
    std::string name;
    awaitable<void> (*play)(stage&) = nullptr;

    /// Somebody else proceeds: afterwards, from a session that saw no fault.
    awaitable<void> (*probe)(client&, stage&) = nullptr;

    /// The probe waits for its turn when it comes meanwhile: it is also run beside the scenario.
    bool probe_takes_turns = false;

    /// What the other object of the same session does, if not the probe.
    awaitable<void> (*companion)(client&, stage&) = nullptr;

    /// What holds when all is quiet, whatever has happened.
    awaitable<void> (*invariant)(stage&) = nullptr;

    /// Goes on in the next session as if nothing had happened.
    bool outlives_session = false;

    /// What may be left below the folder in the end, of nobody's session, by its path there.
    /// Otherwise the folder is empty then.
    bool (*may_stay)(stage&, const std::string& below_folder) = nullptr;

    /// Needs no permission at the server: an ACL that forbids everything forbids it nothing.
    bool needs_no_permission = false;

    /// Below the folder: where foreign children are put.
    std::string foreign_in;

    /// Faults that make no sense here, and why.
    std::map<fault, std::string> without;

    /// Errors that the documentation allows for besides those that belong to a fault.
    std::map<fault, std::vector<error_code>> may_end_with;

    /// Empty, or why a fault makes no sense here. Without nodes of one's own none of them is erased.
    std::string why_not(fault f) const {
        auto it = without.find(deletes_own(f) ? fault::own_node_deleted : f);
        return it == without.end() ? std::string() : it->second;
    }

    std::string full_name() const { return recipe + "." + name; }
};

/// All scenarios, in the order of their names.
std::vector<scenario>& all_scenarios();

/// Put at namespace scope: makes a scenario known.
struct registered {
    explicit registered(scenario s) { all_scenarios().push_back(std::move(s)); }
};

}  // namespace corozk::matrix
