// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/path_root.hpp"
#include "session/session_view.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace corozk::detail {

class session;

/// A part of a session's tree, for a client or for some of its recipes: the paths of requests are made
/// absolute here, those of results and events relative. It has drivers and services of its own, and is
/// owned by the session.
class subtree final : public session_view {
public:
    /// @param made_it the client that uses it has made the session, and ends it
    subtree(session& whole, std::string prefix, bool made_it)
        : whole_(whole), root_(std::move(prefix)), made_it_(made_it) {}
    ~subtree() { abandon(); }

    /// The execution context is being destroyed.
    void abandon() noexcept { destroy_drivers(); }

    void connect(user_call<> call) override;
    void close(user_call<> call, bool leaving) override;
    void next_state(const session_status& seen, user_call<session_status> call) override;
    void add_auth(auth_info auth) override;
    error_code set_hosts(const std::string& hosts) override;
    client_counters snapshot() const override;
    session_credentials credentials() const override;
    const client_options& options() const noexcept override;
    const session_status& look() override;
    void release() noexcept override;
    std::shared_ptr<session_view> below(std::string_view path) override;

    // port
    void start(operation& op) noexcept override;
    bool withdraw(operation& op) noexcept override;
    void defer(deferred& d) noexcept override;
    void complete(completion handler) override;
    void start_timer(timer_node& timer, time_point when) noexcept override;
    time_point now() const noexcept override;
    const session_status& status() const noexcept override;
    time_point expiry_deadline() const noexcept override;
    std::shared_ptr<void> keep_alive() noexcept override;
    void subscribe(session_observer& observer) noexcept override;
    void watch_dropped(watch_kind kind, const std::string& path) noexcept override;
    std::string new_guid() override;
    client_counters& counters() noexcept override;
    std::size_t max_request_size() const noexcept override;
    boost::asio::any_io_executor executor() const override;
    bool logs(log_level level) const noexcept override;
    void log(log_level level, std::string_view text) noexcept override;
    port& whole() noexcept override;
    std::string absolute(std::string path) const override { return root_.absolute(path); }

private:
    session& whole_;
    const path_root root_;
    const bool made_it_;
};

}  // namespace corozk::detail
