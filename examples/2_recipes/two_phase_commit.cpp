// SPDX-License-Identifier: Apache-2.0
// Two accounts at two sites: both are changed, or neither.
//
//   two_phase_commit 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/two_phase_commit.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <charconv>
#include <chrono>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

awaitable<void> site(corozk::client& zk, std::string path, std::string name, int balance) {
    corozk::commit_site self(zk, path, name);
    auto transaction = co_await self.join();  // waits until it has begun
    // The payload comes from another process: reject it unless it is an amount.
    const std::string& text = transaction.payload;
    int amount = 0;
    auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), amount);
    bool number = ec == std::errc() && end == text.data() + text.size() && amount > 0;

    auto wish =
        number && balance >= amount ? corozk::commit_vote::commit : corozk::commit_vote::abort;
    auto outcome = co_await self.vote(wish);  // final, and the same for all sites

    std::cout << name << ": " << (outcome.committed ? "done" : "not done, " + outcome.reason)
              << '\n';
    co_await self.finish();  // this site no longer needs the decision
}

awaitable<void> transfer(corozk::client& zk, std::string path, std::string amount) {
    // Only the coordinator watches the votes. In the other form every site does, so that they can
    // decide without it.
    corozk::commit_options options;
    options.form = corozk::commit_form::coordinator;
    corozk::commit_coordinator coordinator(zk, path, options);

    std::vector<std::string> sites{"bank-a", "bank-b"};
    co_await coordinator.begin(sites, amount);
    auto deciding = [&]() -> awaitable<void> {
        // Missing votes count as votes to abort after this time.
        co_await coordinator.decide_for(std::chrono::seconds(10));
    };
    co_await (deciding() && site(zk, path, "bank-a", 100) && site(zk, path, "bank-b", 50));
    co_await coordinator.clean_up();
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await transfer(zk, "/app/transfers/1", "30");
    co_await transfer(zk, "/app/transfers/2", "70");
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
