// SPDX-License-Identifier: Apache-2.0
#include "announced_turns.hpp"
#include "contender_table.hpp"
#include "outage.hpp"
#include "queue_pace.hpp"
#include "screen.hpp"
#include "table.hpp"
#include <corozk/recipe/contention_inspector.hpp>

#include <boost/json/array.hpp>

#include <algorithm>
#include <cmath>

namespace corozk::program {

namespace {

/// One of the queues that are shown.
struct shown_queue {
    std::string path;
    contention_inspector inspector;
    announced_turns turns;
    queue_pace pace;
};

std::string seconds(const std::optional<double>& time) {
    if (!time)
        return "-";
    if (*time < 1)
        return fmt::format("{:.0f}ms", *time * 1000);
    if (*time < 60)
        return fmt::format("{:.1f}s", *time);
    return age(std::chrono::seconds(std::llrint(std::min(*time, 1e9))));
}

std::string rate(const std::optional<double>& per_second) {
    return per_second ? fmt::format("{:.2f}", *per_second) : "-";
}

boost::json::value value_of(const std::optional<double>& number) {
    return number ? boost::json::value(*number) : boost::json::value(nullptr);
}

class top_command final : public command {
public:
    explicit top_command(CLI::App& app) {
        app.add_option("PATH", paths_, "the parent znodes of locks, semaphores and elections")
            ->required()
            ->each(check_recipe_path);
        add_duration(app, "-i,--interval", interval_, "the time between two samples (default 1s)");
        app.add_flag(
            "--once", once_, "take two samples, an interval apart, print the result, and end");
        app.footer(
            R"(Shows the pace of contention queues: the numbers of holders and waiters, hand-overs per
second, the mean waiting and holding times, and the longest current wait; below that, the
holders and waiters. Supports the same recipes as corozk contenders.

Averages are over the last ten samples. No hand-over is missed between two of them, as the
servers count the changes of a znode's children. The mean times are computed from these
by Little's law. A waiter that gives up does not count as a hand-over, unless it arrived
and gave up between two samples; no other children of the znode should be created and
deleted. Those by which a holder announces the grant to its successor are not counted;
servers before 3.6 do not report them, nor does any server while the connection is lost,
so that hand-overs may count twice.

On a terminal the view is redrawn in place; the key q, or Ctrl-C, ends it. Elsewhere, and
with --json, every sample is printed. Continues while the servers are unreachable. Every
sample reads all contenders: for thousands of them use a longer --interval.

Examples
  corozk top /backup
  corozk top --interval 5s /backup /gpus /scheduler
  corozk top --once /backup
  corozk top --json /backup | jq '.queues[].hand_overs_per_second')");
    }

    void check(const settings&) override {
        if (interval_ < std::chrono::milliseconds(100))
            throw usage_error("--interval must be at least 100ms");
    }

    asio::awaitable<int> run(command_context& context) override {
        for (const std::string& path : paths_)
            queues_.push_back({path,
                               contention_inspector(context.zk, path),
                               announced_turns(path),
                               queue_pace()});
        if (screen::possible() && !once_ && !context.options.json)
            co_await context.interrupts.race(on_screen(context));
        else
            co_await context.interrupts.race(follow(context));
        co_return done;
    }

private:
    asio::awaitable<void> on_screen(command_context& context) {
        using namespace asio::experimental::awaitable_operators;
        screen terminal(co_await asio::this_coro::executor);
        screen_ = &terminal;
        ending<void> looking;
        ending<void> window;
        auto first = co_await (run_to_end(follow(context), looking) ||
                               run_to_end(terminal.follow_window(), window) || terminal.quit());
        if (first.index() == 0)
            looking.take();
        else if (first.index() == 1)
            window.take();
    }

    /// Looks again and again.
    asio::awaitable<void> follow(command_context& context) {
        using namespace asio::experimental::awaitable_operators;
        for (;;) {
            auto next = std::chrono::steady_clock::now() + interval_;
            ending<void> looked;
            error_code why;
            co_await run_to_end(while_connected(context.zk, look(context.zk)), looked);
            try {
                looked.take();
                away_ = false;
            } catch (const boost::system::system_error& e) {
                if (!is_outage(e.code()) || once_)
                    throw;
                away_ = true;
                why = e.code();
            }
            if (away_) {
                co_await wait_for_servers(context, why);
                continue;
            }
            ++looks_;
            if (!once_ || looks_ > 1)
                show(context);
            if (once_ && looks_ > 1)
                co_return;
            co_await (pause_until(next) || count_turns());
        }
    }

    /// In all queues from this one on. Ends when it is cancelled.
    asio::awaitable<void> count_turns(std::size_t from = 0) {
        using namespace asio::experimental::awaitable_operators;
        if (from < queues_.size())
            co_await (queues_[from].turns.follow() || count_turns(from + 1));
        else
            co_await pause_until(time_point::max());
    }

    asio::awaitable<void> wait_for_servers(command_context& context, error_code why) {
        const char* report = "the connection was lost; waiting for a server";
        if (screen_)
            draw(context);
        else
            report_outage(context, why, report);
        co_await connected_until(context.zk, time_point::max());
    }

