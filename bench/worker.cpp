// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include "contest_run.hpp"
#include "contestants.hpp"
#include "safety/updater.hpp"
#include "session_use.hpp"
#include "statistics.hpp"
#include "systems/lock_holder.hpp"
#include "usage.hpp"
#include <corozk/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

void say(const boost::json::object& message) {
    fmt::print("{}\n", boost::json::serialize(message));
    std::fflush(stdout);
}

boost::json::object message(std::string_view event) {
    boost::json::object values;
    values["event"] = boost::json::string(event);
    return values;
}

/// Lines that a thread of its own reads: sessions live on while nobody says anything.
class requests {
public:
    requests(asio::io_context& context, std::string file) : context_(context), there_(context) {
        there_.expires_at(asio::steady_timer::time_point::max());
        std::thread([this, file = std::move(file)] {
            std::ifstream stream(file);
            for (std::string line; std::getline(stream, line);)
                asio::post(context_, [this, line] { add(line); });
            ::_exit(0);
        }).detach();
    }

    asio::awaitable<std::string> next() {
        while (lines_.empty()) {
            boost::system::error_code ignored;
            co_await there_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
        std::string line = std::move(lines_.front());
        lines_.pop_front();
        co_return line;
    }

    asio::awaitable<void> expect(std::string word) {
        std::string line = co_await next();
        if (line != word)
            throw std::runtime_error(fmt::format("'{}' was due, not '{}'", word, line));
    }

private:
    void add(std::string line) {
        lines_.push_back(std::move(line));
        there_.cancel();
    }

    asio::io_context& context_;
    asio::steady_timer there_;
    std::deque<std::string> lines_;
};

std::map<std::string, std::string> values_of(const std::string& line) {
    std::map<std::string, std::string> values;
    std::size_t begin = 0;
    while (begin < line.size()) {
        std::size_t end = std::min(line.find(' ', begin), line.size());
        std::string word = line.substr(begin, end - begin);
        if (auto equals = word.find('='); equals != word.npos)
            values[word.substr(0, equals)] = word.substr(equals + 1);
        begin = end + 1;
    }
    return values;
}

std::int64_t nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch())
        .count();
}

/// Some of a contest's waiters: those with the numbers first, first + step, ...
template <class Lock>
class some_waiters {
public:
    some_waiters(const contest_setup& setup, std::vector<client>& clients, requests& told)
        : setup_(setup), clients_(clients), told_(told) {}

    asio::awaitable<void> run(std::string path, std::size_t first, std::size_t step) {
        executor_ = co_await asio::this_coro::executor;
        locks_.reserve(clients_.size());
        for (auto& c : clients_)
            locks_.emplace_back(c, path, setup_);
        co_await phase("queue");
        auto before = use_of(clients_);
        double heap = usage::heap_bytes();
        double cpu = usage::process_cpu_seconds();
        for (std::size_t i = 0; i < setup_.waiters; ++i)
            spawn(wait_once(locks_[i % locks_.size()], first + i * step));
        co_await until_quiet(before);
        auto queued = use_of(clients_);
        auto report = figures("queue", queued - before, usage::process_cpu_seconds() - cpu);
        report["memory_bytes"] = usage::heap_bytes() - heap;
        say(report);

        co_await phase("drain");
        cpu = usage::process_cpu_seconds();
        co_await until_ended();
        report = figures("drain", use_of(clients_) - queued, usage::process_cpu_seconds() - cpu);
        boost::json::array times;
        for (std::int64_t time : grants_)
            times.emplace_back(time);
        report["grants_ns"] = std::move(times);
        say(report);
    }

private:
    asio::awaitable<void> phase(std::string name) {
        auto values = message("phase");
        values["name"] = boost::json::string(name);
        say(values);
        return told_.expect("go");
    }

    boost::json::object figures(std::string_view name, const session_use& used, double cpu) const {
        auto values = message("measured");
        values["name"] = boost::json::string(name);
        values["operations"] = setup_.waiters;
        values["requests"] = used.requests;
        values["listings"] = used.listings;
        values["notifications"] = used.notifications;
        values["bytes"] = used.bytes;
        values["cpu_seconds"] = cpu;
        return values;
    }

