// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/path_root.hpp"
#include "session/session_view.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace corozk::detail {

/// A part of a session's tree, for a client or for some of its recipes: the paths of requests are made
/// absolute here, those of results and events relative. It has drivers and services of its own, and is
/// owned by the session.
class subtree final : public session_view {
public:
    /// @param made_it the client that uses it has made the session, and ends it
    subtree(session_view& whole, std::string prefix, bool made_it)
        : whole_(whole), root_(std::move(prefix)), made_it_(made_it) {}
    ~subtree() { abandon(); }

    /// The execution context is being destroyed.
    void abandon() noexcept { destroy_drivers(); }

    void release() noexcept override {
        if (made_it_)
            whole_.release();
    }

    // port
    void start(operation& op) noexcept override {
        op.enter(root_);
        whole_.start(op);
    }
    bool withdraw(operation& op) noexcept override {
        const bool withdrawn = whole_.withdraw(op);
        if (withdrawn)
            op.leave_root();
        return withdrawn;
    }
    void defer(deferred& d) noexcept override { whole_.defer(d); }
    void complete(completion handler) override { whole_.complete(std::move(handler)); }
    void start_timer(timer_node& timer, time_point when) noexcept override {
        whole_.start_timer(timer, when);
    }
    time_point now() const noexcept override { return whole_.now(); }
    const session_status& status() const noexcept override { return whole_.status(); }
    time_point expiry_deadline() const noexcept override { return whole_.expiry_deadline(); }
    std::shared_ptr<void> keep_alive() noexcept override { return whole_.keep_alive(); }
    void subscribe(session_observer& observer) noexcept override { whole_.subscribe(observer); }
    void watch_dropped(watch_kind kind, const std::string& path) noexcept override {
        whole_.watch_dropped(kind, root_.absolute(path));
    }
    std::string new_guid() override { return whole_.new_guid(); }
    client_counters& counters() noexcept override { return whole_.counters(); }
    std::size_t max_request_size() const noexcept override { return whole_.max_request_size(); }
    boost::asio::any_io_executor executor() const override { return whole_.executor(); }
    bool logs(log_level level) const noexcept override { return whole_.logs(level); }
    void log(log_level level, std::string_view text) noexcept override { whole_.log(level, text); }
    port& whole() noexcept override { return whole_; }
    std::string absolute(std::string path) const override { return root_.absolute(path); }

private:
    session_view& whole_;
    const path_root root_;
    const bool made_it_;
};

}  // namespace corozk::detail
