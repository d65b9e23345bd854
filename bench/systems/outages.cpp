// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"
#include "systems/lock_party.hpp"
#include "systems/measure.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Of undisturbed cycles, before and at the end.
constexpr std::size_t enough = 50;
/// After the loss: what breaks down later than at once is seen as well.
constexpr auto watched = std::chrono::seconds(5);

/// One client that acquires and releases again and again while a server is lost.
class outage {
public:
    explicit outage(lock_party& party) : party_(party) {}

    asio::awaitable<void> play(std::function<void()> kill) {
        co_await party_.invite();
        party_.begin(cycle());
        co_await until([this] { return grants_ >= enough; });
        longest_ = 0;
        kill();
        auto killed_at = clock::now();
        std::size_t before = grants_;
        co_await until(
            [&] { return grants_ >= before + enough && clock::now() - killed_at > watched; });
        ended_ = true;
        co_await until([this] { return party_.working() == 0; });
    }

    /// The longest time between two grants, the last one before the loss included.
    double seconds() const noexcept { return longest_; }

private:
    asio::awaitable<void> until(std::function<bool()> holds) {
        co_await party_.until(std::move(holds), [this] { return grants_; });
    }

    asio::awaitable<void> cycle() {
        while (!ended_) {
            co_await party_[0].acquire();
            auto now = clock::now();
            if (grants_++ > 0)
                longest_ = std::max(longest_, to_seconds(now - granted_at_));
            granted_at_ = now;
            co_await party_[0].release();
        }
    }

    lock_party& party_;
    bool ended_ = false;
    std::size_t grants_ = 0;
    clock::time_point granted_at_{};
    double longest_ = 0;
};

}  // namespace

asio::awaitable<double> measure_outage(const lock_wish& wish, std::function<void()> kill) {
    auto executor = co_await asio::this_coro::executor;
    lock_party party(executor, wish);
    outage one(party);
    co_await party.play(one.play(std::move(kill)));
    co_return one.seconds();
}

}  // namespace corozk::bench
