// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/linked.hpp"
#include "operation/path_root.hpp"
#include <corozk/error.hpp>
#include <corozk/watch_types.hpp>

#include <string>

namespace corozk::detail {

class operation;

/// Where the waiters of persistent watches are linked.
class persistent_watch_keeper {
public:
    /// A waiter of this path was disarmed.
    virtual void released(const std::string& path) noexcept = 0;

protected:
    ~persistent_watch_keeper() = default;
};

/// A waiter of a persistent watch, from the success of `op_code::add_watch` until it is disarmed.
/// When the last one of a path is disarmed, the port removes the watch from the server.
class persistent_watch_node : public linked {
public:
    /// An event arrived: before the response of any read that shows the change.
    virtual void changed(watch_event_type type, const std::string& path) noexcept = 0;

    /// Events may have been missed, as the connection was lost. The watch is set again: what
    /// happens from now on is reported.
    virtual void interrupted() noexcept = 0;

    /// The session was lost, the client closed, or the client has moved to a server that does not
    /// know persistent watches (`zk_errc::unimplemented`). It was disarmed; no event will arrive.
    virtual void dropped(const error_code& reason) noexcept = 0;

    /// Whether events may arrive, now or after a reconnect.
    bool armed() const noexcept { return is_linked(); }

    /// Whether the operation that arms it is in flight.
    bool arming() const noexcept { return pending_ != nullptr; }

    watch_mode mode() const noexcept { return mode_; }

    /// Events have paths relative to it. It must outlive the watch.
    void set_root(const path_root& root) noexcept { root_ = &root; }

    /// An event with an absolute path.
    void report(watch_event_type type, const std::string& path) noexcept {
        if (!root_)
            return changed(type, path);
        changed(type, std::string(root_->relative(path)));
    }

    /// Ends the watch.
    void disarm() noexcept;

protected:
    ~persistent_watch_node() { disarm(); }

private:
    friend class operation;
    friend class persistent_watches;
    operation* pending_ = nullptr;
    persistent_watch_keeper* keeper_ = nullptr;  ///< outlives the time while it is linked
    const std::string* path_ = nullptr;          ///< the keeper's
    const path_root* root_ = nullptr;
    watch_mode mode_ = watch_mode::persistent;
};

}  // namespace corozk::detail
