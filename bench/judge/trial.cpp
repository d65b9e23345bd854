// SPDX-License-Identifier: Apache-2.0
#include "judge/trial.hpp"

#include "judge/server_counts.hpp"
#include "table.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace corozk::bench {

namespace {

/// So many processes may be about to begin: virtual machines that start together are all slow.
constexpr std::size_t starting_at_once = 4;

/// How often it is looked whether a process has ended, or nothing moves.
constexpr auto look_interval = std::chrono::milliseconds(20);

/// From the end of its output to the end of a process.
constexpr std::chrono::milliseconds end_limit(2'000);

/// All have queued when the server has had the same nodes and watches for so long.
constexpr auto settled_after = std::chrono::milliseconds(500);
constexpr auto settle_interval = std::chrono::milliseconds(50);
constexpr auto settle_limit = std::chrono::seconds(10);
/// Of a server that is not ours, which is not asked.
constexpr auto blind_settling = std::chrono::seconds(1);

/// From a reading of all pipes on, so many make the order of its lines certain.
constexpr std::size_t readings_at_once = 3;

/// Of fewer samples the 99th percentile is the largest one.
constexpr std::size_t enough_for_p99 = 100;

/// For ending by themselves.
constexpr auto close_limit = std::chrono::seconds(3);

referee::rules rules_for(const job& j, const trial_setup& setup) {
    referee::rules r;
    r.limit = setup.limit;
    r.fair = j.wanted.fair;
    r.holds_itself = j.wanted.holds_itself;
    r.surely_queued = j.wanted.queued_after;
    return r;
}

/// Runs it, and says whose fault it is.
template <class Function>
void about(std::size_t who, Function f) {
    try {
        f();
    } catch (const protocol_error& e) {
        throw protocol_error(fmt::format("contender {} {}", who + 1, e.what()));
    }
}

}  // namespace

trial::trial(job& j, const trial_setup& setup)
    : job_(j),
      setup_(setup),
      path_(j.on.fresh_path("judged")),
      total_(setup.waiters + setup.limit),
      referee_(rules_for(j, setup), total_),
      order_(total_) {}

std::string trial::text_for(std::string_view text, std::size_t who) const {
    const std::pair<std::string_view, std::string> values[] = {
        {"{hosts}", job_.on.hosts()},
        {"{path}", path_},
        {"{number}", std::to_string(who + 1)},
        {"{limit}", std::to_string(setup_.limit)},
        {"{session-timeout}", std::to_string(job_.wanted.session_timeout.count())}};
    std::string result(text);
    for (const auto& [name, value] : values) {
        for (std::size_t at = 0; (at = result.find(name, at)) != result.npos; at += value.size())
            result.replace(at, name.size(), value);
    }
    return result;
}

void trial::start_one() {
    std::size_t who = processes_.size();
    judged_process::start s;
    for (const auto& word : job_.wanted.judged_command)
        s.command.push_back(text_for(word, who));
    s.environment = {{"COROZK_BENCH_HOSTS", text_for("{hosts}", who)},
                     {"COROZK_BENCH_PATH", text_for("{path}", who)},
                     {"COROZK_BENCH_NUMBER", text_for("{number}", who)},
                     {"COROZK_BENCH_LIMIT", text_for("{limit}", who)},
                     {"COROZK_BENCH_SESSION_TIMEOUT_MS", text_for("{session-timeout}", who)}};
    s.folder = folder_.path() / std::to_string(who + 1);
    started_.push_back(clock::now());
    ended_.push_back(false);
    processes_.emplace_back(timer_->get_executor(), s, [this] {
        listen();
        timer_->cancel();
    });
}

/// A line that the protocol does not know ends the trial, after what else was said has been judged.
template <class Function>
void trial::unless_refused(std::size_t who, clock::time_point now, Function f) {
    try {
        about(who, f);
    } catch (const protocol_error&) {
        if (refusal_)
            return;
        refusal_ = std::current_exception();
        refused_at_ = now;
    }
}

void trial::read_all(clock::time_point now) {
    order_.begin_reading();
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        std::deque<std::string> lines;
        unless_refused(i, now, [&] { lines = std::exchange(processes_[i].lines(), {}); });
        for (std::size_t k = 0; k < lines.size() && !closing_; ++k)
            unless_refused(i, now, [&] { order_.add(i, parse_statement(lines[k]), now); });
    }
}

