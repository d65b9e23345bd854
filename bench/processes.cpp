// SPDX-License-Identifier: Apache-2.0
#include "processes.hpp"

#include "compare/peer_process.hpp"
#include "contestants.hpp"
#include "replay.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace corozk::bench {

namespace {

constexpr auto start_limit = std::chrono::seconds(30);
constexpr auto work_limit = std::chrono::seconds(600);

std::int64_t nanoseconds(clock::time_point t) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

/// A sum over all processes' messages.
double sum(const std::vector<boost::json::object>& messages, std::string_view name) {
    double all = 0;
    for (const auto& m : messages) {
        const auto* value = m.if_contains(name);
        all += value ? value->to_number<double>() : 0;
    }
    return all;
}

template <class Lock>
class contest_in_processes {
public:
    contest_in_processes(stage& s, const contest_setup& setup, std::vector<client>& clients)
        : stage_(s), setup_(setup), clients_(clients), path_(s.fresh_path(setup.recipe)) {}

    boost::asio::awaitable<void> run(result& r) {
        co_await Lock::prepare(clients_.front(), path_);
        Lock lock(clients_.front(), path_, setup_);
        std::size_t holders = std::max<std::size_t>(Lock::permits(setup_), 1);
        std::vector<grant_time> grants(holders);
        std::vector<grant_type> held;
        for (auto& g : grants) {
            auto mine = co_await lock.acquire(0);
            held.push_back(std::move(mine));
            g.granted_ns = nanoseconds(clock::now());
            g.shared = lock.shared(0);
        }
        co_await start();
        co_await all("phase");
        auto server_before = stage_.use();
        auto began = clock::now();
        send("go");
        stage_.shown().update(title_of(setup_) + ": queueing");
        auto queue = co_await all("measured");
        r.add("queue_s", to_seconds(clock::now() - began));
        co_await all("phase");
        auto server_queued = stage_.use();
        send("go");
        stage_.shown().update(title_of(setup_) + ": passing it on");
        began = clock::now();
        for (std::size_t i = 0; i < holders; ++i) {
            grants[i].released_ns = nanoseconds(clock::now());
            co_await held[i].release();
        }
        auto drain = co_await all("measured");
        double drain_s = to_seconds(clock::now() - began);
        auto server_after = stage_.use();
        for (const auto& m : drain) {
            auto theirs = grants_from(m);
            grants.insert(grants.end(), theirs.begin(), theirs.end());
        }
        r.add("drain_s", drain_s);
        add_figures(r, queue, drain, grants);
        if (stage_.owns_servers()) {
            add_handovers(r, server_queued, server_after, static_cast<double>(setup_.waiters));
            r.add("server.requests_per_waiter",
                  each(static_cast<double>(server_after.received - server_before.received)));
        }
        r.set("threads", setup_.processes);
    }

private:
    using grant_type = typename decltype(std::declval<Lock&>().acquire(0))::value_type;

    double each(double total) const { return total / static_cast<double>(setup_.waiters); }

    boost::asio::awaitable<void> start() {
        for (std::size_t i = 0; i < setup_.processes; ++i) {
            stage_.shown().update("starting processes", i, setup_.processes);
            std::vector<std::string> program{"/proc/self/exe", "worker"};
            std::vector<std::string> arguments{
                stage_.hosts(), std::to_string(stage_.options().session_timeout.count())};
            processes_.emplace_back(std::move(program), arguments);
        }
        co_await all("ready");
        auto share = [this](std::size_t total, std::size_t i) {
            return total / setup_.processes + (i < total % setup_.processes ? 1 : 0);
        };
        for (std::size_t i = 0; i < setup_.processes; ++i) {
            processes_[i].send(
                fmt::format("handover recipe={} implementation={} path={} waiters={} sessions={} "
                            "first={} step={} readers={} limit={}",
                            setup_.recipe,
                            setup_.implementation,
                            path_,
                            share(setup_.waiters, i),
                            share(setup_.sessions, i),
                            i + 1,
                            setup_.processes,
                            setup_.readers,
                            setup_.limit));
        }
    }

    void send(std::string_view line) {
        for (auto& process : processes_)
            process.send(line);
    }

    /// The next message of each of them.
    boost::asio::awaitable<std::vector<boost::json::object>> all(std::string event) {
        auto limit = event == "measured" ? work_limit : start_limit;
        std::vector<boost::json::object> messages;
        for (auto& process : processes_) {
            auto message = co_await process.next(std::chrono::seconds(limit));
            if (message["event"].as_string() != event)
                throw std::runtime_error("a process said something else than " + event);
            messages.push_back(std::move(message));
        }
        co_return messages;
    }

    void add_figures(result& r,
                     const std::vector<boost::json::object>& queue,
                     const std::vector<boost::json::object>& drain,
                     const std::vector<grant_time>& grants) const {
        auto times = replay(grants, Lock::permits(setup_));
        r.add("handovers_per_s", static_cast<double>(setup_.waiters) / r.last("drain_s"));
        r.add("handover_us.p50", times.p50()).add("handover_us.p99", times.p99());
        r.add("handover_us.max", times.max()).add(times);
        double requests = sum(queue, "requests") + sum(drain, "requests");
        double cpu = sum(queue, "cpu_seconds") + sum(drain, "cpu_seconds");
        r.add("requests_per_waiter", each(requests));
        r.add("requests_per_handover", each(sum(drain, "requests")));
        r.add("listings", sum(queue, "listings") + sum(drain, "listings"));
        r.add("notifications_per_handover", each(sum(drain, "notifications")));
        r.add("bytes_per_handover", each(sum(drain, "bytes")));
        r.add("bytes_per_waiter", each(sum(queue, "bytes") + sum(drain, "bytes")));
        r.add("memory_per_waiter_bytes", each(sum(queue, "memory_bytes")));
        r.add("client_cpu_us_per_request", cpu * 1e6 / requests);
    }

    stage& stage_;
    const contest_setup& setup_;
    std::vector<client>& clients_;
    std::string path_;
    std::deque<peer_process> processes_;
};

}  // namespace

boost::asio::awaitable<void> run_contest_in_processes(stage& s, contest_setup setup, result& r) {
    auto clients = co_await s.connect(1);
    auto run = [&]<class Lock>(kind_of<Lock>) -> boost::asio::awaitable<void> {
        contest_in_processes<Lock> contest(s, setup, clients);
        co_await contest.run(r);
    };
    co_await with_contestant(setup, run);
    co_await stage::close(clients);
}

}  // namespace corozk::bench
