// SPDX-License-Identifier: Apache-2.0
// Which items there are, and which of them may be taken now.
#include "driver/ensure_path.hpp"
#include "operation/path.hpp"
#include "recipe/queue/queue_impl.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::detail {

task<error_code> queue_impl::list(watch_signal* watch) {
    for (;;) {
        request listing(port_, op_code::children, path_);
        if (watch)
            listing.attach(*watch);
        fresh_ = true;  // unless somebody asks for an item from now on
        listed_for_ = calls_;
        gone_.clear();  // an item of such a name is another one
        error_code ec = co_await listing;
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(port_, path_, options_.acl, create_mode::persistent);
            if (!ec)
                continue;
        }
        if (ec) {
            fresh_ = false;
            co_return ec;
        }
        folder_seen(listing.record.czxid);
        listing_ = std::move(listing.names);
        order_ = item_order(names_, listing_);
        next_ = 0;
        passed_.clear();
        look_at_clock();
        if (!foreign_.empty() || !ahead_.empty() || !own_.empty()) {
            // What is not in the listing is gone.
            decltype(foreign_) foreign;
            decltype(ahead_) ahead;
            decltype(own_) own;
            for (std::size_t i = 0; i < listing_.size(); ++i) {
                std::string_view name = listing_[i];
                if (auto it = foreign_.find(name); it != foreign_.end()) {
                    foreign.insert(foreign_.extract(it));
                }
                if (auto it = ahead_.find(name); it != ahead_.end()) {
                    ahead.insert(ahead_.extract(it));
                }
                if (auto it = own_.find(name); it != own_.end())
                    own.insert(own_.extract(it));
            }
            own_.swap(own);
            foreign_.swap(foreign);
            ahead_.swap(ahead);
        }
        co_return error_code();
    }
}

/// Nobody has asked for a while, or the connection was gone.
task<error_code> queue_impl::look_at_folder() {
    request exists(port_, op_code::exists, path_);
    error_code ec = co_await exists;
    found_other_folder(ec, exists.record);
    co_return ec == zk_errc::no_node ? error_code() : ec;
}

/// What was read of the other one is forgotten.
bool queue_impl::found_other_folder(error_code ec, const stat& record) {
    if (ec && ec != zk_errc::no_node)
        return false;
    bool other = record.czxid != folder_;
    if (other)
        forget_listing();
    folder_seen(record.czxid);
    return other;
}

/// In a folder that was made anew the sequence begins anew: its items may have the names of those
/// that we know.
void queue_impl::folder_seen(std::int64_t czxid) {
    folder_seen_in_ = port_.status().revision;
    if (czxid == folder_)
        return;
    folder_ = czxid;
    ahead_.clear();
    own_.clear();
    drop_foreign_claims();
}

/// Unless those who were served ask for more at once.
void queue_impl::doubt_folder_soon() {
    port_.complete([weak = weak_from_this()] {
        auto self = weak.lock();
        if (self && !self->consuming_)
            self->folder_seen_in_ = 0;
    });
}

void queue_impl::drop_foreign_claims() {
    for (auto& [name, claim] : foreign_)
        forget_watch(port_, *claim, watch_kind::children, join_path(path_, name));
    foreign_.clear();
}

void queue_impl::forget_listing() noexcept {
    order_.clear();
    next_ = 0;
    passed_.clear();
    due_ = due_look();
    fresh_ = false;
}

/// Says which items of the listing may be taken; it holds until the next look.
void queue_impl::look_at_clock() {
    if (names_.timed()) {
        // What the clock needs may go with the queue object.
        due_ = stopped_ ? due_look() : look_at_due(order_, clock_());
    } else {
        due_.ripe = order_.size();
    }
}

std::string_view queue_impl::name_at(std::size_t place) {
    return listing_[order_[place].index];
}

/// So that nobody looks at them again and again; what others have may come back.
void queue_impl::pass_unavailable() {
    std::erase_if(passed_, [this](std::size_t place) { return gone_.contains(name_at(place)); });
    for (; next_ < order_.size(); ++next_) {
        std::string_view name = name_at(next_);
        if (foreign_.contains(name)) {
            passed_.push_back(next_);
        } else if (!own_.contains(name) && !gone_.contains(name)) {
            return;
        }
    }
}

/// The listing up to the last of these, which were taken.
void queue_impl::use_up(const std::vector<candidate>& batch) {
    for (const candidate& c : batch)
        std::erase(passed_, c.place);
    for (; next_ < order_.size() && next_ <= batch.back().place; ++next_) {
        if (foreign_.contains(name_at(next_)))
            passed_.push_back(next_);
    }
}

