// SPDX-License-Identifier: Apache-2.0
#include "compare/peer_work.hpp"

#include "interruption.hpp"
#include "table.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

/// Where the server does not tell of its watches, or nobody knows how many there will be: the peer is said to have queued when it needs
/// less than this share of a core for a while.
constexpr double quiet_share = 0.04;
constexpr auto quiet_time = std::chrono::milliseconds(300);

double number(const boost::json::object& values, std::string_view name) {
    const auto* value = values.if_contains(name);
    return value ? value->to_number<double>() : 0;
}

}  // namespace

/// Everything that counts up.
struct peer_work::sample {
    stage::server_use server;
    double client_cpu_seconds = 0;
    double observer_requests = 0;
    double observer_bytes = 0;
};

peer_work::sample peer_work::look() {
    sample s;
    s.client_cpu_seconds = process_.cpu_seconds();
    auto counters = observer_.counters();
    s.observer_requests = static_cast<double>(counters.requests);
    s.observer_bytes = static_cast<double>(counters.bytes_sent + counters.bytes_received);
    s.server = on_.use();
    return s;
}

boost::asio::awaitable<std::size_t> peer_work::count_nodes(const boost::json::object& wanted) {
    std::size_t sum = 0;
    for (const auto& folder : wanted.at("folders").as_array()) {
        auto [ec, stat] = co_await observer_.exists(
            std::string(folder.as_string()), boost::asio::as_tuple(boost::asio::use_awaitable));
        if (!ec && stat)
            sum += static_cast<std::size_t>(stat->num_children);
    }
    co_return sum;
}

boost::asio::awaitable<void> peer_work::until_queued(boost::json::object wanted) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    auto nodes = static_cast<std::size_t>(number(wanted, "nodes"));
    auto watches = static_cast<std::int64_t>(number(wanted, "watches"));
    auto began = clock::now();
    auto looked = began;
    double cpu = process_.cpu_seconds();
    for (;;) {
        process_.poll();  // throws what went wrong
        std::size_t there = co_await count_nodes(wanted);
        auto now = clock::now();
        bool quiet = false;
        if (on_.owns_servers() && watches > 0) {
            quiet = there >= nodes && on_.watches() - watches_before_ >= watches;
        } else if (now - looked > quiet_time) {
            double used = process_.cpu_seconds() - cpu;
            quiet = there >= nodes && used < quiet_share * to_seconds(now - looked);
            cpu += used;
            looked = now;
        }
        if (quiet)
            co_return;
        if (now - began > limit_) {
            throw peer_failure(
                fmt::format("after {} s only {} of {} nodes, not all of them waiting",
                            limit_.count(),
                            count_text(static_cast<double>(there)),
                            count_text(static_cast<double>(nodes))));
        }
        auto pause = std::max<clock::duration>((now - began) / 50, std::chrono::milliseconds(2));
        timer.expires_after(pause);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
}

/// What the peer says, besides that its waiters come, who are waited for.
boost::asio::awaitable<boost::json::object> peer_work::next_message() {
    for (;;) {
        interruption::check();
        auto message = co_await process_.next(limit_);
        if (message["event"].as_string() == "phase")
            watches_before_ = on_.watches();
        if (message["event"].as_string() != "started")
            co_return message;
        co_await until_queued(std::move(message));
        process_.send("settled");
    }
}

boost::asio::awaitable<void> peer_work::ask(std::string request, const visit& at) {
    process_.send(request);
    for (;;) {
        auto message = co_await next_message();
        if (message["event"].as_string() == "done")
            throw peer_failure("it was done without " + at.phase);
        if (message["event"].as_string() != "phase")
            continue;
        bool here = message["name"].as_string() == at.phase;
        if (here)
            co_await at.before();
        process_.send("go");
        if (here) {
            co_await at.after();
            co_return;
        }
    }
}

boost::asio::awaitable<peer_phases> peer_work::ask(std::string request) {
    peer_phases phases;
    sample before;
    double memory = 0;
    process_.send(request);
    for (;;) {
        auto message = co_await next_message();
        std::string event(message["event"].as_string());
        if (event == "done")
            co_return phases;
        if (event == "phase") {
            memory = number(message, "memory_bytes");
            before = look();
            process_.send("go");
        } else if (event == "measured") {
            sample after = look();
            peer_phase p;
            p.operations = number(message, "operations");
            p.seconds = number(message, "seconds");
            p.server_is_ours = on_.owns_servers();
            double polls = after.observer_requests - before.observer_requests;
            auto received = static_cast<double>(after.server.received - before.server.received);
            p.requests = std::max(received - polls, 0.0);
            p.notifications =
                static_cast<double>(after.server.notifications - before.server.notifications);
            p.bytes = static_cast<double>(after.server.bytes - before.server.bytes) -
                      (after.observer_bytes - before.observer_bytes);
            p.server_cpu_seconds = after.server.cpu_seconds - before.server.cpu_seconds;
            p.client_cpu_seconds = after.client_cpu_seconds - before.client_cpu_seconds;
            p.memory_bytes = number(message, "memory_bytes") - memory;
            p.threads = process_.threads();
            p.values = std::move(message);
            std::string name(p.values.at("name").as_string());
            phases[name] = std::move(p);
        }
    }
}

}  // namespace corozk::bench
