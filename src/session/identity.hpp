// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>

#include <optional>
#include <utility>

namespace corozk::detail {

/// The id and password of the session, and of the one that the user wants to continue.
class session_identity {
public:
    session_identity() = default;
    explicit session_identity(std::optional<session_credentials> to_continue)
        : to_continue_(std::move(to_continue)) {}

    /// The session to ask the first server for.
    const std::optional<session_credentials>& to_continue() const noexcept { return to_continue_; }

    /// Of the last session, unless the server has ended it.
    const session_credentials& credentials() const noexcept { return credentials_; }

    /// @return whether this is the session that was to be continued
    bool established(session_credentials now) noexcept {
        credentials_ = std::move(now);
        const auto asked_for = std::exchange(to_continue_, std::nullopt);
        return asked_for && asked_for->id == credentials_.id;
    }

    /// A session was lost.
    void lost() noexcept { to_continue_.reset(); }

    /// The server has said so.
    void expired() noexcept { credentials_ = {}; }

    /// Whether a session lives on unless the server ends it.
    /// @param connecting to the first one
    bool at_server(bool connecting) const noexcept {
        return to_continue_ || (credentials_.id != 0 && !connecting);
    }

private:
    std::optional<session_credentials> to_continue_;  ///< until one was established or lost
    session_credentials credentials_;
};

}  // namespace corozk::detail
