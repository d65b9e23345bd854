// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"
#include "systems/lock_party.hpp"
#include "systems/measure.hpp"
#include "table.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Client 0 looks on, client 1 holds it until the others have queued.
class handover_rounds {
public:
    handover_rounds(job& j, lock_party& party, std::size_t waiters, std::string label)
        : job_(j), party_(party), waiters_(waiters), label_(std::move(label)) {}

    asio::awaitable<void> run(std::size_t handovers) {
        for (std::size_t i = 0; i < waiters_ + 2; ++i)
            co_await party_.invite();
        std::size_t rounds = std::max<std::size_t>(1, (handovers + waiters_ - 1) / waiters_);
        for (std::size_t i = 0; i < rounds; ++i) {
            job_.on.shown().update(label_, passed_.size(), rounds * waiters_);
            co_await play();
        }
    }

    const latencies& passed() const noexcept { return passed_; }

private:
    asio::awaitable<void> play() {
        party_.granted(co_await party_[1].acquire());
        for (std::size_t i = 0; i < waiters_; ++i)
            party_.begin(wait_once(party_[i + 2]));
        co_await party_.until_queued(waiters_ + 1);
        party_.released();
        co_await party_[1].release();
        co_await party_.until([this] { return party_.working() == 0; },
                              [this] { return passed_.size(); });
    }

    asio::awaitable<void> wait_once(lock_client& client) {
        std::int64_t number = co_await client.acquire();
        auto now = clock::now();
        passed_.add(to_microseconds(now - party_.granted(number)));
        party_.released();
        co_await client.release();
    }

    job& job_;
    lock_party& party_;
    std::size_t waiters_;
    std::string label_;
    latencies passed_;
};

}  // namespace

asio::awaitable<void> measure_handovers(
    job& j, const lock_wish& wish, std::size_t waiters, std::size_t handovers, result& r) {
    auto executor = co_await asio::this_coro::executor;
    lock_party party(executor, wish);
    handover_rounds rounds(
        j, party, waiters, wish.system + ": hand-over, " + count_text(waiters) + " waiters");
    co_await party.play(rounds.run(handovers));
    r.add("handover_us.p50", rounds.passed().p50());
    r.add("handover_us.p99", rounds.passed().p99());
    r.add("handover_us.max", rounds.passed().max());
    r.add(rounds.passed());
}

}  // namespace corozk::bench
