// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace corozk::detail {

struct update_options {
    update_options() = default;

    const interest* call = nullptr;  ///< if set, nothing is written once it is over
    bool synced = false;             ///< also reads what other clients have written before
    /// What is written does not depend on what was read. So a write whose response was lost is not
    /// repeated once others have written: it counts as the one before theirs.
    bool blind = false;
};

/// Replaces the data of a node by what `decide(read, data)` makes of what was read, at the version
/// that was read: again and again, until it is written, or `decide` returns an error or sets no data.
template <class Decide>
task<error_code> update_node(
    port& p, std::string path, retry& attempts, update_options how, Decide decide) {
    std::optional<stat> doubted;  // what a write was based on that may have been applied
    for (;;) {
        request read(p, op_code::get, path, attempts.generation());
        error_code ec;
        // While in doubt, an older state may look as if the write had been applied, or had not.
        if (how.synced || attempts.doubtful())
            ec = co_await behind_sync(p, read);
        else
            ec = co_await read_forward(p, read);
        retry reading = attempts;  // it leaves no doubt
        if (co_await again_with_quorum(p, reading, ec))
            continue;
        std::optional<std::string> data;
        if (!ec)
            ec = decide(read, data);
        if (ec || !data)
            co_return ec;
        if (how.blind && doubted && doubted->czxid == read.record.czxid &&
            static_cast<std::uint32_t>(read.record.version) -
                    static_cast<std::uint32_t>(doubted->version) >
                1)
            co_return ec;
        request set(p, op_code::set, path, attempts.generation());
        set.only_for(how.call);
        set.data = std::move(*data);
        set.version = read.record.version;
        ec = co_await set;
        if (fault_of(ec) == fault::unknown)
            doubted = read.record;
        if (ec == zk_errc::bad_version)
            continue;
        if (!co_await again_with_quorum(p, attempts, ec))
            co_return ec;
    }
}

/// Creates a node that belongs to no session, or updates it, as above, with this data. `decide` leaves
/// a node that has it as it is. If the response to the create was lost, and others have written since,
/// it is updated: whether there was a node before is not known.
template <class Decide>
task<error_code> write_node(
    port& p, std::string path, std::string data, acl entries, const interest& call, Decide decide) {
    retry attempts(p);
    update_options how;
    how.call = &call;
    how.blind = true;
    for (;;) {
        request create(p, op_code::create, path);
        create.only_for(&call);
        create.data = data;
        create.entries = entries;
        error_code ec = co_await create_with_parents(p, create);
        if (co_await again_with_quorum(p, attempts, ec))
            continue;
        if (ec == zk_errc::node_exists)
            ec = co_await update_node(p, path, attempts, how, decide);
        if (ec != zk_errc::no_node)
            co_return ec;
    }
}

}  // namespace corozk::detail
