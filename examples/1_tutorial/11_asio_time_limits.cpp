// SPDX-License-Identifier: Apache-2.0
// Time limits with Asio cancellation, for operations that have no `_for`, and for several together.
//
//   11_asio_time_limits 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif

#include <iostream>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

asio::awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    auto node = co_await zk.create("/example-time-limits", "x");
    auto [content, changed] = co_await zk.watch_data(node.path);

    constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);
    asio::steady_timer timer(zk.get_executor(), 100ms);
    auto first = co_await (changed.next(as_tuple) || timer.async_wait(as_tuple));
    if (first.index() == 1)
        std::cout << "nothing has changed so far\n";

#if BOOST_VERSION >= 108600
    auto [late, none] = co_await changed.next(asio::cancel_after(100ms, as_tuple));
    if (late == asio::error::operation_aborted)
        std::cout << "still nothing\n";
#endif

    // Neither has lost the event.
    co_await zk.set(node.path, "y");
    auto event = co_await changed.next();
    std::cout << event.path << ": " << corozk::to_string(event.type) << '\n';
    co_await zk.erase(node.path);
    co_await zk.close();
}

int main(int argc, char** argv) try {
    asio::io_context context;
    auto done =
        asio::co_spawn(context, work(argc > 1 ? argv[1] : "127.0.0.1:2181"), asio::use_future);
    context.run();
    done.get();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
