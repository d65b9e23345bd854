// SPDX-License-Identifier: Apache-2.0
// Two instances of a service over TCP, and a client that connects to one that works. Curator
// programs (x-discovery) can be on either side.
//
//   service_provider 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <iostream>
#include <iterator>

namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;

/// Tells each client that connects its name, until it is closed.
awaitable<void> serve(tcp::acceptor& acceptor, std::string name) {
    name += '\n';
    for (;;) {
        tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
        co_await asio::async_write(socket, asio::buffer(name), asio::use_awaitable);
    }
}

/// Whom it has asked.
awaitable<std::string> ask(corozk::service_provider& greeters) {
    tcp::socket socket(co_await asio::this_coro::executor);
    // In the order in which they are to be tried, each with its instance.
    corozk::service_endpoints endpoints = co_await greeters.get_endpoints();
    auto [ec, used] = co_await asio::async_connect(
        socket, endpoints.begin(), endpoints.end(), asio::as_tuple(asio::use_awaitable));
    // Those that were tried in vain are set aside for a while: all of them if `used` is the end.
    // One instance may have several endpoints; that of `used` works.
    const corozk::service_instance* good = used == endpoints.end() ? nullptr : &used->instance();
    const corozk::service_instance* last = nullptr;
    for (auto failed = endpoints.begin(); failed != used; ++failed) {
        const corozk::service_instance* instance = &failed->instance();
        if (instance != good && instance != last)
            greeters.report_failure(*instance);
        last = instance;
    }
    if (ec)
        throw boost::system::system_error(ec);
    std::string line;
    co_await asio::async_read_until(socket, asio::dynamic_buffer(line), '\n', asio::use_awaitable);
    co_return line.substr(0, line.size() - 1);
}

awaitable<void> work(std::string hosts) {
    auto executor = co_await asio::this_coro::executor;
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::service_discovery services(zk, "/app/services");

    tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
    tcp::acceptor one(executor, any), two(executor, any);
    for (auto [acceptor, id] : {std::pair(&one, "one"), std::pair(&two, "two")}) {
        asio::co_spawn(executor, serve(*acceptor, id), asio::detached);
        corozk::service_instance instance(
            "greeter", "127.0.0.1", acceptor->local_endpoint().port());
        instance.id = id;
        instance.uri_spec = "tcp://{address}:{port}";
        co_await services.register_instance(instance);
    }
    auto all = co_await services.resolve("greeter");
    for (const auto& instance : all)
        std::cout << instance.id << " is at " << instance.uri() << '\n';

    corozk::service_provider_options options;
    options.failure_threshold = 1;
    corozk::service_provider greeters(zk, "/app/services", "greeter", options);
    for (int i = 0; i < 2; ++i)
        std::cout << "asked " << co_await ask(greeters) << '\n';

    one.close();  // it no longer answers, but is still registered
    for (int i = 0; i < 2; ++i)
        std::cout << "asked " << co_await ask(greeters) << '\n';

    two.close();
    co_await services.unregister("greeter", "one");
    co_await services.unregister("greeter", "two");
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
