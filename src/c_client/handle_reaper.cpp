// SPDX-License-Identifier: Apache-2.0
#include "c_client/handle.hpp"
#include "network/fork_guard.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/thread_pool.hpp>

#include <exception>
#include <mutex>

namespace corozk::detail {

namespace {

/// Its thread starts with the first handle and is joined with the execution context.
class handle_reaper final : public boost::asio::execution_context::service {
public:
    using key_type = handle_reaper;
    static boost::asio::execution_context::id id;

    explicit handle_reaper(boost::asio::execution_context& context) : service(context) {}

    void take(std::unique_ptr<handle> h) {
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

private:
    void shutdown() noexcept override {
        std::lock_guard lock(mutex_);
        shut_down_ = true;
        leave_to_parent();
        if (pool_)
            pool_->join();
        pool_.reset();
    }

    /// In a forked child the thread does not exist: joining it would block forever, and the handles
    /// belong to the parent.
    void leave_to_parent() noexcept {
        if (!pool_ || process_ == forks())
            return;
        // Reachable for leak checkers.
        static boost::asio::thread_pool* left_behind = nullptr;
        left_behind = pool_.release();
        static_cast<void>(left_behind);
    }

    std::mutex mutex_;
    std::unique_ptr<boost::asio::thread_pool> pool_;
    unsigned process_ = 0;  ///< the process of the pool's thread, by `forks()`
    bool shut_down_ = false;
};

boost::asio::execution_context::id handle_reaper::id;

}  // namespace

void destroy_elsewhere(std::unique_ptr<handle> h, const boost::asio::any_io_executor& executor) {
    auto& context = boost::asio::query(executor, boost::asio::execution::context);
    boost::asio::use_service<handle_reaper>(context).take(std::move(h));
}

}  // namespace corozk::detail
