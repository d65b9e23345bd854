// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "recipe/contention/contender.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/node_name.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace corozk::detail {

class contention_queues;

/// Where contenders queue, and how.
struct contention_settings {
    contention_settings() = default;
    std::string directory;
    naming names;
    const contention_rule* rule = nullptr;
    acl entries;  ///< of the contenders' nodes and of folders that are missing

    /// If positive, the folder's data is a limit that the rule needs, and this is written where
    /// there is none.
    std::int32_t initial_limit = 0;

    /// If positive, the limit that the rule needs; it stands nowhere at the server.
    std::int32_t fixed_limit = 0;

    /// Of the folder, and of parents that are missing. Other programs may not expect theirs to go.
    create_mode folder_mode = create_mode::container;

    /// What is written into a holder's node to ask for its release.
    std::string release_request = "unlock";

    /// It replaces the node's data instead of being its last line: other programs compare the
    /// whole.
    bool request_replaces_data = false;

    /// If not empty: who holds has a second node, with this behind its contender's name. Whoever
    /// breaks a contender erases both.
    std::string record_suffix;
};

/// All contenders of this session in one folder, and what is known of the others.
///
/// One listing serves every contender whose create was sent before it, and most need none: only the
/// first one that waits (the head) is ever decided on, a local predecessor needs no watch at the
/// server, consecutive sequences prove that nobody stands between, and whoever was right ahead
/// announces the head's turn when it goes. See contention/contention_rule.hpp. The functions stand by topic in
/// line.cpp, contention_entering.cpp, line_holding.cpp, line_exchange.cpp, line_leaving.cpp,
/// line_others.cpp and line_limit.cpp.
class contention_queue final : private session_observer, private deferred {
public:
    contention_queue(contention_queues& owner,
                     port& p,
                     contention_settings settings,
                     std::string key);
    ~contention_queue();

    std::shared_ptr<contender> enter(contender_request request, user_call<ownership> call);

    /// Puts a node of another kind in the place of one that holds: in one step, under a new name
    /// with the same sequence, so that nobody behind it notices more than that it looks again.
    void convert(const std::shared_ptr<contender>& c, std::uint8_t new_kind, user_call<> call);

    /// Queues for a place in exchange for the one that `c` holds meanwhile; completes with nothing
    /// when `c` holds that place instead. Fails with `would_deadlock` if that can never be.
    void replace(const std::shared_ptr<contender>& c,
                 contender_request request,
                 user_call<ownership> call);

    port& get_port() noexcept { return port_; }
    const contention_settings& settings() const noexcept { return *settings_; }

private:
    friend class contender;
    friend class contention_queues;

    class contender_operation;
    class hand_over_operation;
    class listing_operation;
    class remote_node;
    class walk;

    /// On the names in the folder. Only for a blocker that we may not read: of its end the server
    /// would not tell us.
    class folder_watch final : public watch_node {
    public:
        explicit folder_watch(contention_queue& q) noexcept : queue_(q) {}

    private:
        void fired(watch_event_type) noexcept override {
            queue_.stale_ = true;
            queue_.wake();
        }
        void dropped(const error_code&) noexcept override {}
        contention_queue& queue_;
    };

    /// On the folder's data: its limit may change.
    class limit_watch final : public watch_node {
    public:
        explicit limit_watch(contention_queue& q) noexcept : queue_(q) {}

    private:
        void fired(watch_event_type) noexcept override { forget(); }
        void dropped(const error_code&) noexcept override { forget(); }
        void forget() noexcept {
            queue_.limit_known_ = false;
            queue_.wake();
        }
        contention_queue& queue_;
    };

    /// The first one that waits has perhaps waited for long enough to want a watch on its node.
    class head_timer final : public timer_node {
    public:
        explicit head_timer(contention_queue& q) noexcept : queue_(q) {}

    private:
        void expired() noexcept override { queue_.wake(); }
        contention_queue& queue_;
    };

    using contender_ptr = std::shared_ptr<contender>;
    using node_set =
        boost::intrusive::multiset<contention_node, boost::intrusive::constant_time_size<false>>;
    using waiting_list =
        boost::intrusive::list<contender, boost::intrusive::constant_time_size<false>>;

    // The life of a contender.
    void create_some();
    void create(const contender_ptr& c);
    bool take_back(contender& c) noexcept;
    void created(const contender_ptr& c, operation& answer);
    task<> create_in_new_folder(contender_ptr c);
    task<> recover();
    void not_created(const contender_ptr& c);
    void place(const contender_ptr& c, std::string_view name, const stat& record);
    void fail(contender& c, error_code reason);
    void grant(contender& c);
    void hold_begins(contender& c);
    void hold_ends(contender& c, error_code reason);
    void granted_replacement(contender& c, user_call<ownership>& call);
    task<> conversion(contender_ptr c, std::uint8_t new_kind, std::shared_ptr<user_call<>> call);
    task<error_code> exchange_node(contender_ptr c, std::string new_path, std::int64_t& created);
    task<> leave_place(contender_ptr c, contender_ptr heir);
    void prove(contender& c);
    void proved(contender& c, operation& answer);
    void release(contender& c);
    void erase(contender& c, bool to_next = false);
    remote_node* next_after(contender& c);
    void hand_over(contender& from, contender& to);
    void announce(contender& from, const remote_node& to);
    void handed_over(contender& from, const contender* to, operation& answer);
    void listen(contender& c);
    void stop_listening(contender& c) noexcept;
    void stop_listening(contender& c, const std::string& announcement) noexcept;
    void announced(contender& c) noexcept;
    void look_behind(const contender& c);
    std::unique_ptr<remote_node> take_foreign(remote_node& f) noexcept;
    void forget_passed(const contender& c) noexcept;
    bool is_in_no_hurry(const contender& c);
    void watch_others(contender& c, const head_state& s);
    void erase_attached(contender& c);
    void erased(contender& c, operation& answer);
    void forget_replaced(contender& c);
    void remove(contender& c);

