// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/watch_events.hpp"
#include "session/session_view.hpp"

#include <memory>
#include <string>

namespace corozk::detail {

/// The implementation of `watch`: stores the event until it is retrieved.
class user_watch final : public watch_node, public std::enable_shared_from_this<user_watch> {
public:
    /// @param absolute  whether the path is not relative to the client's root
    user_watch(const std::shared_ptr<session_view>& s,
               std::string path,
               watch_kind kind,
               bool absolute)
        : session_(s), path_(std::move(path)), kind_(kind), absolute_(absolute) {}
    ~user_watch() { drop(); }

    /// The public object was destroyed.
    void drop() noexcept;

    const std::string& path() const noexcept { return path_; }
    const std::shared_ptr<session_view>& owner() const noexcept { return session_; }
    bool pending() const noexcept { return armed() || arming() || !events_.empty(); }
    void next(watch_events::handler handler);

private:
    void fired(watch_event_type type) noexcept override { events_.add(watch_event(type, path_)); }
    void dropped(const error_code& reason) noexcept override { events_.end(reason); }

    std::shared_ptr<session_view> session_;
    std::string path_;
    watch_kind kind_;
    bool absolute_;
    watch_events events_;
};

/// The implementation of `persistent_watch`.
class user_persistent_watch final : public persistent_watch_node,
                                    public std::enable_shared_from_this<user_persistent_watch> {
public:
    user_persistent_watch(const std::shared_ptr<session_view>& s, std::string path)
        : session_(s), path_(std::move(path)) {}
    ~user_persistent_watch() { drop(); }

    /// The public object was destroyed.
    void drop() noexcept;

    const std::string& path() const noexcept { return path_; }
    const std::shared_ptr<session_view>& owner() const noexcept { return session_; }
    bool pending() const noexcept { return armed() || arming() || !events_.empty(); }
    void next(watch_events::handler handler);

private:
    void changed(watch_event_type type, const std::string& path) noexcept override;
    void interrupted() noexcept override;
    void dropped(const error_code& reason) noexcept override { events_.end(reason); }

    std::shared_ptr<session_view> session_;
    std::string path_;
    watch_events events_;
};

}  // namespace corozk::detail
