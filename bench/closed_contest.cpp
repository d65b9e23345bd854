// SPDX-License-Identifier: Apache-2.0
#include "closed_contest.hpp"

#include "contestants.hpp"
#include "crew.hpp"
#include "session_use.hpp"
#include "turns.hpp"

#include <boost/asio/this_coro.hpp>

#include <deque>
#include <vector>

namespace corozk::bench {

namespace {

template <class Lock>
class closed_contest {
public:
    closed_contest(stage& s, const contest_setup& setup, std::vector<client>& clients)
        : stage_(s), setup_(setup), clients_(clients) {}

    boost::asio::awaitable<void> run(std::size_t turns, result& r) {
        std::string path = stage_.fresh_path(setup_.recipe);
        co_await Lock::prepare(clients_.front(), path);
        for (auto& c : clients_) {
            locks_.emplace_back(c, path, setup_);
            co_await c.sync("/");  // the folder is seen by each
        }
        std::size_t each = turns_per_client(turns, setup_.waiters);
        std::size_t total = each * setup_.waiters;
        auto executor = co_await boost::asio::this_coro::executor;
        auto before = use_of(clients_);
        crew all(executor, stage_.shown());
        for (std::size_t i = 0; i < setup_.waiters; ++i)
            all.add(take_turns(locks_[i % locks_.size()], i + 1, each));
        double seconds = co_await all.finish(title_of(setup_) + ": in turns", done_, total);
        auto used = use_of(clients_) - before;

        auto n = static_cast<double>(acquires_.size());
        r.add("turns", n);
        r.add("handovers_per_s", n / seconds);
        r.add("handover_us.p50", handovers_.p50()).add("handover_us.p99", handovers_.p99());
        r.add("handover_us.max", handovers_.max());
        r.add("acquire_us.p50", acquires_.p50()).add("acquire_us.p99", acquires_.p99());
        r.add("acquire_us.max", acquires_.max());
        r.add(acquires_);
        r.add("requests_per_handover", used.requests / n);
        r.add("notifications_per_handover", used.notifications / n);
        r.add("bytes_per_handover", used.bytes / n);
    }

private:
    boost::asio::awaitable<void> take_turns(Lock& lock, std::size_t who, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            auto asked = clock::now();
            auto held = co_await lock.acquire(who);
            auto now = clock::now();
            bool shared = lock.shared(who);
            auto released = owners_.granted(shared, held.fencing_token());
            if (done_ > 0)
                handovers_.add(to_microseconds(now - released));
            acquires_.add(to_microseconds(now - asked));
            ++done_;
            owners_.released(shared, clock::now());
            co_await held.release();
        }
    }

    stage& stage_;
    const contest_setup& setup_;
    std::vector<client>& clients_;
    std::deque<Lock> locks_;
    turns owners_;
    std::size_t done_ = 0;
    latencies handovers_;
    latencies acquires_;
};

}  // namespace

boost::asio::awaitable<void> run_closed_contest(stage& s,
                                                contest_setup setup,
                                                std::size_t turns,
                                                result& r) {
    auto clients = co_await s.connect(setup.sessions);
    auto run = [&]<class Lock>(kind_of<Lock>) -> boost::asio::awaitable<void> {
        closed_contest<Lock> contest(s, setup, clients);
        co_await contest.run(turns, r);
    };
    co_await with_contestant(setup, run);
    co_await stage::close(clients);
}

}  // namespace corozk::bench
