// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/request.hpp"
#include "recipe/contention/contender.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/contention/contention_view.hpp"
#include "recipe/contention/node_creation.hpp"

#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corozk::detail {

class contention_queues;

/// All contenders of this session at a path. `contention_view` and `node_creation` contain the
/// state and the decisions; this class sends the requests and passes on the responses.
///
/// contention_queue.cpp: the steps to a grant. leaving.cpp: release and hand-over. recovery.cpp:
/// creates whose responses were lost. exchange.cpp: upgrades and downgrades.
class contention_queue final : private session_observer,
                               private deferred,
                               private timer_node,
                               private interest {
public:
    contention_queue(contention_queues& owner,
                     port& p,
                     contention_settings settings,
                     std::string key);
    ~contention_queue();

    std::shared_ptr<contender> enter(const acquire_request& request,
                                     contender_data data,
                                     user_call<ownership> call);

    /// Replaces a holder's node by one of another kind in one step, with a new name but the same
    /// sequence, so that contenders behind it merely list again.
    void convert(const std::shared_ptr<contender>& c, std::uint8_t new_kind, user_call<> call);

    /// Enters a contender that is to replace the holder `c`; completes with an empty ownership when
    /// `c` holds the new place. Fails with `would_deadlock` if that can never happen.
    void replace(const std::shared_ptr<contender>& c,
                 const acquire_request& request,
                 contender_data data,
                 user_call<ownership> call);

    port& get_port() noexcept { return port_; }
    const contention_settings& settings() const noexcept { return *settings_; }

private:
    friend class contender;
    friend class contention_queues;

    class blocker_watch;
    using contender_ptr = std::shared_ptr<contender>;

    /// So many contenders in one step, which takes much less than a millisecond.
    static constexpr std::size_t failed_at_once = 100;

    // Steps to a grant.
    void create_some();
    void create(contender& c);
    void created(contender& c, operation& answer);
    void place(contender& c, std::string_view name, const stat& record);
    void evaluate(std::span<const contender_ptr> seen = {}, bool listed = false);
    void carry_out(const queue_step& step);
    void list(bool watch);
    void listed(const operation& answer);
    task<> read_limit();
    bool waiting() const noexcept override;
    void doubt_limit() noexcept;
    void prove(contender& c);
    void prove_some();
    std::vector<contender_ptr> to_prove();
    void proved(contender& c, operation& answer);
    void watch_blocker(remote_node& n);
    void blocker_touched(remote_node& n, watch_event_type type) noexcept;
    void listen(contender& c);
    void stop_listening(contender& c) noexcept;
    void stopped_listening(contender& c, operation& answer);
    void grant(contender& c);
    void hold_begins(contender& c);
    void hold_ends(contender& c, error_code reason);

    // Leaving.
    void abandoned(contender& c, error_code reason);
    void abandon_waiting(error_code reason, std::int32_t above_weight = 0);
    void release(contender& c);
    void erase(contender& c, bool to_next = false);
    void hand_over(contender& from, std::vector<contender_ptr> to);
    void announce(contender& from, const remote_node& to);
    void handed_over(contender& from, operation& answer, std::span<const contender_ptr> to = {});
    void erase_attached(contender& c);
    void erased(contender& c, operation& answer);
    task<> erase_with_quorum(contender_ptr c);
    void fail(contender& c, error_code reason);
    void remove(contender& c, bool deleted = false);
    void dismiss(contender& c);

    // Recovery.
    task<> create_under_new_parent(contender_ptr c);
    task<> recover();
    task<> recover(std::vector<contender_ptr> batch, std::uint64_t session);
    void not_created(contender& c, error_code ec = {});

    // Exchange.
    task<error_code> exchange_node(contender_ptr c, std::string new_path, std::int64_t& created);
    task<> conversion(contender_ptr c, std::uint8_t new_kind, std::shared_ptr<pending_call<>> call);
    void granted_replacement(contender& c, user_call<ownership>& call);
    task<> leave_place(contender_ptr c, contender_ptr heir);
    void forget_replaced(contender& c);

    // The session.
    void session_changed(const session_status& status) noexcept override;
    void session_ended() noexcept;
    std::vector<contender_ptr> some_orphans();
    void fail_some_orphans();
    void stop_watching() noexcept;
    void limit_changed(watch_event_type) noexcept;
    void parent_changed(watch_event_type) noexcept;
    void expired() noexcept override { wake(); }
    void wake() noexcept { port_.defer(*this); }
    void run() noexcept override;

    contender* head() noexcept { return static_cast<contender*>(view_.head()); }
    std::vector<contender_ptr> placed_contenders();
    std::string path_of(std::string_view name) const;

    /// A request that the queue outlives. Calls `finished(answer)` with the response.
    template <class Finished>
    operation& ask(op_code code, std::string path, Finished finished) {
        ++operations_;
        auto then = [this, finished = std::move(finished)](operation& answer) mutable {
            finished(answer);
            --operations_;
            wake();
        };
        return *new detached_request<decltype(then)>(code, std::move(path), std::move(then));
    }

    /// A request about one contender, which it keeps alive.
    template <void (contention_queue::*Finished)(contender&, operation&)>
    operation& ask_about(contender& c, op_code code, std::string path) {
        operation& op =
            ask(code, std::move(path), [this, about = c.shared_from_this()](operation& answer) {
                (this->*Finished)(*about, answer);
            });
        op.generation = c.session;
        return op;
    }

    /// A driver that the queue outlives, if it ends with `driver_ended`.
    void start_driver(task<> driver) {
        ++operations_;
        port_.spawn(std::move(driver));
    }
    void driver_ended() noexcept {
        --operations_;
        wake();
    }

    contention_queues& queues_;
    port& port_;
    std::shared_ptr<const contention_settings> settings_;
    std::string key_;  ///< in `queues_`
    node_creation creation_;
    contention_view view_;
    std::size_t operations_ = 0;  ///< in flight; the queue must outlive them
    bool watching_ = false;       ///< there may be watches on remote nodes
    bool idle_ = false;           ///< without contenders, kept for its knowledge
    bool reconnected_ = false;    ///< to be handled by `run`
    error_code session_over_;     ///< why, until all contenders of that session have failed

    /// On the parent's data: its limit may change.
    member_watch<contention_queue, &contention_queue::limit_changed> limit_watch_;

    /// On the parent's children. Only for a blocker that may not be read, as the server would not
    /// report its deletion.
    member_watch<contention_queue, &contention_queue::parent_changed> parent_watch_;
};

/// The queues of a session, by parent and settings.
class contention_queues final : public service {
public:
    explicit contention_queues(port& p) noexcept : port_(p) {}
    ~contention_queues() override;

    contention_queue& get(const contention_settings& settings);

    /// The queue has no contenders. It is kept for a while for its knowledge, and may be destroyed.
    void retire(contention_queue& q);

private:
    port& port_;
    std::list<contention_queue*> idle_;  ///< the latest first
    std::unordered_map<std::string, std::unique_ptr<contention_queue>> queues_;
};

inline contention_queue& queue_of(port& p, const contention_settings& settings) {
    return p.use_service<contention_queues>().get(settings);
}

}  // namespace corozk::detail