/// Whoever said something first is not known from which pipe was read first: see line_order. What
/// is said meanwhile is left for the next time, so that a process that never stops talking stops
/// nothing else.
void trial::listen_or_throw(clock::time_point now) {
    for (std::size_t i = 0; i < readings_at_once; ++i) {
        read_all(now);
        judge_lines();
        if (order_.empty())
            break;
    }
    note_ends(now);
    const bool judged = now >= refused_at_ + look_interval && !doubtful_;
    if (refusal_ && (judged || now >= refused_at_ + end_limit))
        std::rethrow_exception(refusal_);
}

/// Who dies gives it back before its end can be seen: the accusation waits for that, longer where the
/// output of a holder has ended already.
bool trial::is_doubtful(const line_order::line& l) const {
    auto patience = look_interval;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (referee_.holds(i) && processes_[i].closed())
            patience = end_limit;
    }
    return l.what.kind == statement_kind::holding && referee_.holders() >= setup_.limit &&
           clock::now() < l.read + patience;
}

void trial::judge_lines() {
    for (;;) {
        auto next = doubtful_ ? std::exchange(doubtful_, std::nullopt) : order_.take();
        if (!next)
            return;
        if (closing_)
            continue;
        if (next->what.kind == statement_kind::holding) {
            for (std::size_t i = 0; i < processes_.size(); ++i) {
                if (i != next->who && referee_.holds(i))
                    note_end(i, next->read);
            }
        }
        if (is_doubtful(*next)) {
            doubtful_ = std::move(next);
            return;
        }
        about(next->who, [&] { referee_.said(next->who, next->what, next->read); });
    }
}

bool trial::has_more_to_hear() const {
    return doubtful_ || !order_.empty() ||
           std::any_of(
               processes_.begin(), processes_.end(), [](const auto& p) { return p.has_lines(); });
}

void trial::note_ends(clock::time_point now) {
    for (std::size_t i = 0; i < processes_.size(); ++i)
        note_end(i, now);
}

void trial::note_end(std::size_t who, clock::time_point now) {
    if (ended_[who])
        return;
    auto how = processes_[who].end();
    bool says_more =
        !order_.empty(who) || processes_[who].has_lines() || (doubtful_ && doubtful_->who == who);
    if (!how || says_more)
        return;  // what it said last comes first
    ended_[who] = true;
    if (!closing_)
        about(who, [&] { referee_.ended(who, now, *how); });
}

void trial::listen() {
    if (problem_)
        return;
    try {
        listen_or_throw(clock::now());
    } catch (...) {
        problem_ = std::current_exception();
    }
}

void trial::check_starts(clock::time_point now) const {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (referee_.silent(i) && now - started_[i] > job_.wanted.deadline)
            throw protocol_error(
                fmt::format("contender {} has not said 'waiting' within {} s: is "
                            "its output flushed after each line?",
                            i + 1,
                            job_.wanted.deadline.count()));
    }
}

bool trial::stalled(clock::time_point now) {
    clock::duration patience = job_.wanted.stall;
    // A session lives on for its timeout, rounded up to the server's ticks.
    if (kills_ > 0 || referee_.faults(fault_kind::death) > 0)
        patience += 2 * job_.wanted.session_timeout;
    auto since = referee_.idle_since();
    if (!since || now - *since < patience)
        return false;
    referee_.stalled(now - *since);
    return true;
}

boost::asio::awaitable<void> trial::pause() {
    auto until = clock::now();
    if (doubtful_ || !has_more_to_hear())
        until += look_interval;
    if (passing_ && !job_.wanted.holds_itself) {
        for (std::size_t i = 0; i < processes_.size(); ++i) {
            if (referee_.holds(i))
                until = std::min(until, referee_.held_since(i) + job_.wanted.hold);
        }
    }
    timer_->expires_at(until);
    co_await timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    listen();
    if (problem_)
        std::rethrow_exception(problem_);
    if (closing_)
        co_return;
    auto now = clock::now();
    check_starts(now);
    stalled_ = stalled_ || stalled(now);
}

