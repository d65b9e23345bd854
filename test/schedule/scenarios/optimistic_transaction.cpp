// SPDX-License-Identifier: Apache-2.0
// Every transaction is applied exactly once, and none is based on what was not true any more.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/optimistic_transaction.hpp>

#include <optional>

namespace corozk::schedule {

namespace optimistic_scenarios {

constexpr const char* number = "/f/n";

/// Adds one to a number, which need not exist, and leaves a receipt.
awaitable<void> add_one(transaction_attempt& attempt, std::string receipt) {
    std::optional<std::string> text = co_await attempt.get(number);
    if (text)
        attempt.set(number, std::to_string(std::stoi(*text) + 1));
    else
        attempt.create(number, "1");
    attempt.create(receipt);
}

template <int Times>
awaitable<void> add(actor& a) {
    optimistic_transaction t(a.zk(), "/f/l");
    for (int i = 0; i < Times; ++i) {
        const std::string receipt = "/f/r-" + a.name() + std::to_string(i);
        auto body = [&](transaction_attempt& attempt) { return add_one(attempt, receipt); };
        error_code ec;
        try {
            co_await t.run(body);
        } catch (const error& e) {
            ec = e.code();
        }
        if (ec) {
            // What was sent is found out about, in the next session if need be; what was not sent
            // for too long is given up.
            bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
            a.on().check(silent, a.name() + " has failed with " + ec.message());
            co_return;
        }
        a.on().note_down("done", receipt);
    }
}

template <int Clients, int Times>
void exact(stage& s) {
    std::size_t receipts = 0;
    for (int client = 0; client < Clients; ++client) {
        for (int i = 0; i < Times; ++i) {
            const std::string name =
                "/f/r-" + std::string(1, static_cast<char>('a' + client)) + std::to_string(i);
            receipts += s.exists(name) ? 1 : 0;
        }
    }
    for (const std::string& receipt : s.notes("done"))
        s.check(s.exists(receipt), "a transaction is lost: " + receipt);
    std::string text = s.data(number);
    std::size_t value = text.empty() ? 0 : std::stoul(text);
    s.check(value == receipts, "the number is " + text + ", the receipts are others");
}

template <int Clients, int Times>
void together(stage& s) {
    for (int i = 0; i < Clients; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, add<Times>);
    s.finally(exact<Clients, Times>);
}

const registered all[] = {
    registered(scenario("optimistic.2", 2, together<2, 1>).of_equals()),
    registered(scenario("optimistic.1", 1, together<1, 2>)),
    registered(scenario("optimistic.3", 3, together<3, 1>).of_equals()),
};

}  // namespace optimistic_scenarios

}  // namespace corozk::schedule
