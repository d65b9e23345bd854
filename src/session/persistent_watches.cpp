// SPDX-License-Identifier: Apache-2.0
#include "session/persistent_watches.hpp"

#include "operation/operation.hpp"
#include "session/wire_request.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::int32_t children_list = 1;  // a type of remove_watches

watch_kind list_of(const operation& op) noexcept {
    const bool children = op.code == op_code::remove_watches ? op.version == children_list
                                                             : op.code == op_code::children;
    return children ? watch_kind::children : watch_kind::data;
}

/// Calls `f` for each; it may disarm any of them.
template <class List, class Function>
void for_each_waiter(List& nodes, Function f) {
    List all;
    all.swap(nodes);
    while (!all.empty()) {
        auto& node = all.front();
        all.pop_front();
        nodes.push_back(node);
        f(node);
    }
}

}  // namespace

bool persistent_watches::serves(const place& at, watch_kind kind) noexcept {
    return at.requested &&
           (*at.requested == watch_mode::persistent || kind != watch_kind::children);
}

bool persistent_watches::serves(const std::string& path, watch_kind kind) const {
    auto it = places_.find(path);
    return it != places_.end() && serves(it->second, kind);
}

bool persistent_watches::idle(const place& at) noexcept {
    return !at.requested && at.nodes.empty() && at.adding == 0;
}

// ---------------------------------------------------------------------------------------------
// Requests

bool persistent_watches::sending(operation& op) {
    auto it = places_.empty() ? places_.end() : places_.find(op.path);
    if (op.code == op_code::add_watch) {
        place& at = it->second;
        // The server's, too, should be what all waiters need.
        if (!at.requested || op.watching == watch_mode::persistent_recursive)
            at.requested = op.watching;
        op.watching = *at.requested;
        ++at.in_flight;
    } else if (op.code == op_code::remove_watches && op.version == all_watches) {
        return it != places_.end() && it->second.forget_server();
    } else if (it == places_.end()) {
        return true;
    } else if (op.code == op_code::remove_watches) {
        return !serves(it->second, list_of(op));
    } else if (op.watch) {
        op.covered = serves(it->second, list_of(op));
    }
    return true;
}

void persistent_watches::armed(watch_kind kind, const operation& op) {
    watch_registry::armed(kind, op.path, op.zxid, op.watcher());
    if (op.covered && !serves(op.path, kind))
        set_again(kind, op.path);
}

/// The server may have forgotten the one-shot watches of the path.
void persistent_watches::set_others_again(const std::string& path) {
    for (watch_kind kind : all_watch_kinds) {
        if (!serves(path, kind))
            set_again(kind, path);
    }
}

void persistent_watches::add_withdrawn(const std::string& path) {
    --places_[path].adding;
    released(path);
}

void persistent_watches::add_finished(operation& op, bool sent) {
    auto it = places_.find(op.path);
    if (it == places_.end())
        return;
    place& at = it->second;
    --at.adding;
    if (sent)
        --at.in_flight;
    if (sent && !op.error) {
        at.served = op.watching;
        set_others_again(op.path);
        if (persistent_watch_node* node = op.persistent_watcher()) {
            node->unlink();  // it may still belong to an earlier session
            node->keeper_ = this;
            node->path_ = &it->first;
            at.nodes.push_back(*node);
        }
    } else if (sent) {
        add_failed(op.path, at);
    }
    released(op.path);
}

/// It is not known which mode the server has.
void persistent_watches::add_failed(const std::string& path, place& at) {
    if (at.in_flight > 0)
        return;  // the response to the next one shows it
    at.forget_server();
    set_others_again(path);
    if (!at.nodes.empty() && !at.restoring)
        lost_.insert(path);
}

// ---------------------------------------------------------------------------------------------
// Events

void persistent_watches::notify(place& at,
                                watch_event_type type,
                                const std::string& path,
                                watch_mode mode) {
    // After a reconnect, events of watches that were set again before it are not its own.
    if (!at.served)
        return;
    for_each_waiter(at.nodes, [&](persistent_watch_node& node) {
        if (node.mode() == mode)
            node.report(type, path);
    });
}

