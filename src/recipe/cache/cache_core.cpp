// SPDX-License-Identifier: Apache-2.0
#include "recipe/cache/cache_core.hpp"

#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/take_if.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

constexpr std::size_t reads_at_once = 64;

}  // namespace

struct cache_core::reading {
    reading(cache_core& owner, entry& e)
        : path(e.path),
          get(owner.port_, op_code::get, e.path),
          children(owner.port_, op_code::children, e.path),
          deep(e.level < owner.depth_) {}
    std::string path;
    request get;
    request children;
    bool deep;
};

cache_core::cache_core(port& p,
                       std::string root,
                       std::size_t depth,
                       bool names,
                       cache_options options)
    : recipe_core(p),
      wake_(p),
      root_(std::move(root)),
      depth_(depth),
      names_(names),
      options_(std::move(options)) {}

void cache_core::start() {
    if (running_ || path_problem(root_))
        return;
    running_ = true;
    copy_.emplace(port_, root_, depth_);
    port_.spawn(run(shared_from_this()));
}

void cache_core::stop() noexcept {
    recipe_core::stop();
    copy_.reset();
    fail_all(boost::asio::error::operation_aborted);
    wake_.set();
}

void cache_core::fail_all(error_code ec) {
    auto calls = std::move(calls_);
    calls_.clear();
    for (call_type& call : calls) {
        if (call.waiting())
            call.result.fail(ec);
    }
}

node_state cache_core::to_node(const tree_state& state) {
    node_state result;
    result.revision = state.revision;
    result.exists = state.exists;
    if (state.exists) {
        const node_data& node = state.nodes->begin()->second;
        result.data = node.data;
        result.stat = node.stat;
    }
    return result;
}

void cache_core::next(call_type call) {
    if (ended_)
        return call.result.fail(ended_);
    std::erase_if(calls_, [](const call_type& c) { return !c.waiting(); });
    calls_.push_back(std::move(call));
    answer_calls();
    if (calls_.empty())
        return;
    if (refusal_)
        mark(*entries_.find(root_)->second);  // it may have become readable
}

tree_state cache_core::current() {
    tree_state state;
    state.revision = revision_;
    if (revision_ == 0)
        return state;
    state.exists = exists_;
    state.nodes = snapshot_;
    return state;
}

void cache_core::publish() {
    if (refusal_ || (!changed_ && revision_ != 0))
        return;
    changed_ = false;
    ++revision_;
    auto nodes = std::make_shared<nodes_map>();
    exists_ = entries_.find(root_)->second->present;
    for (const auto& [path, e] : entries_) {
        if (!e->present)
            continue;
        std::string key = path;
        if (names_) {
            bool root = path == root_;
            if (root && depth_ > 0)
                continue;
            key = root ? std::string() : std::string(base_name(path));
        }
        nodes->emplace(std::move(key), e->node);
    }
    snapshot_ = std::move(nodes);
    answer_calls();
}

/// Not with a state before a change by this client.
void cache_core::answer_calls() {
    if (revision_ == 0 || (copy_ && copy_->owes()))
        return;
    auto ready = take_if(calls_, [this](const call_type& call) { return call.seen != revision_; });
    for (call_type& call : ready) {
        if (call.waiting())
            call.complete(current());
    }
}

void cache_core::mark(entry& e) noexcept {
    if (e.stale)
        return;
    e.stale = true;
    stale_.push_back(e.path);
    if (copy_)
        copy_->mark();
    wake_.set();
}

/// A node that a read shows to be out of date is read again in the same round, for which calls may
/// be waiting.
void cache_core::read_again(entry& e) {
    e.stale = true;
    round_.push_back(e.path);
}

void cache_core::mark_all() {
    for (auto& [path, e] : entries_)
        mark(*e);
}

void cache_core::begin_round() {
    round_.insert(round_.end(),
                  std::make_move_iterator(stale_.begin()),
                  std::make_move_iterator(stale_.end()));
    stale_.clear();
    if (copy_)
        copy_->begin_round();
}

void cache_core::end_round() {
    resyncing_ = false;
    publish();
    if (copy_)
        copy_->end_round();
    answer_calls();
}

/// The filter is not called after the cache was destroyed.
bool cache_core::selects(const std::string& path) const {
    return stopped() || !options_.filter || options_.filter(path);
}

