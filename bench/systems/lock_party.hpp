// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"
#include "systems/lock_client.hpp"
#include "turns.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::bench {

/// Clients that want the same lock, and what they are doing. However it ends, nobody is left over.
class lock_party {
public:
    lock_party(boost::asio::any_io_executor executor, lock_wish wish)
        : executor_(std::move(executor)), wish_(std::move(wish)) {}
    lock_party(const lock_party&) = delete;
    lock_party& operator=(const lock_party&) = delete;

    /// Awaits this, then ends everything and waits for that, also if it fails.
    boost::asio::awaitable<void> play(boost::asio::awaitable<void> game);

    /// Connects one more.
    boost::asio::awaitable<void> invite();

    lock_client& operator[](std::size_t index) { return *clients_.at(index); }

    /// In the background. What it throws is thrown by the next `until`.
    void begin(boost::asio::awaitable<void> work);

    /// @param moved grows as long as there is progress
    /// @throws std::runtime_error if nothing moves any more
    boost::asio::awaitable<void> until(std::function<bool()> holds,
                                       std::function<std::size_t()> moved);

    /// Until so many hold it or have queued, as the first client hears from the servers.
    boost::asio::awaitable<void> until_queued(std::size_t count);

    std::size_t working() const noexcept { return working_; }

    /// One of them holds it now. @param number of the grant; 0: its system gives none
    /// @return when the release was asked for that let it in
    /// @throws std::logic_error if it must not have been granted
    clock::time_point granted(std::int64_t number);
    void released() { owners_.released(false, clock::now()); }

private:
    boost::asio::awaitable<void> close();
    std::chrono::milliseconds patience() const;
    boost::asio::awaitable<void> pause(std::chrono::milliseconds duration);

    boost::asio::any_io_executor executor_;
    lock_wish wish_;
    std::vector<std::unique_ptr<lock_client>> clients_;
    std::size_t working_ = 0;
    std::exception_ptr problem_;
    turns owners_;
    std::int64_t grants_ = 0;
};

}  // namespace corozk::bench