std::vector<queue_impl::candidate> queue_impl::next_candidates(std::size_t count) {
    std::vector<candidate> batch;
    auto consider = [&](std::size_t place) {
        if (place >= due_.ripe)
            return;
        std::string_view name = name_at(place);
        if (own_.contains(name) || gone_.contains(name) || foreign_.contains(name))
            return;
        candidate c;
        auto known = ahead_.find(name);
        if (known != ahead_.end()) {
            c = known->second;
        } else {
            c.name = name;
            c.key = order_[place].key;
        }
        c.place = place;
        batch.push_back(std::move(c));
    };
    pass_unavailable();
    for (std::size_t i = 0; i < passed_.size() && batch.size() < count; ++i)
        consider(passed_[i]);
    for (std::size_t i = next_; i < due_.ripe && batch.size() < count; ++i)
        consider(i);
    return batch;
}

/// Reads those that were not read yet. Takes out what is gone.
task<error_code> queue_impl::read(std::vector<candidate>& batch) {
    std::vector<std::unique_ptr<request>> gets(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (batch[i].read)
            continue;
        gets[i] = std::make_unique<request>(port_, op_code::get, join_path(path_, batch[i].name));
        gets[i]->send();
    }
    error_code result;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (!gets[i])
            continue;
        request& get = *gets[i];
        error_code ec = co_await get;
        if (!ec) {
            batch[i].read = true;
            batch[i].data = std::move(get.answer);
            batch[i].version = get.record.version;
            batch[i].ephemeral = get.record.ephemeral_owner != 0;
        } else if (ec != zk_errc::no_node) {
            result = ec;
        }
    }
    // Whoever takes begins at the front: where some have gone, more will have.
    std::size_t present = batch.size();
    std::erase_if(batch, [](const candidate& c) { return !c.read; });
    if (!result && batch.size() < present)
        forget_listing();
    co_return result;
}

/// Nothing is there for us: the listing is from after everybody's asking, or else those who wait may
/// have to.
task<error_code> queue_impl::wait_for_items() {
    fail_consumers(errc::would_block, true);
    for (consumer& c : consumers_) {
        if (c.what == wanted::peek && c.waiting())
            c.fail(errc::would_block);
    }
    drop_finished();
    if (consumers_.empty())
        co_return error_code();
    watch_signal newcomers(wake_);
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    error_code ec = co_await watch_foreign_claims(all);
    if (!ec)
        ec = co_await list(&newcomers);
    std::uint64_t generation = port_.status().generation;
    auto nothing_new = [&] {
        return newcomers.armed() && generation == port_.status().generation &&
               port_.status().state != session_state::closed && !stopped_ &&
               std::none_of(
                   foreign_.begin(), foreign_.end(), [](const auto& f) { return f.second->ended; });
    };
    watching_empty_ = true;
    alarm next_look(port_, wake_);
    while (fresh_ && next_candidates(1).empty() && nothing_new()) {
        if (due_.again) {
            next_look.set(port_.now() + *due_.again);
        } else {
            next_look.clear();
        }
        co_await wake_.wait();
        look_at_clock();
        drop_finished();
        if (consumers_.empty())
            break;
    }
    watching_empty_ = false;
    if (!newcomers.armed())
        forget_listing();
    forget_watch(port_, newcomers, watch_kind::children, path_);
    co_return ec;
}

/// Has us told when items come back: when nothing is below them any more, whoever has put it there.
/// @param most  so many are watched
task<error_code> queue_impl::watch_foreign_claims(std::size_t most) {
    struct look {
        look(port& p, std::string name_, const std::string& path)
            : name(std::move(name_)), children(p, op_code::children, path) {}
        std::string name;
        request children;
    };
    std::vector<std::unique_ptr<look>> looks;
    auto watched = static_cast<std::size_t>(std::count_if(
        foreign_.begin(), foreign_.end(), [](const auto& f) { return f.second->armed(); }));
    for (auto& [name, claim] : foreign_) {
        if (watched == most)
            break;
        if (claim->armed())
            continue;
        ++watched;
        claim->ended = false;
        auto l = std::make_unique<look>(port_, name, join_path(path_, name));
        l->children.attach(*claim);
        l->children.send();
        looks.push_back(std::move(l));
    }
    error_code result;
    for (auto& l : looks) {
        request& children = l->children;
        error_code ec = co_await children;
        bool gone = ec == zk_errc::no_node;
        if (ec && !gone) {
            result = ec;
        } else if (gone || children.names.empty()) {
            auto at = foreign_.find(l->name);
            forget_watch(port_, *at->second, watch_kind::children, children.path);
            foreign_.erase(at);
            if (gone)
                gone_.insert(l->name);
        }
    }
    co_return result;
}

}  // namespace corozk::detail
