// SPDX-License-Identifier: Apache-2.0
#include "session/tracker.hpp"

#include "session/session.hpp"

#include <algorithm>

namespace corozk::detail {

boost::asio::execution_context::id session_tracker::id;

void session_tracker::add(const std::shared_ptr<session>& s) {
    std::lock_guard lock(mutex_);
    std::erase_if(sessions_, [](const auto& weak) { return weak.expired(); });
    sessions_.push_back(s);
}

void session_tracker::shutdown() noexcept {
    std::vector<std::weak_ptr<session>> sessions;
    {
        std::lock_guard lock(mutex_);
        sessions.swap(sessions_);
    }
    for (const auto& weak : sessions) {
        if (auto s = weak.lock())
            s->abandon();
    }
}

}  // namespace corozk::detail
