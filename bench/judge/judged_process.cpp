// SPDX-License-Identifier: Apache-2.0
#include "judge/judged_process.hpp"

#include "judge/statement.hpp"
#include "operation/path.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace corozk::bench {

namespace {

constexpr std::size_t longest_line = 4'096;
constexpr int reads_at_once = 16;

int make_fifo(const std::filesystem::path& path, int flags) {
    if (::mkfifo(path.c_str(), 0600) != 0)
        throw std::system_error(errno, std::generic_category(), path);
    int descriptor = ::open(path.c_str(), O_CLOEXEC | flags);
    if (descriptor < 0)
        throw std::system_error(errno, std::generic_category(), path);
    return descriptor;
}

/// The last line that is not empty, as it can be shown.
std::string last_line(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string last;
    for (std::string line; std::getline(stream, line);) {
        if (!line.empty())
            last = line.substr(0, 200);
    }
    return corozk::detail::printable(last);
}

/// How it has ended; without a pid while it runs. Nothing if it is no child: until it is reaped, nobody
/// else gets its number.
std::optional<siginfo_t> end_of(pid_t pid) {
    siginfo_t info{};
    bool is_child =
        ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    return is_child ? std::optional(info) : std::nullopt;
}

}  // namespace

judged_process::judged_process(const boost::asio::any_io_executor& executor,
                               const start& s,
                               std::function<void()> readable)
    : errors_(s.folder / "errors"), output_(executor), readable_(std::move(readable)) {
    std::filesystem::create_directories(s.folder);
    testing::process_options options;
    options.command = s.command;
    options.environment = s.environment;
    options.output = s.folder / "output";
    options.errors = errors_;
    options.input = s.folder / "input";
    // A reader comes first: then the process finds one, and there is an end when it has gone.
    output_.assign(make_fifo(options.output, O_RDONLY | O_NONBLOCK));
    // For reading and writing: it need not be there, and no signal comes when it has gone.
    input_ = make_fifo(options.input, O_RDWR | O_NONBLOCK);
    try {
        process_.emplace(options);
    } catch (const std::system_error& e) {  // such as a script whose interpreter is missing
        throw protocol_error(e.what());
    }
    wait();
}

judged_process::~judged_process() {
    *alive_ = false;
    kill();
    process_.reset();
    close_input();
}

void judged_process::close_input() {
    if (input_ >= 0)
        ::close(input_);
    input_ = -1;
}

void judged_process::wait() {
    output_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [this, alive = alive_](const boost::system::error_code& ec) {
                           if (ec || !*alive)
                               return;
                           read();
                           // Anybody may destroy this object then.
                           auto tell = readable_;
                           if (!closed_)
                               wait();
                           tell();
                       });
}

void judged_process::read() {
    std::array<char, 4'096> buffer;
    // Not for ever, where it never stops talking.
    for (int i = 0; i < reads_at_once && !closed_; ++i) {
        ssize_t count = ::read(output_.native_handle(), buffer.data(), buffer.size());
        if (count < 0)
            break;
        if (count == 0) {
            closed_ = true;
            // What it was about to say.
            if (!unread_.empty() && !unread_.ends_with('\n'))
                unread_ += '\n';
        }
        unread_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = unread_.find('\n', begin)) != unread_.npos; begin = end + 1)
        lines_.push_back(unread_.substr(begin, end - begin));
    unread_.erase(0, begin);
}

std::deque<std::string>& judged_process::lines() {
    read();
    if (unread_.size() > longest_line)
        throw protocol_error(fmt::format("has said {} bytes and ended no line", unread_.size()));
    return lines_;
}

void judged_process::send(std::string_view line) {
    std::string text(line);
    text += '\n';
    // It may have ended, or read nothing: both are found by what it says.
    [[maybe_unused]] auto ignored = ::write(input_, text.data(), text.size());
}

void judged_process::kill() {
    // Also if it has ended: what it has started may run on.
    if (process_ && end_of(process_->pid()))
        ::kill(-process_->pid(), SIGKILL);
}

bool judged_process::has_exited() const {
    auto its_end = end_of(pid());
    return its_end && its_end->si_code == CLD_EXITED;
}

std::optional<std::string> judged_process::end() {
    auto its_end = end_of(pid());
    if (!its_end || its_end->si_pid == 0)
        return std::nullopt;
    read();
    bool exited = its_end->si_code == CLD_EXITED;
    std::string text = fmt::format(
        "{} {}", exited ? "ended with exit code" : "was ended by signal", its_end->si_status);
    if (std::string said = last_line(errors_); !said.empty())
        text += fmt::format(" (on standard error: {})", said);
    return text;
}

}  // namespace corozk::bench
