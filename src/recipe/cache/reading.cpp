// SPDX-License-Identifier: Apache-2.0
// Reading nodes, and what comes of it.
#include "driver/breather.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/cache/cache_core.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t reads_at_once = 64;

/// Listings of so many names are usual, and are compared at once.
constexpr std::size_t compared_at_once = 256;

/// What the paths of its descendants begin with.
std::string prefix_below(const std::string& path) {
    return path == "/" ? path : path + '/';
}

}  // namespace

struct cache_core::reading {
    /// `how` is `get`; without data, and unless that sets a watch, `children`, which needs the same
    /// permission. `exists` of what cannot be read.
    reading(port& p, entry_ptr e, op_code how)
        : of(std::move(e)), get(p, how, of->path), children(p, op_code::children, of->path) {}
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
    request add(port_, op_code::add_watch, scope_.root);
    add.attach(watch_, watch_mode::persistent_recursive);
    error_code ec = co_await add;
    if (!retry(port_).again(ec)) {
        one_shot_ = bool(ec);
        co_return error_code();
    }
    behind_ = true;
    co_return ec;
}

/// What is to be read next is determined in pieces.
/// @return whether it is known
bool cache_core::prepare_reads() {
    if (!round_.doomed.empty()) {
        if (remove_some(round_.doomed.back(), piece_of_work) == progress::finished)
            round_.doomed.pop_back();
        return false;
    }
    if (round_.entries.size() >= reads_at_once || round_.listings.empty())
        return true;
    if (adopt_some(round_.listings.front(), piece_of_work) == progress::finished)
        round_.listings.pop_front();
    return false;
}

task<> cache_core::read_some() {
    breather others(port_);
    if (!prepare_reads())
        co_return co_await others;
    std::vector<std::unique_ptr<reading>> readings;
    for (std::size_t i = 0; i < 2 * piece_of_work && readings.size() < reads_at_once; ++i) {
        if (round_.entries.empty())
            break;
        entry_ptr next = std::move(round_.entries.front());
        round_.entries.pop_front();
        if (next->removed || is_doomed(*next) || !next->stale)
            continue;
        entry& e = *next;
        e.stale = false;
        op_code how = options_.data || one_shot_ ? op_code::get : op_code::children;
        if (e.too_large)
            how = op_code::exists;
        reading& r = *readings.emplace_back(std::make_unique<reading>(port_, std::move(next), how));
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
        if (one_shot_ && e.level < scope_.depth && !e.too_large)
            r.list();
    }
    if (readings.empty() && !round_.entries.empty())
        co_return co_await others;
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
    std::vector<std::unique_ptr<reading>> looks;
    for (auto& r : readings) {
        std::unique_ptr<reading> another;
        if (r->get.code != op_code::exists)
            another = look(r->of->path);
        if (another)
            looks.push_back(std::move(another));
    }
    for (auto& r : looks)
        co_await settle_look(*r);
}

/// Deals with a node that is missing, a read that has to be repeated, and an entry that was removed:
/// if its node was re-created, the watches of the reads are set at the server.
/// @return whether none of these was the case
bool cache_core::has_answer(const reading& r, error_code& ec) {
    entry& e = *r.of;
    if (e.removed || is_doomed(e))
        forget_watches(e);
    else if (ec == zk_errc::no_node)
        remove_missing(e);
    else if (retry(port_).again(ec))
        read_again(e);
    else
        return true;
    return false;
}

task<> cache_core::settle(reading& r) {
    if (r.get.code == op_code::exists)
        co_return co_await settle_look(r);
    error_code ec = co_await r.get;
    if (!has_answer(r, ec))
        co_return;
    entry& e = *r.of;
    if (ec)
        co_return cannot_read(e, ec);
    if (e.path == scope_.root)
        refusal_.clear();
    if (!e.present || e.unread || stat_of(e) != r.get.record) {
        changed_ = true;
        e.unread = false;
        node_data read;
        if (options_.data)
            read.data = std::move(r.get.answer);
        read.stat = r.get.record;
        show(e, std::move(read));
    }
    const bool deep = e.level < scope_.depth;
    if (r.get.record.num_children == 0 && deep) {
        remove_below(e);
        e.listed = true;
    }
    r.listable = deep && (!e.listed || e.watches);
    if (r.listable && r.get.code == op_code::children && !e.watches) {
        adopt(r, std::move(r.get.names));
        r.listable = false;
    }
}

task<> cache_core::settle_children(reading& r) {
    error_code ec = co_await r.children;
    if (!has_answer(r, ec))
        co_return;
    if (ec)
        cannot_read(*r.of, ec);
    else
        adopt(r, std::move(r.children.names));
}

