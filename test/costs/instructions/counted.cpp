// SPDX-License-Identifier: Apache-2.0
// What callgrind counts the instructions of: corozk_counted HOSTS, under valgrind --tool=callgrind
// --instr-atstart=no. Each round of a section becomes a dump, and a line of standard output: how many
// operations it has been, and the section's name.
#include "costs/engine/stopped_clock.hpp"
#include "raw_loop.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/queue.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <valgrind/callgrind.h>

namespace corozk::testing::instructions {

using boost::asio::awaitable;

namespace {

constexpr std::size_t usual_rounds = 7;
constexpr std::size_t many_rounds = 100;  // where much depends on how many pieces answers arrive in
constexpr std::size_t count = 100;        // in each
constexpr auto session_timeout = std::chrono::seconds(120);

template <class Work>
void section(const char* name,
             std::size_t operations,
             Work work,
             std::size_t rounds = usual_rounds) {
    work();  // once before: what is allocated and looked up only once
    CALLGRIND_START_INSTRUMENTATION;
    for (std::size_t i = 0; i < rounds; ++i) {
        CALLGRIND_ZERO_STATS;
        work();
        CALLGRIND_DUMP_STATS_AT(name);
        std::cout << operations << ' ' << name << '\n';
    }
    CALLGRIND_STOP_INSTRUMENTATION;
}

/// Runs coroutines on one thread until all have ended.
class loop {
public:
    template <class Body>
    void run(Body body) {
        start(body);
        finish();
    }

    /// `body` must live until `finish`.
    template <class Body>
    void start(Body& body) {
        ++open_;
        boost::asio::co_spawn(context_, body(), [this](const std::exception_ptr& problem) {
            if (problem)
                std::rethrow_exception(problem);
            --open_;
        });
    }

    void finish() {
        context_.restart();
        while (open_ > 0)
            context_.run_one();
    }

    boost::asio::io_context& context() { return context_; }

private:
    boost::asio::io_context context_;
    std::size_t open_ = 0;
};

client connect(loop& l, const std::string& hosts) {
    client_options options(hosts);
    options.session_timeout = session_timeout;
    client zk(l.context().get_executor(), options);
    l.run([&]() -> awaitable<void> { co_await zk.connect(); });
    return zk;
}

void count_c_client(const std::string& hosts) {
    bench::raw_loop raw(hosts, "/c", std::chrono::milliseconds(session_timeout).count());
    raw.make("/c");
    section("C client: sets, one by one", count, [&] { raw.conditional_sets(count); });
    section("C client: create, exists, delete, 100 at a time", 3 * count, [&] {
        raw.pipeline(count, count);
    });
}

void count_client(loop& l, client& zk) {
    section("client: sets, one by one", count, [&] {
        l.run([&]() -> awaitable<void> {
            for (std::size_t i = 0; i < count; ++i)
                co_await zk.set("/c", "12345678");
        });
    });
    auto pipeline = [&] {
        create_options ephemeral;
        ephemeral.mode = create_mode::ephemeral;
        std::size_t answers = 0;
        auto answered = [&](error_code ec, const auto&...) {
            if (ec)
                throw boost::system::system_error(ec);
            ++answers;
        };
        auto all = [&](auto what) {
            for (std::size_t i = 0; i < count; ++i)
                what("/c/" + std::to_string(i));
            for (answers = 0; answers < count;)
                l.context().run_one();
        };
        all([&](std::string path) { zk.create(path, std::string(), ephemeral, answered); });
        all([&](std::string path) { zk.exists(path, answered); });
        all([&](std::string path) { zk.erase(path, any_version, answered); });
    };
    section("client: create, exists, delete, 100 at a time", 3 * count, pipeline, many_rounds);
}

template <class Lock>
void count_cycles(loop& l, Lock& mine, const char* name) {
    section(name, count, [&] {
        l.run([&]() -> awaitable<void> {
            for (std::size_t i = 0; i < count; ++i) {
                ownership held = co_await mine.acquire();
                co_await held.release();
            }
        });
    });
}

/// All queue, and hand it over.
template <class Lock>
void count_crowd(loop& l, Lock& mine, const char* name) {
    auto cycle = [&]() -> awaitable<void> {
        ownership held = co_await mine.acquire();
        co_await held.release();
    };
    section(name, count, [&] {
        for (std::size_t i = 0; i < count; ++i)
            l.start(cycle);
        l.finish();
    });
}

void count_values(loop& l, client& zk) {
    counter numbers(zk, "/counter");
    section("counter: additions, one by one", count, [&] {
        l.run([&]() -> awaitable<void> {
            for (std::size_t i = 0; i < count; ++i)
                co_await numbers.add(1);
        });
    });
    node_cache cache(zk, "/c");
    section("node_cache: changes seen, one by one", count, [&] {
        l.run([&]() -> awaitable<void> {
            for (std::size_t i = 0; i < count; ++i) {
                node_state seen = cache.current();
                co_await zk.set("/c", "12345678");
                co_await cache.next(seen);
            }
        });
    });
}

void count_queue(loop& l, client& zk) {
    queue items(zk, "/queue");
    auto put = [&]() -> awaitable<void> { co_await items.put("item"); };
    auto take = [&]() -> awaitable<void> { co_await items.take(); };
    section("queue: put and take, 100 at a time", count, [&] {
        for (std::size_t i = 0; i < count; ++i)
            l.start(put);
        l.finish();
        for (std::size_t i = 0; i < count; ++i)
            l.start(take);
        l.finish();
    });
    section("queue: put and take, one by one", count, [&] {
        l.run([&]() -> awaitable<void> {
            for (std::size_t i = 0; i < count; ++i) {
                co_await put();
                co_await take();
            }
        });
    });
}

void count_all(const std::string& hosts) {
    stopped_clock still;  // no pings
    count_c_client(hosts);
    loop l;
    client zk = connect(l, hosts);
    count_client(l, zk);
    {
        lock mine(zk, "/lock");
        count_cycles(l, mine, "lock: uncontended cycle");
        count_crowd(l, mine, "lock: 100 waiters on one session, queueing and handing over");
    }
    count_values(l, zk);
    count_queue(l, zk);
    l.run([&]() -> awaitable<void> { co_await zk.close(); });
}

}  // namespace

}  // namespace corozk::testing::instructions

int main(int argc, char** argv) {
    if (argc != 2)
        return EXIT_FAILURE;
    try {
        corozk::testing::instructions::count_all(argv[1]);
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n';
        return EXIT_FAILURE;
    }
}
