// SPDX-License-Identifier: Apache-2.0
#include "systems/lock_holder.hpp"

#include "systems/lock_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

asio::awaitable<void> hold(lock_client& client) {
    co_await client.connect();
    co_await client.acquire();
    fmt::print("holding\n");
    std::fflush(stdout);
    co_await client.hold();
}

}  // namespace

int run_lock_holder(std::span<const std::string_view> words) {
    if (words.size() != 5)
        throw std::runtime_error("'worker systems' is for `systems`: not to be started by hand");
    lock_wish wish;
    wish.system = words[0];
    wish.hosts = words[1];
    wish.recipe = words[2];
    wish.name = words[3];
    wish.timeout = std::chrono::milliseconds(std::stoll(std::string(words[4])));
    std::exception_ptr problem;
    asio::io_context context(1);
    auto client = make_lock_client(context.get_executor(), wish);
    asio::co_spawn(context, hold(*client), [&problem](std::exception_ptr e) { problem = e; });
    context.run();
    if (problem)
        std::rethrow_exception(problem);
    return 0;
}

}  // namespace corozk::bench
