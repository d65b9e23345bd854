// SPDX-License-Identifier: Apache-2.0
// Group membership: one process joins a group, another observes it.
//
//   membership 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/membership.hpp>

#include <iostream>

using boost::asio::awaitable;

void print(const corozk::membership_change& change) {
    for (const auto& m : change.joined)
        std::cout << "+ " << m.name << " at " << m.data << '\n';
    for (const auto& m : change.left)
        std::cout << "- " << m.name << '\n';
    for (const auto& m : change.updated)
        std::cout << "~ " << m.name << " at " << m.data << '\n';
}

awaitable<void> work(std::string hosts) {
    // Two clients represent two processes.
    auto here = co_await corozk::client::connect(corozk::client_options(hosts));
    auto there = co_await corozk::client::connect(corozk::client_options(hosts));

    corozk::membership observer(here, "/app/workers");
    print(co_await observer.next());  // the first call reports all members

    // Membership survives disconnects and session loss, until the member leaves.
    corozk::membership worker(there, "/app/workers");
    co_await worker.join("worker-7", "10.0.0.7:4000");
    print(co_await observer.next());

    co_await worker.set_data("10.0.0.7:4001");
    print(co_await observer.next());

    // Changes between two calls are reported as one difference; none is missed.
    co_await worker.leave();
    co_await worker.join("worker-8", "10.0.0.8:4000");
    co_await here.sync();
    bool joined = false;
    while (!joined) {
        auto change = co_await observer.next();
        print(change);
        joined = !change.joined.empty();
    }

    auto members = co_await observer.list_members();
    std::cout << members.size() << " member(s)\n";

    co_await there.close();  // its members leave with it
    print(co_await observer.next());
    co_await here.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
