// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/partitioner/rule.hpp"
#include "recipe/toolkit/followed_node.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace corozk::detail {

/// The decision at the server, as it was read last.
class decision {
public:
    decision(port& p, std::string path) : node_(p, std::move(path)) {}

    /// Set when `look` has something to read.
    signal& wake() noexcept { return node_.wake; }

    /// Reads it, unless a watch shows that it is known.
    /// @return a permanent error
    task<error_code> look() {
        const error_code ec = co_await node_.look();
        if (ec)
            co_return ec;
        std::optional<assignment> read = read_assignment(node_.view().data);
        if (!read)
            co_return make_error_code(errc::foreign_data);
        shares_ = std::move(*read);
        present_ = node_.view().present;
        ++readings_;
        co_return error_code();
    }

    /// Not to be acted upon before it is read again.
    void clear() noexcept {
        shares_.clear();
        present_ = false;
    }

    /// Removes the watches from the server.
    void forget() {
        node_.forget();
        clear();
    }

    const assignment& shares() const noexcept { return shares_; }
    /// Whether it was read, and the node is there.
    bool present() const noexcept { return present_; }
    std::int32_t version() const noexcept { return node_.view().stat.version; }
    std::uint64_t readings() const noexcept { return readings_; }

private:
    followed_node node_;
    assignment shares_;
    bool present_ = false;
    std::uint64_t readings_ = 0;
};

}  // namespace corozk::detail
