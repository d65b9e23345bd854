// SPDX-License-Identifier: Apache-2.0
// How many blocks of memory a request takes: from the allocator of its handler, and with `new`.
#include "live_blocks.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/testing/server.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

namespace corozk::testing::allocations_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

std::int64_t handlers_blocks = 0;

template <class T>
struct malloc_allocator {
    using value_type = T;

    malloc_allocator() = default;
    template <class U>
    malloc_allocator(const malloc_allocator<U>&) {}
    template <class U>
    bool operator==(const malloc_allocator<U>&) const {
        return true;
    }

    T* allocate(std::size_t n) {
        void* block = std::malloc(n * sizeof(T));
        if (!block)
            throw std::bad_alloc();
        ++handlers_blocks;
        return static_cast<T*>(block);
    }
    void deallocate(T* block, std::size_t) { std::free(block); }
};

template <class Handler>
auto with_malloc(Handler handler) {
    return boost::asio::bind_allocator(malloc_allocator<void>(), std::move(handler));
}

/// Operations one after the other, each started by the handler of the one before.
template <class Start>
class repetition {
public:
    explicit repetition(Start start) : start_(std::move(start)) {}

    void run(boost::asio::io_context& context, int times) {
        left_ = times;
        next();
        context.restart();
        while (left_ > 0)
            context.run_one();
    }

private:
    void next() {
        start_(with_malloc([this](error_code ec, auto&&...) {
            REQUIRE_FALSE(ec);
            if (--left_ > 0)
                next();
        }));
    }

    Start start_;
    int left_ = 0;
};

/// Per operation.
struct blocks {
    double of_handler;
    double of_new;
};

template <class Start>
blocks blocks_of(boost::asio::io_context& context, Start start) {
    constexpr int times = 1'000;
    repetition<Start> operations(std::move(start));
    operations.run(context, times);  // what is allocated once, and what grows
    const std::int64_t of_new = allocated_blocks;
    const std::int64_t of_handler = handlers_blocks;
    operations.run(context, times);
    return {static_cast<double>(handlers_blocks - of_handler) / times,
            static_cast<double>(allocated_blocks - of_new) / times};
}

/// For the erased handler, and for its result.
constexpr int blocks_per_handler = 2;

void check(const blocks& taken, double of_new) {
    INFO(taken.of_handler << " from the handler's allocator, " << taken.of_new << " with new");
    CHECK(taken.of_handler == blocks_per_handler);
    CHECK(taken.of_new >= of_new);
    // Some containers take a block for many operations.
    CHECK(taken.of_new < of_new + 0.1);
}

/// Calls `use(context, client)` with a connected client.
template <class Use>
void with_connected_client(Use use) {
    boost::asio::io_context context;
    client_options options;
    options.hosts = shared_server().hosts();
    client zk(context.get_executor(), options);
    bool ended = false;
    auto end = [&](error_code ec, auto&&...) {
        REQUIRE_FALSE(ec);
        ended = true;
    };
    auto finish = [&] {
        while (!ended)
            context.run_one();
        ended = false;
    };
    zk.connect(end);
    finish();
    zk.create("/allocated", "some data", end);
    finish();
    use(context, zk);
    zk.erase_tree("/allocated", end);
    context.restart();
    finish();
    zk.close(end);
    finish();
}

}  // namespace

TEST_CASE("allocations: one block with new per request, besides its handler's") {
    with_connected_client([](boost::asio::io_context& context, client& zk) {
        // Path and data are short enough for a std::string itself.
        const std::string node = "/allocated";
        auto exists = [&](auto handler) { zk.exists(node, std::move(handler)); };
        auto get = [&](auto handler) { zk.get(node, std::move(handler)); };
        auto set = [&](auto handler) { zk.set(node, "other", std::move(handler)); };
        auto sync = [&](auto handler) { zk.sync(node, std::move(handler)); };
        check(blocks_of(context, exists), 1);
        check(blocks_of(context, get), 1);
        check(blocks_of(context, set), 1);
        check(blocks_of(context, sync), 1);
    });
}

TEST_CASE("allocations: a lock that is free") {
    with_connected_client([](boost::asio::io_context& context, client& zk) {
        lock exclusive(zk, "/allocated/lock");
        ownership held;
        // One operation: acquired, and released.
        auto cycle = [&](auto handler) {
            auto acquired = [&held, handler = std::move(handler)](error_code ec,
                                                                  ownership term) mutable {
                REQUIRE_FALSE(ec);
                held = std::move(term);
                held.release(std::move(handler));
            };
            exclusive.acquire(with_malloc(std::move(acquired)));
        };
        const blocks taken = blocks_of(context, cycle);
        INFO(taken.of_handler << " from the handlers' allocator, " << taken.of_new << " with new");
        CHECK(taken.of_handler == 2 * blocks_per_handler);
        // 17, and what some containers take for many operations.
        CHECK(taken.of_new < 18);
    });
}

}  // namespace corozk::testing::allocations_test
