// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/line_user.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "block/line.hpp"
#include "session/session.hpp"
#include "session/user_call.hpp"

namespace corozk::detail {

/// What is behind a recipe object that queues: where, how, and as whom.
class line_object {
public:
    /// `kinds` are the words for the kinds of the naming.
    line_object(line_settings settings, std::string identity, std::vector<std::string> kinds);
    virtual ~line_object() = default;

    const std::string& path() const noexcept { return settings_.directory; }
    const std::string& identity() const noexcept { return identity_; }
    const line_settings& settings() const noexcept { return settings_; }
    const std::vector<std::string>& kinds() const noexcept { return kinds_; }

    /// Why nothing can be started, or no error.
    error_code problem() const noexcept { return problem_; }

    /// Why such a claim can never be granted, or no error.
    virtual error_code refusal(const contender_request&) const { return {}; }

    /// Queues.
    virtual void enter(session& s, contender_request request, user_call<ownership> call) const;

protected:
    error_code problem_;

private:
    line_settings settings_;
    std::string identity_;
    std::vector<std::string> kinds_;
};

/// Why nothing can be started, or no error.
error_code problem_of(const std::shared_ptr<session>& s,
                      const std::shared_ptr<const line_object>& impl) noexcept;

/// Completes a handler of an object that cannot be used.
template <class... Values>
void refuse(const std::shared_ptr<session>& s,
            error_code reason,
            any_handler<void(error_code, Values...)> handler) {
    auto executor = s ? s->executor() : fallback_executor(handler);
    post_result<Values...>(executor, std::move(handler), reason, Values()...);
}

}  // namespace corozk::detail