/// Whether somebody who should have held it from the beginning has ended, and nobody else will.
bool trial::first_ones_fail() const {
    if (processes_.size() != setup_.limit || referee_.grants() >= setup_.limit)
        return false;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (referee_.silent(i) || referee_.waits(i))
            return false;
    }
    return true;
}

/// Those who hold it first come first; where the order counts, one waiter after the other has queued.
bool trial::may_start() const {
    std::size_t next = processes_.size();
    if (next < setup_.limit)
        return true;
    bool in_turn = !job_.wanted.fair || referee_.has_queued(next - 1, clock::now());
    return next < total_ && referee_.grants() >= setup_.limit && in_turn;
}

/// Those who hold it first, then the waiters.
boost::asio::awaitable<void> trial::fill() {
    while (!stalled_) {
        std::size_t silent = 0;
        for (std::size_t i = 0; i < processes_.size(); ++i)
            silent += referee_.silent(i) ? 1 : 0;
        bool may = may_start();
        if (may && silent < starting_at_once) {
            start_one();
            continue;
        }
        if ((processes_.size() == total_ && silent == 0) || (!may && first_ones_fail()))
            co_return;
        job_.on.shown().update("processes that wait", referee_.waiting(), setup_.waiters);
        co_await pause();
    }
}

boost::asio::awaitable<void> trial::settle() {
    auto began = clock::now();
    auto same_since = began;
    std::pair<std::int64_t, std::int64_t> seen;
    for (auto next = began; !stalled_;) {
        auto now = clock::now();
        if (!job_.on.owns_servers()) {
            if (now - began > blind_settling)
                co_return;
        } else if (now >= next) {
            std::pair current(job_.on.nodes(), job_.on.watches());
            if (current != seen)
                same_since = now;
            seen = current;
            next = now + settle_interval;
            if (now - same_since > settled_after || now - began > settle_limit)
                co_return;
        }
        co_await pause();
    }
}

/// Tells those to release who have held it long enough, or kills them.
void trial::act(clock::time_point now) {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (!referee_.holds(i) || now < referee_.held_since(i) + job_.wanted.hold)
            continue;
        if (kills_ < job_.wanted.kills && referee_.waiting() > 0) {
            ++kills_;
            processes_[i].kill();
            referee_.killed(i, clock::now());
            ended_[i] = true;
        } else if (!job_.wanted.holds_itself) {
            tell(i);
        }
    }
}

void trial::tell(std::size_t who) {
    // The order of these two decides what a hand-over is measured from.
    referee_.told(who, clock::now());
    processes_[who].send("release");
}

bool trial::over() const {
    if (stalled_)
        return true;
    std::size_t passed_on = referee_.grants() - grants_before_;
    if (passed_on >= setup_.waiters)
        return true;
    if (referee_.waiting() > 0)
        return false;
    // Who decides itself may never let go of it, and may ask again.
    return referee_.holders() == 0 ||
           (job_.wanted.holds_itself && clock::now() - referee_.moved() >= job_.wanted.stall);
}

boost::asio::awaitable<void> trial::pass_on() {
    passing_ = true;
    while (!over()) {
        // Who acts on half of what was said would be the one who is wrong.
        if (!has_more_to_hear())
            act(clock::now());
        job_.on.shown().update("passing it on", referee_.grants() - grants_before_, setup_.waiters);
        co_await pause();
    }
}

