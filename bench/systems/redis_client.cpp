// SPDX-License-Identifier: Apache-2.0
#include "host_list.hpp"
#include "systems/lock_client.hpp"
#include "systems/redis_connection.hpp"
#include "systems/redis_notices.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <random>
#include <vector>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Deletes what is still one's own, and tells those who wait if asked to.
constexpr const char* release_script =
    "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) "
    "if ARGV[2] ~= '' then redis.call('publish', ARGV[2], 'free') end return 1 end return 0";

constexpr const char* renew_script =
    "if redis.call('get', KEYS[1]) == ARGV[1] then "
    "return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

/// As Redlock's description says: after a try that got no majority, a random pause.
constexpr auto longest_pause = std::chrono::milliseconds(50);

/// The usual lock: SET NX PX with a random value, released and renewed by scripts that compare it.
/// Waiters subscribe to a channel, as Redisson's do, and try again when a release is published or
/// the key's time is over. With several servers it is Redlock: a majority of them has to agree.
class redis_client : public lock_client {
public:
    redis_client(const asio::any_io_executor& executor, const lock_wish& wish)
        : wish_(wish), channel_(wish.name + "-free"), timer_(executor), random_(source_()) {
        auto ports = ports_of(wish.hosts);
        majority_ = ports.size() / 2 + 1;
        for (auto port : ports)
            servers_.emplace_back(executor, port);
        notices_.emplace(executor, ports, channel_);
        token_ = fmt::format("{:016x}{:016x}", random_(), random_());
    }

    asio::awaitable<void> connect() override {
        for (auto& server : servers_)
            co_await server.connect();
        co_await notices_->connect();
    }

    asio::awaitable<void> write() override {
        co_await ask_all(redis_words("SET", wish_.name + "-written", "data"));
    }

    asio::awaitable<std::int64_t> acquire() override {
        // g++ 12.2 cannot compile a condition that is itself awaited here.
        bool granted = co_await try_once();
        if (!granted)
            co_await wait_for_it();
        co_return 0;
    }

    asio::awaitable<void> release() override {
        co_await ask_all(redis_words("EVAL", release_script, "1", wish_.name, token_, channel_));
    }

    asio::awaitable<void> hold() override {
        for (;;) {
            timer_.expires_after(wish_.timeout / 3);
            co_await timer_.async_wait(asio::use_awaitable);
            co_await ask_all(
                redis_words("EVAL", renew_script, "1", wish_.name, token_, milliseconds()));
        }
    }

    asio::awaitable<std::size_t> contenders() override {
        auto listening = co_await servers_.front().ask(redis_words("PUBSUB", "NUMSUB", channel_));
        auto held = co_await servers_.front().ask(redis_words("EXISTS", wish_.name));
        co_return static_cast<std::size_t>(listening.elements.at(1).number + held.number);
    }

    void close() override {
        for (auto& server : servers_)
            server.close();
        notices_->close();
        timer_.cancel();
    }

private:
    std::string milliseconds() const { return std::to_string(wish_.timeout.count()); }

    /// All at the same time. A server that is lost grants nothing.
    asio::awaitable<std::vector<redis_answer>> ask_all(std::vector<std::string> words) {
        redis_answer none;
        none.null = true;
        none.number = -1;
        std::vector<redis_answer> answers(servers_.size(), none);
        std::exception_ptr problem;
        std::size_t lost = 0;
        for (auto& server : servers_) {
            try {
                server.append(words);
                co_await server.flush();
            } catch (const boost::system::system_error&) {
            }
        }
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            try {
                answers[i] = co_await servers_[i].receive();
            } catch (const boost::system::system_error&) {
                ++lost;
                problem = std::current_exception();
            }
        }
        if (lost >= majority_)
            std::rethrow_exception(problem);
        co_return answers;
    }

    asio::awaitable<bool> try_once() {
        auto words = redis_words("SET", wish_.name, token_, "NX", "PX", milliseconds());
        auto answers = co_await ask_all(std::move(words));
        auto granted = std::count_if(
            answers.begin(), answers.end(), [](const redis_answer& a) { return !a.null; });
        if (static_cast<std::size_t>(granted) >= majority_)
            co_return true;
        // Nobody has it now, perhaps: the others get what was granted to this one.
        if (granted > 0)
            co_await ask_all(redis_words("EVAL", release_script, "1", wish_.name, token_, ""));
        split_ = granted > 0;
        co_return false;
    }

    /// How long the key will live on, where it lives longest.
    asio::awaitable<std::chrono::milliseconds> time_left() {
        auto answers = co_await ask_all(redis_words("PTTL", wish_.name));
        std::vector<std::int64_t> times;
        for (const auto& answer : answers)
            times.push_back(answer.number);
        // So many have to be free.
        std::nth_element(
            times.begin(), times.begin() + static_cast<std::ptrdiff_t>(majority_ - 1), times.end());
        co_return std::chrono::milliseconds(times[majority_ - 1]);
    }

    asio::awaitable<void> wait_for_it() {
        co_await notices_->subscribe();
        for (;;) {
            std::size_t seen = notices_->count();
            bool granted = co_await try_once();
            if (granted)
                break;
            auto left = co_await time_left();
            bool nobody = left.count() < 0;
            // Those who tried at the same time must not do so again.
            if (nobody || split_)
                left = std::chrono::milliseconds(random_() % (longest_pause.count() + 1));
            co_await notices_->next(seen, left + std::chrono::milliseconds(1));
        }
        co_await notices_->unsubscribe();
    }

    lock_wish wish_;
    std::string channel_;
    std::deque<redis_connection> servers_;
    std::size_t majority_ = 1;
    std::optional<redis_notices> notices_;
    asio::steady_timer timer_;
    std::random_device source_;
    std::mt19937_64 random_;
    std::string token_;
    bool split_ = false;
};

}  // namespace

std::unique_ptr<lock_client> make_redis_client(const asio::any_io_executor& executor,
                                               const lock_wish& wish) {
    return std::make_unique<redis_client>(executor, wish);
}

}  // namespace corozk::bench
