// SPDX-License-Identifier: Apache-2.0
#include "closed_contest.hpp"
#include "statistics.hpp"
#include "systems/lock_party.hpp"
#include "systems/measure.hpp"
#include "table.hpp"

#include <boost/asio/this_coro.hpp>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Each client acquires and releases again and again.
class system_turns {
public:
    system_turns(lock_party& party, std::size_t clients, std::size_t each)
        : party_(party), clients_(clients), each_(each) {}

    asio::awaitable<void> run() {
        for (std::size_t i = 0; i < clients_; ++i)
            co_await party_.invite();
        began_ = clock::now();
        for (std::size_t i = 0; i < clients_; ++i)
            party_.begin(take_turns(party_[i]));
        co_await party_.until([this] { return party_.working() == 0; },
                              [this] { return acquires_.size(); });
    }

    void add_to(result& r) const {
        auto n = static_cast<double>(acquires_.size());
        r.add("turns", n);
        r.add("handovers_per_s", n / to_seconds(ended_at_ - began_));
        r.add("handover_us.p50", handovers_.p50()).add("handover_us.p99", handovers_.p99());
        r.add("acquire_us.p50", acquires_.p50()).add("acquire_us.p99", acquires_.p99());
        r.add("acquire_us.max", acquires_.max());
        r.add(acquires_);
    }

private:
    asio::awaitable<void> take_turns(lock_client& client) {
        for (std::size_t i = 0; i < each_; ++i) {
            auto asked = clock::now();
            std::int64_t number = co_await client.acquire();
            auto now = clock::now();
            auto released = party_.granted(number);
            if (acquires_.size() > 0)
                handovers_.add(to_microseconds(now - released));
            acquires_.add(to_microseconds(now - asked));
            party_.released();
            co_await client.release();
        }
        ended_at_ = clock::now();
    }

    lock_party& party_;
    std::size_t clients_;
    std::size_t each_;
    clock::time_point began_{};
    clock::time_point ended_at_{};
    latencies handovers_;
    latencies acquires_;
};

}  // namespace

asio::awaitable<void> measure_turns(
    job& j, const lock_wish& wish, std::size_t clients, std::size_t turns, result& r) {
    j.on.shown().update(wish.system + ": in turns, " + count_text(clients) + " clients");
    auto executor = co_await asio::this_coro::executor;
    lock_party party(executor, wish);
    system_turns run(party, clients, turns_per_client(turns, clients));
    co_await party.play(run.run());
    run.add_to(r);
}

}  // namespace corozk::bench
