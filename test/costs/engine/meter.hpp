// SPDX-License-Identifier: Apache-2.0
// Counts what operations of some sessions send and receive, in steps that do not depend on time.
#pragma once

#include "cost_table.hpp"
#include "stopped_clock.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/fault_proxy.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace corozk::testing {

/**
 * @brief Some sessions, each through a proxy that counts frames, on a thread whose clock stands still.
 *
 * The order of everything is fixed, so that the counts are: the sessions take turns, in each of which only
 * that one talks with the server, until it has nothing more to say; all answers and events that it waits
 * for arrive together; and nothing happens because time passes (no ping, no look a moment later) before
 * all sessions are quiet. Then the clock is turned, until that causes nothing more either.
 */
class meter {
public:
    using work = std::function<boost::asio::awaitable<void>()>;

    meter(std::string group, std::size_t sessions);
    ~meter();
    meter(const meter&) = delete;
    meter& operator=(const meter&) = delete;

    client& operator[](std::size_t number) { return sessions_.at(number).zk; }

    /// A node that no other group uses; it does not exist.
    const std::string& path() const noexcept { return path_; }

    /// Begins something, which need not end before the sessions are closed, and waits for what comes of
    /// it.
    void begin(const work& what);

    /// The same for many at the same time.
    void begin_many(std::size_t times, const work& what);

    /// Does something, and everything that comes of it.
    void run(work what);

    /// Does something, and everything that comes of it, and adds its cost to the lines.
    void count(const std::string& name, work what);

    /// The same for several steps, each of which calls the functions above.
    void count_steps(std::string name, const std::function<void()>& steps);

    const std::vector<cost_line>& lines() const noexcept { return lines_; }

    /// Closes the sessions. Everything that was started must have ended.
    void close();

private:
    struct tally {
        cost sum;
        std::map<std::string, std::uint64_t> by_operation;
    };

    struct session {
        session(boost::asio::io_context& context, meter& owner);
        bool busy() const;

        std::atomic<bool> hears_at_once =
            true;             ///< outside its turns: while it connects and closes
        std::string unheard;  ///< Until it is told; the proxy's thread's.
        fault_proxy proxy;
        client zk;
    };

    void observe(const frame_info& frame);
    tally so_far() const;
    std::uint64_t frames() const;
    void start(work what);
    void finish(work what);
    void tell_problem();
    void take_turn(session& s);
    void take_turns();
    void run_ready();
    void turn_clock();
    void settle();

    std::deque<work> works_;  // coroutines of the context refer to them
    stopped_clock clock_;
    boost::asio::io_context context_;
    std::string group_;
    std::string path_;
    mutable std::mutex mutex_;  // guards the tally, which the proxies' threads change
    tally tally_;
    std::deque<session> sessions_;
    std::size_t open_ = 0;  // of the works have not ended
    std::exception_ptr problem_;
    std::vector<cost_line> lines_;
};

/**
 * @brief Measures, and compares with the recorded table (a Catch2 assertion): `body` counts the operations of
 * a recipe with so many sessions. With COROZK_RECORD_COSTS in the environment it records them instead.
 */
void costs_of(const std::string& recipe,
              std::size_t sessions,
              const std::function<void(meter&)>& body);

}  // namespace corozk::testing
