// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace corozk::detail {

/// The operation and the path that an error message mentions.
struct call_site {
    call_site() = default;
    call_site(const char* operation_, std::string path_)
        : operation(operation_), path(std::move(path_)) {}

    const char* operation = "";
    std::string path;
};

}  // namespace corozk::detail
