// SPDX-License-Identifier: Apache-2.0
// The rows of the fault matrix: what a recipe registers.
#pragma once

#include "fault.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <initializer_list>
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

    /// Another client makes progress afterwards, in a session that saw no fault.
    awaitable<void> (*probe)(client&, stage&) = nullptr;

    /// The probe waits for its turn when it comes meanwhile: it is also run beside the scenario.
    bool probe_takes_turns = false;

    /// What the other object of the same session does, if not the probe.
    awaitable<void> (*companion)(client&, stage&) = nullptr;

    /// What holds when all is quiet, whatever has happened.
    awaitable<void> (*invariant)(stage&) = nullptr;

    /// Goes on in the next session as if nothing had happened.
    bool outlives_session = false;

    /// Persistent nodes that may be left below the parent node, by their path there.
    /// Otherwise it must be empty.
    bool (*may_stay)(stage&, const std::string& below_folder) = nullptr;

    /// Needs no permission at the server: an ACL that forbids everything forbids it nothing.
    bool needs_no_permission = false;

    /// Below the parent node: where foreign children are created.
    std::string foreign_in;

    /// Faults that make no sense here, and why.
    std::map<fault, std::string> without;

    /// Interruptions also come after each handler of the event loop.
    bool at_every_turn = false;

    /// Only these faults make sense, or show anything that no other scenario does.
    void only(std::initializer_list<fault> faults, const std::string& why) {
        limited_ = true;
        for (const fault_traits& f : fault_table) {
            bool kept = std::find(faults.begin(), faults.end(), f.id) != faults.end();
            if (!kept && f.id != fault::none)
                without.emplace(f.id, why);
        }
    }

    /// Errors that the documentation allows for besides those that belong to a fault.
    std::map<fault, std::vector<error_code>> may_end_with;

    /// Empty, or why a fault makes no sense here. Without own nodes none of them is deleted.
    std::string why_not(fault f) const {
        auto it = without.find(deletes_own(f) ? fault::own_node_deleted : f);
        return it == without.end() ? std::string() : it->second;
    }

    std::string full_name() const { return recipe + "." + name; }
    bool limited() const { return limited_; }

private:
    bool limited_ = false;
};

/// All scenarios, in the order of their names.
std::vector<scenario>& all_scenarios();

/// Put at namespace scope: makes a scenario known.
struct registered {
    explicit registered(scenario s) { all_scenarios().push_back(std::move(s)); }
};

}  // namespace corozk::matrix