/// Those who had it last give it back as well: a recipe may fail at just that.
boost::asio::awaitable<void> trial::let_go() {
    std::vector<std::pair<std::size_t, std::size_t>> last;  // who, and its turns until then
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (referee_.holds(i) || referee_.leaves(i))
            last.emplace_back(i, referee_.turns(i));
    }
    auto has_it = [this](const auto& l) { return referee_.turns(l.first) == l.second; };
    auto until = clock::now() + job_.wanted.hold + job_.wanted.stall;
    while (!stalled_ && std::any_of(last.begin(), last.end(), has_it)) {
        auto now = clock::now();
        for (const auto& l : last) {
            bool due = referee_.holds(l.first) && has_it(l) &&
                       now >= referee_.held_since(l.first) + job_.wanted.hold;
            if (due && !job_.wanted.holds_itself && !has_more_to_hear())
                tell(l.first);
        }
        if (now >= until)
            break;
        co_await pause();
    }
    for (const auto& l : last) {
        if (!stalled_ && has_it(l) && referee_.leaves(l.first))
            referee_.stuck(l.first, clock::now() - referee_.held_since(l.first));
    }
}

std::size_t trial::handed_over() const {
    // Who decides itself how long it holds it may have passed it on before all have queued.
    return job_.wanted.holds_itself ? referee_.passed_on() : passed_on_;
}

boost::asio::awaitable<void> trial::run(result& r) {
    std::exception_ptr problem;
    try {
        co_await play(r);
    } catch (const protocol_error&) {
        problem = std::current_exception();
    }
    add_figures(r);
    if (problem)
        std::rethrow_exception(problem);
    co_await close();
}

boost::asio::awaitable<void> trial::play(result& r) {
    timer_ = std::make_unique<boost::asio::steady_timer>(co_await boost::asio::this_coro::executor);
    auto began = clock::now();
    co_await fill();
    r.add("queue_s", to_seconds(clock::now() - began));
    co_await settle();
    grants_before_ = referee_.grants();
    server_counts counts(job_.on);
    auto before = co_await counts.take();
    began = clock::now();
    co_await pass_on();
    r.add("drain_s", to_seconds(clock::now() - began));
    auto after = co_await counts.take();
    passed_on_ = referee_.grants() - grants_before_;
    auto passed_on = static_cast<double>(passed_on_);
    r.add("handovers", static_cast<double>(handed_over()));
    if (before && after && passed_on > 0) {
        auto requests = static_cast<double>(after->received - before->received);
        auto notifications = static_cast<double>(after->notifications - before->notifications);
        auto bytes = static_cast<double>(after->bytes - before->bytes);
        r.add("requests_per_handover", requests / passed_on);
        if (after->counts_notifications)
            r.add("notifications_per_handover", notifications / passed_on);
        r.add("bytes_per_handover", bytes / passed_on);
    }
    co_await let_go();
    while (refusal_)
        co_await pause();  // until it is thrown
}

void trial::add_figures(result& r) const {
    const latencies& times = referee_.handovers();
    if (!times.empty()) {
        r.add("handover_us.p50", times.p50()).add("handover_us.max", times.max()).add(times);
        if (times.size() >= enough_for_p99)
            r.add("handover_us.p99", times.p99());
    }
    const latencies& takeovers = referee_.takeovers();
    if (!takeovers.empty())
        r.add("takeover_us.p50", takeovers.p50()).add("takeover_us.max", takeovers.max());
    auto most = [&r](std::string_view key, std::size_t number) {
        r.add(key, static_cast<double>(number), of_repetitions::most);
    };
    most("most_holders", referee_.most_holders());
    most("overtakings", referee_.overtakings());
    most("losses", referee_.losses());
    r.add("kills_made", static_cast<double>(kills_));
    r.add("comparable", static_cast<double>(referee_.comparable()));
    for (fault_kind kind :
         {fault_kind::exclusion, fault_kind::order, fault_kind::stall, fault_kind::death})
        most(fmt::format("faults.{}", to_string(kind)), referee_.faults(kind));
}

/// Lets them end by themselves, for a while: the server need not wait for their sessions' ends then.
boost::asio::awaitable<void> trial::close() {
    closing_ = true;
    for (auto& process : processes_)
        process.close_input();
    auto until = clock::now() + close_limit;
    while (clock::now() < until && std::find(ended_.begin(), ended_.end(), false) != ended_.end())
        co_await pause();
}

}  // namespace corozk::bench
