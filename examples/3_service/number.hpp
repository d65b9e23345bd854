// SPDX-License-Identifier: Apache-2.0
// Numbers in nodes. Data may have been written by anyone, so it must be validated.
#pragma once

#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace service {

namespace asio = boost::asio;
using asio::awaitable;

inline std::optional<long> to_number(std::string_view text) {
    long number = 0;
    const char* end = text.data() + text.size();
    auto [rest, ec] = std::from_chars(text.data(), end, number);
    return ec == std::errc() && rest == end ? std::optional<long>(number) : std::nullopt;
}

/// The node's data is not a number, or out of range.
struct not_a_number : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct addition {
    addition() = default;
    long sum = 0;
    corozk::transaction change;  ///< writes the sum, unless the node has changed
};

/// Adds to the number in a node that only the owner writes. A missing or empty one counts as 0.
inline awaitable<addition> add(corozk::ownership& held, std::string path, long amount) {
    // Sees the previous owner's writes.
    auto [ec, before] = co_await held.read(path, asio::as_tuple(asio::use_awaitable));
    if (ec && ec != corozk::zk_errc::no_node)
        throw corozk::error(ec, "add", path);
    std::optional<long> number = before.data.empty() ? 0 : to_number(before.data);
    addition result;
    if (!number || __builtin_add_overflow(*number, amount, &result.sum))
        throw not_a_number(path + " does not contain a number that can be added to");
    std::string sum = std::to_string(result.sum);
    if (ec)
        result.change.create(path, sum);
    else
        result.change.set(path, sum, before.stat.version);
    co_return result;
}

}  // namespace service
