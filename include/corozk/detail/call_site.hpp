// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace corozk::detail {

/// What an error message names: the operation and what it was about.
struct call_site {
    call_site() = default;
    call_site(const char* operation_, std::string path_)
        : operation(operation_), path(std::move(path_)) {}

    const char* operation = "";
    std::string path;
};

}  // namespace corozk::detail
