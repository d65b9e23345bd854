// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/request.hpp"
#include "driver/signal.hpp"
#include "driver/sweep.hpp"
#include "driver/task.hpp"
#include "recipe/barriers/double_barrier_members.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

/// A member with its user's call.
struct barrier_seat final : local_member {
    explicit barrier_seat(signal& wake) : own_watch(wake) {}

    std::unique_ptr<waiting_call<>> call;
    acl entries;
    watch_signal own_watch;
};

using seat_ptr = std::shared_ptr<barrier_seat>;

/// The members of a client at a barrier with pending calls, served by one driver.
class barrier_room final : public std::enable_shared_from_this<barrier_room> {
public:
    barrier_room(port& p, std::string parent, std::uint32_t size)
        : port_(p),
          parent_(std::move(parent)),
          wake_(p),
          record_watch_(wake_),
          target_watch_(wake_),
          members_(size) {}

    signal& wake() noexcept { return wake_; }

    /// Serves a member that enters, leaves or withdraws until it is inside or outside.
    void add(seat_ptr seat, barrier_phase wanted);

private:
    struct node_request;

    static task<> run(std::shared_ptr<barrier_room> self);
    void settle();
    task<bool> pass(std::uint64_t generation);
    std::deque<node_request> send_node_requests(std::uint64_t generation);
    task<bool> finish(std::deque<node_request>& requests);
    task<> start(const barrier_start& round, std::uint64_t generation);
    task<> watch_members();
    task<> watch_target(std::uint64_t generation);

    port& port_;
    const std::string parent_;
    signal wake_;
    watch_signal record_watch_;
    bool record_watched_ = false;  ///< by `record_watch_`, unless it has fired
    watch_signal target_watch_;
    std::string watched_target_;  ///< its path
    local_members members_;
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
