// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_node.hpp"
#include <corozk/error.hpp>

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corozk::detail {

/// Enough to keep the server busy; more would only cost memory.
inline constexpr std::size_t creates_in_flight = 1024;

/// The contenders of a queue that have no node yet. No I/O: told of what happens, it says what is
/// to be done next.
class node_creation {
public:
    bool empty() const noexcept { return contenders_.empty(); }
    std::size_t size() const noexcept { return contenders_.size(); }
    local_node* first() noexcept { return empty() ? nullptr : &contenders_.front(); }

    void add(local_node& c) noexcept;

    /// The contender has a node now, or will never have one.
    void remove(local_node& c) noexcept;

    /// Whose node is to be created now, in the order in which they came; null: nobody's.
    local_node* next() noexcept;

    /// Once more, under another guid.
    void again(local_node& c) noexcept;

    /// The create was not sent, and will not be.
    void taken_back() noexcept { --in_flight_; }

    enum class step : std::uint8_t {
        place,        ///< there is a node
        find,         ///< there may be one: start looking for it
        wait,         ///< the same, and somebody is looking
        make_parent,  ///< then try again
        fail,
    };

    /// The create was answered.
    step answered(local_node& c, const error_code& ec, std::uint64_t sent_in);

    /// It could not be found out whether there is a node.
    void still_unknown(local_node& c) { unknown_.push_back(&c); }

    /// Those of one session whose nodes are to be looked for together; the search is over when
    /// there are none.
    std::vector<local_node*> next_search();

private:
    boost::intrusive::list<local_node> contenders_;
    local_node* next_ = nullptr;  ///< those before it were asked for
    std::size_t in_flight_ = 0;
    std::vector<local_node*> unknown_;  ///< the answers to their creates were lost
    bool searching_ = false;
};

}  // namespace corozk::detail
