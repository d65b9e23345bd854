// SPDX-License-Identifier: Apache-2.0
#include "c_client/handle_reaper.hpp"

#include "c_client/fork_guard.hpp"

#include <boost/asio/post.hpp>

#include <exception>

namespace corozk::detail {

boost::asio::execution_context::id handle_reaper::id;

void handle_reaper::take(std::unique_ptr<handle> h) {
    std::lock_guard lock(mutex_);
    if (shut_down_)
        return;
    h->silence();
    try {
        leave_to_parent();
        if (!pool_) {
            process_ = forks();
            pool_ = std::make_unique<boost::asio::thread_pool>(1);
        }
        boost::asio::post(*pool_, [h = std::move(h)]() mutable { h.reset(); });
    } catch (const std::exception&) {
        // No thread could be created: free it here.
    }
}

/// In a forked child the thread does not exist: joining it would block forever, and the handles
/// belong to the parent.
void handle_reaper::leave_to_parent() noexcept {
    if (!pool_ || process_ == forks())
        return;
    // Reachable for leak checkers.
    static boost::asio::thread_pool* left_behind = nullptr;
    left_behind = pool_.release();
    static_cast<void>(left_behind);
}

void handle_reaper::shutdown() noexcept {
    std::lock_guard lock(mutex_);
    shut_down_ = true;
    leave_to_parent();
    if (pool_)
        pool_->join();
    pool_.reset();
}

}  // namespace corozk::detail
