// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "crew.hpp"
#include "measures.hpp"
#include "table.hpp"
#include "work_figures.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <stdexcept>

namespace corozk::bench {

namespace {

/// What the server has to do for an item at the least.
double floor_of(queue_work work, const raw_loop::throughput& bare) {
    switch (work) {
        case queue_work::put:
        case queue_work::put_many: return bare.create_per_s;
        case queue_work::take: return bare.erase_per_s;
        case queue_work::consume:
        case queue_work::pass: break;
    }
    return 1 / (1 / bare.create_per_s + 1 / bare.erase_per_s);  // the claim, then the item
}

std::vector<queue_task> all_tasks(const settings& s) {
    std::vector<queue_task> tasks;
    auto add = [&](queue_work work, std::size_t workers, std::size_t sessions, std::size_t w = 1) {
        tasks.push_back({work, workers, sessions, s.items, s.batch, w});
    };
    add(queue_work::put, 1, 1);
    add(queue_work::put, std::min(s.in_flight, s.items), 1);
    add(queue_work::put_many, 1, 1);
    for (queue_work work : {queue_work::take, queue_work::consume}) {
        for (std::size_t consumers : s.consumers) {
            add(work, consumers, 1);
            std::size_t sessions = std::min(consumers, s.sessions);
            if (sessions > 1)
                add(work, consumers, sessions);
            if (sessions > 1 && s.window > 1)
                add(work, consumers, sessions, s.window);
        }
    }
    return tasks;
}

/// A queue on some sessions, and the items that go through it.
class queue_run {
public:
    queue_run(job& j, const queue_task& task, std::vector<client>& clients)
        : job_(j), task_(task), clients_(clients), items_(task.items), seen_(items_, false) {
        std::string path = j.on.fresh_path("queue");
        queue_options options;
        options.window = task.window;
        for (auto& c : clients)
            queues_.emplace_back(c, path, options);
    }

    boost::asio::awaitable<void> run(result& r) {
        bool puts = task_.work == queue_work::put || task_.work == queue_work::put_many;
        if (puts || task_.work == queue_work::pass) {
            // The folders are made; one item more than what is counted.
            co_await queues_.front().put("");
            co_await queues_.front().take();
        } else {
            co_await put_batches();
            next_ = done_ = 0;
        }
        work_figures figures(clients_);
        auto executor = co_await boost::asio::this_coro::executor;
        crew workers(executor, job_.on.shown());
        for (std::size_t i = 0; i < task_.workers; ++i) {
            workers.add(work(queues_[i % queues_.size()]));
        }
        double seconds =
            co_await workers.finish(std::string("queue: ") + task_.name(), done_, items_);
        figures.add_to(r, static_cast<double>(items_));
        r.add("ops_per_s", static_cast<double>(items_) / seconds);
        auto left = static_cast<std::size_t>(co_await queues_.front().count_items());
        if (done_ != items_ || left != (puts ? items_ : 0)) {
            throw std::logic_error(fmt::format("of {} items {} are left", items_, left));
        }
    }

private:
    boost::asio::awaitable<void> work(queue& q) {
        switch (task_.work) {
            case queue_work::put: return put_one_by_one(q);
            case queue_work::put_many: return put_batches();
            case queue_work::take: return take(q);
            case queue_work::pass: return pass(q);
            case queue_work::consume: break;
        }
        return consume(q);
    }

    boost::asio::awaitable<void> put_one_by_one(queue& q) {
        while (next_ < items_) {
            std::string data = std::to_string(next_++);
            co_await q.put(std::move(data));
            ++done_;
        }
    }

    boost::asio::awaitable<void> put_batches() {
        while (next_ < items_) {
            std::vector<std::string> batch;
            while (next_ < items_ && batch.size() < task_.batch) {
                batch.push_back(std::to_string(next_++));
            }
            std::size_t count = batch.size();
            co_await queues_.front().put_many(std::move(batch));
            done_ += count;
        }
    }

    boost::asio::awaitable<void> take(queue& q) {
        while (next_ < items_) {
            ++next_;
            auto item = co_await q.take();
            note(item.data, task_.sessions == 1);
        }
    }

