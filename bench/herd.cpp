// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "contestants.hpp"
#include "lock_crowd.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

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
        auto waiter = [this](place& p, Lock& lock, std::size_t who) {
            return wait_and_hold(p, lock, who);
        };
        co_await this->queue(before, waiter);
        co_await quiet();
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
        }
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
};

template <class Lock>
boost::asio::awaitable<void> count_releases(job& j, const contest_setup& setup, result& r) {
    auto clients = co_await j.on.connect(setup.sessions);
    release_run<Lock> run(j.on, setup, clients);
    co_await run.run(j.wanted.releases, r);
    co_await stage::close(clients);  // ends those who still wait
    co_await run.until_all_are_gone();
}

/// More waiters than this take too long: what they do until all have queued, or at a release, grows
/// with their square.
std::size_t most_waiters(const contest_setup& setup) {
    if (setup.implementation == "ours")
        return 0;
    return setup.recipe == "election" && setup.implementation == "herd" ? 1'000 : 10'000;
}

boost::asio::awaitable<result> measure(job& j, const contest_setup& setup) {
    result row;
    row.set("implementation", setup.implementation).set("recipe", setup.recipe);
    row.set("waiters", setup.waiters).set("sessions", setup.sessions).set("processes", 1);
    row.set("threads", 1).set("repeat", j.wanted.repeat).set("releases", j.wanted.releases);
    raw_loop::samples floor;
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        floor.add(j.on.floor(floor_samples));
        auto run = [&]<class Lock>(kind_of<Lock>) { return count_releases<Lock>(j, setup, row); };
        co_await with_contestant(setup, run);
    }
    stage::add_floor(row, floor);
    row.add("floor_ratio", row.median("handover_us") / floor.handover.p50());
    co_return row;
}

std::vector<contest_setup> all_setups(const settings& wanted, std::string& remarks) {
    std::vector<contest_setup> all;
    for (const auto& recipe : wanted.recipes) {
        for (const auto& implementation : wanted.implementations) {
            if (!is_implemented(recipe, implementation))
                continue;
            for (std::size_t waiters : wanted.waiters) {
                contest_setup setup(implementation, waiters);
                setup.recipe = recipe;
                setup.readers = wanted.readers;
                setup.limit = wanted.limits.front();
                setup.sessions = std::min(wanted.sessions, waiters);
                std::size_t most = most_waiters(setup);
                if (most == 0 || waiters <= most) {
                    all.push_back(setup);
                    continue;
                }
                remarks += fmt::format("{}: not with {} waiters, which would take too long\n",
                                       title_of(setup),
                                       count_text(static_cast<double>(waiters)));
            }
        }
    }
    return all;
}

}  // namespace

boost::asio::awaitable<void> run_herd(job& j) {
    table t({"",
             "waiters",
             "sessions",
             "requests",
             "notifications",
             "listings",
             "bytes",
             "until the next has it",
             "/ floor"});
    std::string remarks;
    for (const contest_setup& setup : all_setups(j.wanted, remarks)) {
        result row = co_await measure(j, setup);
        t.add({title_of(setup),
               count_text(static_cast<double>(setup.waiters)),
               count_text(static_cast<double>(setup.sessions)),
               count_text(row.median("requests_per_handover")),
               count_text(row.median("notifications_per_handover")),
               count_text(row.median("listings_per_handover")),
               bytes_text(row.median("bytes_per_handover")),
               with_spread(row, "handover_us", microseconds_text),
               ratio_text(row.median("floor_ratio"))});
        j.results.push_back(std::move(row));
    }
    j.output = heading(j) + "\nWhat one release causes until all is quiet again (medians of " +
               std::to_string(j.wanted.releases * j.wanted.repeat) + "):\n\n" + t.str();
    j.output +=
        "\nherd lock: everybody watches the one node; herd election: everybody watches the "
        "leader's node and lists the folder when it goes\nfloor: one session's delete to another "
        "session's watch event, bare C client, measured before each row\n";
    j.output += remarks;
}

}  // namespace corozk::bench
