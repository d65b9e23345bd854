// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/limit.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/read_number.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/update_node.hpp"

namespace corozk::detail {

std::optional<std::int32_t> parse_limit(std::string_view data) noexcept {
    std::int32_t value = 0;
    if (!read_padded_number(data, value) || value < 1)
        return {};
    return value;
}

task<error_code> find_limit(port& p,
                            const contention_settings& settings,
                            watch_node* watch,
                            known_limit& limit,
                            const interest* call) {
    for (;;) {
        request get(p, op_code::get, settings.parent);
        get.only_for(call);
        if (watch)
            get.attach(*watch);
        error_code ec = co_await read_forward(p, get);
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_path(
                p, settings.parent, settings.entries, settings.parent_mode, call);
            if (!ec)
                continue;
        }
        if (!ec) {
            if (auto found = parse_limit(get.answer)) {
                limit = {*found, get.record.version};
                co_return ec;
            }
            if (!get.answer.empty())
                co_return make_error_code(errc::foreign_data);
            request set(p, op_code::set, settings.parent);
            set.only_for(call);
            set.data = std::to_string(settings.initial_limit);
            set.version = get.record.version;
            ec = co_await set;
            if (!ec || ec == zk_errc::bad_version || ec == zk_errc::no_node)
                continue;
        }
        if (!retry(p, in_session_while_reachable).again(ec))
            co_return ec;
    }
}

task<error_code> change_limit(port& p,
                              const contention_settings& settings,
                              std::int32_t limit,
                              const interest& call) {
    retry attempts(p, in_session_while_reachable);
    update_options how;
    how.call = &call;
    how.synced = true;  // not written if it is already the same
    how.blind = true;
    auto decide = [limit](const request& read, std::optional<std::string>& data) {
        auto found = parse_limit(read.answer);
        if (!found && !read.answer.empty())
            return make_error_code(errc::foreign_data);
        if (found != limit)
            data = std::to_string(limit);
        return error_code();
    };
    for (;;) {
        error_code ec = co_await update_node(p, settings.parent, attempts, how, decide);
        if (ec != zk_errc::no_node)
            co_return ec;
        ec =
            co_await ensure_path(p, settings.parent, settings.entries, settings.parent_mode, &call);
        if (!ec)
            continue;
        if (!co_await again_with_quorum(p, attempts, ec))
            co_return ec;
    }
}

}  // namespace corozk::detail
