// SPDX-License-Identifier: Apache-2.0

#include "journal.hpp"

#include "corozk/testing/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace corozk::testing::detail {

void journal::record(const frame_info& frame, frame_fate fate) {
    if (capacity_ == 0) {
        return;
    }
    frame_record entry{.when = std::chrono::steady_clock::now(), .frame = frame, .fate = fate};
    entry.frame.payload = {};
    const std::lock_guard lock{mutex_};
    if (log_.size() >= capacity_) {
        log_.pop_front();
    }
    log_.push_back(std::move(entry));
}

void journal::add_session(session_record session) {
    {
        const std::lock_guard lock{mutex_};
        sessions_.push_back(std::move(session));
        ++changes_;
    }
    changed_.notify_all();
}

proxy_statistics journal::statistics() const {
    const std::lock_guard lock{mutex_};
    return statistics_;
}

std::vector<session_record> journal::sessions() const {
    const std::lock_guard lock{mutex_};
    return sessions_;
}

std::vector<frame_record> journal::log() const {
    const std::lock_guard lock{mutex_};
    return {log_.begin(), log_.end()};
}

std::string journal::describe_log(std::size_t last) const {
    const auto all = log();
    std::string text;
    for (std::size_t index = all.size() - std::min(last, all.size()); index < all.size(); ++index) {
        text += describe(all[index]) + '\n';
    }
    return text;
}

void journal::wait_for(const std::function<bool(const proxy_statistics&)>& predicate,
                       std::chrono::milliseconds limit) const {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
        std::unique_lock lock{mutex_};
        const auto seen = changes_;
        const proxy_statistics now = statistics_;
        lock.unlock();
        if (predicate(now)) {  // without the lock: it may ask the proxy
            return;
        }
        lock.lock();
        const auto news = [this, seen] { return changes_ != seen; };
        if (!changed_.wait_until(lock, deadline, news)) {
            lock.unlock();
            throw timeout_error{
                fmt::format("the proxy did not get there within {} ms; the end of its log:\n{}",
                            limit.count(),
                            describe_log(40))};
        }
    }
}

}  // namespace corozk::testing::detail
