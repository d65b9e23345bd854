// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include "recipe/contention/contention_node.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/contention/head_decision.hpp"
#include "recipe/contention/limit_state.hpp"
#include <corozk/error.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// A lock that is released sooner needs no watch on its node.
inline constexpr auto watch_delay = std::chrono::milliseconds(1);

/// A contender behind remote ones needs no watch on its own node for so long.
inline constexpr auto announcement_patience = std::chrono::seconds(1);

/// What holds at the moment of a decision, and is not remembered.
struct decision_facts {
    time_point now{};
    bool connected = false;            ///< the session of the head's node goes on
    bool watched = false;              ///< a watch on the head's node has not fired
    bool listed = false;               ///< a listing was merged right now
    const local_node* seen = nullptr;  ///< its node is known to exist right now
};

/// What a driver is to do next: first what is to be asked for, then what becomes of a contender.
/// What was asked for already need not be asked for again.
struct queue_step {
    bool read_limit = false;
    bool list = false;
    bool prove = false;           ///< read the head's node, and leave a watch
    bool watch_blockers = false;  ///< leave watches on remote blockers of the head, or
    bool watch_parent = false;    ///< on the parent, as one of them cannot be read
    bool listen = false;          ///< for the announcement of the head's turn
    std::optional<time_point> again_at;

    enum class type : std::uint8_t { settled, grant, refuse } what = type::settled;
    local_node* who = nullptr;
    error_code reason;  ///< of a refusal
};

/// What a session knows of a contention queue, and what follows from it. No I/O: events in, steps out.
/// One listing serves every contender whose create was sent before it, and most need none: only the
/// first one that waits (the head) is ever decided on, a local predecessor needs no watch at the
/// server, consecutive sequences prove that nobody is between, and the contender right ahead
/// announces the head's turn when it leaves. See contention_rule.hpp for what must hold.
class contention_view {
public:
    explicit contention_view(const contention_settings& settings);
    contention_view(const contention_view&) = delete;
    contention_view& operator=(const contention_view&) = delete;
    ~contention_view() { forget_remote(); }

    // What happens.

    /// A contender has come; `creating` have no node yet.
    queue_step entered(std::size_t creating) noexcept;

    /// It has a node: its sequence and czxid are set.
    void placed(local_node& c, std::string_view name);

    /// Merges a listing. @return the local ones that should be there and are not
    std::vector<local_node*> listed(const name_list& names);
    void listing_failed() noexcept;

    /// Something has changed, or may have: what is known of remote nodes is out of date.
    void outdated() noexcept { listing_.stale = true; }

    /// A watch on it has fired. @return whether to read that node alone, before anything else
    bool touched(const remote_node& n) noexcept;

    /// The answer about a remote node. Destroys it if it is gone.
    void answered(remote_node& n, const error_code& ec) noexcept;

    /// The one ahead of it has announced its turn.
    void announced(local_node& c) noexcept;

    /// It was released, or does not want to wait any more: its node will be deleted.
    void releasing(local_node& c) noexcept;

    /// Its node is gone. @param deleted  by us
    void left(local_node& c, bool deleted) noexcept;

    /// Its node has this name now. A listing may have shown it before we knew that it is ours.
    void renamed(const local_node& c, std::string_view name) noexcept;

    /// The two change places.
    void exchange(local_node& a, local_node& b) noexcept;

    /// A node of ours was deleted by another client: nothing that was concluded from sequences
    /// counts any more.
    void distrust_sequences() noexcept;

    void session_ended() noexcept;
    void announcement_failed(const error_code& ec) noexcept;

    // What is to be done.

    /// Before and after a round of decisions: what an announcement makes of the others.
    void heed_announcement();
    void announcement_heeded() noexcept;

    /// The next step. To be called again, after it was carried out, until everything is settled.
    queue_step next(const decision_facts& facts);

