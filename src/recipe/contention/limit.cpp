// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/limit.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "recipe/toolkit/synced_read.hpp"

#include <charconv>

namespace corozk::detail {

std::optional<std::int32_t> parse_limit(std::string_view data) noexcept {
    std::int32_t value = 0;
    auto [end, error] = std::from_chars(data.data(), data.data() + data.size(), value);
    bool number = error == std::errc() && end == data.data() + data.size();
    if (!number || value < 1 || data.front() == '0')
        return {};
    return value;
}

task<error_code> find_limit(port& p,
                            std::string folder,
                            acl entries,
                            create_mode mode,
                            std::int32_t initial,
                            watch_node* watch,
                            known_limit& limit) {
    for (;;) {
        request get(p, op_code::get, folder);
        if (watch)
            get.attach(*watch);
        error_code ec = co_await get;
        if (is_recoverable(ec))
            continue;  // waits for the connection
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(p, folder, entries, mode);
            if (ec)
                co_return ec;
            continue;
        }
        if (ec)
            co_return ec;
        if (!get.answer.empty()) {
            auto found = parse_limit(get.answer);
            if (!found)
                co_return make_error_code(errc::foreign_data);
            limit.value = *found;
            limit.version = get.record.version;
            co_return error_code();
        }
        request set(p, op_code::set, folder);
        set.data = std::to_string(initial);
        set.version = get.record.version;
        ec = co_await set;
        bool look_again =
            !ec || ec == zk_errc::bad_version || ec == zk_errc::no_node || is_recoverable(ec);
        if (!look_again)
            co_return ec;
    }
}

task<error_code> change_limit(port& p,
                              std::string folder,
                              acl entries,
                              create_mode mode,
                              std::int32_t limit) {
    for (;;) {
        request get(p, op_code::get, folder);
        // What it is now: nothing is written where it is the same already.
        error_code ec = co_await behind_sync(p, get);
        if (is_recoverable(ec))
            continue;
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(p, folder, entries, mode);
            if (ec)
                co_return ec;
            continue;
        }
        if (ec)
            co_return ec;
        if (!get.answer.empty() && !parse_limit(get.answer)) {
            co_return make_error_code(errc::foreign_data);
        }
        // Also if an earlier attempt wrote it.
        if (get.answer == std::to_string(limit))
            co_return error_code();
        request set(p, op_code::set, folder);
        set.data = std::to_string(limit);
        set.version = get.record.version;
        ec = co_await set;
        bool look_again =
            ec == zk_errc::bad_version || ec == zk_errc::no_node || is_recoverable(ec);
        if (!look_again)
            co_return ec;
    }
}

}  // namespace corozk::detail
