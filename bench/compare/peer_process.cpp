// SPDX-License-Identifier: Apache-2.0
#include "compare/peer_process.hpp"

#include "usage.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace corozk::bench {

namespace {

/// How often it is looked for an answer: rarely enough not to disturb what is measured.
constexpr auto interval = std::chrono::milliseconds(5);

/// A process that works uses more than this of a core.
constexpr auto idle_window = std::chrono::seconds(15);
constexpr double idle_cpu_seconds = 0.05;

constexpr std::size_t kept_lines = 3;

int open_fifo(const std::string& path, int flags) {
    if (::mkfifo(path.c_str(), 0600) != 0)
        throw std::system_error(errno, std::generic_category(), path);
    // For reading and writing: then neither the order in which the two ends are opened matters nor
    // what happens to the other one.
    int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | flags);
    if (descriptor < 0)
        throw std::system_error(errno, std::generic_category(), path);
    return descriptor;
}

}  // namespace

peer_process::peer_process(std::vector<std::string> program,
                           const std::vector<std::string>& arguments) {
    std::string requests = folder_.path() / "requests";
    std::string answers = folder_.path() / "answers";
    requests_ = open_fifo(requests, 0);
    answers_ = open_fifo(answers, O_NONBLOCK);
    testing::process_options options;
    options.command = std::move(program);
    options.command.push_back(requests);
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    options.output = answers;
    process_.emplace(options);
}

peer_process::~peer_process() {
    process_.reset();
    ::close(requests_);
    ::close(answers_);
}

void peer_process::send(std::string_view line) {
    std::string text(line);
    text += '\n';
    if (::write(requests_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw peer_failure("it no longer accepts requests");
}

void peer_process::read() {
    std::array<char, 65'536> buffer;
    for (;;) {
        ssize_t count = ::read(answers_, buffer.data(), buffer.size());
        if (count <= 0)
            break;
        unread_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = unread_.find('\n', begin)) != unread_.npos; begin = end + 1) {
        std::string_view line(unread_.data() + begin, end - begin);
        boost::system::error_code problem;
        auto value = boost::json::parse(line, problem);
        if (!problem && value.is_object() && value.get_object().contains("event")) {
            messages_.push_back(std::move(value.get_object()));
            continue;
        }
        log_.emplace_back(line);
        if (log_.size() > kept_lines)
            log_.pop_front();
    }
    unread_.erase(0, begin);
}

void peer_process::ended() {
    int status = process_->exit_status().value_or(0);
    std::string text = status < 0 ? fmt::format("killed by signal {}", -status)
                                  : fmt::format("ended with exit code {}", status);
    for (const auto& line : log_)
        text += "; " + line;
    throw peer_failure(text);
}

std::optional<boost::json::object> peer_process::poll() {
    bool running = process_->running();  // before reading: what it said last is not lost
    read();
    while (!messages_.empty()) {
        auto message = std::move(messages_.front());
        messages_.pop_front();
        const auto& event = message["event"];
        if (event == "note") {
            std::string what(message["what"].as_string());
            auto at = std::find_if(
                notes_.begin(), notes_.end(), [&](const auto& n) { return n.first == what; });
            if (at == notes_.end())
                at = notes_.insert(at, {what, 0});
            ++at->second;
            continue;
        }
        if (event == "failure")
            throw peer_failure(std::string(message["what"].as_string()));
        return message;
    }
    if (!running)
        ended();
    return std::nullopt;
}

boost::asio::awaitable<boost::json::object> peer_process::next(std::chrono::seconds limit) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    auto began = clock::now();
    auto looked = began;
    double cpu = cpu_seconds();
    for (;;) {
        if (auto message = poll())
            co_return std::move(*message);
        auto now = clock::now();
        if (now - began > limit)
            throw peer_failure(fmt::format("not done after {} s", limit.count()));
        if (now - looked > idle_window) {
            double used = cpu_seconds() - cpu;
            if (used < idle_cpu_seconds)
                throw peer_failure(
                    fmt::format("stuck: nothing moved for {} s", idle_window.count()));
            cpu += used;
            looked = now;
        }
        timer.expires_after(interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
}

double peer_process::cpu_seconds() const {
    return usage::process_cpu_seconds(pid());
}

std::size_t peer_process::threads() const {
    return usage::threads(pid());
}

std::string peer_process::take_notes() {
    std::string text;
    for (const auto& [what, count] : notes_) {
        text += text.empty() ? "" : ", ";
        text += count == 1 ? what : fmt::format("{} ({} times)", what, count);
    }
    notes_.clear();
    return text;
}

}  // namespace corozk::bench
