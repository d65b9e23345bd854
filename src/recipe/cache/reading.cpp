// SPDX-License-Identifier: Apache-2.0
// Reading nodes, and what comes of it.
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/cache/cache_core.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t reads_at_once = 64;

}  // namespace

struct cache_core::reading {
    reading(port& p, entry_ptr e)
        : of(std::move(e)),
          get(p, op_code::get, of->path),
          children(p, op_code::children, of->path) {}
    void list() {
        lists = true;
        if (of->watches)
            children.attach(of->watches->children);
        children.send();
    }
    entry_ptr of;
    request get;
    request children;
    bool lists = false;
    bool listable = false;  ///< it has, or with one-shot watches will have, children
};

/// Sets the recursive watch, unless there is one or there are none.
/// @return a transient error
task<error_code> cache_core::watch_tree() {
    if (one_shot_ || watch_.armed())
        co_return error_code();
    request add(port_, op_code::add_watch, root_);
    add.attach(watch_, watch_mode::persistent_recursive);
    error_code ec = co_await add;
    if (!retry(port_).again(ec)) {
        one_shot_ = bool(ec);
        co_return error_code();
    }
    behind_ = true;
    co_return ec;
}

task<> cache_core::read_some() {
    std::vector<std::unique_ptr<reading>> readings;
    while (!round_.empty() && readings.size() < reads_at_once) {
        auto it = entries_.find(round_.front());
        round_.pop_front();
        if (it == entries_.end() || !it->second->stale)
            continue;
        entry& e = *it->second;
        e.stale = false;
        reading& r = *readings.emplace_back(std::make_unique<reading>(port_, it->second));
        if (one_shot_)
            give_watches(e);
        // Changes from here on are seen by the reads or reported.
        if (e.watches) {
            e.watches->data.disarm();
            e.watches->children.disarm();
        }
        if (one_shot_)
            r.get.attach(e.watches->data);
        r.get.send();
        if (one_shot_ && e.level < depth_)
            r.list();
    }
    // Responses are applied as they arrive: nothing else is awaited before the last one.
    for (auto& r : readings)
        co_await settle(*r);
    for (auto& r : readings) {
        if (r->listable && !r->lists)
            r->list();
    }
    for (auto& r : readings) {
        if (r->lists)
            co_await settle_children(*r);
    }
    for (auto& r : readings)
        co_await look(r->of->path);
}

/// Whether the entry is still the one that was read. If not, and if the node was re-created, the
/// watches of the reads are set at the server.
bool cache_core::is_current(const reading& r) {
    auto it = entries_.find(r.of->path);
    if (it != entries_.end() && it->second == r.of)
        return true;
    forget_watches(*r.of);
    return false;
}

task<> cache_core::settle(reading& r) {
    error_code ec = co_await r.get;
    if (!is_current(r))
        co_return;
    entry& e = *r.of;
    if (ec == zk_errc::no_node)
        co_return remove_missing(e.path);
    if (retry(port_).again(ec))
        co_return read_again(e);
    if (ec == errc::closed)
        co_return;
    if (e.path == root_) {
        refusal_ = ec;
        if (ec)
            fail_all(ec);
    }
    // A node that may not be read exists nevertheless.
    if (ec) {
        changed_ = changed_ || !e.present || !e.node.data.empty();
        e.present = e.unread = true;
        e.node.data.clear();
        adopt_children(e, {});
        e.listed = false;
        auto parent = entries_.find(parent_path(e.path));
        if (parent != entries_.end() && parent->second != r.of && !parent->second->watches) {
            give_watches(*parent->second);
            mark(*parent->second);
        }
        co_return;
    }
    if (!e.present || e.unread || e.node.stat != r.get.record) {
        changed_ = true;
        e.present = true;
        e.unread = false;
        e.node.data = std::move(r.get.answer);
        e.node.stat = r.get.record;
    }
    const bool deep = e.level < depth_;
    if (r.get.record.num_children == 0 && deep) {
        adopt_children(e, {});
        e.listed = true;
    }
    r.listable = deep && (!e.listed || e.watches);
}

