// SPDX-License-Identifier: Apache-2.0
// A service that every host starts and that runs on one of them. When that one ends, another
// begins, and the old one's late writes are rejected.
//
//   singleton_service 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk/recipe/election.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <stdexcept>

using boost::asio::awaitable;

/// Whether another term may succeed after this error.
bool is_passing(const corozk::error_code& ec) {
    return corozk::is_recoverable(ec) || ec == corozk::errc::ownership_lost ||
           ec == corozk::zk_errc::session_expired;
}

/// Numbers invoices: no number twice.
awaitable<void> host(std::string hosts, std::string name) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::election election(zk, "/billing/leader", corozk::election_options(name));
    auto serve = [&](corozk::ownership& own) -> awaitable<void> {
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
        for (int i = 0; i < 5; ++i) {
            auto last = co_await own.read("/billing/number");
            int number = std::stoi(last.data) + 1;
            corozk::transaction step;
            step.set("/billing/number", std::to_string(number), last.stat.version);
            co_await own.commit(step);  // rejected if it no longer leads
            std::cout << name << " sends invoice " << number << '\n';
            pause.expires_after(std::chrono::milliseconds(5));
            co_await pause.async_wait(boost::asio::use_awaitable);
        }
    };
    for (bool served = false; !served;) {
        try {
            // If the leadership is lost: cancels the body and campaigns again, in a new session if
            // needed.
            co_await election.run(serve);
            served = true;
        } catch (const corozk::error& e) {
            // An error of the body ends `run`.
            if (!is_passing(e.code()))
                throw;
            std::cerr << name << ": " << e.what() << '\n';
        }
    }
    co_await zk.close();  // the next one takes over
}

awaitable<void> work(std::string hosts) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await erase_leftovers(zk, "/billing");
    co_await zk.ensure_path("/billing");
    co_await zk.create("/billing/number", "100");
    co_await (host(hosts, "anna") && host(hosts, "berta") && host(hosts, "carla"));
    auto last = co_await zk.get("/billing/number");
    if (last.data != "115")
        throw std::runtime_error("the last invoice is " + last.data);
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
