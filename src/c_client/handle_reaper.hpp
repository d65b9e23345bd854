// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c_client/handle.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <memory>
#include <mutex>

namespace corozk::detail {

/// Frees handles with many watches outside the event loop: destroying the C client's tables of
/// 50,000 watches takes 40 ms, and those of an expired session cannot be emptied before. Its thread
/// starts with the first handle and is joined with the execution context.
class handle_reaper final : public boost::asio::execution_context::service {
public:
    using key_type = handle_reaper;
    static boost::asio::execution_context::id id;

    explicit handle_reaper(boost::asio::execution_context& context) : service(context) {}

    /// The handle must not have any requests inside.
    void take(std::unique_ptr<handle> h);

private:
    void shutdown() noexcept override;

    void leave_to_parent() noexcept;

    std::mutex mutex_;
    std::unique_ptr<boost::asio::thread_pool> pool_;
    unsigned process_ = 0;  ///< the process of the pool's thread, by `forks()`
    bool shut_down_ = false;
};

}  // namespace corozk::detail
