// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::testing {

/** @brief How an ensemble is set up. */
struct ensemble_options {
    /// Voting members: the first ones.
    std::size_t size = 3;
    /// Further members, which hear of everything and have no vote.
    std::size_t observers = 0;
    /// For every member; `member_id` is set by the ensemble.
    server_options member = {.tick_time = std::chrono::milliseconds{500}, .heap = "-Xmx256m"};
    /// Ticks that a follower may take to connect to the leader and to catch up.
    int init_limit = 20;
    /// Ticks that a follower may be out of touch before it is dropped.
    int sync_limit = 4;
    /// How long the ensemble may take to start, or to elect a leader.
    std::chrono::milliseconds quorum_limit{60'000};
    /// The port through which a member (its index comes first) reaches another one's (the second)
    /// quorum port (the third argument): to put a proxy between them. Asked each time that the
    /// ensemble is set up, which may be more than once; null means directly.
    std::function<std::uint16_t(std::size_t, std::size_t, std::uint16_t)> quorum_route = {};
};

/**
 * @brief Several ZooKeeper servers that form one ensemble, all on 127.0.0.1.
 *
 * Each member is a server with all of its members: kill(), launch(), stop(), ... A killed member
 * is brought back with restart() while a quorum lives, otherwise with launch() of all that are
 * needed and wait_until_serving().
 *
 * Thread safety: as server.
 */
class ensemble {
public:
    /**
     * @brief Starts all members and waits until each of them serves.
     * @throws server_error with the ends of the logs if they do not.
     */
    explicit ensemble(ensemble_options options = {});

    /** @brief How many members there are, observers included. */
    std::size_t size() const noexcept { return members_.size(); }

    /** @brief The member with this index, from 0. */
    server& operator[](std::size_t index) { return *members_.at(index); }

    /** @brief "127.0.0.1:port1,127.0.0.1:port2,..." with all members. */
    std::string hosts() const;

    /** @brief "leader", "follower" or "observer"; empty while the member does not serve. */
    std::string mode(std::size_t index) const;

    /** @brief The index of the member that leads now; nothing while there is none. */
    std::optional<std::size_t> leader() const;

    /** @brief The indices of the members that follow now. */
    std::vector<std::size_t> followers() const;

    /** @brief The indices of the observers that serve now. */
    std::vector<std::size_t> observers() const;

    /** @brief Waits until all running members serve. @throws server_error if they do not. */
    void wait_until_serving();

    /**
     * @brief Waits until a leader is known and a majority of the voting members serve.
     * @throws server_error if that does not happen in time.
     */
    void wait_for_quorum();

private:
    void set_up();
    std::vector<std::size_t> members_in(std::string_view wanted) const;
    std::string logs() const;

    ensemble_options options_;
    std::vector<port_reservation> peer_ports_;
    std::vector<std::unique_ptr<server>> members_;
};

}  // namespace corozk::testing
