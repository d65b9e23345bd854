// SPDX-License-Identifier: Apache-2.0
// One restart of a server for many cases: each comes to its state on a thread of its own and waits;
// when all are there, the server is killed and restarted while all of them go on.
#pragma once

#include <corozk/testing/server.hpp>
#include <corozk/testing/turn_clock.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace corozk::matrix {

class restart_party {
public:
    explicit restart_party(std::size_t cases) : awaited_(cases) {}

    /// A case has come to its state, or has ended without. @return whether it is not too late
    bool arrive() {
        const testing::aside not_the_loops;
        std::lock_guard guard(mutex_);
        --awaited_;
        changed_.notify_all();
        return !killed_;
    }

    /// Whether the server has been killed. All ask again and again in their loops: no lock.
    bool killed() const { return killed_; }

    /// For the one who makes the party: waits for all, kills and restarts.
    void restart_when_all_are_there(testing::server& s) {
        {
            std::unique_lock guard(mutex_);
            changed_.wait_for(guard, std::chrono::seconds(60), [this] { return awaited_ == 0; });
        }
        s.kill();
        killed_ = true;
        s.restart();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t awaited_;
    std::atomic<bool> killed_ = false;
};

}  // namespace corozk::matrix
