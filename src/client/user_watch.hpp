// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"
#include "session/session.hpp"

#include <memory>
#include <optional>
#include <string>

namespace corozk::detail {

/// The implementation of `watch`: stores the event until it is retrieved.
class user_watch final : public watch_node, public std::enable_shared_from_this<user_watch> {
public:
    user_watch(const std::shared_ptr<session>& s, std::string path, watch_kind kind)
        : session_(s), path_(std::move(path)), kind_(kind) {}
    ~user_watch();

    const std::string& path() const noexcept { return path_; }
    const std::shared_ptr<session>& owner() const noexcept { return session_; }
    bool pending() const noexcept { return armed() || arming() || event_.has_value(); }
    void next(any_handler<void(error_code, watch_event)> handler);

private:
    void fired(watch_event_type type) noexcept override;
    void dropped(const error_code& reason) noexcept override;
    void deliver();

    std::shared_ptr<session> session_;
    std::string path_;
    watch_kind kind_;
    std::optional<watch_event> event_;
    error_code reason_ = zk_errc::no_watcher;
    std::optional<user_call<watch_event>> call_;
};

}  // namespace corozk::detail
