// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checkpoints.hpp"
#include "chooser.hpp"
#include "model/footprint.hpp"
#include "schedule_id.hpp"
#include "seen_states.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace corozk::schedule {

/// Moves as bits. Those that come after the 64th have none, and are never left out.
class move_bits {
public:
    std::uint64_t of(const move& m);

private:
    std::unordered_map<std::uint64_t, std::size_t> numbers_;
};

/// Depth first: the path of choices so far, and what comes after it. Two things are left out:
///
///  - what follows from a state that was seen before;
///  - of the orders of moves that do not get in each other's way, all but one (sleep sets: a move
///    that was played here sleeps after those that it does not conflict with). A state that is seen
///    again, with fewer moves asleep, is played on with those that were asleep each time before.
class depth_first final : public chooser {
public:
    /// @param by_footprints  whether orders are left out
    /// @param memory         where the moments of the choices are kept; null: nowhere
    depth_first(bool by_footprints, checkpoints* memory);

    std::size_t choose(stage& s, const std::vector<move>& moves) override;
    bool look_at_the_rest(stage& s) override;
    bool look_at_the_end(stage& s) override;

    /// To the next schedule. @return whether there is one
    bool advance();

    /// When the choice was made that is made differently now.
    std::size_t moment() const { return path_.back().moment; }
    std::size_t last_choice() const { return path_.back().chosen(); }

    choice_list choices() const;
    std::size_t states() const { return seen_.size(); }

private:
    /// A move that need not be made here: what comes of it is played where it comes first.
    struct sleeping {
        std::uint64_t bit;
        model::footprint touches;
    };

    struct branch {
        std::vector<std::size_t> open;    ///< moves to be played, by their places in the list
        std::vector<std::uint64_t> bits;  ///< of them
        std::size_t at = 0;               ///< the one that is played now
        std::size_t moment = 0;           ///< in which it was chosen, if there are others
        model::footprint touched;         ///< by it, up to the next choice
        std::vector<sleeping> asleep;     ///< others; those that were played here, too

        std::size_t chosen() const { return open[at]; }
        std::vector<sleeping> asleep_after(const model::footprint& by) const;
        bool advance();
    };

    std::size_t decide(stage& s, const std::vector<move>& moves);
    bool wake_up(std::uint64_t state, const std::vector<move>& moves, branch& b);

    /// By the states that were seen, the moves that have been asleep each time.
    seen_states seen_;
    seen_states rests_;  ///< where nothing is chosen from then on: they do not count
    move_bits bits_;
    std::vector<branch> path_;
    std::size_t at_ = 0;
    bool ended_ = true;   ///< the schedule, without another choice after those of the path
    bool fresh_ = false;  ///< the last choice was not made before
    bool by_footprints_;
    checkpoints* memory_;
};

}  // namespace corozk::schedule
