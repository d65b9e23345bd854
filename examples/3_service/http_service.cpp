// SPDX-License-Identifier: Apache-2.0
// An HTTP service in the same io_context as its ZooKeeper client, on one thread. Start several:
//
//   http_service 127.0.0.1:2181 NAME [PORT]
//
//   GET  /                                a page that shows who is there, live (/events, /status)
//   POST /accounts/NAME/deposit/AMOUNT    work under a named lock
//   POST /jobs                            "NAME AMOUNT" into a queue; some instance does it
//   GET  /health, GET /metrics            for a load balancer, for Prometheus
//
// One of the instances is elected to run a periodic job. SIGINT and SIGTERM end it cleanly: no new
// requests, what runs is cancelled, locks and leadership go at once.
#include "web.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/src.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;

awaitable<void> accept(service::node& self, tcp::acceptor& acceptor) {
    auto executor = co_await asio::this_coro::executor;
    for (;;) {
        tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(executor, service::serve_one(self, std::move(socket)), asio::detached);
    }
}

// A connection that is lost for a moment ends neither of these; what is thrown is final for a term
// or a claim, and the next one begins after a pause.
template <class Part>
awaitable<void> for_ever(Part part) {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (;;) {
        try {
            co_await part();
        } catch (const boost::system::system_error& e) {
            if (e.code() == asio::error::operation_aborted || e.code() == corozk::errc::closed)
                throw;
            std::cerr << e.what() << '\n';
        }
        pause.expires_after(std::chrono::seconds(1));
        co_await pause.async_wait(asio::use_awaitable);
    }
}

// Connections that are still open, such as a status page's, end with the service they use.
struct stops_at_end {
    asio::io_context& context;
    ~stops_at_end() { context.stop(); }
};

awaitable<void> run(asio::io_context& context,
                    std::string hosts,
                    std::string name,
                    unsigned short port) {
    auto executor = co_await asio::this_coro::executor;
    tcp::acceptor acceptor(executor, tcp::endpoint(asio::ip::address_v4::loopback(), port));
    std::string address = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    service::node self(zk, name, address);
    stops_at_end guard{context};
    co_await self.begin();
    std::cout << "http://" << address << "/" << std::endl;

    asio::signal_set signals(executor, SIGINT, SIGTERM);
    auto work = [&self] { return self.work_on_jobs(); };
    auto lead = [&self] { return self.lead(); };
    co_await (accept(self, acceptor) || for_ever(work) || for_ever(lead) ||
              signals.async_wait(asio::use_awaitable));
    co_await self.end();
    co_await zk.close();
    std::cout << "ended\n";
}

int main(int argc, char** argv) {
    std::string hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    std::string name = argc > 2 ? argv[2] : "one";
    auto port = static_cast<unsigned short>(argc > 3 ? std::atoi(argv[3]) : 0);
    asio::io_context context(1);
    std::exception_ptr failure;
    asio::co_spawn(
        context, run(context, hosts, name, port), [&](std::exception_ptr e) { failure = e; });
    context.run();
    context.restart();
    context.poll();  // the word that it has ended
    if (failure)
        std::rethrow_exception(failure);
}
