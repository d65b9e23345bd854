// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::bench {

/// What passing a turn on from session to session needs by the C client and the server alone: many
/// sessions in one poll loop, whose contenders, one node each, take turns around a ring. It blocks
/// its thread.
class raw_ring {
public:
    /// What a session sends to pass the turn on, and what the next one waits for.
    enum class form {
        erase,           ///< the delete of its node, which the next one watches
        check_erase,     ///< the same, and in one transaction a check that the next one's is there
        announce,        ///< check, create and delete what the next one watches, delete its node
        announce_watch,  ///< the same; then the two watches of the session's next contender
    };

    /// Works in this folder, which must exist, with two sessions at the least.
    raw_ring(const std::string& hosts,
             std::string folder,
             int session_timeout_ms,
             std::size_t sessions);
    ~raw_ring();
    raw_ring(const raw_ring&) = delete;
    raw_ring& operator=(const raw_ring&) = delete;

    /// Passes it on so many times. @return how long each took, from before it is sent until the
    /// next one's watch is called
    latencies pass_on(form how, std::size_t turns);

    /// Called now and then while it works; may throw.
    std::function<void(std::size_t done, std::size_t total)> on_progress;

private:
    struct contender;
    struct seat;

    void connect();
    void refresh(seat& s);
    void step();
    template <class Condition>
    void until(Condition holds);
    void settle();

    void queue(form how, std::size_t turns);
    void create(contender& c);
    void erase(contender& c);
    void watch_turn(contender& c, const std::string& path);
    void watch_own(contender& c);
    void watch_both(contender& c);
    void pass(form how, contender& from, const contender& to);

    std::string folder_;
    int epoll_ = -1;
    std::size_t rounds_ = 0;
    int awaited_ = 0;         ///< the type of the event that tells of a turn
    std::size_t holder_ = 0;  ///< the number of the contender whose turn it is
    clock::time_point told_at_{};
    clock::time_point refreshed_at_{};
    bool heard_ = true;  ///< anything since then
    std::vector<std::unique_ptr<contender>> contenders_;
    std::vector<std::unique_ptr<seat>> seats_;  // when they close they still tell the contenders
};

}  // namespace corozk::bench
