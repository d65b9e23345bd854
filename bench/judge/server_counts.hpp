// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stage.hpp"
#include "watch/server_look.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace corozk::bench {

/// What the servers count, our own or others.
class server_counts {
public:
    explicit server_counts(stage& on) : on_(on) {}

    /// Sums over all servers, without these questions; nothing if one of them does not tell, or counts anew
    /// since the last time.
    boost::asio::awaitable<std::optional<stage::server_use>> take();

private:
    stage& on_;
    std::int64_t asked_ = 0;
    std::vector<server_look> looks_;  ///< the last ones, of servers that are not ours
};

}  // namespace corozk::bench
