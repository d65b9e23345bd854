// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/watch_events.hpp"
#include "session/session_view.hpp"

#include <memory>
#include <string>

namespace corozk::detail {

/// The implementation of `watch` and `persistent_watch`: stores events until they are retrieved.
class user_watch : public std::enable_shared_from_this<user_watch> {
public:
    user_watch(const std::shared_ptr<session_view>& s, std::string path)
        : session_(s), path_(std::move(path)) {}
    virtual ~user_watch() = default;

    /// The public object was destroyed.
    virtual void drop() noexcept = 0;
    virtual bool pending() const noexcept = 0;

    const std::string& path() const noexcept { return path_; }
    const std::shared_ptr<session_view>& owner() const noexcept { return session_; }
    void next(watch_events::handler handler);

protected:
    /// Whether its end is yet to come.
    virtual bool ending() const noexcept { return false; }

    std::shared_ptr<session_view> session_;
    std::string path_;
    watch_events events_;
};

/// The implementation of `watch`.
class user_single_watch final : public user_watch, public watch_node {
public:
    /// @param absolute  whether the path is not relative to the client's root
    user_single_watch(const std::shared_ptr<session_view>& s,
                      std::string path,
                      watch_kind kind,
                      bool absolute)
        : user_watch(s, std::move(path)), kind_(kind), absolute_(absolute) {}
    ~user_single_watch() override { drop(); }

    void drop() noexcept override;
    bool pending() const noexcept override { return armed() || arming() || !events_.empty(); }

private:
    bool ending() const noexcept override { return being_dropped(); }
    void fired(watch_event_type type) noexcept override { events_.add(watch_event(type, path_)); }
    void dropped(const error_code& reason) noexcept override { events_.end(reason); }

    watch_kind kind_;
    bool absolute_;
};

/// The implementation of `persistent_watch`.
class user_persistent_watch final : public user_watch, public persistent_watch_node {
public:
    using user_watch::user_watch;
    ~user_persistent_watch() override { drop(); }

    void drop() noexcept override;
    bool pending() const noexcept override { return armed() || arming() || !events_.empty(); }

private:
    void changed(watch_event_type type, const std::string& path) noexcept override;
    void interrupted() noexcept override;
    void dropped(const error_code& reason) noexcept override { events_.end(reason); }
};

}  // namespace corozk::detail
