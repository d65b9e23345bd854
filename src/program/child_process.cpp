// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include "output.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace corozk::program {

using namespace asio::experimental::awaitable_operators;

namespace {

/// For what can only be polled.
constexpr std::chrono::milliseconds poll_interval{20};

int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The descendants of this process before it ran a command: those of the shell that became it.
const std::vector<descendant>& not_ours() {
    static const std::vector<descendant> found = descendants_of(::getpid());
    return found;
}

}  // namespace

child_process::child_process(const asio::any_io_executor& executor,
                             interruption& signals,
                             const child_description& what)
    : signals_(signals),
      grace_(what.grace),
      lease_(what.lease.value_or(std::chrono::seconds(10))),
      reports_(executor),
      renewal_(executor) {
    std::vector<char*> arguments;
    for (const std::string& word : what.words)
        arguments.push_back(const_cast<char*>(word.data()));  // as execvp wants it
    arguments.push_back(nullptr);
    asio::posix::stream_descriptor input(executor);
    if (what.input) {
        // Unlike a pipe a file in memory never blocks its writer.
        input.assign(::memfd_create("input", MFD_CLOEXEC));
        asio::write(input, asio::buffer(*what.input));
        ::lseek(input.native_handle(), 0, SEEK_SET);
    }
    not_ours();  // found before there is a command
    command_guard guard =
        start_guard({arguments.data(), &what.environment, input.native_handle()}, {lease_, grace_});
    reports_.assign(guard.reports);
    guard_ = guard.pid;
    pollfd report{guard.reports, POLLIN, 0};
    while (::poll(&report, 1, static_cast<int>(renewal_interval().count())) == 0)
        ::kill(guard_, SIGCONT);  // it may have been stopped
    guard_report first{guard_report::not_run, ESRCH};
    ssize_t size = 0;
    while ((size = ::read(guard.reports, &first, sizeof first)) < 0 && errno == EINTR) {
    }
    if (first.kind == guard_report::not_run) {
        all_gone_ = true;
        if (size <= 0)  // the guard was killed, and may have started the command
            kill_below(::getpid(), not_ours());
        throw std::system_error(first.value, std::generic_category(), what.words.front());
    }
    command_ = first.value;
    signals_.watch(command_);
    renew_lease();
}

child_process::~child_process() {
    if (!all_gone_)
        kill_below(root(), exempt());
}

void child_process::renew_lease() {
    char sign = 'x';
    static_cast<void>(::send(reports_.native_handle(), &sign, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
    if (!guard_is_gone_)
        ::kill(guard_, SIGCONT);  // it may have been stopped
    renewal_.expires_after(renewal_interval());
    renewal_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec)
            renew_lease();
    });
}

/// A stopped guard is resumed then, too: not seldom, however long the lease is.
std::chrono::milliseconds child_process::renewal_interval() const noexcept {
    constexpr std::chrono::milliseconds longest{10'000};
    return std::min(lease_ / 5, longest);
}

pid_t child_process::root() const noexcept {
    return guard_is_gone_ ? ::getpid() : guard_;
}

/// Below the guard there is nobody else's.
const std::vector<descendant>& child_process::exempt() const {
    static const std::vector<descendant> none;
    return guard_is_gone_ ? not_ours() : none;
}

asio::awaitable<void> child_process::read_report() {
    guard_report report{};
    auto [ec, size] =
        co_await reports_.async_read_some(asio::buffer(&report, sizeof report), as_tuple);
    // A reset: it ended before it had read our last message; its own can still be read.
    if (ec == asio::error::operation_aborted || ec == asio::error::connection_reset)
        co_return;
    if (ec || size != sizeof report)
        guard_is_gone_ = true;
    else if (report.kind == guard_report::ended)
        exit_code_ = code_of(report.value);
    else if (report.kind == guard_report::lapsed)
        lapsed_ = true;
    else if (report.kind == guard_report::all_gone)
        all_gone_ = true;
}

void child_process::look_without_guard() {
    siginfo_t child{};
    bool childless = ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
    if (auto status = signals_.watched_status(); status && !exit_code_)
        exit_code_ = code_of(*status);
    // The guard had reaped it, and died before it could report that.
    if (!exit_code_ && (childless || (::kill(command_, 0) < 0 && errno == ESRCH)))
        exit_code_ = failed;
    all_gone_ = childless || descendants_of(::getpid(), not_ours()).empty();
}

asio::awaitable<void> child_process::next_report() {
    if (!guard_is_gone_) {
        co_await read_report();
        co_return;
    }
    co_await pause_for(poll_interval);
    look_without_guard();
}

asio::awaitable<int> child_process::ended() {
    auto cancelled = co_await asio::this_coro::cancellation_state;
    while (!exit_code_ && cancelled.cancelled() == asio::cancellation_type::none)
        co_await next_report();
    co_return exit_code_.value_or(0);
}

bool child_process::forward(const signal_request& request) const {
    std::vector<descendant> targets;
    if (request.ends_command())
        targets = descendants_of(root(), exempt());
    if (targets.empty() && !exit_code_)
        targets.push_back({command_, ::getpgid(command_)});
    bool received = false;
    for (const descendant& d : targets) {
        // The terminal has sent it to our process group.
        bool has_it = request.from_terminal && d.group == ::getpgrp();
        received |= ::kill(d.pid, has_it ? 0 : request.number) == 0;
        if (request.ends_command() || request.number == SIGHUP)
            ::kill(d.pid, SIGCONT);
    }
    return received;
}

asio::awaitable<void> child_process::wait_for_end(std::chrono::milliseconds limit) {
    auto until = std::chrono::steady_clock::now() + limit;
    while (!all_gone_ && std::chrono::steady_clock::now() < until) {
        auto first = co_await (next_report() || pause_until(until) || signals_.next());
        if (first.index() != 2)
            continue;
        const signal_request request = std::get<2>(first);
        if (request.ends_command())
            co_return;
        if (forward(request))
            signals_.was_forwarded(request);
    }
}

asio::awaitable<bool> child_process::stop() {
    // The command has to end before this does, even if it is cancelled.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    if (!ask_to_end(root(), exempt()) && !exit_code_)
        ::kill(command_, SIGTERM);  // there is no /proc
    co_await wait_for_end(grace_);
    auto begin = std::chrono::steady_clock::now();
    while (!all_gone_ && std::chrono::steady_clock::now() - begin < kill_limit) {
        kill_below(root(), exempt());
        if (!exit_code_)
            ::kill(command_, SIGKILL);
        co_await wait_for_end(poll_interval);
    }
    co_return all_gone_;
}

asio::awaitable<bool> child_process::stop_what_is_left() {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    constexpr std::chrono::milliseconds to_end_by_itself{500};
    co_await wait_for_end(to_end_by_itself);
    bool gone = all_gone_;
    if (!gone)
        gone = co_await stop();
    co_return gone;
}

}  // namespace corozk::program
