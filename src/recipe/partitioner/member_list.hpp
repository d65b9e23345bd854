// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "recipe/toolkit/watched_children.hpp"

#include <map>
#include <string>
#include <vector>

namespace corozk::detail {

/// The members: the ephemeral children of a node.
class member_list {
public:
    member_list(port& p, std::string parent, signal& wake)
        : port_(p), children_(p, std::move(parent), wake) {}

    /// Lists them, unless a watch shows that they are known.
    /// @return a permanent error
    task<error_code> look();

    std::vector<std::string> names() const;

    /// Removes the watches from the server.
    void forget() { children_.forget(); }

private:
    task<error_code> identify(const name_list& names);

    port& port_;
    watched_children children_;
    std::map<std::string, bool> nodes_;  ///< whether each is a member's
};

}  // namespace corozk::detail
