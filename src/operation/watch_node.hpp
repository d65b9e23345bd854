// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>
#include <corozk/watch_types.hpp>

#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <string>

namespace corozk::detail {

class operation;

/// Which of the server's watch lists a watch is in.
enum class watch_kind : std::uint8_t {
    data,     ///< an existing node's data and end
    exists,   ///< a missing node's creation
    children  ///< a node's children and end
};

/// One waiter of one watch. Linked into the registry when the reading operation was answered;
/// unlinks itself when it is destroyed. Fires at most once for each time it was armed.
class watch_node : public boost::intrusive::list_base_hook<
                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    watch_node() = default;
    watch_node(const watch_node&) = delete;
    watch_node& operator=(const watch_node&) = delete;

    /// An event came. The node is disarmed already. Runs on the client's executor.
    virtual void fired(watch_event_type type) noexcept = 0;

    /// The session is gone or the client closed: no event will come. The node was disarmed when that
    /// became known; with very many watches this call comes some turns of the loop later, and not at
    /// all if the node has been armed again by then.
    virtual void dropped(const error_code& reason) noexcept = 0;

    /// Whether the server watches for us.
    bool armed() const noexcept { return is_linked() && *current_; }

    /// Whether it is disarmed, and will be told why: `dropped` is still to come.
    bool being_dropped() const noexcept { return is_linked() && !*current_; }

    /// Whether a reading operation that will arm it is on its way.
    bool arming() const noexcept { return pending_ != nullptr; }

    /// Forgets the watch; the server's goes with its node or with the next event.
    void disarm() noexcept;

protected:
    ~watch_node() { disarm(); }

private:
    friend class operation;
    friend class watch_registry;
    operation* pending_ = nullptr;
    const bool* current_ = nullptr;  ///< whether what it is linked into is of this session
};

}  // namespace corozk::detail
