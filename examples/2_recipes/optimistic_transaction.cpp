// SPDX-License-Identifier: Apache-2.0
// Money that is moved between accounts, each a znode: either both change or none, whatever other
// programs do meanwhile. Nothing is locked; a transaction that has lost a race is repeated.
//
//   optimistic_transaction 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/optimistic_transaction.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>

#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;

const std::string ann = "/examples/accounts/ann";
const std::string bob = "/examples/accounts/bob";

asio::awaitable<void> move_one(corozk::transaction_attempt& attempt,
                               std::string from,
                               std::string to) {
    std::optional<std::string> a = co_await attempt.get(from);
    std::optional<std::string> b = co_await attempt.get(to);
    int balance = std::stoi(a.value_or("0"));
    if (balance == 0)
        throw std::runtime_error("nothing left");  // nothing is written
    attempt.set(from, std::to_string(balance - 1));
    attempt.set(to, std::to_string(std::stoi(b.value_or("0")) + 1));
}

asio::awaitable<void> move_many(corozk::optimistic_transaction& transfers,
                                std::string from,
                                std::string to) {
    auto transfer = [&](corozk::transaction_attempt& attempt) {
        return move_one(attempt, from, to);
    };
    for (int i = 0; i < 20; ++i)
        co_await transfers.run(transfer);
}

asio::awaitable<void> run(std::string hosts) {
    using namespace asio::experimental::awaitable_operators;
    auto executor = co_await asio::this_coro::executor;
    corozk::client_options options(hosts);
    corozk::client zk = co_await corozk::client::connect(executor, options);
    co_await zk.ensure_path("/examples/accounts");

    corozk::optimistic_transaction transfers(zk, "/examples/accounts/ledgers");
    auto open = [](corozk::transaction_attempt& attempt) -> asio::awaitable<void> {
        for (const std::string& account : {ann, bob}) {
            if (std::optional<std::string> text = co_await attempt.get(account))
                attempt.set(account, "50");
            else
                attempt.create(account, "50");
        }
    };
    co_await transfers.run(open);

    co_await (move_many(transfers, ann, bob) && move_many(transfers, bob, ann) &&
              move_many(transfers, ann, bob));

    auto look = [](corozk::transaction_attempt& attempt) -> asio::awaitable<std::string> {
        std::vector<std::string> both{ann, bob};
        auto balances = co_await attempt.get_all(both);
        co_return "ann " + balances[0].value() + ", bob " + balances[1].value();
    };
    std::string text = co_await transfers.run(look);
    std::cout << text << '\n';

    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, run);
}
