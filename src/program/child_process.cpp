// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace corozk::program {

namespace asio = boost::asio;

namespace {

class descriptor {
public:
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    ~descriptor() { reset(); }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    int get() const noexcept { return fd_; }
    void reset() noexcept {
        if (fd_ >= 0)
            ::close(fd_);
        fd_ = -1;
    }

private:
    int fd_;
};

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A file in memory, read from its beginning: unlike a pipe it takes any amount at once.
int file_with(const std::string& text) {
    int fd = ::memfd_create("input", MFD_CLOEXEC);
    if (fd < 0)
        fail("memfd_create");
    std::size_t written = 0;
    while (written < text.size()) {
        ssize_t n = ::write(fd, text.data() + written, text.size() - written);
        if (n < 0 && errno != EINTR) {
            ::close(fd);
            fail("write");
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

}  // namespace

child_process::child_process(const asio::any_io_executor& executor, const child_description& what)
    : children_(executor, SIGCHLD), grace_(what.grace) {
    std::vector<std::string> words = what.words;
    std::vector<std::string> variables = environment_with(what.environment);
    std::vector<char*> argv = pointers_to(words);
    std::vector<char*> envp = pointers_to(variables);
    descriptor input(what.input ? file_with(*what.input) : -1);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        fail("pipe");
    descriptor report_in(ends[0]);
    descriptor report_out(ends[1]);
    if (::pipe2(ends, O_CLOEXEC) != 0)
        fail("pipe");
    descriptor start_in(ends[0]);
    descriptor start_out(ends[1]);
    has_terminal_ = ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
    pid_t parent = ::getpid();

    pid_ = ::fork();
    if (pid_ < 0)
        fail("fork");
    if (pid_ == 0) {
        // Only what is allowed between fork and exec.
        ::setpgid(0, 0);
        if (has_terminal_)
            give_terminal(::getpid());
        // If there can be no guard.
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent)
            ::_exit(1);
        // Nothing runs that nobody guards: from its first moment on, whoever dies before that.
        start_out.reset();
        char word = 0;
        ssize_t told = 0;
        do {
            told = ::read(start_in.get(), &word, 1);
        } while (told < 0 && errno == EINTR);
        if (told != 1)
            ::_exit(1);
        std::signal(SIGPIPE, SIG_DFL);
        if (input.get() >= 0)
            ::dup2(input.get(), STDIN_FILENO);
        ::execvpe(argv[0], argv.data(), envp.data());
        int problem = errno;
        ssize_t ignored = ::write(report_out.get(), &problem, sizeof problem);
        static_cast<void>(ignored);
        ::_exit(127);
    }
    ::setpgid(pid_, pid_);  // whoever comes first
    guard_.emplace(pid_, grace_);
    while (::write(start_out.get(), "x", 1) < 0 && errno == EINTR) {
    }
    report_out.reset();
    int problem = 0;
    ssize_t count = 0;
    do {
        count = ::read(report_in.get(), &problem, sizeof problem);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
        guard_.reset();
        ::waitpid(pid_, nullptr, 0);
        if (has_terminal_)
            give_terminal(::getpgrp());
        throw std::system_error(problem, std::generic_category(), what.words.front());
    }
}

child_process::~child_process() {
    if (!exit_code_) {
        signal(SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    if (has_terminal_)
        give_terminal(::getpgrp());
}

void child_process::give_terminal(pid_t group) const noexcept {
    // Who is not in the foreground gets this signal for what comes next.
    auto before = std::signal(SIGTTOU, SIG_IGN);
    ::tcsetpgrp(STDIN_FILENO, group);
    std::signal(SIGTTOU, before);
}

std::optional<int> child_process::reap() noexcept {
    int status = 0;
    while (!exit_code_ && ::waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_) {
        if (WIFSTOPPED(status)) {
            if (has_terminal_)
                give_terminal(pid_);
            signal(SIGCONT);
        } else {
            exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
    return exit_code_;
}

asio::awaitable<int> child_process::ended() {
    while (!reap()) {
        auto [ec, number] = co_await children_.async_wait(asio::as_tuple(asio::use_awaitable));
        if (ec)
            co_return 0;  // cancelled: nobody looks
    }
    co_return *exit_code_;
}

void child_process::signal(int number) const noexcept {
    if (pid_ > 0)
        ::kill(-pid_, number);
}

bool child_process::group_is_alive() const noexcept {
    return ::kill(-pid_, 0) == 0;
}

asio::awaitable<void> child_process::stop() {
    // Whoever cancels us: the command has to be gone before we are.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    signal(SIGTERM);
    signal(SIGCONT);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    auto deadline = std::chrono::steady_clock::now() + grace_;
    bool killed = false;
    // What the command has started are no children of ours: there is no signal for their end.
    while (!reap() || group_is_alive()) {
        if (!killed && std::chrono::steady_clock::now() >= deadline) {
            signal(SIGKILL);
            killed = true;
        }
        timer.expires_after(std::chrono::milliseconds(20));
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

}  // namespace corozk::program
