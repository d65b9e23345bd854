// SPDX-License-Identifier: Apache-2.0
// Work under a named lock: no two deposits on the same account run at the same time, in any
// instance, and the server rejects writes of a late owner.
#pragma once

#include "number.hpp"

namespace service {

/// A deposit as requested by a path or a job, such as "anna" and 5.
struct order {
    order() = default;
    std::string account;
    long amount = 0;
};

inline std::optional<order> read_order(std::string_view account, std::string_view amount) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
    std::optional<long> number = to_number(amount);
    bool name = !account.empty() && account.find_first_not_of(letters) == std::string_view::npos;
    if (!number || !name)
        return std::nullopt;
    order result;
    result.account = account;
    result.amount = *number;
    return result;
}

class accounts {
public:
    explicit accounts(corozk::client& zk) : zk_(zk) {}

    /// Returns the new balance. Throws `not_a_number` if the stored balance is invalid.
    awaitable<long> deposit(order wanted) {
        long balance = co_await change(wanted, nullptr);
        co_return balance;
    }

    /// A deposit requested by a job: the deposit and the removal of the job are atomic.
    awaitable<void> deposit(order wanted, corozk::queue_claim& job) {
        co_await change(wanted, &job);
    }

private:
    awaitable<long> change(const order& wanted, corozk::queue_claim* job) {
        corozk::lock lock(zk_, "/service/locks/" + wanted.account);
        std::string path = "/service/accounts/" + wanted.account;
        long balance = 0;
        auto body = [&](corozk::ownership& held) -> awaitable<void> {
            addition done = co_await add(held, path, wanted.amount);
            if (job) {
                done.change.check(held.path());
                co_await job->acknowledge(done.change);
            } else {
                co_await held.commit(done.change);
            }
            balance = done.sum;
        };
        co_await lock.run(body);
        co_return balance;
    }

    corozk::client& zk_;
};

}  // namespace service
