// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <cstdint>
#include <list>
#include <string>

namespace corozk::detail {

/// Erases a node for certain: tries again after every lost connection until the server says that it
/// is gone, or the session that owns it has ended (`generation`), or the server refuses for good.
/// @return no error if the node is gone.
task<error_code> erase_surely(port& p, std::string path, std::uint64_t generation);

/// Finishes what its owner could not wait for. Works for as long as the session lives, whatever
/// happens to the connection.
class janitor final : public service {
public:
    explicit janitor(port& p) noexcept : port_(p) {}

    /// Erases a node that belongs to a session of that generation.
    void erase(std::string path, std::uint64_t generation);

    /// Erases the children of `parent` whose name contains `guid`: a create whose outcome is
    /// unknown.
    void erase_guid(std::string parent, std::string guid, std::uint64_t generation);

    /// Erases, later, the children of `parent` whose name begins with `stem`: a create that was
    /// lost and not found may still be on its way. The server carries out what comes over an old
    /// connection until it notices that nobody is there any more.
    void erase_late(std::string parent, std::string stem, std::uint64_t generation);

private:
    struct late_node {
        std::string parent;
        std::string stem;
        std::uint64_t generation;
        time_point due;
    };

    task<> erase_late_nodes();

    port& port_;
    std::list<late_node> late_;  ///< by `due`
};

}  // namespace corozk::detail