    // The line.
    void look(bool watch = false);
    void listed(operation& answer);
    void merge_listing(const operation& answer);
    bool is_at(const contention_node& n, const node_name& name, std::string_view text) const;
    void distrust_sequences() noexcept {
        ++coverage_;
        past_.reset();
    }
    void evaluate();
    void refuse_tries();
    void refuse_hopeless();
    void look_for_limit();
    task<> read_limit();
    bool lacks_limit() const noexcept { return settings_->initial_limit > 0 && !limit_known_; }
    template <class Predicate>
    void abandon_waiting(error_code reason, Predicate chosen);
    head_state examine(contender& c);
    void watch_blockers();
    void confirm_foreign(remote_node& f);
    void foreign_looked_at(remote_node& f, operation& answer);
    void erase_foreign(remote_node& f) noexcept;
    void forget_foreign() noexcept;
    void stop_watching() noexcept;
    std::int64_t order_of(const node_name& name) noexcept;
    void wake() noexcept;
    template <class Operation, class... Args>
    Operation& launch(Args&&... args);

    void session_changed(const session_status& status) noexcept override;
    void run() noexcept override;

    contention_queues& queues_;
    port& port_;
    std::shared_ptr<const contention_settings> settings_;
    std::string key_;  ///< in `queues_`

    node_set nodes_;         ///< local ones (kept alive by themselves) and foreign ones (owned)
    waiting_list waiting_;   ///< the local ones that wait, in order
    waiting_list creating_;  ///< the local ones that have no place in `nodes_` yet
    contender* next_to_create_ = nullptr;  ///< in `creating_`; those before it were asked for
    std::size_t creates_ = 0;              ///< on their way
    std::size_t members_ = 0;              ///< local ones that are not gone
    std::size_t tries_ = 0;                ///< waiting ones that would rather not
    std::size_t replacements_ = 0;         ///< that wait, or may wait soon
    std::size_t operations_ = 0;           ///< on their way; the line must outlive them
    std::size_t releasing_ = 0;            ///< those of `members_` that are on their way out
    std::vector<contender_ptr> unknown_;   ///< the answers to their creates were lost
    bool recovering_ = false;
    std::uint64_t coverage_ = 1;  ///< of the contenders for which `nodes_` has everything ahead
    bool watching_ = false;       ///< foreign nodes, perhaps
    bool stale_ = true;
    bool listing_ = false;  ///< on its way
    std::uint64_t listings_ = 0;
    bool evaluating_listing_ = false;
    const contender* checked_ = nullptr;  ///< its node is known to exist right now
    std::optional<past_contender> past_;  ///< the latest one
    bool alone_ = false;  ///< the latest one came right behind it: the next one may, too
    bool idle_ = false;   ///< nobody is here; kept for what it knows
    contender* announced_ = nullptr;  ///< whose turn it is, as the one ahead of it said

    /// Those that were ahead of it: giving many small pieces of memory back takes its time, which is
    /// not to be the hand-over's.
    std::vector<std::unique_ptr<remote_node>> passed_;
    const contender* holder_ = nullptr;  ///< the latest one, if it holds
    bool announces_ = true;              ///< nothing has forbidden it yet
    const contender* head_ = nullptr;    ///< the first one that waits, as it was last seen
    time_point head_since_;
    head_timer head_timer_;
    bool session_over_ = false;  ///< noticed, to be worked off
    bool reconnected_ = false;   ///< noticed, to be worked off
    std::int32_t base_ = 0;      ///< the sequence of the latest local contender
    std::int64_t base_order_ = 0;
    std::vector<const contention_entry*> blockers_;
    std::int32_t limit_ = 0;
    std::int32_t limit_version_ = 0;  ///< of the folder's data
    bool limit_known_ = false;
    bool limit_asked_ = false;
    limit_watch limit_watch_;
    folder_watch folder_watch_;
};

/// The lines of a session, by folder and naming.
class contention_queues final : public service {
public:
    explicit contention_queues(port& p) noexcept : port_(p) {}
    ~contention_queues() override;

    contention_queue& get(const contention_settings& settings);

    /// Nobody is in this line any more. It is kept for a while, for what it knows; it may be
    /// destroyed.
    void retire(contention_queue& q);

private:
    port& port_;
    std::list<contention_queue*> idle_;  ///< the latest first
    std::unordered_map<std::string, std::unique_ptr<contention_queue>> queues_;
};

}  // namespace corozk::detail
