// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include "crash_report.hpp"
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

auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
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

/// Data as other programs have it.
std::string foreign_data(std::mt19937_64& random) {
    static const std::vector<std::string> kinds = {
        "",
        "0",
        "-1",
        "1",
        "2147483648",
        "99999999999999999999",
        "not a number",
        "{\"json\": [1, 2, 3]}",
        std::string("\0\0\0\x7f", 4),
        "\xff\xfe\x80",
        "unlock",
        "commit\nabort\n",
        "1\n1\n1\n1\n1\n1\n1\n1\n",
        std::string(60'000, 'x'),
        std::string(8, '\xff'),
        "12 34 56\nabc:def\n",
    };
    return kinds[random() % kinds.size()];
}

/// A name that is nearly the same, or the same.
std::string near_miss(std::string name, std::mt19937_64& random) {
    auto at = [&] { return name.empty() ? 0 : random() % name.size(); };
    switch (random() % 8) {
        case 0:
            return name + "0000000000";
        case 1:
            return name + "-2147483648";
        case 2:
            return name + "99999999999999999999";
        case 3:
            name.erase(at());
            return name;
        case 4:
            if (!name.empty())
                name[at()] = "-_0aZ\xc3."[random() % 7];
            return name;
        case 5:
            return name.substr(at());
        case 6:
            return name + name;
        default:
            return name;
    }
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

void plant_if_possible(admin& hand, const std::string& path, const std::string& data) {
    try {
        hand.plant(path, data);
    } catch (const std::exception&) {
        // It is there, or is no path.
        try {
            hand.set(path, data);
        } catch (const std::exception&) {
        }
    }
}

void plant_near(admin& hand,
                const std::string& folder,
                const std::set<std::string>& below,
                std::mt19937_64& random) {
    for (const std::string& relative : below) {
        std::size_t slash = relative.rfind('/');
        bool folder_itself = slash == std::string::npos;
        std::string parent = folder_itself ? folder : folder + relative.substr(0, slash);
        std::string name = folder_itself ? std::string() : relative.substr(slash + 1);
        for (int i = 0; i < 3; ++i) {
            std::string path = folder_itself ? folder : parent + "/" + near_miss(name, random);
            plant_if_possible(hand, path, foreign_data(random));
        }
    }
}

class performance {
public:
    performance(const wire_case& what, std::uint16_t port)
        : what_(what),
          play_(scenario_named(what.scenario)),
          port_(port),
          proxy_(port),
          random_(what.seed) {
        auto lie = testing::wire_lie_named(what.attack);
        tells_.emplace(lie.value_or(testing::wire_lie::none), lie ? what.at : 0, what.seed);
    }

    int operator()() {
        try {
            testing::run(
                context_, [this] { return act(); }, 40s);
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
        std::cout << "chances " << tells_->chances() << "\nmemory " << usage.ru_maxrss << " KiB"
                  << std::endl;
        if (usage.ru_maxrss > memory_limit_kb)
            return too_much_memory;
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
        proxy_.edit(testing::direction::to_client, *tells_);
        client_options options(proxy_.hosts());
        options.session_timeout = 2s;
        options.connect_timeout = 5s;
        options.logger = logger(log_level::info, [](log_level, std::string_view text) {
            std::cout << "log: " << text << std::endl;
        });
        client c(context_.get_executor(), options);
        auto [ec] = co_await c.connect(as_tuple());
        std::cout << "connect: " << ec.message() << std::endl;
        if (!ec)
            co_await within_reason(c, root_ + "/folder");
        // The server is honest from now on.
        proxy_.edit(testing::direction::to_client, nullptr);
        co_await heal(c);
        auto [closed] = co_await c.close(as_tuple());
        std::cout << "close: " << closed.message() << std::endl;
    }

    /// With an end in any case.
    awaitable<void> within_reason(client& c, std::string folder) {
        using namespace boost::asio::experimental::awaitable_operators;
        // A lie about a list stops the loop for half a second, and on a busy machine for many.
        boost::asio::steady_timer budget(context_, 15s);
        auto first = co_await (played(c, std::move(folder)) ||
                               budget.async_wait(boost::asio::use_awaitable));
        ended_ = first.index() == 0;
        std::string said = ended_ ? std::get<0>(first) : "given up";
        std::cout << "played: " << said << std::endl;
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
    testing::fault_proxy proxy_;
    std::mt19937_64 random_;
    std::optional<testing::liar> tells_;
    bool ended_ = true;
    bool healed_ = false;
};

}  // namespace

std::string wire_case::text() const {
    return scenario + "/" + attack + "/" + std::to_string(at) + "/" + std::to_string(seed);
}

wire_case wire_case::parse(const std::string& text) {
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == '/') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    if (parts.size() != 4)
        throw std::invalid_argument("a case is SCENARIO/ATTACK/FRAME/SEED");
    wire_case result;
    result.scenario = parts[0];
    result.attack = parts[1];
    result.at = std::stoull(parts[2]);
    result.seed = std::stoull(parts[3]);
    return result;
}

int run_child(const wire_case& what, std::uint16_t server_port) {
    testing::report_crashes();
    try {
        performance p(what, server_port);
        return p();
    } catch (const std::exception& e) {
        std::cout << "the test itself: " << e.what() << std::endl;
        return broken_test;
    }
}

}  // namespace corozk::wire
