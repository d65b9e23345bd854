// SPDX-License-Identifier: Apache-2.0

#include "spawner.hpp"

#include "pidfd.hpp"
#include "system_failure.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <linux/close_range.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace corozk::testing::detail {
namespace {

/** Everything that the child needs, made before the fork: after it, nothing may allocate. */
struct prepared {
    std::string program;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::vector<char*> argv;
    std::vector<char*> envp;
    std::string directory;
    int input = -1;
    int output = -1;
    int errors = -1;
    int report = -1;  // the child writes errno here; a successful exec closes it
    pid_t parent = 0;
};

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        return name;
    }
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
    while (!rest.empty()) {
        const auto end = rest.find(':');
        std::string candidate = std::string{rest.substr(0, end)} + '/' + name;
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    return name;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (auto& text : strings) {
        result.push_back(text.data());
    }
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& extra) {
    std::vector<std::string> result;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!extra.contains(std::string{text.substr(0, text.find('='))})) {
            result.emplace_back(text);
        }
    }
    for (const auto& [name, value] : extra) {
        result.push_back(name);
        result.back().append("=").append(value);
    }
    return result;
}

/** Runs in the child, in its parent's memory: only calls that leave nothing there. */
[[noreturn]] void become(const prepared& what) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != what.parent) {  // it died before the line above
        ::_exit(127);
    }
    ::setpgid(0, 0);
    for (int number = 1; number < NSIG; ++number) {
        ::signal(number, SIG_DFL);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    if (::dup2(what.input, STDIN_FILENO) >= 0 && ::dup2(what.output, STDOUT_FILENO) >= 0 &&
        ::dup2(what.errors, STDERR_FILENO) >= 0 &&
        (what.directory.empty() || ::chdir(what.directory.c_str()) == 0)) {
        ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        ::execve(what.program.c_str(), what.argv.data(), what.envp.data());
    }
    const int error = errno;
    [[maybe_unused]] const auto ignored = ::write(what.report, &error, sizeof error);
    ::_exit(127);
}

/** A file descriptor that is closed on leaving the scope. */
class scoped_fd {
public:
    explicit scoped_fd(int fd) : fd_{fd} {}
    ~scoped_fd() { reset(); }
    scoped_fd(const scoped_fd&) = delete;
    scoped_fd& operator=(const scoped_fd&) = delete;

    int get() const { return fd_; }
    void reset() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = -1;
    }

private:
    int fd_;
};

std::string or_null(const std::filesystem::path& file) {
    return file.empty() ? "/dev/null" : file.native();
}

int open_sink(const std::string& file) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail(errno, "cannot open " + file);
    }
    return fd;
}

spawned fork_and_execute(const process_options& options) {
    if (options.command.empty()) {
        fail(EINVAL, "no program to start");
    }
    prepared child;
    child.program = find_program(options.command.front());
    child.arguments = options.command;
    child.environment = merged_environment(options.environment);
    child.argv = pointers(child.arguments);
    child.envp = pointers(child.environment);
    child.directory = options.directory.native();
    child.parent = ::getpid();

    const std::string source = or_null(options.input);
    const scoped_fd input{::open(source.c_str(), O_RDONLY | O_CLOEXEC)};
    if (input.get() < 0) {
        fail(errno, "cannot open " + source);
    }
    const scoped_fd output{open_sink(or_null(options.output))};
    const scoped_fd errors{open_sink(or_null(options.errors))};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        fail(errno, "cannot make a pipe");
    }
    const scoped_fd report{ends[0]};
    scoped_fd report_in_child{ends[1]};
    child.input = input.get();
    child.output = output.get();
    child.errors = options.errors.empty() ? output.get() : errors.get();
    child.report = report_in_child.get();

    // Not fork: while that copies the page tables, every page fault of the other threads waits, and
    // the loops that a test measures stand still for tens of milliseconds.
    const pid_t pid = ::vfork();
    if (pid == 0) {
        become(child);
    }
    if (pid < 0) {
        fail(errno, "cannot fork");
    }
    report_in_child.reset();
    int error = 0;
    ssize_t got = 0;
    do {
        got = ::read(report.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof error)) {
        ::waitpid(pid, nullptr, 0);
        fail(error, "cannot start " + child.program);
    }
    const int handle = open_pidfd(pid);
    if (handle < 0) {
        error = errno;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        fail(error, "cannot watch the process " + child.program);
    }
    return {.pid = pid, .handle = handle};
}

/** The thread that starts all processes, one at a time. */
class spawning_thread {
public:
    spawning_thread() : process_{::getpid()} {
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the others
        std::thread{[this] { work(); }}.detach();
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    bool usable() const { return process_ == ::getpid(); }

    spawned run(const process_options& options) {
        job mine{.options = &options, .result = {}, .error = {}, .done = false};
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return next_ == nullptr; });
        next_ = &mine;
        changed_.notify_all();
        changed_.wait(lock, [&mine] { return mine.done; });
        if (mine.error) {
            std::rethrow_exception(mine.error);
        }
        return mine.result;
    }

private:
    struct job {
        const process_options* options;
        spawned result;
        std::exception_ptr error;
        bool done;
    };

    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            changed_.wait(lock, [this] { return next_ != nullptr; });
            job& current = *next_;
            try {
                current.result = fork_and_execute(*current.options);
            } catch (...) {
                current.error = std::current_exception();
            }
            current.done = true;
            next_ = nullptr;
            changed_.notify_all();
        }
    }

    pid_t process_;
    std::mutex mutex_;
    std::condition_variable changed_;
    job* next_ = nullptr;
};

}  // namespace

spawned spawn(const process_options& options) {
    // Never destroyed: guards in static storage may still need it, and its thread must not end.
    static std::mutex mutex;
    static spawning_thread* thread = nullptr;
    spawning_thread* mine = nullptr;
    {
        const std::lock_guard lock{mutex};
        if (thread == nullptr || !thread->usable()) {  // a forked child has no such thread
            thread = new spawning_thread;
        }
        mine = thread;
    }
    return mine->run(options);
}

}  // namespace corozk::testing::detail
