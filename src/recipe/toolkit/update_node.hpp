// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"

#include <optional>
#include <string>
#include <utility>

namespace corozk::detail {

/// Replaces the data of a node by what `decide(read, data)` makes of what was read, at the version
/// that was read: again and again, until it is written, or `decide` returns an error or sets no data.
/// So a repetition after a lost response overwrites nothing.
/// @param call    if set, nothing is written once it is over
/// @param synced  also reads what other clients have written before
template <class Decide>
task<error_code> update_node(port& p,
                             std::string path,
                             retry& attempts,
                             const unfinished_call* call,
                             bool synced,
                             Decide decide) {
    for (;;) {
        request read(p, op_code::get, path, attempts.generation());
        error_code ec;
        if (synced)
            ec = co_await behind_sync(p, read);
        else
            ec = co_await read_forward(p, read);
        if (retry(attempts).again(ec))
            continue;  // it leaves no doubt
        std::optional<std::string> data;
        if (!ec)
            ec = decide(read, data);
        if (ec || !data)
            co_return ec;
        request set(p, op_code::set, path, attempts.generation());
        set.only_for(call);
        set.data = std::move(*data);
        set.version = read.record.version;
        ec = co_await set;
        if (ec != zk_errc::bad_version && !attempts.again(ec))
            co_return ec;
    }
}

/// Creates a node that belongs to no session, or updates it, as above. Idempotent if `decide` leaves
/// a node with this data as it is.
template <class Decide>
task<error_code> write_node(port& p,
                            std::string path,
                            std::string data,
                            acl entries,
                            const unfinished_call& call,
                            Decide decide) {
    retry attempts(p);
    for (;;) {
        request create(p, op_code::create, path);
        create.only_for(&call);
        create.data = data;
        create.entries = entries;
        error_code ec = co_await create_with_parents(p, create);
        if (attempts.again(ec))
            continue;
        if (ec == zk_errc::node_exists)
            ec = co_await update_node(p, path, attempts, &call, false, decide);
        if (ec != zk_errc::no_node)
            co_return ec;
    }
}

}  // namespace corozk::detail
