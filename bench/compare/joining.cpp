// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"
#include "session_use.hpp"
#include "table.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/tracer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

/// How an implementation's contenders are called, up to the sequence.
std::string prefix_for(std::string_view implementation) {
    constexpr std::string_view guid = "12345678-1234-1234-1234-123456789abc";
    if (implementation == "curator")
        return fmt::format("_c_{}-lock-", guid);
    if (implementation == "kazoo")
        return "12345678123412341234123456789abc__lock__";
    if (implementation == "zookeeper")
        return "x-1234567890-";
    return fmt::format("{}-lock-", guid);
}

boost::asio::awaitable<void> wait_for_lock(lock& l, bool& ended) {
    co_await l.acquire(boost::asio::as_tuple(boost::asio::use_awaitable));
    ended = true;
}

/// When the last one of this program's requests was answered.
class answer_clock : public tracer {
public:
    answer_clock() { set_tracer(this); }
    ~answer_clock() override { set_tracer(nullptr); }

    clock::time_point last() const { return last_; }

private:
    std::uint64_t started(const trace_point& what) noexcept override {
        return what.kind == trace_kind::request ? 1 : 0;
    }
    void finished(std::uint64_t, const error_code&) noexcept override { last_ = clock::now(); }

    clock::time_point last_{};
};

/// One more waiter behind very many, which are only nodes: until it waits.
class joining_comparison : public comparison {
public:
    explicit joining_comparison(std::size_t before) : before_(before) {}

    bool has(std::string_view) const override { return true; }
    std::string family() const override { return "joining"; }

    std::vector<comparison_part> parts() const override {
        comparison_part part;
        part.title = fmt::format("lock, joining the queue behind {} others",
                                 count_text(static_cast<double>(before_)));
        part.key = "join_us";
        part.per = "operation";
        return {part};
    }

    void describe(result& row) const override {
        row.set("workload", "join").set("recipe", "lock");
        row.set("waiters", before_).set("sessions", std::size_t{1});
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        auto executor = co_await boost::asio::this_coro::executor;
        answer_clock answers;
        auto clients = co_await j.on.connect(1);
        std::string path = j.on.fresh_path("join");
        prepare(j, "ours", path);
        lock l(clients.front(), path);
        bool ended = false;
        auto before = use_of(clients);
        auto began = clock::now();
        boost::asio::co_spawn(executor, wait_for_lock(l, ended), boost::asio::detached);
        boost::asio::steady_timer timer(executor);
        for (int still = 0; still < 5 && !ended;) {
            timer.expires_after(std::chrono::milliseconds(1));
            co_await timer.async_wait(boost::asio::use_awaitable);
            auto used = use_of(clients) - before;
            bool quiet = used.on_their_way == 0 && used.requests > 0;
            still = quiet ? still + 1 : 0;
        }
        if (ended)
            throw std::logic_error("the lock did not wait for those before");
        auto used = use_of(clients) - before;
        auto joined = answers.last();
        r[0].add("join_us", to_microseconds(joined - began));
        r[0].add("requests_per_operation", used.requests);
        r[0].add("notifications_per_operation", used.notifications);
        r[0].add("bytes_per_operation", used.bytes);
        co_await stage::close(clients);
        while (!ended) {
            timer.expires_after(std::chrono::milliseconds(1));
            co_await timer.async_wait(boost::asio::use_awaitable);
        }
    }

    /// The least: a create and a listing, one after the other.
    void floor(job& j, rows r) override {
        std::string path = j.on.fresh_path("join");
        prepare(j, "ours", path);
        auto loop = j.on.raw();
        r[0].add("join_us", loop->listings(path, 5).p50() + loop->measure(20).create.p50());
    }

    std::string request(const std::string& path) const override {
        return fmt::format("handover kind=lock path={} waiters=1 before={}", path, before_);
    }
    std::string warm_up(const std::string& path) const override {
        return fmt::format("handover kind=lock path={} waiters=30 sessions=31", path);
    }

    void from_peer(const peer_phases& phases, rows r) const override {
        // No time: that a thread waits in `acquire` is only seen from outside, milliseconds later.
        add_phase(r[0], phases.at("queue"), "operation", 1);
    }

    void prepare(job& j, std::string_view implementation, const std::string& path) override {
        auto loop = j.on.raw();
        loop->make(path);
        loop->fill(path, prefix_for(implementation), before_);
    }

private:
    std::size_t before_;
};

}  // namespace

std::unique_ptr<comparison> compare_joining(std::size_t waiters) {
    return std::make_unique<joining_comparison>(waiters);
}

}  // namespace corozk::bench
