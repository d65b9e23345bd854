// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// The implementation of an `ownership`: a node that represents something held.
class owned {
public:
    virtual ~owned() = default;

    virtual port& owner_port() noexcept = 0;
    virtual std::string path() const = 0;
    virtual std::int64_t fencing_token() const noexcept = 0;

    /// The session that its nodes belong to.
    virtual std::uint64_t generation() const noexcept = 0;

    /// See `ownership::valid`.
    virtual bool valid() const noexcept = 0;

    /// The nodes that exist as long as it is held.
    virtual std::vector<std::string> nodes() const { return {path()}; }

    virtual void wait_lost(user_call<error_code> call) = 0;
    virtual void release(user_call<> call) = 0;

    /// Not supported by all recipes.
    virtual void wait_release_requested(user_call<> call) { call.fail(errc::not_supported); }

    /// Releases it without a result.
    virtual void drop() noexcept = 0;
};

}  // namespace corozk::detail
