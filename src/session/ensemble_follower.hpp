// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "operation/watch_node.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace corozk::detail {

/// What the ensemble's configuration says for clients:
/// "server.1=a:2888:3888:participant;0.0.0.0:2181\nversion=1a".
struct client_configuration {
    client_configuration() = default;
    std::string hosts;         ///< "a:2181", or empty
    std::int64_t version = 0;  ///< grows with each change
};

client_configuration parse_configuration(std::string_view text);

/// Follows the ensemble's configuration: reads it on a new connection, unless its watch is still set,
/// and after each change.
class ensemble_follower final : private watch_node {
public:
    using callback = std::function<void(const std::string& hosts)>;

    /// @param changed called with each host list that is newer than those before in this session, and
    /// another one than the last
    ensemble_follower(port& p, callback changed) : port_(p), changed_(std::move(changed)) {}

    void connected();

private:
    void read();
    void take(std::string_view text);
    void fired(watch_event_type) noexcept override { read(); }
    void dropped(const error_code&) noexcept override {}

    port& port_;
    callback changed_;
    std::uint64_t generation_ = 0;
    std::int64_t version_ = -1;  ///< the newest in this session
    std::string hosts_;          ///< of the last configuration
};

}  // namespace corozk::detail
