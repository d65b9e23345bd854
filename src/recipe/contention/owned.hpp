// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// What an `ownership` holds: a node that stands for something of ours.
class owned {
public:
    virtual ~owned() = default;

    virtual port& owner_port() noexcept = 0;
    virtual std::string path() const = 0;
    virtual std::int64_t fencing_token() const noexcept = 0;

    /// The session that its nodes belong to.
    virtual std::uint64_t generation() const noexcept = 0;

    /// Ours, as far as anybody can know here.
    virtual bool valid() const noexcept = 0;

    /// What must be there for as long as it is ours.
    virtual std::vector<std::string> nodes() const { return {path()}; }

    virtual void wait_lost(user_call<error_code> call) = 0;
    virtual void release(user_call<> call) = 0;

    /// Until somebody writes a request into the node. Not for everything that can be owned.
    virtual void wait_release_requested(user_call<> call) { call.fail(errc::not_supported); }

    /// The user let go of it without asking for an answer.
    virtual void drop() noexcept = 0;
};

}  // namespace corozk::detail
