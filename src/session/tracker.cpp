// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <mutex>

namespace corozk::detail {

namespace {

/// Destroys the handlers of sessions together with their execution context, because there is an
/// ownership cycle: handlers own coroutines, which own clients, which own sessions, which own
/// handlers.
class session_tracker final : public boost::asio::execution_context::service {
public:
    using key_type = session_tracker;
    static boost::asio::execution_context::id id;

    explicit session_tracker(boost::asio::execution_context& context) : service(context) {}

    void add(const std::shared_ptr<session>& s) {
        std::lock_guard lock(mutex_);
        std::erase_if(sessions_, [](const auto& weak) { return weak.expired(); });
        sessions_.push_back(s);
    }

private:
    void notify_fork(boost::asio::execution_context::fork_event event) override {
        if (event != boost::asio::execution_context::fork_child)
            return;
        std::vector<std::weak_ptr<session>> sessions;
        {
            std::lock_guard lock(mutex_);
            sessions = sessions_;
        }
        for (const auto& weak : sessions) {
            if (auto s = weak.lock())
                s->heed_fork();
        }
    }

    void shutdown() noexcept override {
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

    std::mutex mutex_;
    std::vector<std::weak_ptr<session>> sessions_;
};

boost::asio::execution_context::id session_tracker::id;

}  // namespace

std::shared_ptr<session_view> session::make(boost::asio::any_io_executor executor,
                                            client_options options) {
    std::shared_ptr<session> s(new session(std::move(executor), std::move(options)));
    auto& context = boost::asio::query(s->executor_, boost::asio::execution::context);
    boost::asio::use_service<session_tracker>(context).add(s);
    const std::string& root = s->connector_.hosts().chroot;
    if (root.empty())
        return s;
    s->views_.front = std::make_unique<subtree>(*s, root, true);
    return std::shared_ptr<session_view>(s, s->views_.front.get());
}

}  // namespace corozk::detail
