// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include "operation/watch_node.hpp"
#include "recipe/queue/delay_queue_rule.hpp"
#include "recipe/queue/item_order.hpp"
#include "recipe/queue/rule.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace corozk::detail {

/// The result of reading an item.
struct item_content {
    std::string data;
    std::int32_t version = 0;
    bool ours = false;  ///< an ephemeral item of this session
};

/// An item that a consumer may try to get.
struct available_item {
    std::size_t place = 0;  ///< in the order
    std::string name;
    queue_key key;
    std::optional<item_content> content;  ///< set once it was read
    bool gone = false;                    ///< another client has deleted it
};

/// An item claimed by another client, with a watch for the end of the claim.
struct claimed_item {
    std::string name;
    std::shared_ptr<watch_node> watch;
};

/// What a consumer does next.
enum class next_step : std::uint8_t {
    list,           ///< the listing is outdated or used up
    wait,           ///< list with a watch: no item is available to any of the calls
    check_parent,   ///< check whether the parent is still the listed one
    get_available,  ///< read, delete or claim the items of `next`
};

/// A consumer's view of the items: which exist, which are in flight, and when to list again. Events
/// in, decisions out, no I/O.
///
///  1. A listing is valid until it is used up, because later items have higher sequences. In a
///     queue with ranks it is valid for one round of the calls that were started before it was
///     requested.
///  2. An item is available if it is listed and due, and was neither claimed, by this object or
///     another client, nor deleted since the listing was requested.
///  3. An item claimed by another client returns to its place when the claim ends.
///  4. A re-created parent (another czxid) restarts the sequence: everything known by name refers
///     to other items.
class item_index {
public:
    explicit item_index(const queue_names& names) : names_(names) {}

    // Calls.

    /// @return the call's number
    std::uint64_t call_begins(bool no_wait) noexcept;

    /// The last call that the listing is valid for.
    std::uint64_t last_covered_call() const noexcept {
        return names_.ranked() ? covered_calls_ : calls_;
    }

    // The listing.

    void listing_begins() noexcept;
    void listed(name_list names);
    void forget_listing() noexcept;

    /// The last call that was started before the listing was requested.
    std::uint64_t last_call_before_listing() const noexcept { return covered_calls_; }

    /// Whether this call cannot rely on the listing to be complete.
    bool is_outdated(std::uint64_t call) const noexcept {
        return state_ == listing_state::outdated || call > covered_calls_;
    }
    /// The same for the last call.
    bool is_outdated() const noexcept { return is_outdated(calls_); }

    /// Nothing is available, and a watch reports new items.
    void watch_begins() noexcept {
        likely_empty_ = true;
        if (state_ == listing_state::valid)
            state_ = listing_state::watched;
    }
    void watch_ended() noexcept {
        if (state_ == listing_state::watched)
            state_ = listing_state::valid;
    }

    /// Determines the due items; without due times all are.
    void time_is(std::chrono::system_clock::time_point now) noexcept;

    /// When to read the clock again.
    std::optional<std::chrono::milliseconds> next_due() const noexcept { return due_.again; }

    // The parent node. `revision` is that of the session's status: the result is valid until it
    // changes.

    /// @return whether it differs from the listed one. Then everything known by name is forgotten;
    ///         the caller forgets the listing and calls `forget_claims_elsewhere`.
    bool parent_seen(std::int64_t czxid, std::uint64_t revision);
    bool is_sure_of_parent(std::uint64_t revision) const noexcept {
        return parent_.seen_in == revision;
    }
    void doubt_parent() noexcept { parent_.seen_in = 0; }

    // Decisions.

    /// @param first_call  the first pending one
    next_step decide(std::uint64_t revision, std::uint64_t first_call, bool all_calls_can_wait);

    /// The first available items, without the first `skipped` ones.
    std::vector<available_item> next(std::size_t count, std::size_t skipped = 0);

