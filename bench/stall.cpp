// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "table.hpp"
#include "watch_crowd.hpp"
#include "watchdog.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto longest_wait = 60s;
constexpr std::size_t watches_per_lock_waiter = 5;

asio::awaitable<void> pause(clock::duration d) {
    asio::steady_timer timer(co_await asio::this_coro::executor, d);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Runs something that blocks on a thread of its own.
asio::awaitable<void> elsewhere(std::function<void()> work) {
    struct outcome {
        std::atomic<bool> done = false;
        std::exception_ptr problem;
    };
    outcome result;
    std::thread thread([&] {
        try {
            work();
        } catch (...) {
            result.problem = std::current_exception();
        }
        result.done = true;
    });
    struct joiner {
        std::thread& thread;
        ~joiner() { thread.join(); }
    } join{thread};
    while (!result.done)
        co_await pause(5ms);
    if (result.problem)
        std::rethrow_exception(result.problem);
}

template <class Condition>
asio::awaitable<void> until(const char* what, Condition condition) {
    auto limit = clock::now() + longest_wait;
    while (!condition()) {
        if (clock::now() > limit)
            throw std::runtime_error(fmt::format("waited in vain: {}", what));
        co_await pause(5ms);
    }
}

/// A client with many watches, and what is done to it.
class patient {
public:
    explicit patient(job& j) : job_(j) {}

    struct step {
        const char* name;
        asio::awaitable<void> (patient::*run)();
        bool needs_server;  ///< one that is our own
    };
    static const std::vector<step>& steps();

    asio::awaitable<void> prepare() {
        folder_ = job_.on.fresh_path("watched");
        observer_ = co_await connect();
        watch_crowd nodes(observer_, folder_, job_.wanted.watches);
        co_await nodes.create_nodes();
    }

    asio::awaitable<void> finish() {
        co_await observer_.close(asio::as_tuple(asio::use_awaitable));
    }

private:
    asio::awaitable<client> connect() {
        client_options o = job_.on.options();
        o.logger.level = log_level::off;
        co_return co_await client::connect(std::move(o));
    }

    asio::awaitable<void> admit() {
        client_ = co_await connect();
        crowd_ = std::make_unique<watch_crowd>(client_, folder_, job_.wanted.watches);
        co_await crowd_->set();
    }

    asio::awaitable<void> discharge() {
        co_await client_.close(asio::as_tuple(asio::use_awaitable));
        crowd_.reset();
        client_ = client();
        co_await pause(50ms);
    }

    asio::awaitable<void> reconnected() {
        auto settled = [this] {
            auto n = client_.counters();
            return client_.state() == session_state::connected && n.in_flight == 0 && n.queued == 0;
        };
        co_await until("a connection", settled);
        co_await pause(500ms);
        co_await until("a connection", settled);
    }

    asio::awaitable<void> disconnected() {
        co_await until("the connection to go",
                       [this] { return client_.state() != session_state::connected; });
    }

    void stop_servers() {
        for (std::size_t i = 0; i < job_.on.servers(); ++i)
            job_.on.server(i).stop();
    }
    void continue_servers() {
        for (std::size_t i = 0; i < job_.on.servers(); ++i)
            job_.on.server(i).cont();
    }
    void kill_servers() {
        for (std::size_t i = 0; i < job_.on.servers(); ++i)
            job_.on.server(i).kill();
    }
    void start_servers() {
        for (std::size_t i = 0; i < job_.on.servers(); ++i)
            job_.on.server(i).launch();
        for (std::size_t i = 0; i < job_.on.servers(); ++i)
            job_.on.server(i).wait_until_serving();
    }

    asio::awaitable<void> nothing() { co_await pause(2s); }

    asio::awaitable<void> set_watches() {
        co_await admit();
        co_await pause(200ms);
        measured();
        co_await discharge();
    }

    asio::awaitable<void> all_events() {
        co_await admit();
        begin();
        co_await crowd_->touch(observer_);
        co_await until("the events", [this] { return crowd_->woken() >= crowd_->size(); });
        measured();
        co_await discharge();
    }

    asio::awaitable<void> server_stopped() {
        co_await admit();
        begin();
        co_await elsewhere([this] { stop_servers(); });
        co_await disconnected();
        co_await elsewhere([this] { continue_servers(); });
        co_await reconnected();
        measured();
        co_await discharge();
    }

    asio::awaitable<void> server_killed() {
        co_await admit();
        begin();
        co_await elsewhere([this] { kill_servers(); });
        co_await disconnected();
        co_await pause(300ms);
        co_await elsewhere([this] { start_servers(); });
        co_await reconnected();
        measured();
        co_await discharge();
    }

    asio::awaitable<void> expired() {
        co_await admit();
        begin();
        co_await elsewhere([this] { stop_servers(); });
        co_await until("the end of the session",
                       [this] { return crowd_->woken() >= crowd_->size(); });
        co_await pause(200ms);
        measured();
        co_await elsewhere([this] { continue_servers(); });
        co_await reconnected();
        co_await discharge();
    }

    asio::awaitable<void> closed() {
        co_await admit();
        begin();
        co_await client_.close(asio::as_tuple(asio::use_awaitable));
        co_await pause(100ms);
        measured();
        co_await discharge();
    }

    asio::awaitable<void> closed_while_stopped() {
        co_await admit();
        begin();
        co_await elsewhere([this] { stop_servers(); });
        co_await client_.close(asio::as_tuple(asio::use_awaitable));
        co_await pause(100ms);
        measured();
        co_await elsewhere([this] { continue_servers(); });
        co_await discharge();
    }

    asio::awaitable<void> destroyed() {
        co_await admit();
        begin();
        client_ = client();
        co_await pause(300ms);
        measured();
        co_await discharge();
    }

    // The same with contenders for a lock instead of watches.

    asio::awaitable<void> queue_up() {
        co_await admit_without_watches();
        std::size_t n = std::max<std::size_t>(job_.wanted.watches / watches_per_lock_waiter, 1);
        lock_ = std::make_unique<lock>(client_, job_.on.fresh_path("lock"));
        held_ = co_await lock_->acquire();
        waiting_ = n;
        for (std::size_t i = 0; i < n; ++i) {
            lock_->acquire([this](error_code, ownership) { --waiting_; });
        }
        auto base = client_.counters().requests;
        auto queued = [this, n, base] {
            auto c = client_.counters();
            return c.requests - base >= n && c.in_flight == 0 && c.queued == 0;
        };
        co_await until("everybody to queue", queued);
    }

    asio::awaitable<void> admit_without_watches() {
        client_ = co_await connect();
        crowd_ = std::make_unique<watch_crowd>(client_, folder_, 0);
    }

    asio::awaitable<void> send_home() {
        co_await client_.close(asio::as_tuple(asio::use_awaitable));
        co_await until("everybody to go", [this] { return waiting_ == 0; });
        held_ = ownership();
        lock_.reset();
        co_await discharge();
    }

    asio::awaitable<void> queue_killed() {
        co_await queue_up();
        begin();
        co_await elsewhere([this] { kill_servers(); });
        co_await disconnected();
        co_await pause(300ms);
        co_await elsewhere([this] { start_servers(); });
        co_await reconnected();
        measured();
        co_await send_home();
    }

    asio::awaitable<void> queue_expired() {
        co_await queue_up();
        begin();
        co_await elsewhere([this] { stop_servers(); });
        co_await until("everybody to go", [this] { return waiting_ == 0; });
        co_await pause(200ms);
        measured();
        co_await elsewhere([this] { continue_servers(); });
        co_await reconnected();
        co_await send_home();
    }

    asio::awaitable<void> queue_closed() {
        co_await queue_up();
        begin();
        co_await client_.close(asio::as_tuple(asio::use_awaitable));
        co_await until("everybody to go", [this] { return waiting_ == 0; });
        co_await pause(100ms);
        measured();
        co_await send_home();
    }

    void begin() {
        dog_->take();
        began_ = clock::now();
    }

    void measured() {
        gap_ = dog_->take();
        took_ = to_seconds(clock::now() - began_);
    }

public:
    /// One step, with a watchdog beside it.
    asio::awaitable<void> examine(const step& s, result& r) {
        dog_ = std::make_unique<watchdog>(co_await asio::this_coro::executor);
        gap_.reset();
        co_await pause(20ms);
        begin();
        co_await (this->*s.run)();
        if (!gap_)
            measured();
        dog_.reset();
        co_await pause(20ms);
        r.add("max_stall_ms", gap_->own_ms);
        r.add("max_gap_ms", gap_->seen_ms);
        r.add("took_s", took_);
    }

private:
    job& job_;
    std::string folder_;
    client observer_;
    client client_;
    std::unique_ptr<watch_crowd> crowd_;
    std::unique_ptr<lock> lock_;
    ownership held_;
    std::size_t waiting_ = 0;
    std::unique_ptr<watchdog> dog_;
    clock::time_point began_{};
    double took_ = 0;
    std::optional<watchdog::gap> gap_;
};

const std::vector<patient::step>& patient::steps() {
    static const std::vector<step> all{
        {"nothing (the noise of the machine)", &patient::nothing, false},
        {"all watches are set", &patient::set_watches, false},
        {"all watched nodes change", &patient::all_events, false},
        {"client closed", &patient::closed, false},
        {"client destroyed", &patient::destroyed, false},
        {"server stopped, continued in time", &patient::server_stopped, true},
        {"server killed, restarted", &patient::server_killed, true},
        {"server stopped until the session is lost", &patient::expired, true},
        {"client closed, server stopped", &patient::closed_while_stopped, true},
        {"lock: client closed", &patient::queue_closed, false},
        {"lock: server killed, restarted", &patient::queue_killed, true},
        {"lock: server stopped until the session is lost", &patient::queue_expired, true},
    };
    return all;
}

}  // namespace