/// It exists nevertheless.
void cache_core::cannot_read(entry& e, error_code ec) {
    if (ec == errc::closed)
        return;
    e.too_large = ec == errc::too_large;
    if (e.path == scope_.root) {
        refusal_ = ec;
        states_.fail_all(ec);
    }
    e.unread = true;
    node_data without_data;
    if (e.present)
        without_data.stat = stat_of(e);
    if (!e.present || shows_data(e)) {
        changed_ = true;
        show(e, std::move(without_data));
    }
    remove_below(e);
    e.listed = false;
    entry* parent = find(parent_path(e.path));
    if (parent && parent != &e && !parent->watches && !e.too_large) {
        give_watches(*parent);
        mark(*parent);
    }
}

void cache_core::adopt(reading& r, name_list names) {
    entry& e = *r.of;
    e.listed = true;
    listing l(r.of, std::move(names), ++clock_);
    l.compared = has_descendants(e);
    l.last = prefix_below(e.path);
    if (adopt_some(l, compared_at_once) == progress::unfinished)
        round_.listings.push_back(std::move(l));
}

/// What a `get` does not show of a node that may not be read, or is missing: `exists` needs no
/// permission before ZooKeeper 3.9.3, and sets a watch. (Servers of 2024 and later send the event
/// only to clients that may read the node. But then a watch that was left by an earlier read is
/// known again, so that it is removed in the end.)
/// @return null if there is nothing to look for
std::unique_ptr<cache_core::reading> cache_core::look(const std::string& path) {
    entry* e = find(path);
    if (!e || e->stale || (!e->unread && (e->present || !one_shot_)))
        return nullptr;
    auto r = std::make_unique<reading>(port_, e, op_code::exists);
    if (one_shot_)
        give_watches(*e);
    if (one_shot_ && !e->watches->data.armed())
        r->get.attach(e->watches->data);
    r->get.send();
    return r;
}

task<> cache_core::settle_look(reading& r) {
    error_code ec = co_await r.get;
    entry& e = *r.of;
    if (e.removed || is_doomed(e))
        co_return;
    if (!ec && e.unread) {
        if (stat_of(e) == r.get.record)
            co_return;
        changed_ = true;
        // If so, what was too large to be read was perhaps other data, before an outage.
        const bool written = stat_of(e).mzxid != r.get.record.mzxid;
        node_data seen;
        seen.stat = r.get.record;
        show(e, std::move(seen));
        if (written && std::exchange(e.too_large, false))
            read_again(e);
    } else if (!ec || (ec == zk_errc::no_node && e.present) || retry(port_).again(ec)) {
        e.too_large = e.too_large && ec != zk_errc::no_node;
        read_again(e);
    }
}

/// A node that a read shows to be out of date is read again in the same round, for which calls may
/// be waiting.
void cache_core::read_again(entry& e) {
    e.stale = true;
    round_.entries.emplace_back(&e);
}

// ---------------------------------------------------------------------------------------------
// The copy

/// The filter is not called after the cache was destroyed.
bool cache_core::selects(const std::string& path) const {
    return stopped() || !options_.filter || options_.filter(path);
}

/// The node's entry, or null.
cache_core::entry* cache_core::find(std::string_view path) {
    auto at = entries_.find(path);
    if (at == entries_.end())
        return nullptr;
    if (!is_doomed(*at->second))
        return at->second.get();
    remove(*at->second);
    return nullptr;
}

cache_core::entry& cache_core::add(std::string path, std::size_t level) {
    entry_ptr e(new entry(std::move(path), level, clock_));
    std::string_view key = e->path;
    return *entries_.emplace(key, std::move(e)).first->second;
}

/// Whether states contain the node. The root of the children of a node is not one of them.
bool cache_core::is_shown(const entry& e) const noexcept {
    return e.level > 0 || !scope_.names || scope_.depth == 0;
}

std::string_view cache_core::key_of(const entry& e) const noexcept {
    if (!scope_.names)
        return e.path;
    return e.level == 0 ? std::string_view() : base_name(e.path);
}

void cache_core::show(entry& e, node_data node) {
    e.present = true;
    if (is_shown(e))
        nodes_.set(key_of(e), std::move(node));
    else
        root_stat_ = node.stat;
}

/// Of a node that is present.
const corozk::stat& cache_core::stat_of(const entry& e) const {
    return is_shown(e) ? nodes_.find(key_of(e))->stat : root_stat_;
}

/// Of a node that is present.
bool cache_core::shows_data(const entry& e) const {
    return is_shown(e) && !nodes_.find(key_of(e))->data.empty();
}

