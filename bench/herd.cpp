// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "contestants.hpp"
#include "erase_tree.hpp"
#include "lock_crowd.hpp"
#include "table.hpp"
#include "time_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace corozk::bench {

namespace {

/// All queue, then the lock is released now and then: what does each release stir up?
template <class Lock>
class release_run : lock_crowd<Lock> {
    using base = lock_crowd<Lock>;
    using base::clients_;
    using base::ended_;
    using base::places_;
    using base::problem_;
    using base::stage_;
    using typename base::place;

public:
    using base::base;
    using base::until_all_are_gone;

    boost::asio::awaitable<void> run(std::size_t releases, result& r) {
        co_await this->take_all_locks();
        auto before = use_of(clients_);
        before_ = before;
        auto waiter = [this](place& p, Lock& lock, std::size_t who) {
            return wait_and_hold(p, lock, who);
        };
        co_await this->queue(before, waiter);
        co_await quiet();
        all_wait_ = true;
        for (std::size_t i = 0; i < releases; ++i) {
            auto earlier = use_of(clients_);
            ended_ = 0;
            place& p = places_.front();
            auto held = std::move(p.held.front());
            p.held.erase(p.held.begin());
            auto began = clock::now();
            p.owners.released(p.locks.front().shared(i), began);
            co_await held.release();
            while (ended_ == 0)
                co_await pause();
            r.add("handover_us", to_microseconds(this->ended_at_ - began));
            co_await quiet();
            auto caused = use_of(clients_) - earlier;
            r.add("requests_per_handover", caused.requests);
            r.add("notifications_per_handover", caused.notifications);
            r.add("listings_per_handover", caused.listings);
            r.add("bytes_per_handover", caused.bytes);
            ++released_;
        }
    }

    const std::string& folder() const { return places_.front().path; }

    /// How far it is.
    std::string reached() const {
        if (all_wait_)
            return fmt::format("{} releases", count_text(static_cast<double>(released_)));
        return fmt::format(
            "{} of them in the queue",
            count_text(static_cast<double>(this->queued(use_of(clients_) - before_))));
    }

private:
    boost::asio::awaitable<void> wait_and_hold(place& p, Lock& lock, std::size_t who) {
        auto held = co_await lock.acquire(who);
        p.owners.granted(lock.shared(who), held.fencing_token());
        p.held.push_back(std::move(held));
    }

    boost::asio::awaitable<void> pause() {
        boost::asio::steady_timer timer(this->executor_, std::chrono::milliseconds(2));
        co_await timer.async_wait(boost::asio::use_awaitable);
        if (problem_)
            std::rethrow_exception(problem_);
    }

    /// Until nothing has been on its way for a while.
    boost::asio::awaitable<void> quiet() {
        session_use seen;
        for (int still = 0; still < 25;) {
            co_await pause();
            auto now = use_of(clients_);
            bool same = now.on_their_way == 0 && now.requests == seen.requests &&
                        now.notifications == seen.notifications;
            still = same ? still + 1 : 0;
            seen = now;
            stage_.shown().update(this->label("releasing"));
        }
    }

    session_use before_;
    bool all_wait_ = false;
    std::size_t released_ = 0;
};

/// What sessions that could not be closed in time have left at the server, which is done with
/// their requests then.
boost::asio::awaitable<void> tidy_up(job& j, std::string folder) {
    j.on.shown().update("tidying up");
    auto clients = co_await j.on.connect(1);
    co_await erase_tree(clients.front(), std::move(folder));
    co_await stage::close(clients);
}

/// @param given_up  why, if it was
template <class Lock>
boost::asio::awaitable<void> count_releases(job& j,
                                            const contest_setup& setup,
                                            result& r,
                                            std::string& given_up) {
    auto executor = co_await boost::asio::this_coro::executor;
    auto clients = co_await j.on.connect(setup.sessions);
    release_run<Lock> run(j.on, setup, clients);
    {
        time_limit limit(executor, j.wanted.budget, [&] {
            given_up =
                fmt::format("did not end in {} s: {}", j.wanted.budget.count(), run.reached());
            stage::start_closing(clients);  // ends the work, too
        });
        try {
            co_await run.run(std::min(j.wanted.releases, setup.waiters), r);
        } catch (const std::runtime_error&) {
            if (given_up.empty())
                throw;
        }
    }
    co_await stage::close(clients);  // ends those who still wait
    co_await run.until_all_are_gone();
    if (!given_up.empty())
        co_await tidy_up(j, run.folder());
}

result describe(job& j, const contest_setup& setup) {
    result row;
    row.set("implementation", setup.implementation).set("recipe", setup.recipe);
    row.set("waiters", setup.waiters).set("sessions", setup.sessions).set("processes", 1);
    row.set("threads", 1).set("repeat", j.wanted.repeat).set("releases", j.wanted.releases);
    return row;
}

boost::asio::awaitable<result> measure(job& j, const contest_setup& setup) {
    result row = describe(j, setup);
    raw_loop::samples floor;
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        floor.add(j.on.floor(floor_samples));
        std::string given_up;
        auto run = [&]<class Lock>(kind_of<Lock>) {
            return count_releases<Lock>(j, setup, row, given_up);
        };
        co_await with_contestant(setup, run);
        if (given_up.empty())
            continue;
        result failed = describe(j, setup);
        failed.set("failure", given_up);
        co_return failed;
    }
    stage::add_floor(row, floor);
    row.add("floor_ratio", row.median("handover_us") / floor.handover.p50());
    co_return row;
}

