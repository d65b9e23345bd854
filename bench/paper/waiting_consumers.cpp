// SPDX-License-Identifier: Apache-2.0
#include "paper/waiting_consumers.hpp"

#include "crew.hpp"
#include "interruption.hpp"
#include "plain_queue.hpp"
#include "quiet.hpp"
#include "session_use.hpp"
#include "statistics.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corozk::bench {

namespace {

constexpr int quiet_looks = 25;
constexpr auto patience_for_items = std::chrono::seconds(60);

/// After all others, one for each consumer.
const std::string last_item = "last";

const std::string& data_of(const std::string& data) {
    return data;
}

const std::string& data_of(const queue_item& item) {
    return item.data;
}

template <class Queue>
class waiting_consumers {
public:
    waiting_consumers(job& j, std::vector<client>& producers, std::vector<client>& consumers)
        : job_(j), producers_(producers), consumers_(consumers) {}

    boost::asio::awaitable<void> run(std::size_t items, result& r) {
        std::string path = job_.on.fresh_path("herd");
        client& producer = producers_.front();
        co_await producer.ensure_path(path);
        Queue source(producer, path);
        co_await source.put("0");  // the folders are made
        co_await source.take();
        for (auto& c : consumers_) {
            co_await c.sync(path);
            queues_.emplace_back(c, path);
        }
        crew all(co_await boost::asio::this_coro::executor, job_.on.shown());
        for (Queue& q : queues_)
            all.add(consume(q));
        co_await quiet();
        auto before = use_of(consumers_);
        for (std::size_t i = 0; i < items; ++i)
            co_await pass(source, i);
        auto used = use_of(consumers_) - before;
        for (std::size_t i = 0; i < consumers_.size(); ++i)
            co_await source.put(last_item);
        co_await all.finish("queue: ending", ended_, consumers_.size());

        auto n = static_cast<double>(items);
        r.add("requests_per_operation", used.requests / n);
        r.add("notifications_per_operation", used.notifications / n);
        r.add("bytes_per_operation", used.bytes / n);
        r.add("taken_us.p50", times_.p50()).add("taken_us.p99", times_.p99());
    }

private:
    boost::asio::awaitable<void> consume(Queue& q) {
        for (;;) {
            auto item = co_await q.take();
            if (data_of(item) == last_item)
                break;
            if (data_of(item) != std::to_string(taken_))
                throw std::logic_error("item " + data_of(item) + " was not the next one");
            taken_at_ = clock::now();
            ++taken_;
        }
        ++ended_;
    }

    boost::asio::awaitable<void> pass(Queue& source, std::size_t number) {
        auto began = clock::now();
        co_await source.put(std::to_string(number));
        do {
            co_await quiet();
            if (clock::now() - began > patience_for_items)
                throw std::runtime_error(fmt::format("no consumer has taken item {}", number));
        } while (taken_ <= number);
        times_.add(to_microseconds(taken_at_ - began));
    }

    auto quiet() {
        return until_quiet(job_.on, consumers_, quiet_looks, [this] {
            interruption::check();
            job_.on.shown().update("queue: consumers wait", taken_, 0);
        });
    }

    job& job_;
    std::vector<client>& producers_;
    std::vector<client>& consumers_;
    std::deque<Queue> queues_;
    std::size_t taken_ = 0;
    std::size_t ended_ = 0;
    clock::time_point taken_at_{};
    latencies times_;
};

template <class Queue>
boost::asio::awaitable<void> wait_at_queue(job& j,
                                           std::vector<client>& producers,
                                           std::vector<client>& consumers,
                                           std::size_t items,
                                           result& r) {
    waiting_consumers<Queue> run(j, producers, consumers);
    co_await run.run(items, r);
}

}  // namespace

boost::asio::awaitable<void> measure_waiting_consumers(
    job& j, bool ours, std::size_t consumers, std::size_t items, result& r) {
    auto producers = co_await j.on.connect(1);
    auto sessions = co_await j.on.connect(consumers);
    if (ours)
        co_await wait_at_queue<queue>(j, producers, sessions, items, r);
    else
        co_await wait_at_queue<plain_queue>(j, producers, sessions, items, r);
    co_await stage::close(sessions);
    co_await stage::close(producers);
}

}  // namespace corozk::bench
