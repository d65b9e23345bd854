// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/statement.hpp"
#include "statistics.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What can be wrong with a recipe.
enum class fault_kind { exclusion, order, stall, death };

std::string_view to_string(fault_kind kind);

/// Judges what processes say about a lock, or a semaphore. A process is taken to hold it from when
/// it says so until it is told to release it or says that it does: it may give it back right then,
/// and the next one may say `holding` before this one says `released`.
class referee {
public:
    struct rules {
        rules() = default;

        std::size_t limit = 1;  ///< so many may hold it at a time
        bool fair = false;      ///< whether overtaking is a fault
        /// Whether nobody is told to release it: who waits and does not get it stands still, also while
        /// somebody holds it.
        bool holds_itself = false;
        /// Who has said `waiting` has queued after so long, if it does not say when.
        clock::duration surely_queued = std::chrono::milliseconds(500);
    };

    referee(rules r, std::size_t contenders);

    // Contenders count from 0; messages call the first one 1.

    /// @throws protocol_error if it could not say that now
    void said(std::size_t who, const statement& what, clock::time_point now);
    /// It is told to release it.
    void told(std::size_t who, clock::time_point now);
    /// It is killed by us.
    void killed(std::size_t who, clock::time_point now);
    /// Its process has ended by itself. @throws protocol_error if it had not said anything yet
    void ended(std::size_t who, clock::time_point now, const std::string& how);
    /// Nobody has held it for so long although somebody waits.
    void stalled(clock::duration since);
    /// It was to give it back so long ago, and has not said that it did.
    void stuck(std::size_t who, clock::duration since);

    bool holds(std::size_t who) const { return contenders_[who].state == state::holding; }
    bool waits(std::size_t who) const { return contenders_[who].state == state::waiting; }
    bool silent(std::size_t who) const { return contenders_[who].state == state::silent; }
    clock::time_point held_since(std::size_t who) const { return contenders_[who].since; }
    /// Whether it is to give it back, and has not said that it did.
    bool leaves(std::size_t who) const { return contenders_[who].state == state::leaving; }
    /// Whether who asks from now on comes behind it: it has queued for certain, or does not wait.
    bool has_queued(std::size_t who, clock::time_point now) const;
    /// How often it has had it, and has not any more.
    std::size_t turns(std::size_t who) const { return contenders_[who].turns; }

    /// When somebody did or said something for the last time.
    clock::time_point moved() const;

    std::size_t holders() const { return holders_; }
    std::size_t waiting() const;
    /// Since when somebody could have it and nobody takes it; nothing if all is well.
    std::optional<clock::time_point> idle_since() const;

    std::size_t most_holders() const { return most_holders_; }
    std::size_t grants() const { return grants_; }
    /// Grants of what another one had given back, or had when it died: not of what it had lost.
    std::size_t passed_on() const { return passed_on_; }
    /// Grants to somebody before whom others had surely queued; not counted for semaphores, whose
    /// holders may speak in any order.
    std::size_t overtakings() const { return overtakings_; }
    /// Pairs of a grant and somebody else who waited then, of whom it is known who came first.
    std::size_t comparable() const { return comparable_; }
    std::size_t losses() const { return losses_; }
    /// From each release to the grant that it let in, and from each kill. Not of a release and a grant
    /// that are said at the same time.
    const latencies& handovers() const { return handovers_; }
    const latencies& takeovers() const { return takeovers_; }

    std::size_t faults(fault_kind kind) const;
    /// The first one of each kind, with how many there are.
    std::vector<std::string> fault_texts() const;
    bool correct() const { return faults_.empty(); }

private:
    enum class state { silent, waiting, holding, leaving, idle, lost, gone };

    struct contender_state {
        referee::state state = referee::state::silent;
        clock::time_point since{};  ///< when it said the last thing
        std::optional<clock::time_point> queued;
        std::size_t turns = 0;
    };

    enum class way { released, lost, died };  ///< in the order in which they are taken

    struct free_place {
        std::optional<clock::time_point> since;  ///< nothing: nobody had it before
        way freed = way::released;
    };

    struct fault {
        fault_kind kind;
        std::string text;
    };

    free_place take_place();
    void granted(std::size_t who, const statement& what, clock::time_point now);
    void check_order(std::size_t who, clock::time_point asked);
    clock::time_point queued_at(const contender_state& c) const {
        return c.queued.value_or(c.since + rules_.surely_queued);
    }
    void leave(contender_state& c, clock::time_point now, way how, referee::state next);
    void blame(fault_kind kind, std::string text);

    rules rules_;
    std::vector<contender_state> contenders_;
    std::deque<free_place> free_;
    std::size_t holders_ = 0;
    std::size_t most_holders_ = 0;
    std::size_t grants_ = 0;
    std::size_t passed_on_ = 0;
    std::size_t overtakings_ = 0;
    std::size_t comparable_ = 0;
    std::size_t losses_ = 0;
    std::optional<std::int64_t> last_token_;
    latencies handovers_;
    latencies takeovers_;
    std::vector<fault> faults_;
};

}  // namespace corozk::bench
