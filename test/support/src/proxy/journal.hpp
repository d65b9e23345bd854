// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/proxy_frame.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace corozk::testing::detail {

/** What a proxy has seen: counters, log and sessions, for any thread to read and wait for. */
class journal {
public:
    explicit journal(std::size_t capacity) : capacity_{capacity} {}

    /** Changes the counters and wakes those who wait for a change. */
    template <class Change>
    void count(Change change) {
        {
            const std::lock_guard lock{mutex_};
            change(statistics_);
            ++changes_;
        }
        changed_.notify_all();
    }

    void record(const frame_info& frame, frame_fate fate);
    void add_session(session_record session);

    proxy_statistics statistics() const;
    std::vector<session_record> sessions() const;
    std::vector<frame_record> log() const;
    std::string describe_log(std::size_t last) const;
    void wait_for(const std::function<bool(const proxy_statistics&)>& predicate,
                  std::chrono::milliseconds limit) const;

private:
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::uint64_t changes_ = 0;
    proxy_statistics statistics_;
    std::vector<session_record> sessions_;
    std::deque<frame_record> log_;
};

}  // namespace corozk::testing::detail
