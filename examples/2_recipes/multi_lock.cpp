// SPDX-License-Identifier: Apache-2.0
// Transfers between accounts: each locks both accounts, given in any order, without deadlocks and
// without holding one account while waiting for the other.
//
//   multi_lock 127.0.0.1:2181
#include "program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

const std::string folder = "/corozk-example/accounts/";

awaitable<void> transfer(corozk::client& zk, std::string from, std::string to) {
    corozk::lock source(zk, folder + from);
    corozk::lock target(zk, folder + to);
    corozk::shared_lock rates(zk, "/corozk-example/rates");
    corozk::multi_lock all(zk);
    all.add(source).add(target).add_read(rates);

    auto body = [&](corozk::multi_ownership& held) -> awaitable<void> {
        std::cout << from << " -> " << to << ", fencing tokens "
                  << held.fencing_token(source.path()) << " and "
                  << held.fencing_token(target.path()) << '\n';
        // The server rejects this if one of the locks has been lost.
        corozk::transaction write;
        write.create(folder + from + "-" + to).erase(folder + from + "-" + to);
        co_await held.commit(write);
    };
    co_await all.run(body);
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await (transfer(zk, "anna", "bert") && transfer(zk, "bert", "anna") &&
              transfer(zk, "bert", "carl") && transfer(zk, "carl", "anna"));
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