    /// The remote blockers of the head that can be watched.
    template <class Function>
    void for_each_blocker(Function f) {
        for (const contention_entry* e : blockers_) {
            auto* n = const_cast<contention_node*>(static_cast<const contention_node*>(e));
            if (!n->local() && !static_cast<remote_node*>(n)->unreadable)
                f(static_cast<remote_node&>(*n));
        }
    }

    /// @return whether to list now; not if a listing is in flight
    bool list() noexcept;

    /// Whether to list, so that the contender behind this one is known when it is released.
    bool look_behind(const local_node& c) noexcept;

    struct successor_type {
        local_node* local = nullptr;
        const remote_node* remote = nullptr;
    };

    /// Whose turn it is when a holder leaves, if that is to be said, or checked, in the same
    /// transaction. @param head_unproved  the head's node is neither watched nor being read
    successor_type successor_of(local_node& holder, bool head_unproved);

    // What is known.

    local_node* head() noexcept { return waiting_.empty() ? nullptr : &waiting_.front(); }
    auto& waiting() noexcept { return waiting_; }
    auto& nodes() noexcept { return nodes_; }
    limit_state& limit() noexcept { return limit_; }

    /// Whether there are no local contenders.
    bool empty() const noexcept { return local_.nodes == 0; }

    void forget_remote() noexcept;

private:
    using node_set =
        boost::intrusive::multiset<contention_node, boost::intrusive::constant_time_size<false>>;
    using waiting_list =
        boost::intrusive::list<local_node, boost::intrusive::constant_time_size<false>>;

    class walk;
    struct listed_name;

    std::int64_t order_of(const node_name& name) const noexcept;
    bool is_at(const contention_node& n, const node_name& name, std::string_view text) const;
    std::vector<listed_name> in_order(const name_list& names) const;
    std::unique_ptr<remote_node> take(remote_node& n) noexcept;
    void stop_waiting(local_node& c) noexcept;
    local_node* hopeless_one(queue_step& step);
    head_state examine(local_node& c, const decision_facts& facts, queue_step& step);
    void find_blockers(local_node& c);
    void choose_watches(const local_node& c, const head_state& s, time_point now, queue_step& step);
    bool is_in_no_hurry(const local_node& c, time_point now) const;
    remote_node* next_after(local_node& c);

    const contention_settings& settings_;
    node_set nodes_;        ///< local ones (not owned) and remote ones (owned), in order
    waiting_list waiting_;  ///< the local ones that wait, in order
    limit_state limit_;

    struct {
        std::size_t nodes = 0;         ///< that are in the queue
        std::size_t releasing = 0;     ///< of those
        std::size_t tries = 0;         ///< waiting ones that would rather not
        std::size_t replacements = 0;  ///< waiting ones that are to replace another one
    } local_;

    struct {
        std::uint64_t count = 0;
        bool in_flight = false;
        bool stale = true;  ///< something may have happened since the latest one
    } listing_;
    std::uint64_t coverage_ = 1;  ///< of the contenders for which `nodes_` has everything ahead

    /// The latest local contender: orders are relative to it, as other names may be anything.
    struct {
        std::int32_t sequence = 0;
        std::int64_t order = 0;
    } origin_;

    /// The latest one that had nothing ahead of it and is gone; whether the next one came right
    /// behind it, so that the one after that may, too.
    struct {
        std::optional<past_contender> latest;
        bool followed = false;
    } past_;

    /// The first one that waits, as it was last seen.
    struct {
        const local_node* node = nullptr;
        time_point since{};
    } head_;

    const local_node* holder_ = nullptr;  ///< the latest one, if it holds

    struct {
        bool possible = true;        ///< nothing has forbidden them yet
        local_node* head = nullptr;  ///< whose turn it is, as the one ahead of it said
    } announcement_;

    /// Those that were ahead of it: freed later, to keep that off the hand-over.
    std::vector<std::unique_ptr<remote_node>> passed_;
    std::vector<const contention_entry*> blockers_;  ///< of the head
};

}  // namespace corozk::detail
