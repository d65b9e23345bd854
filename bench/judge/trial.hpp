// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "judge/judged_process.hpp"
#include "judge/line_order.hpp"
#include "judge/referee.hpp"
#include "stage.hpp"
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What one round of a recipe of somebody else's is about.
struct trial_setup {
    trial_setup() = default;

    std::size_t waiters = 1;  ///< besides those who hold it at first
    std::size_t limit = 1;
};

/// Processes that want a lock: the first ones hold it until the others have queued, then it is
/// passed on until each has had it.
class trial {
public:
    trial(job& j, const trial_setup& setup);
    trial(const trial&) = delete;
    trial& operator=(const trial&) = delete;

    /// Adds one repetition. @throws protocol_error if it cannot be judged
    boost::asio::awaitable<void> run(result& r);

    const referee& judgement() const noexcept { return referee_; }
    std::size_t kills() const noexcept { return kills_; }
    /// So often it has passed from one to another, as far as one can tell.
    std::size_t handed_over() const;

private:
    boost::asio::awaitable<void> fill();
    boost::asio::awaitable<void> settle();
    boost::asio::awaitable<void> play(result& r);
    boost::asio::awaitable<void> pass_on();
    boost::asio::awaitable<void> let_go();
    boost::asio::awaitable<void> close();
    boost::asio::awaitable<void> pause();

    void add_figures(result& r) const;
    bool first_ones_fail() const;
    void start_one();
    void listen();
    void listen_or_throw(clock::time_point now);
    template <class Function>
    void unless_refused(std::size_t who, clock::time_point now, Function f);
    void read_all(clock::time_point now);
    bool has_more_to_hear() const;
    void judge_lines();
    bool is_doubtful(const line_order::line& l) const;
    void note_ends(clock::time_point now);
    void note_end(std::size_t who, clock::time_point now);
    bool may_start() const;
    void check_starts(clock::time_point now) const;
    bool stalled(clock::time_point now);
    void act(clock::time_point now);
    void tell(std::size_t who);
    bool over() const;
    std::string text_for(std::string_view text, std::size_t who) const;

    job& job_;
    const trial_setup setup_;
    std::string path_;
    std::size_t total_;
    referee referee_;
    line_order order_;
    std::optional<line_order::line> doubtful_;  ///< an accusation that is kept back
    testing::temporary_directory folder_;
    std::unique_ptr<boost::asio::steady_timer> timer_;
    std::deque<judged_process> processes_;
    std::vector<clock::time_point> started_;
    std::vector<bool> ended_;
    std::size_t kills_ = 0;
    std::size_t grants_before_ = 0;
    std::size_t passed_on_ = 0;
    bool passing_ = false;
    bool closing_ = false;
    bool stalled_ = false;
    std::exception_ptr problem_;
    /// Of a contender that does not keep to the protocol, and since when. What others have said
    /// before is judged first.
    std::exception_ptr refusal_;
    clock::time_point refused_at_;
};

}  // namespace corozk::bench