boost::asio::awaitable<void> run_stall(job& j) {
    std::vector<result> rows(patient::steps().size());
    std::size_t left_out = 0;
    for (std::size_t repetition = 0; repetition < j.wanted.repeat; ++repetition) {
        auto floor = j.on.floor(floor_samples);
        patient p(j);
        j.on.shown().update("making the nodes to watch");
        co_await p.prepare();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto& step = patient::steps()[i];
            if (std::string_view(step.name).find(j.wanted.only) == std::string_view::npos)
                continue;
            if (step.needs_server && !j.on.owns_servers()) {
                ++left_out;
                continue;
            }
            j.on.shown().update(step.name);
            co_await p.examine(step, rows[i]);
            stage::add_floor(rows[i], floor);
        }
        co_await p.finish();
    }
    bool any = std::any_of(
        rows.begin(), rows.end(), [](const result& r) { return r.has("max_stall_ms"); });
    if (!any)
        throw std::runtime_error("--only: no case that can be run has such a name");
    table t({"what happens", "longest stall", "/ floor", "gap by the clock", "took"});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        result& r = rows[i];
        if (!r.has("max_stall_ms"))
            continue;
        r.set("implementation", "ours").set("case", patient::steps()[i].name);
        r.set("watches", j.wanted.watches).set("sessions", 1).set("processes", 1).set("threads", 1);
        r.set("repeat", j.wanted.repeat);
        auto milliseconds = [](double ms) { return fmt::format("{:.1f} ms", ms); };
        t.add({patient::steps()[i].name,
               with_spread(r, "max_stall_ms", milliseconds),
               ratio_text(r.median("max_stall_ms") * 1e3 / r.median("floor_us.p50")),
               with_spread(r, "max_gap_ms", milliseconds),
               seconds_text(r.median("took_s"))});
        j.results.push_back(std::move(r));
    }
    j.output = heading(j) + "\n" + t.str();
    j.output += fmt::format(
        "\n{} watches, each with a pending next(); lock: {} waiters\nlongest stall: without the "
        "time in which the machine had no core free for the thread\nfloor: one session's delete to "
        "another session's watch event, bare C client\n",
        count_text(static_cast<double>(j.wanted.watches)),
        count_text(static_cast<double>(j.wanted.watches / watches_per_lock_waiter)));
    if (left_out > 0) {
        j.output +=
            "cases in which a server is stopped or killed were omitted: --hosts was "
            "given\n";
    }
}

}  // namespace corozk::bench
