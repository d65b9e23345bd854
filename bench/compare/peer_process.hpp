// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace corozk::bench {

/// A peer did not do what it was asked for; the text says how it failed.
class peer_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A child process that takes requests and answers with lines of JSON (see peers/README.md). It
/// ends with this object.
class peer_process {
public:
    /// Starts it: program, the file with the requests, arguments.
    peer_process(std::vector<std::string> program, const std::vector<std::string>& arguments);
    ~peer_process();
    peer_process(const peer_process&) = delete;
    peer_process& operator=(const peer_process&) = delete;

    void send(std::string_view line);

    /// The next message that has come; nothing if there is none yet.
    /// @throws peer_failure if the message says so, or there will not be any more.
    std::optional<boost::json::object> poll();

    /// Waits for the next message. @throws peer_failure as above, after the limit, or when the
    /// process has done nothing at all for some seconds
    boost::asio::awaitable<boost::json::object> next(std::chrono::seconds limit);

    pid_t pid() const noexcept { return process_->pid(); }
    double cpu_seconds() const;
    std::size_t threads() const;

    /// What happened to it besides, since the last call: "connection SUSPENDED (4 times)".
    std::string take_notes();

private:
    void read();
    [[noreturn]] void ended();

    testing::temporary_directory folder_;
    int requests_ = -1;
    int answers_ = -1;
    std::optional<testing::process_guard> process_;
    std::string unread_;
    std::deque<boost::json::object> messages_;
    std::deque<std::string> log_;  ///< the last lines that are no messages
    std::vector<std::pair<std::string, std::size_t>> notes_;
};

}  // namespace corozk::bench
