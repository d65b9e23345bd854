// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "driver/task.hpp"
#include "operation/name_list.hpp"

#include <string>

namespace corozk::detail {

/// The children of a node that may be missing, listed again when a watch has fired.
class watched_children {
public:
    watched_children(port& p, std::string parent, signal& wake);

    const std::string& parent() const noexcept { return parent_; }

    /// Whether watches show that nothing has changed since the last successful `list`.
    bool current() const noexcept { return listed_.armed() || missing_.armed(); }

    /// Lists the children; a missing node has none. After an error nothing is `current`.
    task<error_code> list(name_list& names);

    /// What was listed was not put to use: it is listed again.
    void discard() noexcept { listed_.disarm(); }

    /// Removes the watches from the server.
    void forget();

private:
    port& port_;
    const std::string parent_;
    watch_signal listed_;
    watch_signal missing_;
};

}  // namespace corozk::detail