std::vector<contest_setup> all_setups(const settings& wanted) {
    std::vector<std::size_t> numbers = wanted.waiters;
    std::sort(numbers.begin(), numbers.end());
    std::vector<contest_setup> all;
    for (const auto& recipe : wanted.recipes) {
        for (const auto& implementation : wanted.implementations) {
            if (!is_implemented(recipe, implementation))
                continue;
            for (std::size_t waiters : numbers) {
                contest_setup setup(implementation, waiters);
                setup.recipe = recipe;
                setup.readers = wanted.readers;
                setup.limit = wanted.limits.front();
                setup.sessions = std::min(wanted.sessions, waiters);
                all.push_back(setup);
            }
        }
    }
    return all;
}

/// Rows, and what is to be said of those that were given up or not tried at all.
class herd_rows {
public:
    /// Whether the same took too long with fewer waiters; then it has its row.
    bool is_hopeless(job& j, const contest_setup& setup) {
        auto at = given_up_.find(title_of(setup));
        if (at == given_up_.end())
            return false;
        result row = describe(j, setup);
        std::string why = fmt::format(
            "{} waiters did not end in {} s", count_text(at->second), j.wanted.budget.count());
        row.set("not_run", why);
        add_without_figures(setup, "not run");
        remarks_ += fmt::format(
            "{}, {} waiters: not run: {}\n", title_of(setup), count_text(setup.waiters), why);
        j.results.push_back(std::move(row));
        return true;
    }

    void add(job& j, const contest_setup& setup, result row) {
        if (auto failure = row.text("failure"); !failure.empty()) {
            given_up_.emplace(title_of(setup), setup.waiters);
            add_without_figures(setup, "given up");
            remarks_ += fmt::format(
                "{}, {} waiters: {}\n", title_of(setup), count_text(setup.waiters), failure);
        } else {
            add_figures(setup, row);
        }
        j.results.push_back(std::move(row));
    }

    std::string str() const { return table_.str(); }
    const std::string& remarks() const { return remarks_; }

private:
    void add_without_figures(const contest_setup& setup, const char* what) {
        table_.add({title_of(setup), count_text(setup.waiters), count_text(setup.sessions), what});
    }

    void add_figures(const contest_setup& setup, const result& row) {
        table_.add({title_of(setup),
                    count_text(setup.waiters),
                    count_text(setup.sessions),
                    count_text(row.median("requests_per_handover")),
                    count_text(row.median("notifications_per_handover")),
                    count_text(row.median("listings_per_handover")),
                    bytes_text(row.median("bytes_per_handover")),
                    with_spread(row, "handover_us", microseconds_text),
                    ratio_text(row.median("floor_ratio"))});
    }

    table table_{{"",
                  "waiters",
                  "sessions",
                  "requests",
                  "notifications",
                  "listings",
                  "bytes",
                  "until the next has it",
                  "/ floor"}};
    std::string remarks_;
    std::map<std::string, std::size_t> given_up_;  ///< with so many waiters
};

}  // namespace

boost::asio::awaitable<void> run_herd(job& j) {
    herd_rows rows;
    for (const contest_setup& setup : all_setups(j.wanted)) {
        if (rows.is_hopeless(j, setup))
            continue;
        result row = co_await measure(j, setup);
        rows.add(j, setup, std::move(row));
    }
    j.output = heading(j) + "\nWhat one release causes until all is quiet again (medians of " +
               std::to_string(j.wanted.releases * j.wanted.repeat) + "):\n\n" + rows.str();
    j.output +=
        "\nherd lock: everybody watches the one node; herd election: everybody watches the "
        "leader's node and lists the folder when it goes\nfloor: one session's delete to another "
        "session's watch event, bare C client, measured before each row\n";
    j.output += rows.remarks();
}

}  // namespace corozk::bench
