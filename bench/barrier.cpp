// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "crew.hpp"
#include "measures.hpp"
#include "table.hpp"
#include "work_figures.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace corozk::bench {

namespace {

boost::asio::awaitable<void> enter(double_barrier& member, std::size_t& inside) {
    co_await member.enter();
    ++inside;
}

boost::asio::awaitable<void> leave(double_barrier& member, std::size_t& outside) {
    co_await member.leave();
    ++outside;
}

struct bare_times {
    double create_s = 0;
    double erase_s = 0;
};

/// As many creates and deletes as there are members, all on their way at once; the median of some.
bare_times measure_floor(job& j, std::size_t members) {
    constexpr std::size_t times = 5;
    auto loop = j.on.raw();
    std::vector<double> creates;
    std::vector<double> erases;
    for (std::size_t i = 0; i < times; ++i) {
        auto rate = loop->pipeline(members, members);
        creates.push_back(static_cast<double>(members) / rate.create_per_s);
        erases.push_back(static_cast<double>(members) / rate.erase_per_s);
    }
    return {median(creates), median(erases)};
}

/// In and out again, once.
boost::asio::awaitable<void> in_and_out(job& j,
                                        std::vector<client>& clients,
                                        std::deque<double_barrier>& members,
                                        result& r) {
    auto executor = co_await boost::asio::this_coro::executor;
    double each = 1 / static_cast<double>(members.size());

    std::size_t inside = 0;
    work_figures entering(clients);
    crew incomers(executor, j.on.shown());
    for (auto& m : members)
        incomers.add(enter(m, inside));
    double enter_s = co_await incomers.finish("double barrier: entering", inside, members.size());
    auto entered = entering.used();

    std::size_t outside = 0;
    work_figures leaving(clients);
    crew leavers(executor, j.on.shown());
    for (auto& m : members)
        leavers.add(leave(m, outside));
    double leave_s = co_await leavers.finish("double barrier: leaving", outside, members.size());
    auto left = leaving.used();

    r.add("enter_s", enter_s).add("leave_s", leave_s);
    r.add("enter_requests_per_member", entered.requests * each);
    r.add("leave_requests_per_member", left.requests * each);
    r.add("enter_notifications_per_member", entered.notifications * each);
    r.add("leave_notifications_per_member", left.notifications * each);
    r.add("bytes_per_member", (entered.bytes + left.bytes) * each);
    r.add("enter_bytes_per_member", entered.bytes * each);
    r.add("leave_bytes_per_member", left.bytes * each);
}

boost::asio::awaitable<void> one_round(job& j,
                                       std::vector<client>& clients,
                                       std::deque<double_barrier>& members,
                                       result& r) {
    bare_times before = measure_floor(j, members.size());
    co_await in_and_out(j, clients, members, r);
    bare_times after = measure_floor(j, members.size());
    double create_s = (before.create_s + after.create_s) / 2;
    double erase_s = (before.erase_s + after.erase_s) / 2;
    r.add("floor_create_s", create_s).add("floor_erase_s", erase_s);
    r.add("enter_floor_ratio", r.last("enter_s") / create_s);
    r.add("leave_floor_ratio", r.last("leave_s") / erase_s);
}

std::deque<double_barrier> make_members(job& j, std::vector<client>& clients, std::size_t count) {
    std::string path = j.on.fresh_path("barrier");
    std::deque<double_barrier> members;
    for (std::size_t i = 0; i < count; ++i)
        members.emplace_back(clients[i % clients.size()], path, static_cast<std::uint32_t>(count));
    return members;
}

}  // namespace

boost::asio::awaitable<void> measure_barrier(job& j,
                                             std::size_t members,
                                             std::size_t sessions,
                                             result& r) {
    auto clients = co_await j.on.connect(sessions);
    {
        auto all = make_members(j, clients, members);
        co_await in_and_out(j, clients, all, r);
    }
    co_await stage::close(clients);
}

boost::asio::awaitable<void> run_barrier(job& j) {
    table t({"members",
             "sessions",
             "enter",
             "/ floor",
             "leave",
             "/ floor",
             "requests in",
             "out",
             "events in",
             "out",
             "bytes"});
    for (std::size_t count : j.wanted.members) {
        std::size_t sessions = std::min(j.wanted.sessions, count);
        result row;
        row.set("implementation", "ours").set("recipe", "double_barrier");
        row.set("waiters", count).set("sessions", sessions);
        row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
        auto clients = co_await j.on.connect(sessions);
        {
            auto members = make_members(j, clients, count);
            for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
                co_await one_round(j, clients, members, row);
            }
        }
        co_await stage::close(clients);
        auto milliseconds = [](double s) { return fmt::format("{:.1f} ms", s * 1e3); };
        t.add({count_text(static_cast<double>(count)),
               count_text(static_cast<double>(sessions)),
               with_spread(row, "enter_s", +milliseconds),
               with_spread(row, "enter_floor_ratio", ratio_text),
               with_spread(row, "leave_s", +milliseconds),
               with_spread(row, "leave_floor_ratio", ratio_text),
               figure_text(row.median("enter_requests_per_member")),
               figure_text(row.median("leave_requests_per_member")),
               figure_text(row.median("enter_notifications_per_member")),
               figure_text(row.median("leave_notifications_per_member")),
               bytes_text(row.median("bytes_per_member"))});
        j.results.push_back(std::move(row));
    }
    j.output = heading(j) + "\n" + t.str();
    j.output += fmt::format(
        "\nenter: until all are inside; leave: until all are out; requests, events and bytes per "
        "member\nfloor: as many creates (enter) and deletes (leave) on one session, all in flight "
        "at once, bare C client, measured around each of the {} rounds; medians, with (least .. "
        "most)\n",
        j.wanted.repeat);
}

}  // namespace corozk::bench
