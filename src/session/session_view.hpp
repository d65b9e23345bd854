// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/user_call.hpp"
#include <corozk/options.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace corozk::detail {

/// A session as a client sees it: with paths that are relative to a root. The operations are those of
/// the session, whoever calls them.
class session_view : public port {
public:
    virtual void connect(user_call<> call) = 0;
    /// @param leaving the session is left at the server
    virtual void close(user_call<> call, bool leaving) = 0;
    virtual void next_state(const session_status& seen, user_call<session_status> call) = 0;
    virtual void add_auth(auth_info auth) = 0;

    /// Replaces the host list. @return an error, and nothing has changed, if it cannot be used
    virtual error_code set_hosts(const std::string& hosts) = 0;
    virtual client_counters snapshot() const = 0;
    virtual session_credentials credentials() const = 0;
    virtual const client_options& options() const noexcept = 0;

    /// The status for users, which may be read before the first turn after the process was
    /// suspended: a session past its deadline is lost.
    virtual const session_status& look() = 0;

    /// The client object was destroyed: the one that has made the session closes it without waiting.
    virtual void release() noexcept = 0;

    /// A view whose root is a node of this one. Lives as long as the session.
    virtual std::shared_ptr<session_view> below(std::string_view path) = 0;

protected:
    ~session_view() = default;
};

}  // namespace corozk::detail