void persistent_watches::report(watch_event_type type, const std::string& path) {
    fire(path, type);
    const bool of_children = type == watch_event_type::children_changed;
    if (auto it = places_.find(path); it != places_.end()) {
        place& at = it->second;
        if (!of_children)
            notify(at, type, path, watch_mode::persistent_recursive);
        if (!of_children || at.served != watch_mode::persistent_recursive)
            notify(at, type, path, watch_mode::persistent);
    }
    if (of_children || path.size() < 2)
        return;
    bool of_a_child = type == watch_event_type::created || type == watch_event_type::erased;
    for (std::string_view above = path; above.size() > 1; of_a_child = false) {
        above = above.substr(0, std::max<std::size_t>(above.rfind('/'), 1));
        auto it = places_.find(above);
        if (it == places_.end())
            continue;
        notify(it->second, type, path, watch_mode::persistent_recursive);
        // A recursive watch gets no events of the names of its node's children.
        if (of_a_child && it->second.served == watch_mode::persistent_recursive)
            notify(
                it->second, watch_event_type::children_changed, it->first, watch_mode::persistent);
    }
}

// ---------------------------------------------------------------------------------------------
// Restoring and removing

void persistent_watches::connected(std::int64_t last_zxid) {
    watch_trimming::connected(last_zxid);
    for (auto it = places_.begin(); it != places_.end();) {
        place& at = it->second;
        if (at.forget_server())
            set_others_again(it->first);
        if (!at.nodes.empty() && !at.restoring)
            lost_.insert(it->first);
        it = idle(at) ? places_.erase(it) : std::next(it);
    }
}

std::optional<std::string> persistent_watches::take_unused() {
    while (!unused_.empty()) {
        std::string path = std::move(unused_.extract(unused_.begin()).value());
        auto it = places_.find(path);
        if (it == places_.end() || !it->second.nodes.empty() || it->second.adding > 0)
            continue;
        if (it->second.requested)
            return path;
        places_.erase(it);
    }
    return std::nullopt;
}

std::optional<std::pair<std::string, watch_mode>> persistent_watches::take_lost() {
    while (!lost_.empty()) {
        std::string path = std::move(lost_.extract(lost_.begin()).value());
        auto it = places_.find(path);
        if (it == places_.end() || it->second.nodes.empty())
            continue;
        place& at = it->second;
        at.restoring = true;
        auto recursive = [](const persistent_watch_node& node) {
            return node.mode() == watch_mode::persistent_recursive;
        };
        bool any = std::any_of(at.nodes.begin(), at.nodes.end(), recursive);
        return std::pair(std::move(path),
                         any ? watch_mode::persistent_recursive : watch_mode::persistent);
    }
    return std::nullopt;
}

void persistent_watches::restored(const std::string& path, const error_code& ec, bool refused) {
    auto it = places_.find(path);
    if (it == places_.end())
        return;
    place& at = it->second;
    at.restoring = false;
    if (!ec || refused)
        for_each_waiter(at.nodes, [](persistent_watch_node& node) { node.interrupted(); });
    if (ec && (is_recoverable(ec) || ec == errc::not_connected))
        lost_.insert(path);
    else if (ec && !is_session_lost(ec))
        drop(at, ec);
    released(path);
}

void persistent_watches::removed_from_server(const std::string& path) {
    for (watch_kind kind : all_watch_kinds) {
        // Whether one that was requested meanwhile has served them all the time is not known.
        if (serves(path, kind))
            fire(kind, path, watch_event_type::unknown);
        else
            set_again(kind, path);
    }
    if (auto it = places_.find(path); it != places_.end() && idle(it->second))
        places_.erase(it);
}

void persistent_watches::drop(place& at, const error_code& reason) {
    waiters all;
    all.swap(at.nodes);
    while (!all.empty()) {
        persistent_watch_node& node = all.front();
        all.pop_front();
        node.dropped(reason);
    }
}

void persistent_watches::drop_all(const error_code& reason) {
    watch_trimming::drop_all(reason);
    unused_.clear();
    lost_.clear();
    for (auto it = places_.begin(); it != places_.end();) {
        it->second.forget_server();
        drop(it->second, reason);
        it = it->second.adding == 0 ? places_.erase(it) : std::next(it);
    }
}

void persistent_watches::released(const std::string& path) noexcept {
    if (unused_.insert(path).second)
        wake_();
}

}  // namespace corozk::detail
