// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include "descendants.hpp"
#include "exit_code.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace corozk::program {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

/// Where something cannot be waited for.
constexpr std::chrono::milliseconds look_again{20};

class descriptor {
public:
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    ~descriptor() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    int get() const noexcept { return fd_; }

private:
    int fd_;
};

/// A file in memory, read from its beginning: unlike a pipe it takes any amount at once.
int file_with(const std::string& text) {
    int fd = ::memfd_create("input", MFD_CLOEXEC);
    if (fd < 0)
        throw std::system_error(errno, std::generic_category(), "memfd_create");
    std::size_t written = 0;
    while (written < text.size()) {
        ssize_t n = ::write(fd, text.data() + written, text.size() - written);
        if (n < 0 && errno != EINTR) {
            int problem = errno;
            ::close(fd);
            throw std::system_error(problem, std::generic_category(), "write");
        }
        written += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    ::lseek(fd, 0, SEEK_SET);
    return fd;
}

/// Our environment with additions that replace what has the same name.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& additions) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry; ++entry) {
        std::string text(*entry);
        bool replaced = false;
        for (const auto& [name, value] : additions)
            replaced = replaced || text.starts_with(name + "=");
        if (!replaced)
            result.push_back(std::move(text));
    }
    for (const auto& [name, value] : additions)
        result.push_back(name + "=" + value);
    return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words)
        result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

child_process::child_process(const asio::any_io_executor& executor,
                             interruption& signals,
                             const child_description& what)
    : signals_(signals),
      grace_(what.grace),
      lease_(what.lease),
      reports_(executor),
      sign_due_(executor) {
    std::vector<std::string> words = what.words;
    std::vector<std::string> variables = environment_with(what.environment);
    std::vector<char*> argv = pointers_to(words);
    std::vector<char*> envp = pointers_to(variables);
    descriptor input(what.input ? file_with(*what.input) : -1);
    command_guard guard = start_guard({argv.data(), envp.data(), input.get()}, {lease_, grace_});
    reports_.assign(guard.reports);
    guard_ = guard.pid;
    guard_report first{guard_report::not_run, ESRCH};
    while (::read(guard.reports, &first, sizeof first) < 0 && errno == EINTR) {
    }
    if (first.kind == guard_report::not_run) {
        all_gone_ = true;
        throw std::system_error(first.value, std::generic_category(), what.words.front());
    }
    command_ = first.value;
    signals_.watch(command_);
    give_sign();
}

child_process::~child_process() {
    if (!all_gone_)
        kill_below(root());
}

void child_process::give_sign() {
    char sign = 'x';
    static_cast<void>(::send(reports_.native_handle(), &sign, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
    if (!guard_is_gone_)
        ::kill(guard_, SIGCONT);  // who has stopped it would hold up everything
    sign_due_.expires_after(lease_ / 5);
    sign_due_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec)
            give_sign();
    });
}

pid_t child_process::root() const noexcept {
    return guard_is_gone_ ? ::getpid() : guard_;
}

asio::awaitable<void> child_process::read_report() {
    guard_report report{};
    auto [ec, size] = co_await reports_.async_read_some(asio::buffer(&report, sizeof report),
                                                        asio::as_tuple(asio::use_awaitable));
    // It ended before it had read our last sign; what it has said can still be read.
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
    std::optional<int> status = signals_.status_of(command_);
    if (status && !exit_code_)
        exit_code_ = code_of(*status);
    // The guard had its end, and died before it could say so.
    if (!exit_code_ && (childless || (::kill(command_, 0) < 0 && errno == ESRCH)))
        exit_code_ = failed;
    all_gone_ = childless || descendants_of(::getpid()).empty();
}

asio::awaitable<void> child_process::news() {
    if (!guard_is_gone_) {
        co_await read_report();
        co_return;
    }
    asio::steady_timer timer(co_await asio::this_coro::executor, look_again);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    look_without_guard();
}

asio::awaitable<int> child_process::ended() {
    auto cancelled = co_await asio::this_coro::cancellation_state;
    while (!exit_code_ && cancelled.cancelled() == asio::cancellation_type::none)
        co_await news();
    co_return exit_code_.value_or(0);
}

void child_process::pass_on(const signal_request& request) const {
    std::vector<descendant> targets;
    if (request.asks_to_end() && request.number != SIGHUP)
        targets = descendants_of(root());
    if (targets.empty() && !exit_code_)
        targets.push_back({command_, ::getpgid(command_)});
    for (const descendant& d : targets) {
        // What the terminal has sent, those have got who are in our group.
        if (!request.from_terminal || d.group != ::getpgrp())
            ::kill(d.pid, request.number);
        if (request.asks_to_end())
            ::kill(d.pid, SIGCONT);
    }
}

asio::awaitable<void> child_process::gone_or_asked_within(std::chrono::milliseconds limit) {
    asio::steady_timer timer(co_await asio::this_coro::executor, limit);
    auto begin = std::chrono::steady_clock::now();
    while (!all_gone_ && std::chrono::steady_clock::now() - begin < limit) {
        auto first = co_await (news() || timer.async_wait(asio::as_tuple(asio::use_awaitable)) ||
                               signals_.next());
        if (first.index() == 2 && std::get<2>(first).asks_to_end())
            co_return;
    }
}

asio::awaitable<bool> child_process::stop() {
    // Whoever cancels us: the command has to be gone before we are.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    if (!ask_to_end(root()) && !exit_code_)
        ::kill(command_, SIGTERM);  // there is no /proc
    co_await gone_or_asked_within(grace_);
    auto begin = std::chrono::steady_clock::now();
    while (!all_gone_ && std::chrono::steady_clock::now() - begin < kill_limit) {
        kill_below(root());
        if (!exit_code_)
            ::kill(command_, SIGKILL);
        co_await gone_or_asked_within(look_again);
    }
    co_return all_gone_;
}

asio::awaitable<bool> child_process::stop_what_is_left() {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    constexpr std::chrono::milliseconds to_end_by_itself{500};
    co_await gone_or_asked_within(to_end_by_itself);
    bool gone = all_gone_;
    if (!gone)
        gone = co_await stop();
    co_return gone;
}

}  // namespace corozk::program
