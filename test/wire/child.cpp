// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include "crash_report.hpp"
#include "foreign_nodes.hpp"
#include "lie_witness.hpp"
#include "scenarios.hpp"
#include <corozk/testing/admin.hpp>
#include <corozk/testing/fault_proxy.hpp>
#include <corozk/testing/run.hpp>
#include <corozk/testing/wire_lie.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <iostream>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

namespace corozk::wire {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;
using testing::admin;
using testing::frame_info;

constexpr long memory_limit_kb = 400L * 1024;
constexpr rlim_t address_space_limit = 1UL * 1024 * 1024 * 1024;

// What a client asks a server that lies all the time, within five seconds. Whoever asks again
// without any pause gets many times as far.
constexpr std::uint64_t most_requests = 20'000;
constexpr std::uint64_t most_connections = 100;

auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
}

/// Under these, whoever follows a node reads it again at each answer, as beside a writer who never
/// stops; and of very many children each is looked at.
bool asks_for_requests(testing::wire_lie lie) {
    using testing::wire_lie;
    return lie == wire_lie::spurious_events || lie == wire_lie::event_of_unknown_state ||
           lie == wire_lie::children_with_one_long_name;
}

/// Paths may be long.
testing::fault_proxy_options short_log() {
    testing::fault_proxy_options options;
    options.log_capacity = 100;
    return options;
}

testing::lie_span span_of(const wire_case& what) {
    return what.persistent ? testing::lie_span::from_then : testing::lie_span::once;
}

const scenario& scenario_named(const std::string& name) {
    for (const scenario& s : all_scenarios()) {
        if (s.name == name)
            return s;
    }
    throw std::invalid_argument("no such scenario: " + name);
}

/// Of this process, always of the same length.
std::string own_root() {
    char text[32];
    std::snprintf(text, sizeof text, "/wire-%08ld", static_cast<long>(::getpid()));
    return text;
}

/// Where the client makes nodes: the paths below the folder, without the server's digits.
class path_collector {
public:
    void note(const frame_info& frame, const std::string& folder) {
        if (!frame.path.starts_with(folder))
            return;
        std::lock_guard guard(mutex_);
        paths_.insert(frame.path.substr(folder.size()));
    }
    std::set<std::string> paths() {
        std::lock_guard guard(mutex_);
        return paths_;
    }

private:
    std::mutex mutex_;
    std::set<std::string> paths_;
};

class performance {
public:
    performance(const wire_case& what, std::uint16_t port)
        : what_(what),
          play_(scenario_named(what.scenario)),
          port_(port),
          lie_(testing::wire_lie_named(what.attack).value_or(testing::wire_lie::none)),
          witness_(testing::liar(lie_, what.at, what.seed, span_of(what))),
          proxy_(port, short_log()),
          random_(what.seed) {}

    int operator()() {
        try {
            testing::run(
                context_, [this] { return act(); }, 70s);
            testing::run_to_idle(context_, 10s);
        } catch (const testing::timeout_error& e) {
            std::cout << "hung: " << e.what() << "\n" << proxy_.describe_log(40) << std::endl;
            return hung;
        } catch (const testing::stuck_error& e) {
            std::cout << "hung: " << e.what() << std::endl;
            return hung;
        }
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        std::cout << witness_.describe_occasions() << "memory " << usage.ru_maxrss << " KiB"
                  << std::endl;
        if (usage.ru_maxrss > memory_limit_kb)
            return too_much_memory;
        if (asked_too_often_)
            return too_many_requests;
        if (!ended_)
            return hung;
        return healed_ ? went_well : did_not_heal;
    }

private:
    awaitable<void> act() {
        if (what_.attack == foreign_nodes)
            co_await find_out_and_plant();
        if (what_.attack == vandal) {
            proxy_.arm(testing::at_request(what_.at),
                       testing::call_at_reply([this](const frame_info&) { vandalise(); }));
        }
        proxy_.edit(testing::direction::to_client,
                    [this](const frame_info& frame, std::string bytes) {
                        return witness_(frame, std::move(bytes));
                    });
        client_options options(proxy_.hosts());
        // Who is not lied to must not lose its session to a busy machine.
        honest = what_.attack == no_attack;
        options.session_timeout = honest ? 60s : 2s;
        options.connect_timeout = honest ? 60s : 5s;
        options.logger = logger(log_level::info, [](log_level, std::string_view text) {
            std::cout << "log: " << text << std::endl;
        });
        client c(context_.get_executor(), options);
        auto [ec] = co_await c.connect(as_tuple());
        std::cout << "connect: " << ec.message() << std::endl;
        if (is_told_at_reconnect())
            proxy_.cut();
        if (!ec)
            co_await within_reason(c, root_ + "/folder");
        count_requests();
        // The server is honest from now on.
        proxy_.edit(testing::direction::to_client, nullptr);
        co_await heal(c);
        auto [closed] = co_await c.close(as_tuple());
        std::cout << "close: " << closed.message() << std::endl;
    }

