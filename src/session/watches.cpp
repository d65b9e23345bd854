// SPDX-License-Identifier: Apache-2.0
// Watches without waiters are removed from the server. Operations on all watches are done in
// pieces.
#include "driver/breather.hpp"
#include "driver/request.hpp"
#include "session/own_request.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <functional>
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

bool session::trim_watches() {
    // After a reconnect the C client sends all its watches in one packet. If that exceeded the
    // servers' limit, every connection would end immediately, forever; and creating a large one
    // takes long.
    constexpr std::size_t largest_packet = 256 * 1024;
    constexpr std::size_t paths_per_call = 256;
    std::size_t limit = std::min(options_.max_request_size * 3 / 4, largest_packet);
    if (!link_.client() || watches_.c_client_bytes() <= limit)
        return true;
    for (const std::string& path : watches_.detach_surplus(limit, paths_per_call))
        link_.client()->forget_watches(path);
    return false;
}

// ---------------------------------------------------------------------------------------------
// In pieces

bool session::chores_left() const noexcept {
    return watches_.notifying() ||
           (connector_.open() &&
            (watches_.has_changes() || watches_.has_surplus() || watches_.has_retry()));
}

void session::do_chores() {
    // Many users' handlers free many small chunks, too.
    constexpr std::size_t many = 500;
    if (agenda_.handled(many) || watches_.notifying())
        join_free_memory();
    // While closing, empties the C client's tables in pieces, so that freeing it does not block.
    std::function<void(const std::string&)> forget;
    if (closing_.active() && link_.client())
        forget = [this](const std::string& path) { link_.client()->forget_watches(path); };
    allowance time;
    for (std::size_t i = 0; i < chores_per_turn && chores_left() && !time.spent(); ++i) {
        if (watches_.notifying()) {
            constexpr std::size_t at_a_time = 4;
            watches_.notify_dropped(at_a_time, forget);
            if (!watches_.notifying())
                complete_close_calls();
        } else if (watches_.has_surplus()) {
            if (auto watch = watches_.take_surplus())
                set_again(*watch);
        } else if (watches_.has_retry()) {
            auto [path, kind] = watches_.take_retry();
            watch_dropped(kind, path);
        } else {
            break;  // see `tend_persistent_watches`
        }
    }
}

/// Before other requests of this turn.
void session::tend_persistent_watches() {
    allowance time;
    for (std::size_t i = 0; i < chores_per_turn && !time.spent(); ++i) {
        if (!connector_.open() || !watches_.has_changes())
            return;
        if (auto lost = watches_.take_lost())
            restore(lost->first, lost->second);
        else if (auto unused = watches_.take_unused())
            remove_persistent(*unused);
    }
}

void session::restore(const std::string& path, watch_mode mode) {
    operation& op = make_detached(op_code::add_watch, path, [this](operation& added) {
        watches_.restored(added.path, added.error);
        // A server that is too busy: reconnecting has pauses.
        if (is_recoverable(added.error) && connector_.open())
            link_.client()->abort();
    });
    op.watching = mode;
    op.generation = status().generation;
    start(op);
}

void session::remove_persistent(const std::string& path) {
    operation& op = make_detached(op_code::remove_watches, path, [this](operation& removed) {
        watches_.removed_from_server(removed.path, removed.error);
    });
    op.version = all_watches;
    op.generation = status().generation;
    start(op);
}

void session::set_again(const watch_registry::surplus& watch) {
    op_code code = watch.kind == watch_kind::children ? op_code::children : op_code::exists;
    operation& op = make_detached(code, watch.path, [this, watch](operation& answer) {
        if (auto unused = watches_.set_again(watch, answer))
            watch_dropped(*unused, watch.path);
    });
    op.watch = true;
    op.generation = status().generation;
    start(op);
}

}  // namespace corozk::detail
