// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace corozk::bench {

/// A client that sends requests at fixed times, whatever becomes of the earlier ones, and counts
/// each from when it was due: a server that stands still is late for all that come meanwhile. One
/// session of the bare C client, on a thread of its own.
class open_loop {
public:
    enum class request { get, set };

    /// Begins at once; the node is there.
    open_loop(std::string hosts,
              std::string node,
              int session_timeout_ms,
              request what,
              double per_second);
    ~open_loop();
    open_loop(const open_loop&) = delete;
    open_loop& operator=(const open_loop&) = delete;

    /// Whether something was due at that time or later and has been answered. @throws what has
    /// ended it
    bool has_passed(clock::time_point t) const;

    /// Of the requests that were due in this time.
    latencies between(clock::time_point from, clock::time_point to) const;

    /// How many were answered in this time, whenever they were due.
    std::size_t answered(clock::time_point from, clock::time_point to) const;

private:
    struct session;
    struct sample {
        clock::time_point due;
        clock::time_point answered;
    };

    void run();

    const std::string hosts_;
    const std::string node_;
    const int session_timeout_ms_;
    const request what_;
    const clock::duration period_;
    std::atomic<bool> over_ = false;
    mutable std::mutex mutex_;
    std::vector<sample> samples_;
    std::exception_ptr problem_;
    std::thread thread_;
};

}  // namespace corozk::bench
