// SPDX-License-Identifier: Apache-2.0
// Without coroutines: every operation takes any completion token of Asio. Here a future, on a
// thread that may block, and callbacks, on a context that runs elsewhere.
//
//   6_callbacks_and_futures 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <iostream>

namespace asio = boost::asio;

int main(int argc, char** argv) try {
    asio::thread_pool context(1);
    corozk::client_options options(argc > 1 ? argv[1] : "127.0.0.1:2181");
    auto connecting = corozk::client::connect(context.get_executor(), options, asio::use_future);
    // A future's `get` throws boost::system::system_error.
    corozk::client zk = connecting.get();
    corozk::lock lock(zk, "/app/locks/callbacks");

    // Callbacks: void(error_code, ...), called on the client's executor. Operations must be started
    // there, too.
    std::promise<void> finished;
    asio::post(context, [&] {
        lock.acquire([&](corozk::error_code ec, corozk::ownership held) {
            if (ec) {
                std::cout << "not acquired: " << ec.message() << '\n';
                return finished.set_value();
            }
            std::cout << "acquired, with fencing token " << held.fencing_token() << '\n';
            held.release([&](corozk::error_code) {
                std::cout << "given back\n";
                finished.set_value();
            });
        });
    });
    finished.get_future().get();

    // Futures: the operation is started on the executor and waited for here.
    std::promise<std::future<void>> closing;
    asio::post(context, [&] { closing.set_value(zk.close(asio::use_future)); });
    std::future<void> closed = closing.get_future().get();
    closed.wait();
    context.join();  // no handler uses the objects after this
    closed.get();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
