// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace corozk::bench {

struct raw_session;

/// What the C client and the server need by themselves: one poll loop, two sessions, no coroutine
/// and nothing of corozk. It blocks its thread.
class raw_loop {
public:
    /// Works in this folder, which must exist.
    raw_loop(const std::string& hosts, std::string folder, int session_timeout_ms)
        : raw_loop(hosts, hosts, std::move(folder), session_timeout_ms) {}
    /// The session that waits for events connects to `second_hosts`.
    raw_loop(const std::string& hosts,
             const std::string& second_hosts,
             std::string folder,
             int session_timeout_ms);
    ~raw_loop();
    raw_loop(const raw_loop&) = delete;
    raw_loop& operator=(const raw_loop&) = delete;

    struct samples {
        latencies create, exists, erase;  ///< round trips of one session
        latencies create_and_erase;       ///< both, one after the other
        latencies handover;               ///< one session erases -> the other one's watch is called
        latencies handover_in_row;        ///< the same with all watches set before

        void add(const samples& other);
    };

    /// One by one.
    samples measure(std::size_t count);

    struct cycles {
        latencies times;
        double cpu_us_per_request = 0;
    };

    /// Creates and erases a node, one after the other.
    cycles create_and_erase(std::size_t count);

    struct throughput {
        double create_per_s = 0;
        double exists_per_s = 0;
        double erase_per_s = 0;
        double cpu_us_per_request = 0;
    };

    /// Many on their way at a time.
    throughput pipeline(std::size_t count, std::size_t in_flight);

    /// Sets one node again and again, many on their way at a time.
    double sets_per_second(std::size_t count, std::size_t in_flight);

    /// The same with transactions of four: a check, a create, a delete, a set.
    double transactions_per_second(std::size_t count, std::size_t in_flight);

    /// Sets one node again and again, each time at the version that the last set made. @return the
    /// time of each.
    latencies conditional_sets(std::size_t count);

    /// Makes sequential nodes, which stay.
    void fill(const std::string& folder, const std::string& prefix, std::size_t count);

    /// Lists a folder again and again. @return the time of each
    latencies listings(const std::string& folder, std::size_t count);

    /// Called now and then while it works; may throw.
    std::function<void(std::size_t done, std::size_t total)> on_progress;

    void make(const std::string& path);

private:
    enum class kind { create, exists, erase };

    void step();
    void wait();
    void wait_for_event(std::size_t seen);
    void start(raw_session& s, kind what, const std::string& path, bool watched = false);
    std::string path(std::size_t number) const;
    template <class Send>
    double rate_of(std::size_t count, std::size_t in_flight, Send send);
    void run_all(raw_session& s, kind what, std::size_t count, std::size_t in_flight, bool watched);

    std::string folder_;
    std::unique_ptr<raw_session> first_;
    std::unique_ptr<raw_session> second_;
};

}  // namespace corozk::bench
