// SPDX-License-Identifier: Apache-2.0
// What the owners work on: it fences by tokens, and records all that it is told.
#pragma once

#include "history.hpp"
#include <corozk/testing/turn_clock.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <istream>
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
///   WHO putting ITEM     "ok", or "enough" if no more items are wanted
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
    /// How often each client has done what, all lives of it together.
    using progress = std::map<std::string, std::map<deed, std::size_t>>;
    progress done_so_far() const;
    /// The highest token so far.
    std::int64_t highest() const;

    /// Whoever enters next gets no answer until let_go().
    void hold_next_entry();
    /// The client that waits for that answer; empty if there is none.
    std::string held() const;
    /// ... and nobody else is going to wait for it.
    void let_go();

    /// No fault is in effect any more, and none has an after-effect.
    void settle();
    void refuse_items();

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
    std::string answer(const std::string& line);
    std::string answer_access(record r);
    void note(record r);
    void note_turn_of_client(std::istream& words);
    void note_turns(const turns& seen);

    mutable std::mutex mutex_;
    history history_;
    std::int64_t highest_ = 0;
    progress done_so_far_;
    bool refuses_items_ = false;
    bool hold_next_ = false;
    std::string held_;
    std::map<std::string, effect> effects_;
    std::unique_ptr<impl> impl_;
    std::uint16_t port_ = 0;
};

}  // namespace corozk::chaos
