// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "recipe/toolkit/node_view.hpp"

#include <string>

namespace corozk::detail {

/// One node that is followed over its changes, its absence, reconnects and sessions.
class followed_node {
public:
    followed_node(port& p, std::string path);

    /// Brings `view` up to date; while a watch is set it is. `wake` tells when to look again.
    /// @return an error that asking again does not heal
    task<error_code> look();

    /// Takes the watches from the server.
    void forget();

    const node_view& view() const noexcept { return view_; }

    signal wake;

private:
    port& port_;
    const std::string path_;
    watch_signal data_watch_;
    watch_signal missing_watch_;
    node_view view_;
};

}  // namespace corozk::detail
