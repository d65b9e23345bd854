// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "compare/neighbour_of_peer.hpp"
#include "contest_rows.hpp"
#include "contestants.hpp"
#include "lock_crowd.hpp"
#include "neighbours.hpp"
#include "quiet.hpp"
#include "table.hpp"
#include "time_limit.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::bench {

namespace {

/// Releases come at a steady pace, whoever's lock it is; if one takes longer, at once after it.
constexpr auto release_interval = std::chrono::milliseconds(100);

/// All queue, then the lock is released now and then, and who has released it queues again: what
/// does each release stir up, and what does a client notice of it that has nothing to do with it?
template <class Lock>
class release_run : lock_crowd<Lock> {
    using base = lock_crowd<Lock>;
    using base::clients_;
    using base::ended_;
    using base::places_;
    using base::problem_;
    using base::stage_;
    using typename base::grant_type;
    using typename base::place;

public:
    using base::base;
    using base::until_all_are_gone;

    boost::asio::awaitable<void> run(std::size_t releases, result& r) {
        co_await this->take_all_locks();
        for (std::size_t i = 0; i < places_.front().held.size(); ++i)
            holders_.push_back({&places_.front().locks.front(), 0});
        auto before = use_of(clients_);
        before_ = before;
        auto waiter = [this](place& p, Lock& lock, std::size_t who) {
            return wait_and_hold(p, lock, who);
        };
        co_await this->queue(before, waiter);
        co_await quiet();
        all_wait_ = true;
        neighbours beside(stage_);
        auto idle = co_await rest(releases, beside);
        auto busy = co_await release(releases, beside, r);
        add_experience(r, stage_, idle, busy, releases);
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
    struct holder {
        Lock* lock;
        std::size_t who;
    };

    /// The time of so many releases, and the same looks at the clients, but no release.
    boost::asio::awaitable<neighbours::experience> rest(std::size_t releases, neighbours& beside) {
        co_await beside.begin();
        auto next = clock::now();
        for (std::size_t i = 0; i < releases; ++i) {
            co_await until(next);
            co_await quiet();
            next += release_interval;
        }
        co_await until(next);
        co_return co_await beside.end();
    }

    boost::asio::awaitable<neighbours::experience> release(std::size_t releases,
                                                           neighbours& beside,
                                                           result& r) {
        co_await beside.begin();
        auto began = clock::now();
        auto next = began;
        for (std::size_t i = 0; i < releases; ++i) {
            co_await until(next);
            co_await release_once(r);
            next = std::max(next + release_interval, clock::now());
        }
        co_await until(next);
        r.add("releases_per_s", static_cast<double>(releases) / to_seconds(clock::now() - began));
        co_return co_await beside.end();
    }

    boost::asio::awaitable<void> release_once(result& r) {
        place& p = places_.front();
        auto earlier = use_of(clients_);
        ended_ = 0;
        // All readers, the last of which lets somebody in.
        const std::size_t leaving = Lock::permits(this->setup_) > 0 ? 1 : p.held.size();
        auto last = static_cast<std::ptrdiff_t>(leaving);
        std::vector<grant_type> held(std::make_move_iterator(p.held.begin()),
                                     std::make_move_iterator(p.held.begin() + last));
        p.held.erase(p.held.begin(), p.held.begin() + last);
        std::vector<holder> gone(holders_.begin(), holders_.begin() + last);
        holders_.erase(holders_.begin(), holders_.begin() + last);
        clock::time_point began;
        for (std::size_t i = 0; i < leaving; ++i) {
            began = clock::now();
            p.owners.released(gone[i].lock->shared(gone[i].who), began);
            co_await held[i].release();
        }
        while (ended_ == 0)
            co_await pause();
        r.add("handover_us", to_microseconds(this->first_ended_at_ - began));
        co_await quiet();
        auto caused = use_of(clients_) - earlier;
        r.add("requests_per_handover", caused.requests);
        r.add("notifications_per_handover", caused.notifications);
        r.add("listings_per_handover", caused.listings);
        r.add("bytes_per_handover", caused.bytes);
        ++released_;
        for (const holder& h : gone)
            this->spawn(wait_and_hold(p, *h.lock, h.who));
        co_await quiet(3);
    }

    boost::asio::awaitable<void> wait_and_hold(place& p, Lock& lock, std::size_t who) {
        auto held = co_await lock.acquire(who);
        p.owners.granted(lock.shared(who), held.fencing_token());
        p.held.push_back(std::move(held));
        holders_.push_back({&lock, who});
    }

    boost::asio::awaitable<void> until(clock::time_point t) {
        boost::asio::steady_timer timer(this->executor_, t);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }

    boost::asio::awaitable<void> pause() {
        co_await until(clock::now() + quiet_interval);
        if (problem_)
            std::rethrow_exception(problem_);
    }

    /// Until nothing has been on its way for a while.
    auto quiet(int looks = 25) {
        return until_quiet(stage_, clients_, looks, [this] {
            if (problem_)
                std::rethrow_exception(problem_);
            stage_.shown().update(this->label("releasing"));
        });
    }

    session_use before_;
    bool all_wait_ = false;
    std::size_t released_ = 0;
    std::deque<holder> holders_;  ///< in the order of what is held
};

/// What sessions that could not be closed in time have left at the server, which is done with
/// their requests then.
boost::asio::awaitable<void> tidy_up(job& j, std::string folder) {
    j.on.shown().update("tidying up");
    auto clients = co_await j.on.connect(1);
    co_await clients.front().erase_tree(std::move(folder),
                                        boost::asio::as_tuple(boost::asio::use_awaitable));
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
            co_await run.run(j.wanted.releases, r);
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

boost::asio::awaitable<result> measure(job& j, const contest_setup& setup, std::size_t repeat) {
    result row = describe(j, setup);
    raw_loop::samples floor;
    for (std::size_t i = 0; i < repeat; ++i) {
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

/// ZooKeeper's own is held once per session, and its program takes no orders about how long.
std::vector<std::string> peers_with_locks(const settings& wanted) {
    std::vector<std::string> peers;
    bool locks = std::count(wanted.recipes.begin(), wanted.recipes.end(), "lock") > 0;
    for (const auto& peer : wanted.peers) {
        if (locks && peer != "zookeeper")
            peers.push_back(peer);
    }
    return peers;
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
            "{} did not end in {} s", counted(at->second, "waiter"), j.wanted.budget.count());
        row.set("not_run", why);
        add_without_figures(setup, "not run");
        remarks_ += fmt::format(
            "{}, {}: not run: {}\n", title_of(setup), counted(setup.waiters, "waiter"), why);
        j.results.push_back(std::move(row));
        return true;
    }

    void add(job& j, const contest_setup& setup, result row) {
        if (auto failure = row.text("failure"); !failure.empty()) {
            given_up_.emplace(title_of(setup), setup.waiters);
            add_without_figures(setup, "given up");
            remarks_ += fmt::format(
                "{}, {}: {}\n", title_of(setup), counted(setup.waiters, "waiter"), failure);
        } else {
            add_figures(setup, row);
        }
        j.results.push_back(std::move(row));
    }

    void add_peer(job& j, result row) {
        std::string title(row.text("title"));
        auto number = static_cast<std::size_t>(row.number("waiters"));
        std::string waiters = count_text(number);
        if (auto failure = row.text("failure"); !failure.empty()) {
            remarks_ += fmt::format("{}, {}: {}\n", title, counted(number, "waiter"), failure);
        } else {
            add_neighbours({title, waiters, waiters}, row);
        }
        j.results.push_back(std::move(row));
    }

    std::string str() const { return table_.str(); }
    std::string neighbours() const { return neighbours_.str(); }
    const std::string& remarks() const { return remarks_; }

private:
    void add_without_figures(const contest_setup& setup, const char* what) {
        table_.add({title_of(setup), count_text(setup.waiters), count_text(setup.sessions), what});
    }

    void add_figures(const contest_setup& setup, const result& row) {
        table_.add({title_of(setup),
                    count_text(setup.waiters),
                    count_text(setup.sessions),
                    with_spread(row, "requests_per_handover", count_text),
                    with_spread(row, "notifications_per_handover", count_text),
                    with_spread(row, "listings_per_handover", count_text),
                    bytes_text(row.median("bytes_per_handover")),
                    with_spread(row, "handover_us", microseconds_text),
                    ratio_text(row.median("floor_ratio"))});
        add_neighbours({title_of(setup), count_text(setup.waiters), count_text(setup.sessions)},
                       row);
    }

    void add_neighbours(std::vector<std::string> line, const result& row) {
        add_reads(line, row, "");
        // Of the locks of peers it is not known: they are kept for so long and passed on.
        line.push_back(row.has("releases_per_s") ? figure_text(row.median("releases_per_s")) : "");
        bool known = row.has("server_cpu_us_per_turn");
        double cpu = row.median("server_cpu_us_per_turn");
        // What the server does anyway is subtracted.
        line.push_back(!known ? "" : cpu < 0 ? "within the noise" : microseconds_text(cpu));
        neighbours_.add(std::move(line));
        for (std::string_view role : told_roles) {
            if (!row.has(neighbour_key(role, false) + ".p50"))
                continue;
            line = {fmt::format("  at the {}", role), "", ""};
            add_reads(line, row, role);
            neighbours_.add(std::move(line));
        }
    }

    static void add_reads(std::vector<std::string>& line,
                          const result& row,
                          std::string_view role) {
        std::string idle = neighbour_key(role, true);
        std::string busy = neighbour_key(role, false);
        for (const auto& key : {idle + ".p50", idle + ".p99", idle + ".max", busy + ".p50"})
            line.push_back(microseconds_text(row.median(key)));
        for (const auto& key : {busy + ".p99", busy + ".max"})
            line.push_back(with_spread(row, key, microseconds_text));
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
    table neighbours_{{"",
                       "waiters",
                       "sessions",
                       "idle p50",
                       "p99",
                       "max",
                       "released p50",
                       "p99",
                       "max",
                       "releases/s",
                       "server CPU"}};
    std::string remarks_;
    std::map<std::string, std::size_t> given_up_;  ///< with so many waiters
};

/// How soon what is done at the leader is seen at each kind of server; nothing of one server alone.
std::string sight_by_role(job& j) {
    constexpr std::size_t samples = 100;
    std::map<std::string, latencies, std::less<>> seen;
    for (std::size_t i = 0; j.on.servers() > 1 && i < j.on.servers(); ++i) {
        j.on.shown().update("measuring the floor at each server", i, j.on.servers());
        seen[j.on.role(i)].add(j.on.floor_at(i, samples));
    }
    std::string text;
    boost::json::object figures;
    for (std::string_view role : told_roles) {
        auto at = seen.find(role);
        if (at == seen.end())
            continue;
        text += fmt::format("{} {} at the {}",
                            text.empty() ? "a delete at the leader -> event after" : ",",
                            microseconds_text(at->second.p50()),
                            role);
        figures[role] = at->second.p50();
    }
    if (!seen.empty())
        j.facts["event_after_us"] = std::move(figures);
    return seen.empty() ? text : text + " (p50)\n";
}

}  // namespace

boost::asio::awaitable<void> run_herd(job& j) {
    herd_rows rows;
    std::string sight = sight_by_role(j);
    const std::vector<contest_setup> setups = all_setups(j.wanted);
    if (setups.size() > 1) {
        // The first rows would pay for what the server's Java compiles and for the growth of its heap.
        auto fewer = [](const contest_setup& a, const contest_setup& b) {
            return a.waiters < b.waiters;
        };
        const auto& largest = *std::max_element(setups.begin(), setups.end(), fewer);
        const result unused = co_await measure(j, largest, 1);
    }
    for (const contest_setup& setup : setups) {
        if (rows.is_hopeless(j, setup))
            continue;
        result row = co_await measure(j, setup, j.wanted.repeat);
        rows.add(j, setup, std::move(row));
    }
    for (const auto& peer : peers_with_locks(j.wanted)) {
        for (std::size_t waiters : j.wanted.waiters) {
            if (waiters > j.wanted.sessions)
                continue;  // a session for each
            result row = co_await measure_neighbour_of_peer(j, peer, waiters, release_interval);
            rows.add_peer(j, std::move(row));
        }
    }
    j.output = heading(j) + sight +
               "\nWhat one release causes until all clients are idle again (medians "
               "of " +
               std::to_string(j.wanted.releases * j.wanted.repeat) + ", least .. most):\n\n" +
               rows.str();
    j.output += fmt::format(
        "\nHow long another client's read takes, {} a second at {}, while all wait and while the "
        "lock is released (releases/s: {} at most);\nand the servers' CPU time for a release, the "
        "next grant and queueing again, beyond what they need without it:\n\n",
        neighbours::reads_per_second,
        sight.empty() ? "one server" : "each server",
        std::chrono::seconds(1) / release_interval);
    j.output += rows.neighbours();
    j.output +=
        "\nherd lock: all clients watch one node; herd election: all candidates watch the leader's "
        "node and list the parent when it is deleted\nfloor: one session's delete to another "
        "session's watch event, bare C client, measured before each row\n";
    j.output += rows.remarks();
}

}  // namespace corozk::bench
