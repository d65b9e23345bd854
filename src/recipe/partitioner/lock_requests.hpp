// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/path.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/contention/grant_request.hpp"
#include "recipe/toolkit/retry.hpp"

#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

/// Requests for locks below a node. `wake` is set when one of them has completed.
class lock_requests {
public:
    lock_requests(port& p, std::string parent, acl entries, signal& wake)
        : port_(p), parent_(std::move(parent)), wake_(wake) {
        options_.acl = std::move(entries);
    }

    /// @param place below the node
    /// @param data  of the contender
    std::unique_ptr<grant_request> make(const std::string& place, const std::string& data) const {
        contention_settings where = settings_in_format(
            known_recipe::lock, the_exclusive_rule, join_path(parent_, place), options_);
        return std::make_unique<grant_request>(queue_of(port_, where),
                                               acquire_request(),
                                               std::make_shared<const std::string>(data),
                                               wake_);
    }

private:
    port& port_;
    const std::string parent_;
    contender_options options_;
    signal& wake_;
};

}  // namespace corozk::detail
