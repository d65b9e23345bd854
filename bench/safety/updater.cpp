// SPDX-License-Identifier: Apache-2.0
#include "safety/updater.hpp"

#include "safety/site.hpp"
#include "safety/updates.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Between reading and writing.
constexpr auto think_time = std::chrono::milliseconds(2);
/// Between two looks at the lock during a fault.
constexpr auto look_interval = std::chrono::milliseconds(1);
constexpr std::size_t faulty_update = 1;
constexpr auto a_jump_ns = std::chrono::nanoseconds(std::chrono::hours(1)).count();

struct updater_options {
    updater_options() = default;

    site_options where;
    std::string number;
    std::size_t updates = 0;
    std::string_view fault;
};

void tell(std::string_view line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

/// From the kernel: a library that moves clocks does not see it.
std::int64_t now_ns() {
    timespec now{};
    ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return std::chrono::nanoseconds(std::chrono::seconds(now.tv_sec)).count() + now.tv_nsec;
}

/// How far a clock is from the kernel's.
template <class Clock>
std::int64_t lead_ns() {
    auto time = Clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count() - now_ns();
}

bool line_waits() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, 0) > 0;
}

class updater {
public:
    updater(site& where, const updater_options& o) : site_(where), options_(o) {}

    asio::awaitable<void> run() {
        timer_.emplace(co_await asio::this_coro::executor);
        for (std::size_t i = 0; i < options_.updates; ++i)
            co_await update_once(i);
        tell("done");
    }

private:
    asio::awaitable<void> update_once(std::size_t index) {
        co_await site_.acquire();
        update u;
        u.element = fmt::format("{}.{}", options_.number, index);
        u.granted_ns = now_ns();
        try {
            u.outcome = co_await write(u.element, index);
        } catch (const std::exception&) {
            u.outcome = update_outcome::refused;  // it could not read
        }
        u.ended_ns = now_ns();
        tell(to_line(u));
        co_await site_.release();
    }

    asio::awaitable<update_outcome> write(const std::string& element, std::size_t index) {
        std::string text = co_await site_.read();
        timer_->expires_after(think_time);
        co_await timer_->async_wait(asio::use_awaitable);
        std::string_view fault = index == faulty_update ? options_.fault : "never";
        if (fault == "before_look")
            co_await wait_for_fault();
        if (options_.where.by->guard == "valid" && !site_.valid())
            co_return update_outcome::refused;
        if (fault == "after_look")
            co_await wait_for_fault();
        while (text.ends_with('\n') || text.ends_with(' '))
            text.pop_back();
        text += ' ' + element;
        auto outcome = write_outcome::unknown;
        try {
            outcome = co_await site_.write(std::move(text));
        } catch (const std::exception&) {  // it may have been written
        }
        switch (outcome) {
            case write_outcome::written: co_return update_outcome::added;
            case write_outcome::refused: co_return update_outcome::refused;
            case write_outcome::unknown: break;
        }
        co_return update_outcome::unknown;
    }

    /// It is stopped somewhere in here, or cut off, or its clocks jump. Otherwise it runs on.
    asio::awaitable<void> wait_for_fault() {
        auto wall = lead_ns<std::chrono::system_clock>();
        auto monotonic = lead_ns<std::chrono::steady_clock>();
        tell("holding");
        bool told = false;
        while (!line_waits()) {
            told = told || tell_loss();
            timer_->expires_after(look_interval);
            co_await timer_->async_wait(asio::use_awaitable);
        }
        std::string go_on;
        std::getline(std::cin, go_on);
        if (!told)
            tell_loss();
        if (std::abs(lead_ns<std::chrono::system_clock>() - wall) > a_jump_ns)
            tell("jumped wall");
        if (std::abs(lead_ns<std::chrono::steady_clock>() - monotonic) > a_jump_ns)
            tell("jumped monotonic");
    }

    bool tell_loss() const {
        if (site_.valid())
            return false;
        tell(fmt::format("told {}", now_ns()));
        return true;
    }

    site& site_;
    const updater_options& options_;
    std::optional<asio::steady_timer> timer_;
};

asio::awaitable<void> serve_updates(site& where, const updater_options& o) {
    co_await where.connect();
    tell("ready");
    std::string go;
    std::getline(std::cin, go);
    updater u(where, o);
    co_await u.run();
    co_await where.close();
}

}  // namespace

int run_updater(std::span<const std::string_view> words) {
    if (words.size() != 8)
        throw std::runtime_error("'worker safety' is for `safety`: not to be started by hand");
    updater_options o;
    o.where.hosts = words[0];
    o.where.session_timeout = std::chrono::milliseconds(std::stoll(std::string(words[1])));
    o.where.lock_name = words[2];
    o.where.by = &find_protection(words[3]);
    o.where.store = words[4];
    o.number = words[5];
    o.updates = std::stoull(std::string(words[6]));
    o.fault = words[7];
    std::exception_ptr problem;
    asio::io_context context(1);
    auto where = make_site(context.get_executor(), o.where);
    asio::co_spawn(
        context, serve_updates(*where, o), [&problem](std::exception_ptr e) { problem = e; });
    context.run();
    if (problem)
        std::rethrow_exception(problem);
    return 0;
}

}  // namespace corozk::bench