task<> cache_core::settle_children(reading& r) {
    error_code ec = co_await r.children;
    if (!is_current(r))
        co_return;
    entry& e = *r.of;
    if (ec == zk_errc::no_node)
        co_return remove_missing(e.path);
    if (retry(port_).again(ec))
        co_return read_again(e);
    if (ec)
        co_return;
    e.listed = true;
    std::set<std::string, std::less<>> names;
    for (std::size_t i = 0; i < r.children.names.size(); ++i) {
        if (selects(join_path(e.path, r.children.names[i])))
            names.emplace(r.children.names[i]);
    }
    adopt_children(e, std::move(names));
}

/// What a `get` does not tell of a node that may not be read, or is missing: `exists` needs no
/// permission, and sets a watch. (Servers of 2024 and later send the event only to clients that may
/// read the node. But then a watch that was left by an earlier read is known again, so that it is
/// removed in the end.)
task<> cache_core::look(std::string path) {
    auto it = entries_.find(path);
    if (it == entries_.end() || it->second->stale)
        co_return;
    entry_ptr e = it->second;
    if (!e->unread && (e->present || !one_shot_))
        co_return;
    request exists(port_, op_code::exists, path);
    if (one_shot_) {
        give_watches(*e);
        exists.attach(e->watches->data);
    }
    error_code ec = co_await exists;
    it = entries_.find(path);
    if (it == entries_.end() || it->second != e)
        co_return;
    if (!ec && e->unread) {
        changed_ = changed_ || e->node.stat != exists.record;
        e->node.stat = exists.record;
    } else if (!ec || (ec == zk_errc::no_node && e->present) || retry(port_).again(ec)) {
        read_again(*e);
    }
}

/// A node that a read shows to be out of date is read again in the same round, for which calls may
/// be waiting.
void cache_core::read_again(entry& e) {
    e.stale = true;
    round_.push_back(e.path);
}

// ---------------------------------------------------------------------------------------------
// The copy

/// The filter is not called after the cache was destroyed.
bool cache_core::selects(const std::string& path) const {
    return stopped() || !options_.filter || options_.filter(path);
}

cache_core::entry& cache_core::add(std::string path, std::size_t level) {
    auto e = std::make_shared<entry>(path, level);
    return *entries_.emplace(std::move(path), std::move(e)).first->second;
}

/// Removes a node and its descendants.
void cache_core::remove(const std::string& path) {
    auto it = entries_.find(path);
    if (it != entries_.end()) {
        changed_ = changed_ || it->second->present;
        forget_watches(*it->second);
        entries_.erase(it);
    }
    std::string below = path == "/" ? path : path + "/";
    auto first = entries_.lower_bound(below);
    auto last = first;
    while (last != entries_.end() && last->first.compare(0, below.size(), below) == 0) {
        forget_watches(*last->second);
        ++last;
    }
    if (first != last)
        changed_ = true;
    entries_.erase(first, last);
}

/// The server has no such node. The root is kept, not to be read before it is created.
void cache_core::remove_missing(std::string path) {
    remove(path);
    if (path == root_) {
        refusal_.clear();
        add(root_, 0);
    } else if (auto parent = entries_.find(parent_path(path)); parent != entries_.end()) {
        parent->second->children.erase(std::string(base_name(path)));
    }
}

void cache_core::adopt_children(entry& e, std::set<std::string, std::less<>> names) {
    std::vector<std::string> gone;
    std::set_difference(
        e.children.begin(), e.children.end(), names.begin(), names.end(), std::back_inserter(gone));
    for (const std::string& name : gone)
        remove(join_path(e.path, name));
    for (const std::string& name : names) {
        std::string path = join_path(e.path, name);
        if (!entries_.contains(path))
            read_again(add(std::move(path), e.level + 1));
    }
    e.children = std::move(names);
}

void cache_core::give_watches(entry& e) {
    if (!e.watches)
        e.watches = std::make_unique<one_shot_watches>(*this, e);
}

/// Usually they have fired: a node that existed in one of two reads was created or deleted in
/// between.
void cache_core::forget_watches(entry& e) {
    if (!e.watches)
        return;
    forget_watch(port_, e.watches->data, e.present ? watch_kind::data : watch_kind::exists, e.path);
    forget_watch(port_, e.watches->children, watch_kind::children, e.path);
}

}  // namespace corozk::detail
