// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include "recipe/contention/contention_node.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/contention/head_decision.hpp"
#include "recipe/contention/limit_state.hpp"
#include <corozk/error.hpp>
#include <corozk/watch_types.hpp>

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

/// A holder that releases sooner needs no watch on its node.
inline constexpr auto watch_delay = std::chrono::milliseconds(5);

/// A contender behind remote ones needs no watch on its own node before this time.
inline constexpr auto announcement_patience = std::chrono::seconds(1);

/// Inputs of a decision that are not part of the view.
struct decision_facts {
    time_point now{};
    bool connected = false;  ///< connected with the session of the head's node
    bool exists = false;     ///< the head's node: a watch has not fired, or it was just seen
    bool listed = false;     ///< a listing was just merged
    bool searching = false;  ///< nodes of the session may be listed that are not known as its own
};

/// The driver's next step: first the requests to send, then the decision on a contender. Requests
/// that are already in flight need not be sent again.
struct queue_step {
    bool read_limit = false;
    bool list = false;
    bool prove = false;           ///< read and watch the head's node
    bool watch_blockers = false;  ///< watch remote blockers of the head, or
    bool watch_parent = false;    ///< the parent, as one of them cannot be read
    bool listen = false;          ///< watch for the announcement of the head's turn
    std::optional<time_point> again_at;

    enum class type : std::uint8_t { settled, grant, refuse } what = type::settled;
    local_node* who = nullptr;
    error_code reason;  ///< why the contender is refused
};

/// A session's view of a contention queue, and the decisions. No I/O: events in, steps out. A
/// listing serves all contenders whose create was sent before it, and most need none: only the
/// first waiter (the head) is decided on, a local predecessor needs no watch at the server,
/// consecutive sequences prove that there is no node between, and the predecessor announces the
/// head's turn when it leaves. For the invariants see contention_rule.hpp.
class contention_view {
public:
    explicit contention_view(const contention_settings& settings);
    contention_view(const contention_view&) = delete;
    contention_view& operator=(const contention_view&) = delete;
    ~contention_view() { forget_remote(); }

    // Events.

    /// A contender has entered; `creating` of them have no node yet.
    queue_step entered(std::size_t creating) noexcept;

    /// Its node was created: its sequence and czxid are set.
    /// @param exists whether a watch shows that a node still exists
    void placed(
        local_node& c,
        std::string_view name,
        bool (*exists)(const local_node&) = [](const local_node&) { return false; });

    /// Merges a listing. @return local contenders that are missing in it
    std::vector<local_node*> listed(const name_list& names);
    void listing_failed() noexcept;

    /// The knowledge of remote nodes may be outdated.
    void outdated() noexcept { listing_.stale = true; }

    /// A watch on a remote node has fired. Destroys the node if it was deleted. @return whether to
    /// read that node alone, before anything else
    bool touched(remote_node& n, watch_event_type type) noexcept;

    /// A remote node was read. Destroys it if it does not exist.
    void answered(remote_node& n, const error_code& ec) noexcept;

    /// Its predecessor has announced its turn.
    void announced(local_node& c) noexcept;

    /// It was released or abandoned: its node will be deleted.
    void releasing(local_node& c) noexcept;

    /// Its node was deleted. @param deleted by this client
    void left(local_node& c, bool deleted) noexcept;

    /// Its node was renamed. A listing may have shown the new node as a remote one.
    void renamed(const local_node& c, std::string_view name) noexcept;

    /// The two change places.
    void exchange(local_node& a, local_node& b) noexcept;

    /// A local node was deleted by another client: conclusions from sequences are void.
    void distrust_sequences() noexcept;

    void session_ended() noexcept;
    void announcement_failed(const error_code& ec) noexcept;

    // Decisions.

    /// Applies an announcement to the other nodes, before and after a round of decisions.
    void heed_announcement();
    void announcement_heeded() noexcept;

    /// The next step. Call it again after carrying it out, until it is empty.
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

    /// Whether to list, so that the successor of this contender is known at its release.
    bool look_behind(const local_node& c) noexcept;

    /// The remote contender whose turn it is when a holder leaves, if that is to be announced.
    const remote_node* successor_of(local_node& holder);

    /// The waiters that nothing blocks once the local nodes that are being deleted are gone, in
    /// order, except those whose nodes are known to exist, or will be by a request in flight.
    /// There may be more.
    std::vector<local_node*> to_prove(bool (*known)(const local_node&));

    // State.

    local_node* head() noexcept { return waiting_.empty() ? nullptr : &waiting_.front(); }
    bool has_waiting() const noexcept { return !waiting_.empty(); }
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

    template <class Gone>
    class walk;
    struct listed_name;

    bool existed(const local_node& before, const local_node& c);
    std::int64_t order_of(const node_name& name) const noexcept;
    bool is_at(const contention_node& n, const node_name& name, std::string_view text) const;
    std::vector<listed_name> in_order(const name_list& names) const;
    std::unique_ptr<remote_node> take(remote_node& n) noexcept;
    void stop_waiting(local_node& c) noexcept;
    local_node* hopeless_one(queue_step& step);
    head_state examine(local_node& c, const decision_facts& facts, queue_step& step);
    bool replaced_is_listed(const local_node& c) const;
    bool follows(const local_node& c, const local_node* granted = nullptr) const;
    void find_blockers(local_node& c);
    void choose_watches(const local_node& c, const head_state& s, time_point now, queue_step& step);
    bool is_in_no_hurry(const local_node& c, time_point now) const;

    const contention_settings& settings_;
    node_set nodes_;        ///< local ones (not owned) and remote ones (owned), in order
    waiting_list waiting_;  ///< waiting local ones, in order
    limit_state limit_;

    struct {
        std::size_t nodes = 0;         ///< in the queue
        std::size_t releasing = 0;     ///< of these
        std::size_t tries = 0;         ///< waiting ones with `try_only`
        std::size_t replacements = 0;  ///< waiting ones that replace another one
    } local_;

    struct {
        std::uint64_t count = 0;
        bool in_flight = false;
        bool stale = true;  ///< changes since the latest one are possible
    } listing_;
    std::uint64_t coverage_ = 1;  ///< of contenders for which `nodes_` has everything ahead

    /// The latest local contender: orders are relative to it, as other names may be forged.
    struct {
        std::int32_t sequence = 0;
        std::int64_t order = 0;
    } origin_;

    /// The latest contender that had no node ahead and was deleted, and whether the next one
    /// followed directly, so that the one after that may, too.
    struct {
        std::optional<past_contender> latest;
        bool followed = false;
    } past_;

    /// The head at the last decision.
    struct {
        const local_node* node = nullptr;
        time_point since{};
    } head_;

    const local_node* holder_ = nullptr;  ///< the latest one, if it holds

    struct {
        bool possible = true;        ///< not forbidden so far
        local_node* head = nullptr;  ///< the contender whose turn was announced
    } announcement_;

    /// Former predecessors, freed later to keep deallocation off the hand-over path.
    std::vector<std::unique_ptr<remote_node>> passed_;
    std::vector<const contention_entry*> blockers_;  ///< of the head
    std::uint64_t decision_ = 0;                     ///< that has found them
    std::vector<const contention_entry*> scratch_;
};

}  // namespace corozk::detail
