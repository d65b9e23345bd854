// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "crew.hpp"
#include "growth.hpp"
#include "histogram.hpp"
#include "session_use.hpp"
#include "table.hpp"
#include "turns.hpp"
#include "usage.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

namespace corozk::bench {

namespace {

/// Of the whole time.
constexpr std::size_t samples_wanted = 24;
/// In each sample, at the memory: what sessions know of the queue comes and goes with each round of it.
constexpr int looks_per_sample = 20;

/// A lock that is passed on and on: who has released it queues again.
class endless_handovers {
public:
    endless_handovers(job& j, std::vector<client>& clients) : job_(j), clients_(clients) {
        std::string path = j.on.fresh_path("lock");
        for (client& c : clients)
            locks_.emplace_back(c, path);
    }

    boost::asio::awaitable<void> run() {
        crew all(co_await boost::asio::this_coro::executor, job_.on.shown());
        for (std::size_t i = 0; i < job_.wanted.waiters.front(); ++i)
            all.add(take_turns(locks_[i % locks_.size()]));
        all.add(look_on());
        co_await all.finish("passing a lock on", passed_, 0);
    }

    const std::vector<occupancy>& seen() const noexcept { return seen_; }

private:
    boost::asio::awaitable<void> take_turns(lock& l) {
        while (!over_) {
            ownership held = co_await l.acquire();
            clock::time_point released_at = turns_.granted(false, held.fencing_token());
            clock::time_point now = clock::now();
            ++handovers_;
            ++passed_;
            if (released_at != clock::time_point{})
                times_.add(to_microseconds(now - released_at));
            turns_.released(false, clock::now());
            co_await held.release();
        }
    }

    boost::asio::awaitable<void> look_on() {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
        const clock::duration interval = clock::duration(job_.wanted.duration) / samples_wanted;
        const clock::time_point began = clock::now();
        while (seen_.size() < samples_wanted) {
            begin_sample();
            for (int i = 1; i <= looks_per_sample; ++i) {
                timer.expires_at(sample_began_ + interval * i / looks_per_sample);
                co_await timer.async_wait(boost::asio::use_awaitable);
                look();
            }
            add_sample(began);
        }
        over_ = true;
    }

    void begin_sample() {
        times_ = histogram();
        handovers_ = 0;
        use_ = use_of(clients_);
        least_.reset();
        sample_began_ = clock::now();
    }

    void look() {
        const occupancy now{
            usage::heap_bytes(), usage::resident_bytes(), usage::descriptors(), usage::threads()};
        least_ = least_of(least_.value_or(now), now);
    }

    void add_sample(clock::time_point began) {
        const double seconds = to_seconds(clock::now() - sample_began_);
        const auto handovers = static_cast<double>(handovers_);
        const session_use use = use_of(clients_) - use_;
        seen_.push_back(least_.value());
        result row;
        row.set("implementation", "ours").set("recipe", "lock");
        row.set("case", fmt::format("after {}", seconds_text(to_seconds(clock::now() - began))));
        row.set("passed_percent", 100 * seen_.size() / samples_wanted);
        row.set("waiters", job_.wanted.waiters.front()).set("sessions", clients_.size());
        row.set("processes", 1).set("repeat", std::size_t{1});
        row.add("handovers_per_s", handovers / seconds);
        if (times_.count() > 0) {
            row.add("handover_us.p50", times_.quantile(0.5));
            row.add("handover_us.p99", times_.quantile(0.99));
        }
        if (handovers_ > 0)
            row.add("requests_per_handover", use.requests / handovers);
        row.add("heap_bytes", least_->heap_bytes).add("resident_bytes", least_->resident_bytes);
        row.add("descriptors", static_cast<double>(least_->descriptors));
        row.add("threads", static_cast<double>(least_->threads));
        job_.results.push_back(std::move(row));
    }

    job& job_;
    std::vector<client>& clients_;
    std::deque<lock> locks_;
    turns turns_;
    bool over_ = false;

    std::vector<occupancy> seen_;
    std::size_t passed_ = 0;  ///< over the whole time

    // Of the sample that has begun.
    clock::time_point sample_began_{};
    std::size_t handovers_ = 0;
    histogram times_;  // of constant size, however many there are
    session_use use_;
    std::optional<occupancy> least_;
};

std::string table_of_samples(const std::vector<result>& rows) {
    table t({"",
             "hand-overs/s",
             "p50",
             "p99",
             "req/h.o.",
             "heap",
             "resident",
             "descriptors",
             "threads"});
    for (const result& r : rows) {
        t.add({std::string(r.text("case")),
               count_text(r.median("handovers_per_s")),
               only_if(r, "handover_us.p50", microseconds_text),
               only_if(r, "handover_us.p99", microseconds_text),
               only_if(r, "requests_per_handover", figure_text),
               bytes_text(r.median("heap_bytes")),
               bytes_text(r.median("resident_bytes")),
               count_text(r.median("descriptors")),
               count_text(r.median("threads"))});
    }
    return t.str();
}

}  // namespace

boost::asio::awaitable<void> run_endure(job& j) {
    std::vector<client> clients = co_await j.on.connect(j.wanted.sessions);
    std::string grown;
    {
        endless_handovers all(j, clients);
        co_await all.run();
        grown = growth(all.seen());
    }
    co_await stage::close(clients);
    j.output = heading(j) + "\n" + table_of_samples(j.results);
    j.output += fmt::format(
        "\n{} coroutines on {} sessions hand one lock over, and queue again; every grant is "
        "checked. Each row covers the time since the previous one; memory, descriptors and threads "
        "are the least that this process occupied in it\n",
        count_text(j.wanted.waiters.front()),
        count_text(j.wanted.sessions));
    j.output += grown.empty()
                    ? "Nothing grows: the last quarter of the time compared with the second.\n"
                    : "GROWS, the last quarter of the time compared with the "
                      "second: " +
                          grown + "\n";
    if (!grown.empty())
        j.exit_code = 1;
}

void check_endure(const settings& s) {
    require_one("--waiters", s.waiters);
    const char* problem = nullptr;
    if (s.waiters.front() < 2)
        problem = "--waiters: a lock is handed over between at least two waiters";
    else if (s.repeat > 1)
        problem = "--repeat: it runs once, for --duration";
    if (problem)
        throw usage_error(problem);
}

}  // namespace corozk::bench
