// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>

namespace corozk::testing {

/** @brief Thrown when something that was waited for did not happen within its limit. */
class timeout_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace corozk::testing
