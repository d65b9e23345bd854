// SPDX-License-Identifier: Apache-2.0
#include "session/handle_reaper.hpp"

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
        if (!pool_)
            pool_.emplace(1);
        boost::asio::post(*pool_, [h = std::move(h)]() mutable { h.reset(); });
    } catch (const std::exception&) {
        // No thread to be had: it is freed here and now.
    }
}

void handle_reaper::shutdown() noexcept {
    std::lock_guard lock(mutex_);
    shut_down_ = true;
    if (pool_)
        pool_->join();
    pool_.reset();
}

}  // namespace corozk::detail