    void spawn(asio::awaitable<void> work) {
        asio::co_spawn(executor_, std::move(work), [this](std::exception_ptr problem) {
            ++ended_;
            if (problem && !problem_)
                problem_ = std::move(problem);
        });
    }

    asio::awaitable<void> wait_once(Lock& lock, std::size_t who) {
        if constexpr (runs_terms<Lock>) {
            auto body = [this](ownership&) -> asio::awaitable<void> {
                note(nanoseconds(), false);
                co_return;
            };
            co_await lock.run(body);
        } else {
            auto held = co_await lock.acquire(who);
            std::int64_t granted = nanoseconds();
            if constexpr (acknowledges<Lock, decltype(held)>)
                co_await lock.acknowledge(held);
            note(granted, lock.shared(who));
            co_await held.release();
        }
    }

    /// The release is right behind.
    void note(std::int64_t granted, bool shared) {
        grants_.push_back(granted);
        grants_.push_back(nanoseconds());
        grants_.push_back(shared ? 1 : 0);
    }

    asio::awaitable<void> pause() {
        asio::steady_timer timer(executor_, std::chrono::milliseconds(2));
        co_await timer.async_wait(asio::use_awaitable);
        if (problem_)
            std::rethrow_exception(problem_);
    }

    asio::awaitable<void> until_quiet(session_use before) {
        for (int quiet = 0; quiet < 5;) {
            co_await pause();
            auto now = use_of(clients_) - before;
            bool still =
                now.on_their_way == 0 && now.requests >= static_cast<double>(setup_.waiters);
            quiet = still ? quiet + 1 : 0;
        }
    }

    asio::awaitable<void> until_ended() {
        while (ended_ < setup_.waiters)
            co_await pause();
    }

    const contest_setup& setup_;
    std::vector<client>& clients_;
    requests& told_;
    asio::any_io_executor executor_;
    std::vector<Lock> locks_;
    std::vector<std::int64_t> grants_;
    std::size_t ended_ = 0;
    std::exception_ptr problem_;
};

asio::awaitable<void> serve(requests& told, std::string hosts, std::size_t timeout_ms) {
    auto ready = message("ready");
    ready["version"] = "";
    say(ready);
    std::string line = co_await told.next();
    auto values = values_of(line);
    auto number = [&values](const char* name) {
        return static_cast<std::size_t>(std::stoull(values.at(name)));
    };
    contest_setup setup(values.at("implementation"), number("waiters"));
    setup.recipe = values.at("recipe");
    setup.readers = number("readers");
    setup.limit = number("limit");
    std::vector<client> clients;
    for (std::size_t i = 0; i < number("sessions"); ++i) {
        client_options options(hosts);
        options.session_timeout = std::chrono::milliseconds(timeout_ms);
        options.logger.level = log_level::error;
        clients.push_back(co_await client::connect(std::move(options)));
    }
    std::string path = values.at("path");
    std::size_t first = number("first");
    std::size_t step = number("step");
    auto run = [&]<class Lock>(kind_of<Lock>) -> asio::awaitable<void> {
        some_waiters<Lock> waiters(setup, clients, told);
        co_await waiters.run(path, first, step);
    };
    co_await with_contestant(setup, run);
    co_await stage::close(clients);
    say(message("done"));
}

}  // namespace

int run_worker(std::span<const std::string_view> words) {
    if (!words.empty() && words[0] == "safety")
        return run_updater(words.subspan(1));
    if (!words.empty() && words[0] == "systems")
        return run_lock_holder(words.subspan(1));
    if (words.size() != 3)
        throw std::runtime_error("'worker' is for --processes: not to be started by hand");
    asio::io_context context(1);
    requests told(context, std::string(words[0]));
    std::size_t timeout_ms = std::stoull(std::string(words[2]));
    asio::co_spawn(
        context, serve(told, std::string(words[1]), timeout_ms), [&](std::exception_ptr problem) {
            try {
                if (problem)
                    std::rethrow_exception(problem);
            } catch (const std::exception& e) {
                auto values = message("failure");
                values["what"] = boost::json::string(e.what());
                say(values);
            }
            context.stop();
        });
    context.run();
    ::_exit(0);  // a thread still reads
}

}  // namespace corozk::bench
