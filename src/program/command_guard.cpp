// SPDX-License-Identifier: Apache-2.0
// Runs after a fork without an exec, and there may have been threads: takes no locks but malloc's,
// which glibc keeps usable, and setenv's, which nothing else takes.
#include "command_guard.hpp"

#include "process_state.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace corozk::program {

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// Hold a secret of this program's user that the command, which may be somebody else's, does not need.
constexpr const char* secrets[] = {"COROZK_AUTH", "COROZK_TLS_KEY_PASSWORD"};

/// Of a corozk that has started this one, with another meaning.
constexpr const char* inherited[] = {"COROZK_NODE",
                                     "COROZK_FENCING_TOKEN",
                                     "COROZK_ITEM",
                                     "COROZK_PRIORITY",
                                     "COROZK_DUE",
                                     "COROZK_ROUND",
                                     "COROZK_EXISTS",
                                     "COROZK_VERSION"};

[[noreturn]] void become_command(const command_start& command, int problems) {
    restore_process();
    if (command.input >= 0)
        ::dup2(command.input, STDIN_FILENO);
    for (const char* name : secrets)
        ::unsetenv(name);
    for (const char* name : inherited)
        ::unsetenv(name);
    for (const auto& [name, value] : *command.environment)
        ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(command.arguments[0], command.arguments);
    int problem = errno;
    static_cast<void>(!::write(problems, &problem, sizeof problem));
    ::_exit(127);
}

class guard {
public:
    guard(int supervisor, const guard_terms& terms) noexcept
        : supervisor_(supervisor), terms_(terms) {}

    [[noreturn]] void run(const command_start& command) {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        ::prctl(PR_SET_NAME, "corozk-guard");
        ::prctl(PR_SET_PDEATHSIG, SIGCONT);  // it may be stopped when the supervisor dies
        start(command);
        leave_surroundings();
        renewed_ = std::chrono::steady_clock::now();
        // At the end once more without waiting: it may be the guard that was not scheduled.
        do {
            reap();
            wait(left_of_lease());
            if (left_of_lease().count() == 0)
                wait(std::chrono::milliseconds(0));
        } while (left_of_lease().count() > 0);
        report(guard_report::lapsed, 0);
        stop_all();
    }

private:
    std::chrono::milliseconds left_of_lease() const noexcept {
        auto left = renewed_ + terms_.lease - std::chrono::steady_clock::now();
        bool none = supervisor_is_gone_ || left <= left.zero();
        return none ? std::chrono::milliseconds(0)
                    : std::chrono::ceil<std::chrono::milliseconds>(left);
    }

    void start(const command_start& command) {
        int problems[2];
        int problem = 0;
        if (::pipe2(problems, O_CLOEXEC) == 0)
            command_ = ::fork();
        if (command_ == 0)
            become_command(command, problems[1]);
        if (command_ < 0) {
            problem = errno;
        } else {
            ::close(problems[1]);
            while (::read(problems[0], &problem, sizeof problem) < 0 && errno == EINTR) {
            }
        }
        if (problem != 0) {
            report(guard_report::not_run, problem);
            ::_exit(0);
        }
        report(guard_report::started, command_);
    }

    /// Releases the terminal, the directory, and all descriptors whose end others may wait for.
    void leave_surroundings() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
        ::setsid();
        static_cast<void>(!::chdir("/"));
        ::dup2(supervisor_, 0);
        supervisor_ = 0;
        if (::close_range(1, ~0U, 0) != 0) {
            for (int fd = 1; fd < 4096; ++fd)
                ::close(fd);
        }
        sigset_t child;
        ::sigemptyset(&child);
        ::sigaddset(&child, SIGCHLD);
        children_ = ::signalfd(-1, &child, SFD_NONBLOCK);
    }

    void report(guard_report::kind_type kind, int value) const noexcept {
        guard_report message{kind, value};
        static_cast<void>(::send(supervisor_, &message, sizeof message, MSG_NOSIGNAL));
    }

    /// Ends the guard when no descendant is left.
    void reap() const noexcept {
        int status = 0;
        pid_t pid = 0;
        while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
            if (pid == command_)
                report(guard_report::ended, status);
        }
        if (pid < 0 && errno == ECHILD) {
            report(guard_report::all_gone, 0);
            ::_exit(0);
        }
    }

    /// Waits for a child's end, a message, or the supervisor's end.
    void wait(std::chrono::milliseconds limit) noexcept {
        pollfd fds[2] = {{children_, POLLIN, 0},
                         {supervisor_is_gone_ ? -1 : supervisor_, POLLIN, 0}};
        constexpr std::chrono::milliseconds longest{60'000};
        ::poll(fds, 2, static_cast<int>(std::clamp(limit, limit.zero(), longest).count()));
        signalfd_siginfo info;
        while (::read(children_, &info, sizeof info) > 0) {
        }
        if (fds[1].revents == 0)
            return;
        char byte = 0;
        if (::recv(supervisor_, &byte, 1, MSG_DONTWAIT) > 0)
            renewed_ = std::chrono::steady_clock::now();
        else
            supervisor_is_gone_ = true;
    }

    [[noreturn]] void stop_all() {
        ask_to_end(::getpid());
        auto begin = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begin < terms_.grace + kill_limit) {
            reap();
            if (std::chrono::steady_clock::now() - begin >= terms_.grace)
                kill_below(::getpid());
            wait(std::chrono::milliseconds(20));
        }
        ::_exit(0);
    }

    int supervisor_;
    int children_ = -1;
    guard_terms terms_;
    std::chrono::steady_clock::time_point renewed_;
    pid_t command_ = -1;
    bool supervisor_is_gone_ = false;
};

}  // namespace

command_guard start_guard(const command_start& command, const guard_terms& terms) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        fail("socketpair");
    command_guard result;
    result.pid = ::fork();
    int problem = errno;
    if (result.pid == 0) {
        ::close(ends[0]);
        guard(ends[1], terms).run(command);
    }
    ::close(ends[1]);
    if (result.pid < 0) {
        ::close(ends[0]);
        errno = problem;
        fail("fork");
    }
    result.reports = ends[0];
    return result;
}

bool ask_to_end(pid_t root, const std::vector<descendant>& except) {
    std::vector<descendant> found = descendants_of(root, except);
    for (const descendant& d : found) {
        ::kill(d.pid, SIGTERM);
        ::kill(d.pid, SIGCONT);
    }
    return !found.empty();
}

void kill_below(pid_t root, const std::vector<descendant>& except) {
    // Several rounds: a process may fork faster than it is found.
    for (int round = 0; round < 10; ++round) {
        std::vector<descendant> found = descendants_of(root, except);
        if (found.empty())
            return;
        for (const descendant& d : found)
            ::kill(d.pid, SIGKILL);
    }
}

}  // namespace corozk::program
