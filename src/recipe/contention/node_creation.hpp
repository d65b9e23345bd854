// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_node.hpp"
#include <corozk/error.hpp>

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corozk::detail {

/// Enough to keep the server busy; more would only use memory.
inline constexpr std::size_t creates_in_flight = 1024;

/// The contenders of a queue that have no node yet. No I/O: events in, decisions out.
class node_creation {
public:
    bool empty() const noexcept { return contenders_.empty(); }
    std::size_t size() const noexcept { return contenders_.size(); }
    /// Whether there are others than those that were abandoned while their creates were in flight.
    bool has_wanted() const noexcept;
    local_node* first() noexcept { return empty() ? nullptr : &contenders_.front(); }

    void add(local_node& c) noexcept;

    /// The contender has a node, or never will.
    void remove(local_node& c) noexcept;

    /// The next contender whose node is to be created, in the order of their arrival, or null.
    local_node* next() noexcept;

    /// Tries again, with another guid.
    void again(local_node& c) noexcept;

    /// The create was withdrawn before it was sent.
    void taken_back() noexcept { --in_flight_; }

    enum class step : std::uint8_t {
        place,        ///< the node was created
        find,         ///< the outcome is unknown: start a search
        wait,         ///< the same, while a search is in progress
        again,        ///< the server was too busy
        make_parent,  ///< create the parent, then try again
        fail,
    };

    /// The create has finished.
    step answered(local_node& c, const error_code& ec, std::uint64_t sent_in);

    /// The outcome is still unknown.
    void still_unknown(local_node& c) { unknown_.push_back(&c); }

    /// Contenders of one session whose nodes are to be searched for together; the search ends when
    /// there are none.
    std::vector<local_node*> next_search();
    bool searching() const noexcept { return searching_; }

private:
    boost::intrusive::list<local_node> contenders_;
    local_node* next_ = nullptr;  ///< those before it were requested
    std::size_t in_flight_ = 0;
    std::vector<local_node*> unknown_;  ///< the responses to their creates were lost
    bool searching_ = false;
};

}  // namespace corozk::detail
