// SPDX-License-Identifier: Apache-2.0
// Work under a named lock: no two deposits, wherever they run, work on one account at once, and what a
// late owner writes is refused by the server.
#pragma once

#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace service {

namespace asio = boost::asio;
using asio::awaitable;

/// "anna" and 5: what is asked for in a path, and what a job says.
struct order {
    std::string account;
    long amount = 0;
};

inline std::optional<order> read_order(std::string_view account, std::string_view amount) {
    order result;
    result.account = account;
    auto [end, ec] = std::from_chars(amount.data(), amount.data() + amount.size(), result.amount);
    bool number = ec == std::errc() && end == amount.data() + amount.size();
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
    bool name = !account.empty() && account.find_first_not_of(letters) == std::string_view::npos;
    return number && name ? std::optional<order>(result) : std::nullopt;
}

class accounts {
public:
    explicit accounts(corozk::client& zk) : zk_(zk) {}

    /// Returns the balance afterwards.
    awaitable<long> deposit(order wanted) {
        corozk::lock lock(zk_, "/service/locks/" + wanted.account);
        std::string path = "/service/accounts/" + wanted.account;
        long balance = wanted.amount;
        auto body = [&](corozk::ownership& held) -> awaitable<void> {
            // Sees what the previous owner wrote.
            auto [ec, before] = co_await held.read(path, asio::as_tuple(asio::use_awaitable));
            corozk::transaction change;
            if (ec == corozk::zk_errc::no_node) {
                change.create(path, std::to_string(balance));
            } else if (ec) {
                throw corozk::error(ec, "deposit", path);
            } else {
                balance += std::stol(before.data);
                change.set(path, std::to_string(balance), before.stat.version);
            }
            co_await held.commit(change);
        };
        co_await lock.run(body);
        co_return balance;
    }

private:
    corozk::client& zk_;
};

}  // namespace service
