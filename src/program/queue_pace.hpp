// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/contender_info.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corozk::program {

/// A contention queue as it was found: its znode's children, and after that the contenders.
struct queue_look {
    std::chrono::steady_clock::time_point when;
    std::optional<node_children> listing;  ///< nothing if there is no such znode
    std::vector<contender_info> contenders;
    std::int64_t announced = 0;  ///< turns since the look before, perhaps also after the listing
};

/// What several looks at a queue say of its pace.
///
///  1. A znode's `cversion` counts the creations and deletions of its children. So none is missed
///     between two looks, however many there were: arrivals are creations, departures deletions.
///     Announcements of turns are neither (`announced_turns`).
///  2. A contender that was seen waiting, and is gone although one that it waited for is still there,
///     has given up. Acknowledgements of leaders are no contenders. All other departures are taken for
///     hand-overs: what came and gave up between two looks is counted, too.
///  3. By Little's law the mean time that contenders wait is the mean number of those that wait,
///     divided by how many hand-overs there are per second; as for those that hold.
class queue_pace {
public:
    void add(queue_look look);

    const std::vector<contender_info>& contenders() const noexcept { return last_.contenders; }
    std::size_t holding() const noexcept;
    std::size_t waiting() const noexcept { return contenders().size() - holding(); }

    /// Since the first look.
    std::uint64_t arrivals() const noexcept { return arrivals_; }
    std::uint64_t hand_overs() const noexcept { return hand_overs_; }

    /// Over the last looks; nothing if there is only one, or there was no hand-over.
    std::optional<double> arrivals_per_second() const;
    std::optional<double> hand_overs_per_second() const;
    std::optional<double> mean_wait() const;  ///< in seconds
    std::optional<double> mean_hold() const;  ///< in seconds

    /// Of a contender that waits now. @param now by the clock of the servers
    std::optional<std::chrono::system_clock::duration> longest_wait(
        std::chrono::system_clock::time_point now) const;

private:
    struct sample {
        std::chrono::steady_clock::time_point when;
        std::uint64_t arrivals;
        std::uint64_t hand_overs;
        std::size_t waiting;
        std::size_t holding;
    };

    void count_changes(const queue_look& look, const std::set<std::string>& names);
    std::int64_t count_given_up(const std::set<std::string>& names) const;
    std::pair<std::int64_t, std::int64_t> note_acknowledgements(const std::set<std::string>& names);
    std::optional<double> per_second(std::uint64_t sample::*count) const;
    std::optional<double> mean_time(std::size_t sample::*number) const;

    queue_look last_;
    std::map<std::string, contender_info> waiters_;  ///< by the names of their znodes
    std::set<std::string> acknowledgements_;
    std::uint64_t arrivals_ = 0;
    std::uint64_t hand_overs_ = 0;
    std::int64_t announced_ = 0;  ///< turns that no listing has counted so far
    std::deque<sample> recent_;
};

}  // namespace corozk::program
