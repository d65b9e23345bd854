// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "move.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::schedule {

class stage;

/// Where a scenario has too many schedules as a whole, each of its halves is explored by itself. Between
/// them is the first moment in which all clients are connected, nothing is in flight, and all actors
/// wait: at a gate, or for one another. In the half that is not explored everything happens in one
/// order, and nothing goes wrong.
enum class half : std::uint8_t {
    both,
    arriving,  ///< up to there; nobody leaves a gate as long as anything is in flight
    leaving,   ///< from there on
};

/// What is played: some clients, and actors that use them.
struct scenario {
    scenario(std::string name_, int clients_, void (*set_up_)(stage&))
        : name(std::move(name_)), clients(clients_), set_up(set_up_) {}

    std::string name;
    int clients = 1;

    /// All clients do the same: it does not matter which of them does it first.
    bool alike = false;

    /// What is there from the beginning.
    std::vector<std::string> folders{};

    /// Stats say something of a node's children (`pzxid`, `cversion`, `num_children`), and children may
    /// be watched. Elsewhere the exhaustive exploration keeps that to itself, so that it does not
    /// matter to who asks for a node who comes and goes below it.
    bool child_stats = false;

    half explored = half::both;

    /// Servers besides the leader; the clients are spread over all of them.
    std::size_t followers = 0;

    /// Makes the actors and says what holds.
    void (*set_up)(stage&) = nullptr;

    /// What goes wrong in the exhaustive exploration ...
    std::vector<move_kind> faults{
        move_kind::cut, move_kind::lose_answer, move_kind::expire, move_kind::cancel};

    /// ... and, besides, in the random one.
    std::vector<move_kind> more_faults{
        move_kind::cut_late, move_kind::refuse, move_kind::silence, move_kind::early_time};

    /// Not among those that are run when none is named.
    bool hidden = false;

    /// Its clients are all alike.
    scenario of_equals() const {
        scenario s = *this;
        s.alike = true;
        return s;
    }

    /// Where its folders are there already, so that nobody makes them: far fewer schedules.
    scenario in_a_folder(std::initializer_list<const char*> all = {"/f"}) const {
        scenario s = *this;
        s.name += "-in-a-folder";
        s.folders.assign(all.begin(), all.end());
        return s;
    }

    /// For recipes that look at what a stat says of a node's children, or watch children.
    scenario with_child_stats() const {
        scenario s = *this;
        s.child_stats = true;
        return s;
    }

    /// Servers before ZooKeeper 3.6: they do not know what the C client does not know.
    bool old_servers = false;
    scenario at_old_servers() const {
        scenario s = *this;
        s.name += "-old";
        s.old_servers = true;
        return s;
    }

    /// With a second server, which may lag behind.
    scenario lagging() const {
        scenario s = *this;
        s.name += "-lagging";
        s.followers = 1;
        return s;
    }

    /// Nodes that clients create give nobody one of the rights. What is refused in such a world is the
    /// user's affair; that nobody asks for ever, and nobody shares what is one's alone, is ours.
    scenario without(const std::string& right) const;
    std::int32_t missing_rights = 0;
    bool hides_unreadable = false;  ///< "existence": nobody may read, nor know whether it exists

    /// Played by --lagging only, or when it is named.
    bool twin = false;

    /// Nobody cancels.
    scenario uncancelled() const {
        return with({move_kind::cut, move_kind::lose_answer, move_kind::expire});
    }

    scenario with(std::initializer_list<move_kind> kinds) const {
        scenario s = *this;
        s.faults.assign(kinds);
        return s;
    }
};

/// In the order of their names. Each that is explored as a whole has a twin with servers that lag.
const std::vector<scenario>& all_scenarios();
/// "lock.2-without-write" is "lock.2" without "write".
std::pair<std::string, std::string> split_name(const std::string& name);

/// Finds also those that are made of them: "lock.2-without-write".
std::optional<scenario> find_scenario(const std::string& name);

/// Put at namespace scope: makes a scenario known.
struct registered {
    explicit registered(scenario s);

    /// As two: `-arriving` and `-leaving`.
    static registered in_halves(const scenario& s);
};

}  // namespace corozk::schedule
