// SPDX-License-Identifier: Apache-2.0
// A number that many processes change: each addition is applied exactly once, even if connections
// are lost.
//
//   counter 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/counter.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> visit(corozk::counter& visitors, int times) {
    for (int i = 0; i < times; ++i)
        co_await visitors.add(1);
}

asio::awaitable<void> run(std::string hosts) {
    using namespace asio::experimental::awaitable_operators;
    auto executor = co_await asio::this_coro::executor;
    corozk::client_options options(hosts);
    corozk::client zk = co_await corozk::client::connect(executor, options);

    corozk::counter visitors(zk, "/examples/visitors");
    std::int64_t before = co_await visitors.get();

    // Concurrent additions share requests; each gets its own result.
    co_await (visit(visitors, 100) && visit(visitors, 100) && visit(visitors, 100));
    std::int64_t after = co_await visitors.get();
    std::cout << "visitors: " << before << " -> " << after << '\n';

    // A different value is a result, not an error.
    corozk::counter_exchange result = co_await visitors.compare_and_set(after, 0);
    std::cout << (result.exchanged ? "reset" : "changed by another process") << '\n';

    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, run);
}
