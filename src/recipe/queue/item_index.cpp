// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/item_index.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace corozk::detail {

std::uint64_t item_index::call_begins(bool no_wait) noexcept {
    // A watch may fire for a new item later than another client sees it.
    const bool covered =
        state_ == listing_state::watched && !is_outdated() && !no_wait && !names_.ranked();
    ++calls_;
    if (covered)
        covered_calls_ = calls_;
    return calls_;
}

void item_index::listing_begins() noexcept {
    state_ = listing_state::valid;
    covered_calls_ = calls_;
    gone_.clear();  // a new item may have the name of a deleted one
}

void item_index::listed(name_list names) {
    listing_ = std::move(names);
    set_order(item_order(names_, listing_));
    if (claims_elsewhere_.empty() && contents_.empty() && own_claims_.empty())
        return;
    // Items that are not listed were deleted.
    auto keep_listed = [this](auto& known) {
        std::remove_reference_t<decltype(known)> kept;
        for (std::size_t i = 0; i < listing_.size() && !known.empty(); ++i) {
            if (auto it = known.find(listing_[i]); it != known.end())
                kept.insert(known.extract(it));
        }
        known.swap(kept);
    };
    keep_listed(claims_elsewhere_);
    keep_listed(contents_);
    keep_listed(own_claims_);
}

void item_index::forget_listing() noexcept {
    state_ = listing_state::outdated;
    set_order(item_order());
}

void item_index::set_order(item_order order) {
    order_ = std::move(order);
    progress_ = {};
    due_ = due_items();
    if (!names_.timed())
        due_.count = order_.size();
}

void item_index::time_is(std::chrono::system_clock::time_point now) noexcept {
    if (names_.timed())
        due_ = find_due(order_, now);
}

bool item_index::parent_seen(std::int64_t czxid, std::uint64_t revision) {
    parent_.seen_in = revision;
    if (std::exchange(parent_.czxid, czxid) == czxid)
        return false;
    contents_.clear();
    own_claims_.clear();
    return true;
}

next_step item_index::decide(std::uint64_t revision,
                             std::uint64_t first_call,
                             bool all_calls_can_wait) {
    const bool none = available(1).empty();
    const bool outdated = is_outdated(first_call);
    // A listing would be followed by another one with a watch.
    const bool will_wait = all_calls_can_wait && (names_.timed() || likely_empty_);
    if (none && (!outdated || will_wait))
        return next_step::wait;
    if (outdated && (none || names_.ranked()))
        return next_step::list;
    return is_sure_of_parent(revision) ? next_step::get_available : next_step::check_parent;
}

std::vector<available_item> item_index::next(std::size_t count, std::size_t skipped) {
    std::vector<available_item> items;
    std::vector<std::size_t> places = available(skipped + count);
    for (std::size_t i = skipped; i < places.size(); ++i) {
        available_item& item = items.emplace_back();
        item.place = places[i];
        item.name = name_at(item.place);
        item.key = order_[item.place].key;
        if (auto known = contents_.find(item.name); known != contents_.end())
            item.content = known->second;
    }
    if (items.empty())
        progress_.place.reset();
    return items;
}

bool item_index::is_waiting() {
    return state_ == listing_state::watched && !is_outdated() && available(1).empty() &&
           std::all_of(claims_elsewhere_.begin(), claims_elsewhere_.end(), [](const auto& claim) {
               return claim.second.watch->armed();
           });
}

bool item_index::is_available(std::size_t place) {
    if (place >= due_.count)
        return false;
    std::string_view name = name_at(place);
    return !own_claims_.contains(name) && !gone_.contains(name) &&
           !claims_elsewhere_.contains(name) && !is_repeated(place);
}

/// Whether the listing has the same name at an earlier place: no transaction deletes an item twice.
bool item_index::is_repeated(std::size_t place) {
    const queue_key key = order_[place].key;
    for (std::size_t i = place; i > 0 && order_[i - 1].key == key; --i) {
        if (name_at(i - 1) == name_at(place))
            return true;
    }
    return false;
}

/// The places of the first available items.
std::vector<std::size_t> item_index::available(std::size_t count) {
    std::vector<std::size_t> places;
    skip_unavailable();
    for (std::size_t i = 0; i < progress_.passed.size() && places.size() < count; ++i) {
        if (is_available(progress_.passed[i]))
            places.push_back(progress_.passed[i]);
    }
    for (std::size_t i = progress_.next; i < due_.count && places.size() < count; ++i) {
        if (is_available(i))
            places.push_back(i);
    }
    return places;
}

/// Avoids examining unavailable items repeatedly; items claimed by other clients may return.
void item_index::skip_unavailable() {
    std::erase_if(progress_.passed,
                  [this](std::size_t place) { return gone_.contains(name_at(place)); });
    pass_unavailable();
}

void item_index::pass_unavailable() {
    for (; progress_.next < order_.size(); ++progress_.next) {
        std::string_view name = name_at(progress_.next);
        if (claims_elsewhere_.contains(name)) {
            progress_.passed.push_back(progress_.next);
        } else if (!own_claims_.contains(name) && !gone_.contains(name)) {
            return;
        }
    }
}

void item_index::deleted(const std::vector<available_item>& items) {
    for (const available_item& item : items) {
        pass_unavailable();
        if (item.place == progress_.next && progress_.next < order_.size())
            ++progress_.next;
        else if (std::erase(progress_.passed, item.place) == 0)
            gone_.insert(item.name);
    }
}

void item_index::was_gone(const available_item& item) {
    contents_.clear();  // what was read ahead is likely to be gone, too
    gone_.insert(item.name);
    progress_.place.reset();
    constexpr std::size_t names_for_a_request = 16;
    if (++progress_.found_gone * names_for_a_request >= listing_.size())
        forget_listing();
}

void item_index::claim_ended(const std::string& name, bool acknowledged) {
    own_claims_.erase(name);
    if (acknowledged) {
        gone_.insert(name);
    } else {
        forget_listing();
    }
}

void item_index::claim_elsewhere_ended(const std::string& name, bool item_is_gone) {
    claims_elsewhere_.erase(name);
    if (item_is_gone)
        gone_.insert(name);
}

std::vector<claimed_item> item_index::unwatched(std::size_t most) {
    auto watched = static_cast<std::size_t>(
        std::count_if(claims_elsewhere_.begin(), claims_elsewhere_.end(), [](const auto& claim) {
            return claim.second.watch->armed();
        }));
    std::vector<claimed_item> result;
    for (auto& [name, claim] : claims_elsewhere_) {
        if (claim.watch->armed() || (!claim.was_watched && watched >= most))
            continue;
        ++watched;
        claim.was_watched = true;
        result.push_back({name, claim.watch});
    }
    return result;
}

std::vector<claimed_item> item_index::forget_claims_elsewhere() {
    std::vector<claimed_item> result;
    for (auto& [name, claim] : claims_elsewhere_)
        result.push_back({name, std::move(claim.watch)});
    claims_elsewhere_.clear();
    return result;
}

void item_index::session_ended() noexcept {
    own_claims_.clear();
    claims_elsewhere_.clear();
    forget_listing();
}

}  // namespace corozk::detail