    /// Each puts one and takes one: nobody waits for long, as there are enough.
    boost::asio::awaitable<void> pass(queue& q) {
        while (next_ < items_) {
            std::string data = std::to_string(next_++);
            co_await q.put(std::move(data));
            auto item = co_await q.take();
            note(item.data, false);
        }
    }

    boost::asio::awaitable<void> consume(queue& q) {
        while (next_ < items_) {
            ++next_;
            auto claim = co_await q.consume();
            co_await claim.acknowledge();
            note(claim.data(), false);
        }
    }

    /// Each item once, and in order where that is promised.
    void note(const std::string& data, bool in_order) {
        std::size_t number = items_;
        std::from_chars(data.data(), data.data() + data.size(), number);
        if (number >= items_ || seen_[number])
            throw std::logic_error("item " + data + " came twice");
        if (in_order && number != done_)
            throw std::logic_error("item " + data + " is out of order");
        seen_[number] = true;
        ++done_;
    }

    job& job_;
    const queue_task& task_;
    std::vector<client>& clients_;
    std::size_t items_;
    std::vector<bool> seen_;
    std::deque<queue> queues_;
    std::size_t next_ = 0;
    std::size_t done_ = 0;
};

boost::asio::awaitable<void> measure(job& j, const queue_task& task, result& r) {
    auto bare = j.on.raw()->pipeline(task.items, 1'000);
    co_await measure_queue(j, task, r);
    double before = floor_of(task.work, bare);
    double after = floor_of(task.work, j.on.raw()->pipeline(task.items, 1'000));
    r.add("floor_ops_per_s", (before + after) / 2);
    r.add("floor_ratio", r.last("ops_per_s") / r.last("floor_ops_per_s"));
}

}  // namespace

const char* queue_task::name() const {
    switch (work) {
        case queue_work::put: return "put";
        case queue_work::put_many: return "put_many";
        case queue_work::take: return "take";
        case queue_work::pass: return "put + take";
        case queue_work::consume: break;
    }
    return "consume + acknowledge";
}

boost::asio::awaitable<void> measure_queue(job& j, const queue_task& task, result& r) {
    auto clients = co_await j.on.connect(task.sessions);
    {
        queue_run run(j, task, clients);
        co_await run.run(r);
    }
    co_await stage::close(clients);
}

boost::asio::awaitable<void> run_queue(job& j) {
    table t({"",
             "at a time",
             "sessions",
             "items/s",
             "floor/s",
             "/ floor",
             "requests",
             "listings",
             "events",
             "bytes",
             "CPU/item"});
    for (const queue_task& task : all_tasks(j.wanted)) {
        result row;
        row.set("implementation", "ours").set("recipe", "queue").set("operation", task.name());
        row.set("waiters", task.workers)
            .set("sessions", task.sessions)
            .set("items", j.wanted.items);
        row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
        if (task.work == queue_work::put_many)
            row.set("batch", j.wanted.batch);
        if (task.window > 1)
            row.set("window", task.window);
        for (std::size_t i = 0; i < j.wanted.repeat; ++i)
            co_await measure(j, task, row);
        std::string title = task.name();
        if (task.work == queue_work::put_many)
            title += fmt::format(" of {}", j.wanted.batch);
        if (task.window > 1)
            title += fmt::format(", window {}", count_text(static_cast<double>(task.window)));
        t.add({std::move(title),
               count_text(static_cast<double>(task.workers)),
               count_text(static_cast<double>(task.sessions)),
               with_spread(row, "ops_per_s", count_text),
               count_text(row.median("floor_ops_per_s")),
               with_spread(row, "floor_ratio", ratio_text),
               figure_text(row.median("requests_per_operation")),
               count_text(row.median("listings")),
               figure_text(row.median("notifications_per_operation")),
               bytes_text(row.median("bytes_per_operation")),
               fmt::format("{:.1f} us", row.median("client_cpu_us_per_operation"))});
        j.results.push_back(std::move(row));
    }
    j.output = heading(j) + "\n" + t.str();
    j.output += fmt::format(
        "\n{} items; requests, events and bytes per item; medians, with (least .. most)\nfloor: "
        "creates (put), deletes (take), both (consume) on one session, 1,000 in flight at a time, "
        "bare C client, measured around each row\n",
        count_text(static_cast<double>(j.wanted.items)));
}

}  // namespace corozk::bench
