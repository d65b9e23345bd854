// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/linked.hpp"
#include <corozk/error.hpp>
#include <corozk/watch_types.hpp>

#include <cstdint>

namespace corozk::detail {

class operation;

/// What is known of a server's watch, for all its waiters.
struct watch_state {
    /// Whether the server has it. It may have forgotten one that is `in_doubt`, until the response to
    /// the request that sets it again (`being_set`).
    enum class certainty : std::uint8_t { certain, in_doubt, being_set };

    const bool* current = nullptr;  ///< whether it is of this session
    certainty at_server = certainty::certain;
};

/// The server's watch lists.
enum class watch_kind : std::uint8_t {
    data,     ///< changes and deletion of an existing node
    exists,   ///< creation of a missing node
    children  ///< changes of a node's children, and its deletion
};

inline constexpr watch_kind all_watch_kinds[] = {
    watch_kind::data, watch_kind::exists, watch_kind::children};

/// A waiter of a watch. Linked into the registry when the reading operation succeeds; unlinks
/// itself when destroyed. Fires at most once each time it is armed.
class watch_node : public linked {
public:
    /// An event arrived; the watch has been disarmed. Runs on the client's executor.
    virtual void fired(watch_event_type type) noexcept = 0;

    /// The session was lost or the client closed: no event will arrive. The watch was disarmed when
    /// that became known; with very many watches this is called some iterations of the loop later,
    /// and not at all if the watch has been armed again by then.
    virtual void dropped(const error_code& reason) noexcept = 0;

    /// Whether there will be an event.
    bool armed() const noexcept { return is_linked() && *state_->current; }

    /// Whether it would have come before any later response: the server has the watch. Not while a
    /// persistent watch at the path may have replaced it.
    bool certain() const noexcept {
        return armed() && state_->at_server == watch_state::certainty::certain;
    }

    /// Whether it is disarmed and `dropped` will be called.
    bool being_dropped() const noexcept { return is_linked() && !*state_->current; }

    /// Whether the reading operation that arms it is in flight.
    bool arming() const noexcept { return pending_ != nullptr; }

    /// Forgets the watch. The server's remains until its node is deleted or the next event.
    void disarm() noexcept;

protected:
    ~watch_node() { disarm(); }

private:
    friend class operation;
    friend class watch_registry;
    operation* pending_ = nullptr;
    const watch_state* state_ = nullptr;
};

}  // namespace corozk::detail
