// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/request.hpp"
#include "driver/signal.hpp"
#include "driver/sweep.hpp"
#include "driver/task.hpp"
#include "recipe/barriers/double_barrier_rule.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

enum class barrier_phase : std::uint8_t {
    entering,
    inside,
    leaving,
    withdrawing,  ///< the call is over; the node must be deleted
    outside,
};

/// A member from `enter` until its node is deleted.
struct barrier_seat {
    explicit barrier_seat(signal& wake) : own_watch(wake) {}

    barrier_phase phase = barrier_phase::entering;
    std::unique_ptr<waiting_call<>> call;
    error_code verdict;      ///< completes the call when the node was deleted
    std::string guid;        ///< of the attempt; empty: none yet
    std::string first_guid;  ///< its first half identifies the participant
    std::string node;        ///< its path; empty: none
    std::int32_t sequence = 0;
    std::uint64_t generation = 0;  ///< the session that owns the node
    bool unsure = false;           ///< a create without a response
    bool erase_now = false;        ///< leaving; delete the node now
    bool refuse_to_wait = false;
    bool listed = false;  ///< served by the room

    /// The round that it has entered.
    struct {
        std::uint64_t number = 0;
        std::int32_t last = 0;
        std::int64_t parent = 0;  ///< czxid of the parent when it started
    } round;
    acl entries;
    watch_signal own_watch;
    std::uint64_t own_watch_revision = 0;  ///< of the session's state when it was set

    void forget_node() {
        own_watch.disarm();
        guid.clear();
        node.clear();
        unsure = false;
        erase_now = false;
    }

    void finish(error_code ec) {
        own_watch.disarm();
        if (call)
            call->fail(ec);
    }
};

using seat_ptr = std::shared_ptr<barrier_seat>;

/// The members of a client at a barrier with pending calls, served by one driver.
class barrier_room final : public std::enable_shared_from_this<barrier_room> {
public:
    barrier_room(port& p, std::string parent, std::uint32_t size)
        : port_(p),
          parent_(std::move(parent)),
          size_(size),
          wake_(p),
          record_watch_(wake_),
          target_watch_(wake_) {}

    signal& wake() noexcept { return wake_; }

    /// Serves a member until its phase is `inside` or `outside`.
    void add(seat_ptr seat);

private:
    using phase = barrier_phase;

    /// A create or a delete.
    struct job {
        job(seat_ptr seat_, port& p, op_code code, std::string path)
            : seat(std::move(seat_)), ask(p, code, std::move(path), seat->generation) {}
        seat_ptr seat;
        request ask;
    };

    static task<> run(std::shared_ptr<barrier_room> self);
    struct pass;
    task<bool> step();
    task<bool> read(const pass& reads);
    bool all_planned() const;

    // Changes since the last pass.
    void note_session();
    void note_calls();
    void note_missing_parent();

    // Requests.
    void add_jobs(std::deque<job>& jobs, std::uint64_t generation, bool& list);
    void add_create(std::deque<job>& jobs, const seat_ptr& s, std::uint64_t generation);
    /// What is learned from those of a pass.
    struct answers {
        bool parent_missing = false;
        bool refused = false;  ///< a member whose node is gone
        bool again = false;
    };
    void note_answer(job& j, answers& all);
    void renew_parent();
    bool find_unsure(const name_list& names);
    void has_node(barrier_seat& s, std::string path, std::int32_t sequence);
    void erase_late(const barrier_seat& s);
    task<> make_parent();
    task<bool> watch_own();
    task<bool> watch_target(std::uint64_t generation);
    void forget_target();

    // Decisions. Of a view, the parent's state is of the same moment.
    task<bool> decide(std::optional<barrier_view> view, stat parent);
    bool decide_inside(const std::optional<barrier_view>& view);
    bool decide_leaving(const std::optional<barrier_view>& view);
    task<bool> decide_waiting(const std::optional<barrier_view>& view, const stat& parent);
    void refuse_waiting();
    task<bool> begin(round_record next, std::vector<barrier_member> members);
    void admit(barrier_seat& s);

    void withdraw(barrier_seat& s, error_code verdict);
    void end(barrier_seat& s, error_code ec);
    void fail_all(error_code ec);
    void drop_finished();
    bool any(phase wanted) const;
    bool any_unsure() const;
    bool leaves_late(std::uint64_t generation) const;
    bool watched(const barrier_seat& s) const;
    static bool is_listed(const barrier_view& view, const barrier_seat& s);
    std::set<std::int32_t> own_going() const;

    port& port_;
    const std::string parent_;
    const std::uint32_t size_;
    signal wake_;
    watch_signal record_watch_;
    watch_signal target_watch_;
    std::string target_;          ///< the node to watch
    std::string watched_target_;  ///< of `target_watch_`
    std::list<seat_ptr> seats_;

    /// What was read last, in this session.
    struct {
        round_record record;
        std::optional<std::int32_t> version;  ///< of the record
        std::int64_t czxid = 0;               ///< of the node with the record
        std::uint64_t generation = 0;
        bool caught_up = false;  ///< the server has what earlier sessions saw
    } known_;
    bool record_watched_ = false;  ///< by `record_watch_`, unless it has fired
    bool list_next_ = false;
    bool planned_ = false;  ///< the last listing has shown which nodes to delete and to watch
    bool running_ = false;
};

/// The rooms of a session.
class barrier_rooms final : public service {
public:
    explicit barrier_rooms(port& p) noexcept : port_(p) {}

    std::shared_ptr<barrier_room> find(const std::string& path, std::uint32_t size) {
        sweep_(rooms_, [](const auto& entry) { return entry.second.expired(); });
        std::weak_ptr<barrier_room>& slot = rooms_[{path, size}];
        std::shared_ptr<barrier_room> room = slot.lock();
        if (!room) {
            room = std::make_shared<barrier_room>(port_, path, size);
            slot = room;
        }
        return room;
    }

private:
    port& port_;
    std::map<std::pair<std::string, std::uint32_t>, std::weak_ptr<barrier_room>> rooms_;
    sweep sweep_;
};

}  // namespace corozk::detail
