// SPDX-License-Identifier: Apache-2.0
#include "safety/updater.hpp"

#include "safety/store.hpp"
#include "safety/updates.hpp"
#include "statistics.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Between reading and writing.
constexpr auto think_time = std::chrono::milliseconds(2);
/// Before the lock is asked for again in another session.
constexpr auto retry_pause = std::chrono::milliseconds(20);
constexpr std::size_t stopping_update = 1;

struct updater_options {
    updater_options() = default;

    std::string hosts;
    std::chrono::milliseconds session_timeout{0};
    std::string lock_path;
    std::string protection_name;
    std::string store;
    std::string number;
    std::size_t updates = 0;
    bool stops = false;
};

void tell(std::string_view line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch())
        .count();
}

class updater {
public:
    updater(client& c, const updater_options& o)
        : options_(o),
          protection_(find_protection(o.protection_name)),
          text_(open_text(protection_, c, o.store)),
          lock_(c, o.lock_path) {}

    asio::awaitable<void> run() {
        timer_.emplace(co_await asio::this_coro::executor);
        for (std::size_t i = 0; i < options_.updates; ++i)
            co_await update_once(i);
        tell("done");
    }

private:
    asio::awaitable<void> pause(std::chrono::milliseconds duration) {
        timer_->expires_after(duration);
        co_await timer_->async_wait(asio::use_awaitable);
    }

    asio::awaitable<ownership> acquire() {
        for (;;) {
            auto [ec, held] = co_await lock_.acquire(asio::as_tuple(asio::use_awaitable));
            if (!ec)
                co_return std::move(held);
            co_await pause(retry_pause);
        }
    }

    asio::awaitable<void> update_once(std::size_t index) {
        auto held = co_await acquire();
        update u;
        u.element = fmt::format("{}.{}", options_.number, index);
        u.granted_ns = now_ns();
        try {
            u.outcome = co_await write(held, u.element, index);
        } catch (const error&) {
            u.outcome = update_outcome::refused;  // it could not read
        }
        u.ended_ns = now_ns();
        tell(to_line(u));
        co_await held.release(asio::as_tuple(asio::use_awaitable));
    }

    asio::awaitable<update_outcome> write(ownership& held,
                                          const std::string& element,
                                          std::size_t index) {
        std::string text = co_await text_->read(held);
        co_await pause(think_time);
        if (protection_.guard == "valid" && !held.valid())
            co_return update_outcome::refused;
        if (options_.stops && index == stopping_update) {
            // It is stopped (SIGSTOP) somewhere in here.
            tell("stopping");
            std::string go_on;
            std::getline(std::cin, go_on);
        }
        while (text.ends_with('\n') || text.ends_with(' '))
            text.pop_back();
        text += ' ' + element;
        auto outcome = co_await text_->write(held, std::move(text));
        switch (outcome) {
            case write_outcome::written:
                co_return update_outcome::added;
            case write_outcome::refused:
                co_return update_outcome::refused;
            case write_outcome::unknown:
                break;
        }
        co_return update_outcome::unknown;
    }

    const updater_options& options_;
    const protection& protection_;
    std::unique_ptr<shared_text> text_;
    lock lock_;
    std::optional<asio::steady_timer> timer_;
};

asio::awaitable<void> serve_updates(const updater_options& o) {
    client_options options(o.hosts);
    options.session_timeout = o.session_timeout;
    options.logger.level = log_level::error;
    auto c = co_await client::connect(std::move(options));
    tell("ready");
    std::string go;
    std::getline(std::cin, go);
    updater u(c, o);
    co_await u.run();
    co_await c.close();
}

}  // namespace

int run_updater(std::span<const std::string_view> words) {
    if (words.size() != 8)
        throw std::runtime_error("'worker safety' is for `safety`: not to be started by hand");
    updater_options o;
    o.hosts = words[0];
    o.session_timeout = std::chrono::milliseconds(std::stoll(std::string(words[1])));
    o.lock_path = words[2];
    o.protection_name = words[3];
    o.store = words[4];
    o.number = words[5];
    o.updates = std::stoull(std::string(words[6]));
    o.stops = words[7] == "1";
    std::exception_ptr problem;
    asio::io_context context(1);
    asio::co_spawn(context, serve_updates(o), [&problem](std::exception_ptr e) { problem = e; });
    context.run();
    if (problem)
        std::rethrow_exception(problem);
    return 0;
}

}  // namespace corozk::bench
