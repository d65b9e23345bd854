// SPDX-License-Identifier: Apache-2.0
// Which items there are, and which of them may be taken now.
#include "block/parents.hpp"
#include "recipe/queue_impl.hpp"
#include "session/path.hpp"

#include <algorithm>
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
        error_code ec = co_await listing;
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(port_, path_, options_.acl, folder_mode());
            if (!ec)
                continue;
        }
        if (ec) {
            fresh_ = false;
            co_return ec;
        }
        listing_ = std::move(listing.names);
        order_ = item_order(names_, listing_);
        next_ = 0;
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

void queue_impl::forget_listing() noexcept {
    order_.clear();
    next_ = 0;
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

std::vector<queue_impl::candidate> queue_impl::next_candidates(std::size_t count) {
    std::vector<candidate> batch;
    while (!own_.empty() && next_ < order_.size() && own_.contains(listing_[order_[next_].index])) {
        ++next_;
    }
    for (std::size_t i = next_; i < due_.ripe && batch.size() < count; ++i) {
        std::string_view name = listing_[order_[i].index];
        if (own_.contains(name) || foreign_.contains(name))
            continue;
        auto known = ahead_.find(name);
        if (known != ahead_.end()) {
            batch.push_back(known->second);
        } else {
            candidate c;
            c.name = name;
            c.key = order_[i].key;
            batch.push_back(std::move(c));
        }
    }
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
    error_code ec = co_await watch_foreign_claims();
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

/// Has us told when items come back.
task<error_code> queue_impl::watch_foreign_claims() {
    struct look {
        look(port& p, std::string name_, const std::string& path)
            : name(std::move(name_)), get(p, op_code::get, path) {}
        std::string name;
        request get;
    };
    std::vector<std::unique_ptr<look>> looks;
    for (auto& [name, claim] : foreign_) {
        if (claim->armed() || claim->ended)
            continue;
        auto l = std::make_unique<look>(port_, name, join_path(join_path(path_, name), "claim"));
        l->get.attach(*claim);
        l->get.send();
        looks.push_back(std::move(l));
    }
    error_code result;
    for (auto& l : looks) {
        request& get = l->get;
        error_code ec = co_await get;
        if (ec == zk_errc::no_node) {
            foreign_.erase(l->name);
            forget_listing();
        } else if (ec) {
            result = ec;
        }
    }
    co_return result;
}

}  // namespace corozk::detail
