// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stage.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <vector>

namespace corozk::bench {

inline constexpr auto quiet_interval = std::chrono::milliseconds(2);

/// Until these clients have sent and heard nothing for so many looks; a server that lags tells of
/// it later.
/// @param check is called at each look; may throw
boost::asio::awaitable<void> until_quiet(const stage& s,
                                         const std::vector<client>& clients,
                                         int looks,
                                         std::function<void()> check);

}  // namespace corozk::bench
