// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/operation_form.hpp"

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace corozk::detail {

/// Which of the operations that came after ZooKeeper 3.4 a server does not know: asked of it, it
/// refuses them (ZooKeeper), or closes the connection (ClickHouse Keeper, RaftKeeper), which the
/// next attempt would only repeat. No I/O.
///
/// Kept for the life of a client, because a server that closes the connection may end the session
/// with it.
class server_abilities {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// @param later  whether it knows any of them; otherwise none is ever asked
    explicit server_abilities(bool later = true) noexcept : unknown_{later ? 0 : later_ones()} {}

    bool knows(wire_op op) const noexcept { return unknown_ == 0 || (unknown_ & set_of(op)) == 0; }

    /// The server has responded to a request of these operations (a transaction has several).
    void answered(operation_set asked) noexcept {
        for (auto& [server, ops] : suspected_)
            ops &= ~asked;
        std::erase_if(suspected_, [](const auto& server) { return server.second == 0; });
    }

    /// The server has responded that it does not know one of these. Remembered if something else
    /// can be asked instead, or if the connection is of no more use: then the connection is to be
    /// given up, so that all requests that it carries are repeated in their order.
    /// @return what was found out
    operation_set refused(operation_set asked, bool useless) noexcept {
        explained_ = true;
        const operation_set found = lacks(useless ? asked : asked & replaceable);
        unknown_ |= asked & avoidable;
        return found;
    }

    /// A connection to this server begins.
    void connecting(std::string server) noexcept {
        explained_ = false;
        server_ = std::move(server);
    }

    /// The connection has ended before the server accepted a session: it is away, or not ready, and so
    /// the one before may have ended, too.
    void not_accepted() noexcept { suspected_.erase(server_); }

    /// The server has just sent something, or owed nothing until now.
    void responsive(time_point now) noexcept { responsive_at_ = now; }

    /// The server has closed the connection instead of responding to these. One that does so on two
    /// connections in a row, each time at once, does not know them, unless one of its like has responded in
    /// between. One that hesitates has other reasons, such as a lost quorum; one that is killed does not
    /// accept the next connection; and several may be killed one after the other.
    /// @param large whether a request was one that the server may have found too large. Then only create2
    ///     is given up, whose substitute lacks nothing but two times.
    /// @return what was found out
    operation_set hung_up(operation_set awaited, time_point now, bool large = false) {
        constexpr std::chrono::seconds at_once{1};
        if (explained_ || now - responsive_at_ >= at_once)
            return 0;
        awaited &= large ? set_of(wire_op::create2) : later_ones();
        if (awaited == 0)
            return 0;
        operation_set& suspected = suspected_[server_];
        const operation_set again = awaited & suspected;
        suspected |= awaited;
        return large ? forget(again) : lacks(again);
    }

private:
    static constexpr operation_set replaceable = set_of(wire_op::create2) |
                                                 set_of(wire_op::create_container) |
                                                 set_of(wire_op::remove_watches);

    /// Recipes know another way, and need not find out again: ZooKeeper closes the connection after
    /// its response.
    static constexpr operation_set avoidable =
        set_of(wire_op::add_watch) | set_of(wire_op::multi_read);

    static constexpr operation_set later_ones() noexcept {
        operation_set all = 0;
        for (const operation_form& form : operation_forms) {
            const bool between = form.op > wire_op::multi && form.op < wire_op::auth;
            if (between || form.op > wire_op::sasl)
                all |= set_of(form.op);
        }
        return all;
    }

    operation_set lacks(operation_set ops) noexcept {
        ops &= later_ones();
        // It came first, in every server.
        if ((ops & set_of(wire_op::create2)) != 0)
            ops |= replaceable | set_of(wire_op::create_ttl) | set_of(wire_op::add_watch);
        return forget(ops);
    }

    operation_set forget(operation_set ops) noexcept {
        ops &= ~unknown_;
        unknown_ |= ops;
        return ops;
    }

    operation_set unknown_;
    std::map<std::string, operation_set> suspected_;  ///< by server
    std::string server_;
    bool explained_ = false;  ///< whether the connection may end because of a refusal
    time_point responsive_at_{};
};

}  // namespace corozk::detail
