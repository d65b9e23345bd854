// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

namespace corozk::testing::detail {

/** @param error as in errno */
[[noreturn]] inline void fail(int error, const std::string& what) {
    throw std::system_error{error, std::generic_category(), what};
}

}  // namespace corozk::testing::detail
