// SPDX-License-Identifier: Apache-2.0
// The first steps: connect, acquire a lock, work, release it.
//
//   1_lock 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

boost::asio::awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::lock lock(zk, "/app/locks/report");

    auto held = co_await lock.acquire();  // waits without blocking the thread
    std::cout << "acquired, with fencing token " << held.fencing_token() << '\n';
    co_await held.release();

    co_await zk.close();
}

int main(int argc, char** argv) {
    boost::asio::io_context context;
    int result = 0;
    boost::asio::co_spawn(context,
                          work(argc > 1 ? argv[1] : "127.0.0.1:2181"),
                          [&result](std::exception_ptr failure) {
                              if (!failure)
                                  return;
                              try {
                                  std::rethrow_exception(failure);
                              } catch (const std::exception& e) {
                                  std::cerr << e.what() << '\n';
                                  result = 1;
                              }
                          });
    context.run();
    return result;
}
