// SPDX-License-Identifier: Apache-2.0
// Watches without waiters are removed from the server, and after a reconnect all others are set again.
// Operations on all watches are done in pieces.
#include "driver/breather.hpp"
#include "driver/request.hpp"
#include "session/session.hpp"
#include "session/wire_request.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t chores_per_turn = 256;

}  // namespace

void session::watch_dropped(watch_kind kind, const std::string& path) noexcept {
    if (agenda_.stopped() || !alive(status().generation) ||
        !watches_.unused(kind, path, connector_.open())) {
        return;
    }
    constexpr std::int32_t children_watches = 1;
    constexpr std::int32_t data_watches = 2;
    operation& op = make_detached(op_code::remove_watches, path, [this, kind](operation& removed) {
        watches_.removed(kind, removed.path, removed.error);
    });
    op.generation = status().generation;
    op.version = kind == watch_kind::children ? children_watches : data_watches;
    start(op);
}

/// A read that sets a watch on this path has finished.
void session::read_ended(const std::string& path) {
    for (const auto& [unused, kind] : watches_.read_ended(path, connector_.open()))
        watch_dropped(kind, unused);
}

/// Before all other requests but the credentials, so that no response shows a change that was not reported
/// before. @return whether none is left
bool session::set_watches() {
    constexpr std::size_t longest = 16UL * 1024;  // so that setting many is done in pieces
    const std::size_t bytes = std::min(options_.max_request_size * 3 / 4, longest);
    allowance time(1);
    while (watches_.has_unset()) {
        if (!can_send_to_server() || time.spent())
            return false;
        if (auto batch = watches_.take_unset(bytes))
            set_watches(std::move(*batch));
    }
    for (allowance more; watches_.has_lost();) {
        if (!can_send_to_server() || more.spent())
            return false;
        if (auto lost = watches_.take_lost())
            restore(lost->first, lost->second);
    }
    return true;
}

void session::set_watches(watch_batch batch) {
    std::string data = set_watches_data(batch.since, batch.paths);
    auto were_set = [this, batch = std::move(batch)](operation& set) {
        watches_.were_set(batch, set.error);
    };
    operation& op = make_detached(op_code::set_watches, "", std::move(were_set));
    op.data = std::move(data);
    submit_at_once(op);
}

void session::restore(const std::string& path, watch_mode mode) {
    operation& op = make_detached(op_code::add_watch, path, [this](operation& added) {
        // It is too busy, for example: reconnecting has pauses.
        const bool refused = is_recoverable(added.error) && connector_.open();
        watches_.restored(added.path, added.error, refused);
        if (refused)
            link_.client()->abort();
    });
    op.watching = mode;
    watches_.add_started(path);
    if (!link_.can_ask(op))
        return refuse(op, zk_errc::unimplemented);
    watches_.sending(op);
    submit_at_once(op);
}

// ---------------------------------------------------------------------------------------------
// In pieces

bool session::chores_left() const noexcept {
    return watches_.notifying() ||
           (connector_.open() && (watches_.has_unused() || watches_.has_retry()));
}

void session::do_chores() {
    // Many users' handlers free many small chunks, too.
    constexpr std::size_t many = 500;
    if (agenda_.handled(many) || watches_.notifying())
        join_free_memory();
    allowance time;
    for (std::size_t i = 0; i < chores_per_turn && chores_left() && !time.spent(); ++i) {
        if (watches_.notifying()) {
            constexpr std::size_t at_a_time = 4;
            watches_.notify_dropped(at_a_time);
            if (!watches_.notifying())
                complete_close_calls();
        } else if (watches_.has_retry()) {
            auto [path, kind] = watches_.take_retry();
            watch_dropped(kind, path);
        } else {
            break;  // see `remove_persistent_watches`
        }
    }
}

/// Before what users' handlers request in this turn.
void session::remove_persistent_watches() {
    allowance time;
    for (std::size_t i = 0; i < chores_per_turn && !time.spent(); ++i) {
        if (!connector_.open() || !watches_.has_unused())
            return;
        if (auto unused = watches_.take_unused())
            remove_persistent(*unused);
    }
}

void session::remove_persistent(const std::string& path) {
    operation& op = make_detached(op_code::remove_watches, path, [this](operation& removed) {
        watches_.removed_from_server(removed.path);
        // It is too busy, and still has the watch, which a new connection begins without.
        if (removed.error == zk_errc::throttled && connector_.open())
            link_.client()->abort();
    });
    op.version = all_watches;
    op.generation = status().generation;
    start(op);
}

}  // namespace corozk::detail
