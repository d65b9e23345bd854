// SPDX-License-Identifier: Apache-2.0
// One case of the fault matrix, from the first connection to the last.
#pragma once

#include "run_case.hpp"
#include "session/session.hpp"
#include "stage.hpp"
#include "tls/tls_front.hpp"
#include <corozk/testing/fault_proxy.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace corozk::matrix {

constexpr std::chrono::milliseconds steady_session{30'000};
constexpr std::chrono::milliseconds brief_session{400};  ///< the server's least
constexpr std::chrono::milliseconds beyond_session{900};
/// Two thirds of it without a word from the server, and a client tries another connection.
constexpr std::chrono::milliseconds noticing_session{1'200};
constexpr std::chrono::milliseconds noticed{950};

class performance {
public:
    performance(const scenario& what,
                fault which,
                const place& where,
                std::uint16_t port,
                bool tls,
                restart_party* party)
        : what_(what), which_(which), where_(where), port_(port), party_(party), proxy_(port) {
        if (tls)
            front_.emplace(proxy_.port());
    }

    outcome operator()();

private:
    bool brief() const {
        return which_ == fault::noticed_hole || which_ == fault::long_hole ||
               which_ == fault::client_stopped;
    }
    /// All that is made gets entries of its own.
    bool with_acl() const {
        return which_ == fault::restricted_acl || which_ == fault::forbidding_acl;
    }
    bool in_a_state() const { return where_.what == place::kind::state; }

    std::optional<acl> folder_acl() const;

    awaitable<void> prepare();
    awaitable<void> act();
    awaitable<void> play_and_end();

    // performance_faults.cpp
    void arm();
    std::optional<testing::action> at_request();
    std::optional<testing::action> at_reply();
    void expire();
    testing::action::callback interruption();
    awaitable<void> apply(stage& s);
    void delete_own_nodes();
    void plant_foreign();
    void start_beside(client& c, bool companion);
    awaitable<void> beside(client& c, bool companion);

    // performance_end.cpp
    awaitable<void> wait_until_quiet();
    awaitable<void> wait_until_nothing_is_left();
    awaitable<void> wait_until_nothing_is_watched();
    bool only_what_may_stay();
    void take_foreign_back();
    std::string what_is_left();

    bool in_folder(const std::string& path) const {
        return path == stage_->server_folder() || path.starts_with(stage_->server_folder() + "/");
    }

    const scenario& what_;
    fault which_;
    const place& where_;
    std::uint16_t port_;
    restart_party* party_;
    boost::asio::io_context context_;
    testing::fault_proxy proxy_;
    std::optional<testing::tls_front> front_;  ///< of the proxy
    std::unique_ptr<stage> stage_;
    std::weak_ptr<detail::session_view> session_;
    std::optional<testing::rule_id> rule_;
    bool beside_runs_ = false;
    std::string beside_failed_;
    bool arrived_ = false;
    std::size_t turns_before_ = 0;
    outcome result_;
};

}  // namespace corozk::matrix
