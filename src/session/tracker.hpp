// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace corozk::detail {

class session;

/// Knows the sessions of an execution context, so that their handlers can be destroyed with it.
/// Handlers own coroutines, which own clients, which own sessions, which own handlers.
class session_tracker final : public boost::asio::execution_context::service {
public:
    using key_type = session_tracker;
    static boost::asio::execution_context::id id;

    explicit session_tracker(boost::asio::execution_context& context) : service(context) {}

    void add(const std::shared_ptr<session>& s);

private:
    void shutdown() noexcept override;

    std::mutex mutex_;
    std::vector<std::weak_ptr<session>> sessions_;
};

}  // namespace corozk::detail
