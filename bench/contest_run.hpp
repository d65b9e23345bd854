// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contest.hpp"
#include "lock_crowd.hpp"
#include "session_use.hpp"
#include "statistics.hpp"
#include "usage.hpp"
#include <corozk/ownership.hpp>

#include <boost/asio/awaitable.hpp>

#include <utility>
#include <vector>

namespace corozk::bench {

/// Instead of acquiring and releasing.
template <class Lock>
concept runs_terms = requires(Lock& lock) {
    lock.run([](ownership&) -> boost::asio::awaitable<void> { co_return; });
};

/// Something is to be done by each owner.
template <class Lock, class Grant>
concept acknowledges = requires(Lock& lock, const Grant& held) {
    lock.acknowledge(held);
};

/// A contest: all queue, then the lock is passed on from one to the next.
template <class Lock>
class contest_run : lock_crowd<Lock> {
    using base = lock_crowd<Lock>;
    using base::clients_;
    using base::ended_at_;
    using base::places_;
    using base::queued_at_;
    using base::setup_;
    using base::stage_;
    using typename base::grant_type;
    using typename base::place;

public:
    contest_run(stage& s, const contest_setup& setup, std::vector<client>& clients)
        : base(s, setup, clients) {
        latencies_.reserve(setup.waiters);
    }

    boost::asio::awaitable<void> run(result& r) {
        co_await this->take_all_locks();
        double resident = usage::resident_bytes();
        double heap = usage::heap_bytes();
        auto server_before = stage_.use();
        auto before = use_of(clients_);

        auto began = clock::now();
        double cpu = usage::process_cpu_seconds();
        auto waiter = [this](place& p, Lock& lock, std::size_t who) {
            return wait_once(p, lock, who);
        };
        co_await this->queue(before, waiter);
        cpu = usage::process_cpu_seconds() - cpu;
        r.add("queue_s", to_seconds(queued_at_ - began));
        auto queued = use_of(clients_);

        auto each = [this](double total) { return total / static_cast<double>(setup_.waiters); };
        r.add("memory_per_waiter_bytes", each(usage::heap_bytes() - heap));
        r.add("resident_per_waiter_bytes", each(usage::resident_bytes() - resident));
        auto server_queued = stage_.use();

        began = clock::now();
        double drain_cpu = usage::process_cpu_seconds();
        co_await drain();
        drain_cpu = usage::process_cpu_seconds() - drain_cpu;
        double drain_s = to_seconds(ended_at_ - began);
        auto after = use_of(clients_);
        auto server_after = stage_.use();

        r.add("drain_s", drain_s);
        r.add("handovers_per_s", static_cast<double>(setup_.waiters) / drain_s);
        r.add("handover_us.p50", latencies_.p50());
        r.add("handover_us.p99", latencies_.p99());
        r.add("handover_us.max", latencies_.max());
        r.add(latencies_);
        auto all = after - before;
        auto passing = after - queued;
        r.add("requests_per_waiter", each(all.requests));
        r.add("requests_per_handover", each(passing.requests));
        r.add("listings", all.listings);
        r.add("notifications_per_handover", each(passing.notifications));
        r.add("bytes_per_handover", each(passing.bytes));
        r.add("bytes_per_waiter", each(all.bytes));
        r.add("client_cpu_us_per_request", (cpu + drain_cpu) * 1e6 / all.requests);
        if (stage_.owns_servers()) {
            add_handovers(r, server_queued, server_after, static_cast<double>(setup_.waiters));
            r.add("server.requests_per_waiter",
                  each(static_cast<double>(server_after.received - server_before.received)));
        }
    }

private:
    /// Of those who held it until everybody had queued. They share it, if there are several.
    boost::asio::awaitable<void> give_back(place& p, grant_type& held) {
        p.owners.released(p.locks.front().shared(0), clock::now());
        co_await held.release();
    }

    /// What is measured.
    boost::asio::awaitable<void> wait_once(place& p, Lock& lock, std::size_t who) {
        if constexpr (runs_terms<Lock>) {
            auto body = [this, &p](ownership& term) -> boost::asio::awaitable<void> {
                granted(p, term.fencing_token(), false);
                p.owners.released(false, clock::now());
                co_return;
            };
            co_await lock.run(body);
        } else {
            auto held = co_await lock.acquire(who);
            bool shared = lock.shared(who);
            granted(p, held.fencing_token(), shared);
            if constexpr (acknowledges<Lock, grant_type>)
                co_await lock.acknowledge(held);
            p.owners.released(shared, clock::now());
            co_await held.release();
        }
    }

    void granted(place& p, std::int64_t token, bool shared) {
        auto now = clock::now();
        latencies_.add(to_microseconds(now - p.owners.granted(shared, token)));
    }

    boost::asio::awaitable<void> drain() {
        std::size_t holders = 0;
        for (place& p : places_) {
            for (grant_type& held : p.held)
                this->spawn(give_back(p, held));
            holders += p.held.size();
        }
        co_await this->until_ended(setup_.waiters + holders, "passing it on", holders);
    }

    latencies latencies_;
};

/// Connects, runs the contest, closes.
template <class Lock>
boost::asio::awaitable<void> run_contest_of(stage& s, const contest_setup& setup, result& r) {
    std::size_t threads_before = usage::threads();
    auto clients = co_await s.connect(setup.sessions);
    {
        contest_run<Lock> contest(s, setup, clients);
        co_await contest.run(r);
    }
    // The one that runs everything, and what connecting added to it.
    r.set("threads", std::size_t{1} + usage::threads() - threads_before);
    co_await stage::close(clients);
}

}  // namespace corozk::bench