    bool is_told_at_reconnect() const {
        return occasion_of(lie_) == testing::wire_occasion::connecting && what_.at > 1;
    }

    void count_requests() {
        testing::proxy_statistics seen = proxy_.statistics();
        std::cout << "requests " << seen.requests << ", connections " << seen.connections_accepted
                  << std::endl;
        asked_too_often_ =
            !asks_for_requests(lie_) &&
            (seen.requests > most_requests || seen.connections_accepted > most_connections);
    }

    /// With an end in any case. From a server that never stops lying nothing need come.
    awaitable<void> within_reason(client& c, std::string folder) {
        using namespace boost::asio::experimental::awaitable_operators;
        auto first = co_await (played(c, std::move(folder)) || stuck());
        bool by_itself = first.index() == 0;
        ended_ = by_itself || what_.persistent;
        std::string said = by_itself ? std::get<0>(first) : "given up";
        std::cout << "played: " << said << std::endl;
    }

    /// Nothing was asked for a while. A lie about a list makes twenty thousand requests necessary.
    awaitable<void> stuck() {
        boost::asio::steady_timer pause(context_);
        std::uint64_t before = 0;
        do {
            before = proxy_.statistics().requests;
            // A lie about a list stops the loop for half a second, and on a busy machine for many.
            pause.expires_after(what_.persistent ? 5s : 15s);
            co_await pause.async_wait(boost::asio::use_awaitable);
        } while (!what_.persistent && proxy_.statistics().requests != before);
    }

    /// How it went. (`||` would wait for the budget's end if this threw.)
    awaitable<std::string> played(client& c, std::string folder) {
        try {
            co_await play_.play(c, std::move(folder));
        } catch (const std::exception& e) {
            co_return e.what();
        }
        co_return "done";
    }

    awaitable<void> heal(client& c) {
        boost::asio::steady_timer pause(context_);
        auto deadline = std::chrono::steady_clock::now() + 15s;
        error_code ec;
        do {
            auto [problem, record] = co_await c.exists("/", as_tuple());
            ec = problem;
            if (!ec)
                break;
            // Closed for good: somebody has to connect again.
            if (c.state() == session_state::closed) {
                auto [again] = co_await c.connect(as_tuple());
                ec = again;
            }
            pause.expires_after(20ms);
            co_await pause.async_wait(boost::asio::use_awaitable);
        } while (std::chrono::steady_clock::now() < deadline);
        healed_ = !ec;
        std::cout << "healed: " << ec.message() << std::endl;
    }

    /// Plays once undisturbed, looks where nodes are made, and puts others' there.
    awaitable<void> find_out_and_plant() {
        path_collector made;
        std::string model = root_ + "/model";
        proxy_.edit(testing::direction::to_server,
                    [&made, model](const frame_info& frame, std::string bytes) {
                        made.note(frame, model);
                        return bytes;
                    });
        client_options options(proxy_.hosts());
        options.session_timeout = 10s;
        options.logger.level = log_level::off;
        client c = co_await client::connect(context_.get_executor(), options);
        honest = true;
        co_await within_reason(c, model);
        co_await c.close(as_tuple());
        proxy_.edit(testing::direction::to_server, nullptr);
        admin hand(port_);
        std::string folder = root_ + "/folder";
        plant_near(hand, folder, made.paths(), random_);
        for (const std::string& path : hand.tree(folder))
            std::cout << "planted " << path << "\n";
    }

    /// On the proxy's thread.
    void vandalise() {
        admin hand(port_);
        std::string folder = root_ + "/folder";
        std::set<std::string> below;
        for (const std::string& path : hand.tree(folder))
            below.insert(path.substr(folder.size()));
        for (const std::string& path : below)
            plant_if_possible(hand, folder + path, foreign_data(random_));
        plant_if_possible(hand, folder, foreign_data(random_));
        plant_near(hand, folder, below, random_);
    }

    const wire_case& what_;
    const scenario& play_;
    std::uint16_t port_;
    std::string root_ = own_root();
    boost::asio::io_context context_;
    testing::wire_lie lie_;
    lie_witness witness_;  // the proxy's thread uses it
    testing::fault_proxy proxy_;
    std::mt19937_64 random_;
    bool ended_ = true;
    bool healed_ = false;
    bool asked_too_often_ = false;
};

}  // namespace

int run_child(const wire_case& what, std::uint16_t server_port) {
    testing::report_crashes();
#ifndef COROZK_SANITIZED
    // What is only reserved counts, too.
    const rlimit limit{address_space_limit, address_space_limit};
    ::setrlimit(RLIMIT_AS, &limit);
#endif
    try {
        performance p(what, server_port);
        return p();
    } catch (const std::exception& e) {
        std::cout << "the test itself: " << e.what() << std::endl;
        return broken_test;
    }
}

}  // namespace corozk::wire
