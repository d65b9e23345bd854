// SPDX-License-Identifier: Apache-2.0
// What the owners work on: it fences by tokens, and records all that it is told.
#pragma once

#include "history.hpp"
#include <corozk/testing/turn_clock.hpp>

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
///   WHO turn TOOK IN_KERNEL PAGE_FAULTS PREEMPTIONS
///                        the longest turn of the client's loop since it last said so; nanoseconds
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
    /// The highest token so far.
    std::int64_t highest() const;

    /// Whoever enters next gets no answer until let_go().
    void hold_next_entry();
    /// The client that waits for that answer; empty if there is none.
    std::string held() const;
    /// ... and nobody else is going to wait for it.
    void let_go();

    /// A fault is in effect, until it is over (and a little longer: what it causes takes its time).
    void begin_of(const std::string& fault);
    void end_of(const std::string& fault);

    struct turns {
        turns() = default;
        testing::turn_clock::turn of_clients;  ///< the longest of any client's loop
        std::chrono::nanoseconds of_nobody{};  ///< the same of a loop that does nothing
    };
    /// Told of while each fault was in effect; "" means none.
    std::map<std::string, turns> longest_turns() const;
    void note_turn_of_nobody(std::chrono::nanoseconds turn);

private:
    using clock = std::chrono::steady_clock;
    struct effect {
        int under_way = 0;
        clock::time_point until{};
        turns longest;
    };
    struct impl;
    bool holds(const std::string& line) const;
    void note_turns(const turns& seen);
    std::string answer(const std::string& line);

    mutable std::mutex mutex_;
    history history_;
    std::int64_t highest_ = 0;
    std::map<std::string, std::size_t> entries_;
    bool hold_next_ = false;
    std::string held_;
    std::map<std::string, effect> effects_;
    std::unique_ptr<impl> impl_;
    std::uint16_t port_ = 0;
};

}  // namespace corozk::chaos
