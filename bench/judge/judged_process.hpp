// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/testing/process_guard.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// A process that speaks in lines on its standard output and is spoken to on its standard input.
/// It ends with this object, and what else is in its process group.
class judged_process {
public:
    struct start {
        start() = default;

        std::vector<std::string> command;
        std::map<std::string, std::string> environment;
        std::filesystem::path folder;  ///< for files of its own
    };

    /// @param readable called whenever it has said something, or has ended
    judged_process(const boost::asio::any_io_executor& executor,
                   const start& s,
                   std::function<void()> readable);
    ~judged_process();
    judged_process(const judged_process&) = delete;
    judged_process& operator=(const judged_process&) = delete;

    void send(std::string_view line);

    /// Ends its standard input.
    void close_input();

    /// What it has said and was not taken yet. @throws protocol_error if a line is too long
    std::deque<std::string>& lines();

    /// Whether there is some of that already, without another reading.
    bool has_lines() const noexcept { return !lines_.empty(); }

    /// Whether its output has ended.
    bool closed() const noexcept { return closed_; }

    /// SIGSTOP, and returns when it stands still.
    void stop() { process_->stop(); }
    void cont() { process_->cont(); }

    /// SIGKILL, to it and its process group; to those who are left of that if it has ended.
    void kill();

    /// How it ended, and its last words on standard error; nothing while it runs. All that it has
    /// said can be taken then.
    std::optional<std::string> end();

    pid_t pid() const noexcept { return process_->pid(); }

    /// Whether it has ended by itself, with an exit code.
    bool has_exited() const;

private:
    void wait();
    void read();

    std::filesystem::path errors_;
    boost::asio::posix::stream_descriptor output_;
    int input_ = -1;
    std::function<void()> readable_;
    std::string unread_;
    std::deque<std::string> lines_;
    bool closed_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::optional<testing::process_guard> process_;
};

}  // namespace corozk::bench
