// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "awaiting.hpp"
#include <corozk/client.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::program {

/// Counts the turns that are announced in a contention queue. An announcement is a znode that is created
/// and deleted in one transaction: both count in the `cversion` of its parent, and no listing shows it.
/// Servers without persistent watches report none; what happens between two connections is missed.
class announced_turns {
public:
    explicit announced_turns(std::string queue) : queue_(std::move(queue)) {}

    /// Sets the watch unless it is set: before what is compared with the number is read.
    asio::awaitable<void> watch(client& zk);

    /// Counts what is reported. Ends when it is cancelled.
    asio::awaitable<void> follow();

    /// Counts what was reported before the last response, and perhaps more.
    asio::awaitable<void> catch_up();

    /// @return how many there were since the last call, or since the queue's znode was created
    std::int64_t take() noexcept { return std::exchange(count_, 0); }

private:
    void note(const watch_event& event);

    std::string queue_;
    persistent_watch changes_;
    std::uint64_t reported_ = 0;  ///< events of any kind
    std::int64_t count_ = 0;
};

}  // namespace corozk::program