    /// How many available items a consumer passes over. With a window, consumers begin at random places,
    /// and stay there until they come to where another one was.
    /// @param random_below  returns a number below its argument
    template <class RandomBelow>
    std::size_t place(std::size_t window, RandomBelow random_below) {
        if (window > 1 && !progress_.place)
            progress_.place = random_below(std::max<std::size_t>(1, available(window).size()));
        return progress_.place.value_or(0);
    }

    /// Whether the watches report everything that could make an item available.
    bool is_waiting();

    // Results.

    /// An item was read ahead.
    void keep_content(const available_item& item) { contents_.emplace(item.name, *item.content); }

    /// A round of deletes or claims starts.
    void round_begins() noexcept {
        if (names_.ranked())
            state_ = listing_state::outdated;
    }

    /// Items were got: if there are more, the next listing will not be empty either.
    void round_succeeded() { likely_empty_ = likely_empty_ && available(1).empty(); }

    void deleted(const std::vector<available_item>& items);

    /// Another client has deleted it. The listing is forgotten when so many were that a new one is
    /// likely to cost less than asking for each.
    void was_gone(const available_item& item);

    /// It is used once.
    void forget_content(const available_item& item) { contents_.erase(item.name); }

    void claimed(const std::string& name) { own_claims_.insert(name); }
    void claim_ended(const std::string& name, bool acknowledged);

    void claimed_elsewhere(const std::string& name, std::shared_ptr<watch_node> watch) {
        claims_elsewhere_.emplace(name, claim_elsewhere{std::move(watch)});
        progress_.place.reset();
    }
    void claim_elsewhere_ended(const std::string& name, bool item_is_gone);

    /// Those to be read with a watch: all whose watch has fired, and others as long as at most `most`
    /// are watched.
    std::vector<claimed_item> unwatched(std::size_t most = std::string::npos);
    std::vector<claimed_item> forget_claims_elsewhere();

    /// All claims have ended or soon will.
    void session_ended() noexcept;

private:
    /// Allows look-up of names without copying them.
    struct name_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept {
            return std::hash<std::string_view>()(name);
        }
    };
    template <class T>
    using by_name = std::unordered_map<std::string, T, name_hash, std::equal_to<>>;
    using name_set = std::unordered_set<std::string, name_hash, std::equal_to<>>;

    struct claim_elsewhere {
        std::shared_ptr<watch_node> watch;
        bool was_watched = false;
    };

    enum class listing_state : std::uint8_t {
        outdated,  ///< none, or one that is valid for no call
        valid,     ///< for the calls before it was requested
        watched,   ///< the same, and a watch reports changes
    };

    void set_order(item_order order);
    std::string_view name_at(std::size_t place) { return listing_[order_[place].index]; }
    bool is_available(std::size_t place);
    bool is_repeated(std::size_t place);
    std::vector<std::size_t> available(std::size_t count);
    void skip_unavailable();
    void pass_unavailable();

    queue_names names_;

    listing_state state_ = listing_state::outdated;
    std::uint64_t calls_ = 0;
    std::uint64_t covered_calls_ = 0;  ///< that the listing, or its watch, is valid for
    bool likely_empty_ = false;        ///< so that a watch will be needed
    name_list listing_;
    item_order order_;
    due_items due_;

    /// Through the listing.
    struct {
        std::size_t next = 0;
        std::size_t found_gone = 0;        ///< items that others had deleted
        std::vector<std::size_t> passed;   ///< places before `next` that other clients have claimed
        std::optional<std::size_t> place;  ///< available items to pass over, once it is chosen
    } progress_;

    struct {
        std::int64_t czxid = 0;     ///< of the listed one
        std::uint64_t seen_in = 0;  ///< revision of the last check; 0: outdated
    } parent_;

    by_name<item_content> contents_;  ///< read ahead
    name_set own_claims_;
    name_set gone_;
    by_name<claim_elsewhere> claims_elsewhere_;
};

}  // namespace corozk::detail
