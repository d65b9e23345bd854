// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contest.hpp"
#include "session_use.hpp"
#include "statistics.hpp"
#include "table.hpp"
#include "turns.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corozk::bench {

/// Coroutines that want locks, and the locks: what all contests have in common. For any kind of
/// lock:
///
///     Lock(client&, path, setup)
///     co_await Lock::prepare(client&, path)   before the first one is made
///     co_await lock.acquire(who)              gives something movable with `fencing_token()` and
///                                             `co_await release()`; waiters count from 1, and 0 is
///                                             for those that hold it until everybody has queued
///     lock.shared(who)                        whether others may hold it at the same time
///     Lock::permits(setup)                    how many others, or 0 if there is no such limit
///     lock.waiting()                          how many wait; where it is known
template <class Lock>
class lock_crowd {
public:
    lock_crowd(stage& s, const contest_setup& setup, std::vector<client>& clients)
        : stage_(s), setup_(setup), clients_(clients) {}
    lock_crowd(const lock_crowd&) = delete;
    lock_crowd& operator=(const lock_crowd&) = delete;

    /// After the sessions were closed: everybody has to be gone before this goes.
    boost::asio::awaitable<void> until_all_are_gone() {
        boost::asio::steady_timer timer(executor_);
        while (alive_ > 0) {
            timer.expires_after(std::chrono::milliseconds(5));
            co_await timer.async_wait(boost::asio::use_awaitable);
        }
    }

protected:
    using grant_type = typename decltype(std::declval<Lock&>().acquire(0))::value_type;

    /// One lock, as each session sees it.
    struct place {
        std::string path;
        std::vector<Lock> locks;
        std::vector<grant_type> held;
        turns owners;
    };

    void spawn(boost::asio::awaitable<void> work) {
        ++alive_;
        boost::asio::co_spawn(
            executor_, std::move(work), [this](std::exception_ptr problem) { ended(problem); });
    }

    void ended(const std::exception_ptr& problem) {
        --alive_;
        ended_at_ = clock::now();
        if (++ended_ == 1)
            first_ended_at_ = ended_at_;
        if (problem && !problem_)
            problem_ = problem;
    }

    boost::asio::awaitable<void> take(place& p, grant_type& held) {
        Lock& lock = p.locks.front();
        held = co_await lock.acquire(0);
        p.owners.granted(lock.shared(0), held.fencing_token());
    }

    std::string label(const char* what) const {
        return title_of(setup_) + ", " + count_text(setup_.waiters) + " waiters: " + what;
    }

    /// `not_shown`: so many of them, which end first, are left out of what is shown.
    boost::asio::awaitable<void> until_ended(std::size_t count,
                                             const char* what,
                                             std::size_t not_shown = 0) {
        constexpr auto interval = std::chrono::milliseconds(100);
        constexpr auto patience = std::chrono::seconds(60);
        std::string text = label(what);
        boost::asio::steady_timer timer(executor_);
        std::size_t seen = 0;
        auto moved = clock::now();
        while (ended_ < count && !problem_) {
            timer.expires_after(interval);
            co_await timer.async_wait(boost::asio::use_awaitable);
            stage_.shown().update(text, ended_ - std::min(ended_, not_shown), count - not_shown);
            if (ended_ != seen) {
                seen = ended_;
                moved = clock::now();
            } else if (clock::now() - moved > patience) {
                throw std::runtime_error(text + ": nothing moves any more");
            }
        }
        if (problem_)
            std::rethrow_exception(problem_);
        ended_ = 0;
    }

    /// The locks are held until everybody has queued.
    boost::asio::awaitable<void> take_all_locks() {
        executor_ = co_await boost::asio::this_coro::executor;
        std::size_t permits = Lock::permits(setup_);
        std::size_t holders = std::max<std::size_t>(permits, 1);
        places_.resize(setup_.locks);
        for (place& p : places_) {
            p.path = stage_.fresh_path(setup_.recipe);
            co_await Lock::prepare(clients_.front(), p.path);
            p.locks.reserve(clients_.size());
            for (auto& c : clients_)
                p.locks.emplace_back(c, p.path, setup_);
            p.owners = turns(permits);
            p.held.resize(holders);
        }
        for (place& p : places_) {
            for (grant_type& held : p.held)
                spawn(take(p, held));
        }
        co_await until_ended(setup_.locks * holders, "taking it first");
    }

    /// Everybody has queued when all have sent something and nothing is on its way any more.
    /// `waiter(place&, Lock&, who)` is what each of them does.
    template <class Waiter>
    boost::asio::awaitable<void> queue(const session_use& before, Waiter waiter) {
        std::string text = label("queueing");
        auto began = clock::now();
        boost::asio::steady_timer timer(executor_);
        for (std::size_t i = 0; i < setup_.waiters; ++i) {
            place& p = places_[i % setup_.locks];
            std::size_t turn = i / setup_.locks;
            spawn(waiter(p, p.locks[turn % clients_.size()], turn + 1));
        }
        for (int quiet = 0; quiet < 3 && !problem_;) {
            // Not more often than a hundredth of what it takes: looking costs time, too.
            auto interval = quiet > 0 ? clock::duration(0) : (clock::now() - began) / 100;
            timer.expires_after(std::max<clock::duration>(interval, std::chrono::milliseconds(1)));
            co_await timer.async_wait(boost::asio::use_awaitable);
            auto now = use_of(clients_);
            auto sent = static_cast<std::size_t>(now.requests - before.requests);
            bool still = now.on_their_way == 0 && sent >= setup_.waiters;
            if (still && quiet == 0)
                queued_at_ = clock::now();
            quiet = still ? quiet + 1 : 0;
            stage_.shown().update(text, queued(now - before), setup_.waiters);
        }
        if (problem_)
            std::rethrow_exception(problem_);
        if (ended_ > 0)
            throw std::logic_error("somebody got a lock that was held");
    }

    /// How many of the waiters have queued: all that wait, or (corozk's do not tell) all whose
    /// nodes have been asked for, which come before everything but listings.
    std::size_t queued(const session_use& since) const {
        if constexpr (requires(const Lock& lock) { lock.waiting(); }) {
            std::size_t sum = 0;
            for (const place& p : places_) {
                for (const Lock& lock : p.locks)
                    sum += lock.waiting();
            }
            return sum;
        } else {
            auto created = static_cast<std::size_t>(std::max(since.requests - since.listings, 0.0));
            return std::min(created, setup_.waiters);
        }
    }

    stage& stage_;
    const contest_setup& setup_;
    std::vector<client>& clients_;
    boost::asio::any_io_executor executor_;
    std::vector<place> places_;
    std::size_t ended_ = 0;  ///< of what is waited for now
    std::size_t alive_ = 0;
    std::exception_ptr problem_;
    clock::time_point queued_at_{};
    clock::time_point first_ended_at_{};  ///< of what is waited for now
    clock::time_point ended_at_{};        ///< of the last one
};

}  // namespace corozk::bench
