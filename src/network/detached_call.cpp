// SPDX-License-Identifier: Apache-2.0
#include "network/detached_call.hpp"

#include "network/fork_guard.hpp"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <csignal>
#include <exception>
#include <thread>
#include <utility>

namespace corozk::detail {

namespace {

/// A new thread inherits the signal mask; the program's signals must not be delivered to it.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        blocked_ = pthread_sigmask(SIG_SETMASK, &all, &before_) == 0;
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() {
        if (blocked_)
            pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t before_;
    bool blocked_ = false;
};

}  // namespace

void run_detached(std::function<void()> function) {
    signals_blocked no_signals;
    std::thread(std::move(function)).detach();
}

// Accessed under a `fork_guard`, so that it is consistent in a child process.
struct late_callback::state {
    boost::asio::any_io_executor executor;
    std::function<void()> then;
};

late_callback::late_callback(const boost::asio::any_io_executor& executor,
                             std::function<void()> then)
    : state_(std::make_shared<state>()) {
    state_->executor =
        boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
    state_->then = std::move(then);
}

late_callback::~late_callback() {
    state unwanted;  // destroyed without the lock: it may own this object's owner
    fork_guard no_fork;
    std::swap(unwanted, *state_);
}

/// The executor's context exists, as objects that belong to it withdraw their callbacks first.
void late_callback::deliver(const weak& to) {
    std::shared_ptr<state> s = to.lock();
    if (!s || !s->then)
        return;
    boost::asio::any_io_executor executor = std::exchange(s->executor, {});
    try {
        boost::asio::post(executor, [s] {
            if (auto then = std::exchange(s->then, nullptr))
                then();
        });
    } catch (const std::exception&) {
        // Out of memory. Whoever waits has a time limit.
    }
}

detached_call::detached_call(const boost::asio::any_io_executor& executor,
                             std::function<void()> work,
                             std::function<void()> then)
    : then_(executor, std::move(then)) {
    run_detached([work = std::move(work), to = then_.address()] {
        work();
        fork_guard no_fork;
        late_callback::deliver(to);
    });
}

}  // namespace corozk::detail
