// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/claim_node.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

namespace {

/// The number of successive claims of an item that can be distinguished.
constexpr std::int64_t different_claims = 4;

}  // namespace

task<error_code> claim_node::find() {
    retry reading(owner, generation);
    for (;;) {
        request get(owner, op_code::get, path, generation);
        get.owed = true;  // if it is looked for to be deleted
        error_code ec = co_await behind_sync(owner, get);
        if (co_await again_until_done(owner, reading, ec))
            continue;
        if (ec)
            co_return ec;
        bool ours = is(get.record);
        if (record.czxid == 0)
            ours = get.answer == guid && get.record.ephemeral_owner == owner.status().session_id;
        if (!ours)
            co_return make_error_code(zk_errc::node_exists);
        record = get.record;
        co_return error_code();
    }
}

task<error_code> claim_node::tell_apart(const stat& item) {
    // Other children may count as well.
    std::int64_t claims = (std::int64_t{item.cversion} + item.num_children) / 2;
    std::int64_t version = claims > 0 ? (claims - 1) % different_claims : 0;
    retry writing(owner, generation);
    while (record.version < version) {
        request set(owner, op_code::set, path, generation);
        set.data = guid;
        set.version = record.version;
        error_code ec = co_await set;
        if (!ec) {
            ++record.version;
            continue;
        }
        if (ec == zk_errc::bad_version)
            co_return make_error_code(zk_errc::no_node);
        if (!co_await again_until_done(owner, writing, ec))
            co_return ec;
        ec = co_await find();
        if (ec)
            co_return ec == zk_errc::node_exists ? make_error_code(zk_errc::no_node) : ec;
    }
    co_return error_code();
}

task<error_code> claim_node::erase() {
    retry deleting(owner, generation);
    for (;;) {
        request erase(owner, op_code::erase, path, generation);
        erase.version = record.version;
        erase.owed = true;
        error_code ec = co_await erase;
        const bool again = co_await again_until_done(owner, deleting, ec);
        if (!again && ec != zk_errc::bad_version)
            co_return ec;
        ec = co_await find();
        if (ec)
            co_return ec;
    }
}

}  // namespace corozk::detail
