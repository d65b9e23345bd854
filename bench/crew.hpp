// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "progress.hpp"
#include "statistics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <exception>
#include <string>

namespace corozk::bench {

/// Coroutines that work at the same time, and the time from the first one's beginning to the last
/// one's end.
class crew {
public:
    crew(boost::asio::any_io_executor executor, progress& shown)
        : executor_(std::move(executor)), shown_(shown) {}
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    /// The first call starts the clock.
    void add(boost::asio::awaitable<void> work);

    /// Waits for all; throws what the first one threw that failed. Shows how many of `total` are
    /// `done`; `done` has to live until then. @return the seconds that it took
    boost::asio::awaitable<double> finish(std::string what,
                                          const std::size_t& done,
                                          std::size_t total);

private:
    boost::asio::any_io_executor executor_;
    progress& shown_;
    std::size_t started_ = 0;
    std::size_t ended_ = 0;
    std::exception_ptr problem_;
    clock::time_point began_{};
    clock::time_point ended_at_{};
};

}  // namespace corozk::bench
