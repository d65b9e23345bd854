// SPDX-License-Identifier: Apache-2.0
// An HTTP service in the same io_context as its ZooKeeper client, on one thread. Start several:
//
//   http_service 127.0.0.1:2181 NAME [PORT]
//
//   GET  /                                a page that shows who is there, live (/events, /status)
//   POST /accounts/NAME/deposit/AMOUNT    work under a named lock (accounts.hpp)
//   POST /jobs                            queues "NAME AMOUNT" for any instance (jobs.hpp)
//   GET  /health, GET /metrics            for a load balancer, for Prometheus
//   GET  /any/PATH                        what any instance responds to GET /PATH (peers.hpp)
//
// An error affects only what it concerns: a request, a job, or one attempt of a part of the
// service, which is restarted (keep_up.hpp). /health lists the parts that do not work (health.hpp).
//
// One of the instances is elected to run a periodic job (leader.hpp). SIGINT and SIGTERM end it
// cleanly: no new requests are accepted, those in progress are answered, locks and leadership are
// released.
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/src.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>

using namespace service;
using namespace asio::experimental::awaitable_operators;

awaitable<void> run(std::string hosts, std::string name, unsigned short port) {
    auto executor = co_await asio::this_coro::executor;
    asio::ip::tcp::endpoint here(asio::ip::address_v4::loopback(), port);
    asio::ip::tcp::acceptor acceptor(executor, here);
    here = acceptor.local_endpoint();

    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    for (const char* path :
         {"/service/accounts", "/service/jobs", "/service/failed", "/service/ticks"})
        co_await zk.ensure_path(path);
    peers others(zk, name);
    co_await others.join(here.address().to_string(), here.port());

    health state;
    accounts books(zk);
    jobs queue(zk, books);
    leader elected(zk, name);
    board shown(zk, name, queue, elected);
    router routes(zk, name, books, queue, shown, others, state);
    server web(acceptor, routes, shown);
    std::cout << "http://" << here << "/" << std::endl;

    // The first to end, the signal, cancels the others.
    asio::signal_set signals(executor, SIGINT, SIGTERM);
    auto accept = [&](health::part& part) { return web.serve(part); };
    auto work = [&](health::part& part) { return queue.work(part); };
    auto lead = [&](health::part& part) { return elected.lead(part); };
    co_await (keep_up(state, "accepting", accept) || keep_up(state, "jobs", work) ||
              keep_up(state, "leader", lead) || shown.follow(state) ||
              signals.async_wait(asio::use_awaitable));
    acceptor.close();
    co_await web.finish();
    co_await others.leave();
    co_await zk.close();
    std::cout << "ended\n";
}

int main(int argc, char** argv) {
    std::string hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    std::string name = argc > 2 ? argv[2] : "one";
    auto port = static_cast<unsigned short>(argc > 3 ? std::atoi(argv[3]) : 0);
    asio::io_context context(1);
    int status = EXIT_SUCCESS;
    auto ended = [&status](std::exception_ptr failure) {
        try {
            if (failure)
                std::rethrow_exception(failure);
        } catch (const std::exception& e) {
            std::cerr << e.what() << '\n';
            status = EXIT_FAILURE;
        }
    };
    asio::co_spawn(context, run(hosts, name, port), ended);
    context.run();
    return status;
}
