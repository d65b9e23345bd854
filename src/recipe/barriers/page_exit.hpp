// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/task.hpp"
#include "recipe/barriers/page_nodes.hpp"

#include <string>
#include <vector>

namespace corozk::detail {

/// How a member leaves. Its driver calls `go_out` until all have left.
class page_exit {
public:
    page_exit(page_nodes& nodes, signal& wake) : nodes_(nodes), watch_(wake) {}

    /// Deletes the own node when it is its turn, and watches a member that is still inside.
    /// @param again whether to call it again at once
    task<error_code> go_out(bool& again);

    bool done() const noexcept { return listed_ && others_.empty(); }
    bool ready_gone() const noexcept { return ready_gone_; }
    /// Whether the own node was deleted.
    bool gone() const noexcept { return gone_; }

    /// Removes the watch from the server.
    void forget();

private:
    page_nodes& nodes_;
    remembering_watch watch_;          ///< on another member
    std::string watched_;              ///< its path
    std::vector<std::string> others_;  ///< those to wait for, and the own name
    bool listed_ = false;
    bool ready_gone_ = false;
    bool gone_ = false;
};

}  // namespace corozk::detail
