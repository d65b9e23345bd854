// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <cstdint>
#include <list>
#include <string>

namespace corozk::detail {

/// Guaranteed delete: retries until the node was deleted, the session that owns it (`generation`)
/// has ended, or a permanent error occurs.
/// @return no error if the node does not exist any more
task<error_code> delete_reliably(port& p, std::string path, std::uint64_t generation);

/// Same as above. Logs a permanent error.
task<> delete_or_report(port& p, std::string path, std::uint64_t generation);

/// Deletes the node that exists at the beginning, regardless of its creator. If the response is
/// lost and the node was re-created since (czxid), the new one is not deleted.
/// @param call    if set, nothing is sent any more once it is over; if not, even while the client is
///                being closed
/// @param erased  whether there was a node
/// @return a permanent error
task<error_code> erase_one(port& p, const interest* call, std::string path, bool& erased);

/// Same as above, for `serve`. @return `no_node` if there was none
task<error_code> erase_present(recipe_core& core, const interest& call, const std::string& path);

/// Deletes nodes in the background, with retries for as long as the session lives.
class background_deleter final : public service {
public:
    explicit background_deleter(port& p) noexcept : port_(p) {}

    /// Deletes a node that belongs to the session of a generation.
    void erase(std::string path, std::uint64_t generation);

    /// Deletes, later, the children of `parent` whose name begins with `stem`: a lost create whose
    /// node was not found may still be in flight, because a server applies requests of an old
    /// connection until it detects that it is dead.
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
