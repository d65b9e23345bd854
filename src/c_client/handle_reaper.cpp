// SPDX-License-Identifier: Apache-2.0
#include "c_client/fork_guard.hpp"
#include "c_client/handle.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/thread_pool.hpp>

#include <exception>
#include <mutex>

namespace corozk::detail {

namespace {

/// Its thread is started with the first handle and joined with the context.
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
            // No thread to be had: it is freed here and now.
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

    /// The thread was not inherited: joining it would last for ever, and what it was to free is the
    /// parent's to free.
    void leave_to_parent() noexcept {
        if (!pool_ || process_ == forks())
            return;
        // Kept where leak checkers see it.
        static boost::asio::thread_pool* left_behind = nullptr;
        left_behind = pool_.release();
        static_cast<void>(left_behind);
    }

    std::mutex mutex_;
    std::unique_ptr<boost::asio::thread_pool> pool_;
    unsigned process_ = 0;  ///< that the pool's thread is in, by `forks()`
    bool shut_down_ = false;
};

boost::asio::execution_context::id handle_reaper::id;

}  // namespace

void destroy_elsewhere(std::unique_ptr<handle> h, const boost::asio::any_io_executor& executor) {
    auto& context = boost::asio::query(executor, boost::asio::execution::context);
    boost::asio::use_service<handle_reaper>(context).take(std::move(h));
}

}  // namespace corozk::detail