/// Called within a round, of which the node becomes part.
void cache_core::add(std::string path, std::size_t level) {
    auto e = std::make_unique<entry>(*this, path, level);
    e->stale = true;
    round_.push_back(path);
    entries_.emplace(std::move(path), std::move(e));
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

task<> cache_core::run(std::shared_ptr<cache_core> self) {
    co_await self->work();
    for (auto& [path, e] : self->entries_)
        self->forget_watches(*e);
    self->entries_.clear();
    self->stale_.clear();
    self->round_.clear();
    self->copy_.reset();
    self->running_ = false;
}

/// Usually they have fired: a node that existed in one of two reads was created or deleted in
/// between.
void cache_core::forget_watches(entry& e) {
    forget_watch(port_, e.data_watch, e.present ? watch_kind::data : watch_kind::exists, e.path);
    forget_watch(port_, e.children_watch, watch_kind::children, e.path);
}

task<> cache_core::work() {
    session_signal states(port_, wake_);
    add(root_, 0);
    std::uint64_t synced = 0;  // the connection on which everything was read
    for (;;) {
        if (stopped())
            co_return;
        const session_status& status = port_.status();
        if (status.state == session_state::closed) {
            ended_ = errc::closed;
            fail_all(ended_);
            co_return;
        }
        bool connected =
            status.state == session_state::connected || status.state == session_state::read_only;
        if (connected && synced != status.revision) {
            synced = status.revision;
            resyncing_ = true;
            mark_all();
            // The new server may lag behind the previous one.
            request sync(port_, op_code::sync, root_);
            co_await sync;
            begin_round();
            continue;
        }
        if (connected && round_.empty()) {
            end_round();
            if (!stale_.empty())
                begin_round();
        }
        if (!connected || round_.empty()) {
            co_await wake_.wait();
            continue;
        }
        co_await read_some();
        if (!resyncing_ && revision_ != 0)
            publish();
    }
}

task<> cache_core::read_some() {
    std::vector<std::unique_ptr<reading>> readings;
    while (!round_.empty() && readings.size() < reads_at_once) {
        std::string path = std::move(round_.front());
        round_.pop_front();
        auto it = entries_.find(path);
        if (it == entries_.end() || !it->second->stale)
            continue;
        entry& e = *it->second;
        e.stale = false;
        // Changes from here on are seen by the read or by its watch.
        e.data_watch.disarm();
        e.children_watch.disarm();
        auto r = std::make_unique<reading>(*this, e);
        r->get.attach(e.data_watch);
        r->get.send();
        if (r->deep) {
            r->children.attach(e.children_watch);
            r->children.send();
        }
        readings.push_back(std::move(r));
    }
    for (auto& r : readings)
        co_await settle(*r);
}

task<> cache_core::settle(reading& r) {
    request& get = r.get;
    request& children = r.children;
    error_code ec = co_await get;
    error_code children_ec;
    if (r.deep)
        children_ec = co_await children;
    auto it = entries_.find(r.path);
    if (it == entries_.end()) {
        // Removed by its parent's listing. If it was re-created, its watches are set at the server.
        port_.watch_dropped(watch_kind::data, r.path);
        if (r.deep)
            port_.watch_dropped(watch_kind::children, r.path);
        co_return;
    }
    entry& e = *it->second;
    if (ec == zk_errc::no_node || children_ec == zk_errc::no_node) {
        if (r.path != root_) {
            remove(r.path);
        } else {
            refusal_.clear();
            remove(r.path);
            add(root_, 0);
            entries_.find(root_)->second->stale = false;
            round_.pop_back();
            co_await watch_for_root();
        }
        co_return;
    }
    if (retry(port_).again(ec) || retry(port_).again(children_ec)) {
        read_again(e);
        co_return;
    }
    if (ec == errc::closed || children_ec == errc::closed)
        co_return;
    if (r.path == root_) {
        refusal_ = ec;
        if (ec)
            fail_all(ec);
    }
    // A node that may not be read exists nevertheless.
    if (ec) {
        changed_ = changed_ || !e.present || !e.node.data.empty();
        e.present = true;
        e.unread = true;
        e.node.data.clear();
    } else if (!e.present || e.unread || e.node.stat != get.record) {
        changed_ = true;
        e.present = true;
        e.unread = false;
        e.node.data = std::move(get.answer);
        e.node.stat = get.record;
    }
    bool watched = e.data_watch.armed() && (!r.deep || e.children_watch.armed());
    if (!ec && !children_ec && !watched)
        mark(e);
    if (r.deep) {
        std::set<std::string> names;
        for (std::size_t i = 0; i < children.names.size(); ++i) {
            if (selects(join_path(r.path, children.names[i])))
                names.emplace(children.names[i]);
        }
        adopt_children(e, std::move(names));
    }
    if (ec && !e.data_watch.armed())
        co_await watch_unreadable(r.path);
}

void cache_core::adopt_children(entry& e, std::set<std::string> names) {
    std::vector<std::string> gone;
    std::set_difference(
        e.children.begin(), e.children.end(), names.begin(), names.end(), std::back_inserter(gone));
    for (const std::string& name : gone)
        remove(join_path(e.path, name));
    for (const std::string& name : names) {
        std::string path = join_path(e.path, name);
        if (!entries_.contains(path))
            add(std::move(path), e.level + 1);
    }
    e.children = std::move(names);
}

/// `exists` with a watch needs no permission. (Servers of 2024 and later send the event only to
/// clients that may read the node. But then a watch that was left by an earlier read is known
/// again, so that it is removed in the end.)
task<> cache_core::watch_unreadable(std::string path) {
    request exists(port_, op_code::exists, path);
    exists.attach(entries_.find(path)->second->data_watch);
    error_code ec = co_await exists;
    auto it = entries_.find(path);
    if (it == entries_.end())
        co_return;
    entry& e = *it->second;
    if (!ec && e.node.stat != exists.record) {
        e.node.stat = exists.record;
        changed_ = true;
    }
    if (ec == zk_errc::no_node || retry(port_).again(ec))
        read_again(e);
}

task<> cache_core::watch_for_root() {
    entry& e = *entries_.find(root_)->second;
    request exists(port_, op_code::exists, root_);
    exists.attach(e.data_watch);
    error_code ec = co_await exists;
    if (ec != zk_errc::no_node)
        read_again(e);  // it exists now, or that is unknown
}

}  // namespace corozk::detail