    /// Counts turns meanwhile: events that nobody takes are dropped at some time.
    static asio::awaitable<std::vector<contender_info>> contenders_of(shown_queue& queue) {
        using namespace asio::experimental::awaitable_operators;
        auto first = co_await (queue.inspector.list_contenders(as_tuple) || queue.turns.follow());
        auto [ec, contenders] = std::get<0>(std::move(first));
        if (ec)
            throw error(ec, "contenders", queue.path);
        co_return std::move(contenders);
    }

    asio::awaitable<void> look(client& zk) {
        for (shown_queue& queue : queues_) {
            queue_look found;
            co_await queue.turns.watch(zk);
            auto [ec, listing] = co_await zk.get_children(queue.path, as_tuple);
            if (ec && ec != zk_errc::no_node)
                throw error(ec, "list", queue.path);
            if (!ec)
                found.listing = std::move(listing);
            co_await queue.turns.catch_up();
            found.announced = queue.turns.take();
            found.contenders = co_await contenders_of(queue);
            found.when = std::chrono::steady_clock::now();
            queue.pace.add(std::move(found));
        }
    }

    void show(command_context& context) const {
        if (screen_)
            draw(context);
        else
            context.out.result(text() + (once_ ? "" : "\n"), value());
    }

    void draw(command_context& context) const {
        std::string title = fmt::format("corozk top  q quits  every {}  {}  {}\n",
                                        seconds(std::chrono::duration<double>(interval_).count()),
                                        utc(std::chrono::system_clock::now()),
                                        context.options.hosts);
        if (away_)
            title += "the connection was lost; waiting for a server\n";
        screen_->draw(title + "\n" + text());
    }

    std::string text() const {
        auto now = std::chrono::system_clock::now();
        std::vector<table_row> rows{{"PATH",
                                     "HOLDING",
                                     "WAITING",
                                     "HAND-OVERS/S",
                                     "MEAN WAIT",
                                     "MEAN HOLD",
                                     "LONGEST WAIT"}};
        for (const shown_queue& queue : queues_) {
            const queue_pace& pace = queue.pace;
            auto longest = pace.longest_wait(now);
            rows.push_back({printable(queue.path),
                            std::to_string(pace.holding()),
                            std::to_string(pace.waiting()),
                            rate(pace.hand_overs_per_second()),
                            seconds(pace.mean_wait()),
                            seconds(pace.mean_hold()),
                            longest ? age(*longest) : "-"});
        }
        std::string result = table(std::move(rows));
        for (const shown_queue& queue : queues_) {
            if (!queue.pace.contenders().empty())
                result += "\n" + contenders_of(queue, now);
        }
        return result;
    }

    std::string contenders_of(const shown_queue& queue,
                              std::chrono::system_clock::time_point now) const {
        std::vector<table_row> rows{{"STATE", "KIND", "AGE", "SESSION", "WHO", "NODE"}};
        for (const contender_info& c : queue.pace.contenders()) {
            rows.push_back({c.holds ? "holds" : "waits",
                            kind_of(c),
                            age(now - c.since),
                            session_name(c.session_id),
                            c.data.empty() ? "-" : printable(c.data),
                            printable(c.path.substr(c.path.rfind('/') + 1))});
        }
        std::string title = queues_.size() > 1 ? printable(queue.path) + "\n" : "";
        return title + table(std::move(rows));
    }

    boost::json::object value() const {
        auto now = std::chrono::system_clock::now();
        boost::json::array queues;
        for (const shown_queue& queue : queues_) {
            const queue_pace& pace = queue.pace;
            std::optional<double> longest;
            if (auto wait = pace.longest_wait(now))
                longest = std::chrono::duration<double>(*wait).count();
            boost::json::array contenders;
            for (const contender_info& c : pace.contenders())
                contenders.push_back(contender_value(c, {}));
            queues.push_back({{"path", queue.path},
                              {"holding", pace.holding()},
                              {"waiting", pace.waiting()},
                              {"arrivals", pace.arrivals()},
                              {"hand_overs", pace.hand_overs()},
                              {"arrivals_per_second", value_of(pace.arrivals_per_second())},
                              {"hand_overs_per_second", value_of(pace.hand_overs_per_second())},
                              {"mean_wait_seconds", value_of(pace.mean_wait())},
                              {"mean_hold_seconds", value_of(pace.mean_hold())},
                              {"longest_wait_seconds", value_of(longest)},
                              {"contenders", std::move(contenders)}});
        }
        return {{"time", utc(now)}, {"queues", std::move(queues)}};
    }

    std::vector<std::string> paths_;
    std::chrono::milliseconds interval_{1000};
    bool once_ = false;
    std::vector<shown_queue> queues_;
    screen* screen_ = nullptr;  ///< where one is drawn on
    int looks_ = 0;
    bool away_ = false;
};

}  // namespace

const command_entry top_entry{"top",
                              "PATH...",
                              "show holders, waiters and hand-overs per second, live",
                              make_command<top_command>};

}  // namespace corozk::program
