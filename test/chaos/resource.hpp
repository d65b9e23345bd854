// SPDX-License-Identifier: Apache-2.0
// What the owners work on: it fences by tokens, and records all that it is told.
#pragma once

#include "history.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace corozk::chaos {

/// A server on a port of its own and a thread of its own. One line in, one line out:
///
///   WHO enter TOKEN      "ok", or "late" if a later token was here
///   WHO use TOKEN        the same
///   WHO left TOKEN       and so on for the other deeds: "ok"
///   WHO turn NANOSECONDS the longest turn of the client's loop so far
///
/// Thread safety: all members from any thread.
class resource {
public:
    resource();
    ~resource();
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    history told() const;
    /// How often each client has entered, all lives of it together.
    std::map<std::string, std::size_t> entries() const;
    std::chrono::nanoseconds longest_turn() const;
    /// The client that is inside; empty if the last one has left.
    std::string owner() const;

private:
    struct impl;
    std::string answer(const std::string& line);

    mutable std::mutex mutex_;
    history history_;
    std::int64_t highest_ = 0;
    std::string owner_;
    std::map<std::string, std::size_t> entries_;
    std::chrono::nanoseconds longest_turn_{};
    std::unique_ptr<impl> impl_;
    std::uint16_t port_ = 0;
};

}  // namespace corozk::chaos
