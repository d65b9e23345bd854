// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"
#include "session/known_servers.hpp"
#include "session/relocation.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace corozk::detail {

/// Why and when a connected client leaves its server for another one: it has no quorum, or the host
/// list was replaced.
///
/// The other server must have answered before, and no request may be in flight. Does no I/O.
class server_search {
public:
    using endpoint = known_servers::endpoint;

    /// The servers of a list that was replaced, as far as their addresses were known.
    struct old_list {
        std::vector<endpoint> servers;
        std::vector<host> unresolved;
    };

    explicit server_search(std::mt19937_64& random) : random_(random) {}

    /// Wants look-ups of names whose addresses are not known, and of all once no server has answered.
    /// @param current the client's server
    /// @return whether to ask the `candidates` if they would take the client
    bool next(time_point now, known_servers& servers, const endpoint& current);
    time_point deadline() const noexcept { return due_; }

    // Events.
    /// The client's server has no quorum: any other one that has it will do.
    void look_for_quorum(time_point now);

    /// The list was replaced. Clients move at different times within `spread`.
    void list_replaced(old_list before, std::chrono::milliseconds spread, time_point now);

    /// A candidate would take the client, which leaves now, if possible within this time.
    void found(const endpoint& server, std::chrono::milliseconds patience, time_point now);

    /// The client is not connected (any more).
    void stop() noexcept;

    /// Whether no more requests are to be sent on this connection.
    bool leaving() const noexcept { return stage_ == stage_type::leaving; }

    bool for_quorum() const noexcept { return purpose_ == purpose_type::quorum; }
    const std::vector<endpoint>& candidates() const noexcept { return candidates_; }

    /// The server that was found, which is to be tried first.
    std::optional<endpoint> take_target() noexcept { return std::exchange(target_, std::nullopt); }

private:
    enum class purpose_type : std::uint8_t { none, quorum, balance };
    enum class stage_type : std::uint8_t { waiting, resolving, leaving };

    void wait_until(time_point when) noexcept;
    void ask_later(time_point now) noexcept;
    void choose(const known_servers& servers, const endpoint& current);
    void recall(const known_servers& servers);
    void decide(const known_servers& servers, bool stays);

    std::mt19937_64& random_;
    purpose_type purpose_ = purpose_type::none;
    stage_type stage_ = stage_type::waiting;
    time_point due_ = time_point::max();     ///< the end of the stage
    std::chrono::milliseconds interval_{};   ///< between two questions
    old_list before_;                        ///< that the clients are spread over
    std::optional<relocation> destination_;  ///< once decided
    std::vector<endpoint> candidates_;       ///< of the last question
    std::optional<endpoint> target_;
};

}  // namespace corozk::detail
