// SPDX-License-Identifier: Apache-2.0
#include "interruption.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <cerrno>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace corozk::program {

namespace {

int descriptor_for(const sigset_t& set) {
    int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        throw std::system_error(errno, std::generic_category(), "signalfd");
    return fd;
}

}  // namespace

interruption::interruption(const asio::any_io_executor& executor, const signal_sets& sets)
    : requests_(executor, descriptor_for(sets.requests)),
      children_(executor, descriptor_for(sets.children)),
      arrived_(executor, asio::steady_timer::time_point::max()) {
    ::sigemptyset(&got_);
    asio::co_spawn(executor, read_requests(), asio::detached);
    asio::co_spawn(executor, reap_children(), asio::detached);
}

asio::awaitable<void> interruption::read_requests() {
    signalfd_siginfo info{};
    for (;;) {
        auto [ec, size] =
            co_await requests_.async_read_some(asio::buffer(&info, sizeof info), as_tuple);
        if (ec || size != sizeof info)
            co_return;
        take(info);
    }
}

void interruption::take(const signalfd_siginfo& info) {
    signal_request request;
    request.number = static_cast<int>(info.ssi_signo);
    request.from_terminal = info.ssi_code == SI_KERNEL;
    ::sigaddset(&got_, request.number);
    // The others may be forwarded and forgotten.
    if (request.ends_command() || asked_to_end_ == 0)
        asked_to_end_ = request.number;
    unseen_.push_back(request);
    arrived_.cancel();
}

void interruption::take_waiting() {
    signalfd_siginfo info{};
    while (::read(requests_.native_handle(), &info, sizeof info) == sizeof info)
        take(info);
}

void interruption::before_command() {
    take_waiting();
    throw_if_asked_to_end();
}

void interruption::after_start() {
    take_waiting();
    for (signal_request& request : unseen_)
        request.from_terminal = false;
}

asio::awaitable<void> interruption::reap_children() {
    signalfd_siginfo info{};
    for (;;) {
        int status = 0;
        for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            if (pid == watched_)
                status_ = status;
        }
        auto [ec, size] =
            co_await children_.async_read_some(asio::buffer(&info, sizeof info), as_tuple);
        if (ec || size != sizeof info)
            co_return;
    }
}

asio::awaitable<signal_request> interruption::next() {
    for (;;) {
        auto cancelled = co_await asio::this_coro::cancellation_state;
        if (cancelled.cancelled() != asio::cancellation_type::none)
            co_return signal_request{};  // it remains for who asks next
        if (!unseen_.empty())
            break;
        co_await arrived_.async_wait(as_tuple);
    }
    signal_request request = unseen_.front();
    unseen_.pop_front();
    co_return request;
}

/// Ends ten seconds after a signal has asked to end.
asio::awaitable<void> interruption::patience() {
    auto cancelled = co_await asio::this_coro::cancellation_state;
    while (asked_to_end_ == 0 && cancelled.cancelled() == asio::cancellation_type::none)
        co_await arrived_.async_wait(as_tuple);
    co_await pause_for(std::chrono::seconds(10));
}

void interruption::close() noexcept {
    boost::system::error_code ignored;
    requests_.close(ignored);
    children_.close(ignored);
}

}  // namespace corozk::program