/// Without its descendants.
void cache_core::remove(entry& e) {
    entry_ptr gone(&e);
    changed_ = changed_ || e.present;
    if (e.present && is_shown(e))
        nodes_.erase(key_of(e));
    forget_watches(e);
    e.removed = true;
    entries_.erase(e.path);
}

/// The server has no such node. The root is kept, not to be read before it is created.
void cache_core::remove_missing(entry& e) {
    entry_ptr gone(&e);
    remove(e);
    remove_below(e);
    if (e.level == 0) {
        refusal_.clear();
        add(scope_.root, 0);
    }
}

bool cache_core::has_descendants(const entry& e) const {
    const std::string prefix = prefix_below(e.path);
    auto at = entries_.upper_bound(prefix);
    return at != entries_.end() && at->first.starts_with(prefix);
}

/// At once, if there are few. @return how many were removed
std::size_t cache_core::remove_below(const entry& e) {
    if (!has_descendants(e))
        return 0;
    const std::size_t before = entries_.size();
    doomed_branch branch;
    branch.prefix = branch.last = prefix_below(e.path);
    branch.since = ++clock_;
    if (remove_some(branch, piece_of_work) == progress::unfinished)
        round_.doomed.push_back(std::move(branch));
    return before - entries_.size();
}

cache_core::progress cache_core::remove_some(doomed_branch& branch, std::size_t count) {
    auto at = entries_.upper_bound(branch.last);
    while (at != entries_.end() && at->first.starts_with(branch.prefix)) {
        if (count-- == 0)
            return progress::unfinished;
        entry_ptr e = at->second;
        ++at;
        branch.last = e->path;
        if (e->since < branch.since)
            remove(*e);
    }
    return progress::finished;
}

bool cache_core::is_doomed(const entry& e) const noexcept {
    return std::any_of(
        round_.doomed.begin(), round_.doomed.end(), [&](const doomed_branch& branch) {
            return e.since < branch.since && e.path.size() > branch.prefix.size() &&
                   e.path.starts_with(branch.prefix);
        });
}

/// Names that are new are read, nodes that are not listed any more are removed.
cache_core::progress cache_core::adopt_some(listing& l, std::size_t count) {
    if (l.of->removed || is_doomed(*l.of))
        return progress::finished;
    auto later = [&l](std::uint32_t a, std::uint32_t b) { return l.names[a] > l.names[b]; };
    for (; l.heaped < l.names.size(); ++l.heaped) {
        if (count-- == 0)
            return progress::unfinished;
        l.heap.push_back(static_cast<std::uint32_t>(l.heaped));
        std::push_heap(l.heap.begin(), l.heap.end(), later);
    }
    for (;;) {
        std::string path;
        if (!l.heap.empty())
            path = join_path(l.of->path, l.names[l.heap.front()]);
        if (l.compared && remove_unlisted(l, path, count) == progress::unfinished)
            return progress::unfinished;
        if (l.heap.empty())
            return progress::finished;
        if (count == 0)
            return progress::unfinished;
        --count;
        std::pop_heap(l.heap.begin(), l.heap.end(), later);
        l.heap.pop_back();
        l.last = path;
        if (entry* known = find(path)) {
            // Perhaps another one, which is readable. No watch would report that.
            if (known->unread && !known->stale)
                read_again(*known);
        } else if (selects(path)) {
            read_again(add(std::move(path), l.of->level + 1));
        }
    }
}

/// Removes children behind the one compared last and before this one; if that is empty, all.
cache_core::progress cache_core::remove_unlisted(listing& l,
                                                 std::string_view before,
                                                 std::size_t& count) {
    const std::string prefix = prefix_below(l.of->path);
    for (;;) {
        auto at = entries_.upper_bound(l.last);
        if (at == entries_.end() || !at->first.starts_with(prefix))
            return progress::finished;
        if (!before.empty() && at->first >= before)
            return progress::finished;
        if (count == 0)
            return progress::unfinished;
        --count;
        entry_ptr e = at->second;
        if (e->level > l.of->level + 1) {
            // Behind all descendants of that child, as UTF-8 does not contain this byte; names that
            // are none are passed one by one.
            std::string behind = e->path.substr(0, e->path.find('/', prefix.size())) + "/\xff";
            l.last = std::max(behind, e->path);
            continue;
        }
        l.last = e->path;
        if (e->since < l.since) {
            remove(*e);
            count -= std::min(count, remove_below(*e));
        }
    }
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
    forget_watch(port_, e.watches->data, e.path);
    forget_watch(port_, e.watches->children, e.path, watch_kind::children);
}

}  // namespace corozk::detail
