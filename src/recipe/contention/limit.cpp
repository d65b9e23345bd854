// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/limit.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/read_number.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

std::optional<std::int32_t> parse_limit(std::string_view data) noexcept {
    std::int32_t value = 0;
    if (!read_number(data, value) || value < 1 || data.front() == '0')
        return {};
    return value;
}

namespace {

/// Whether to begin again after an error. If an earlier set is in doubt, a server without a quorum is
/// no reason to end either.
task<bool> settle_again(port& p, bool doubtful, error_code& ec) {
    retry attempts(p, until_known(doubtful));
    if (!doubtful)
        co_return attempts.again(ec);
    co_return co_await again_until_done(p, attempts, ec);
}

/// @param wanted  written where there is none; over another one, too, if `limit` is null
task<error_code> settle_limit(port& p,
                              contention_settings settings,
                              std::int32_t wanted,
                              watch_node* watch,
                              known_limit* limit,
                              const interest* call) {
    // The version that a set with unknown outcome has made, if it was applied.
    std::optional<std::int64_t> doubted;
    for (;;) {
        request get(p, op_code::get, settings.parent);
        get.only_for(call);
        if (watch)
            get.attach(*watch);
        error_code ec;
        if (limit)
            ec = co_await read_forward(p, get);
        else
            ec = co_await behind_sync(p, get);  // not written if it is already the same
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_path(
                p, settings.parent, settings.entries, settings.parent_mode, call);
            if (!ec)
                continue;
        }
        if (ec) {
            const bool again = co_await settle_again(p, doubted.has_value(), ec);
            if (!again)
                co_return ec;
            continue;  // waits for the connection
        }
        auto found = parse_limit(get.answer);
        if (!found && !get.answer.empty())
            co_return make_error_code(errc::foreign_data);
        // Also if an earlier attempt has written it, even if another client has changed it since.
        const bool changed_since = doubted && get.record.version > *doubted;
        if (found && (limit || *found == wanted || changed_since)) {
            if (limit)
                *limit = {*found, get.record.version};
            co_return error_code();
        }
        request set(p, op_code::set, settings.parent);
        set.only_for(call);
        set.data = std::to_string(wanted);
        set.version = get.record.version;
        ec = co_await set;
        if (!limit && fault_of(ec) == fault::unknown)
            doubted = std::int64_t{get.record.version} + 1;
        if ((!ec && limit) || ec == zk_errc::bad_version || ec == zk_errc::no_node)
            continue;
        const bool again = co_await settle_again(p, doubted.has_value(), ec);
        if (!again)
            co_return ec;
    }
}

}  // namespace

task<error_code> find_limit(port& p,
                            const contention_settings& settings,
                            watch_node* watch,
                            known_limit& limit,
                            const interest* call) {
    return settle_limit(p, settings, settings.initial_limit, watch, &limit, call);
}

task<error_code> change_limit(port& p, const contention_settings& settings, std::int32_t limit) {
    return settle_limit(p, settings, limit, nullptr, nullptr, nullptr);
}

}  // namespace corozk::detail
