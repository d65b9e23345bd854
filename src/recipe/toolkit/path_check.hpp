// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "operation/path.hpp"

#include <string>

namespace corozk::detail {

/// Logs why a path is rejected, in more detail than the error code.
inline bool refuse_path(port& p, const char* recipe, const std::string& path, const char* problem) {
    if (p.logs(log_level::error))
        p.log(log_level::error, std::string(recipe) + ": the path \"" + path + "\" " + problem);
    return false;
}

/// Whether it is a valid path.
inline bool node_path_is_good(port& p, const char* recipe, const std::string& path) {
    const char* problem = path_problem(path);
    return !problem || refuse_path(p, recipe, path, problem);
}

/// Whether it is a valid path for a recipe: the root is not.
inline bool path_is_good(port& p, const char* recipe, const std::string& path) {
    if (path == "/")
        return refuse_path(p, recipe, path, "is the root: a recipe needs a node of its own");
    return node_path_is_good(p, recipe, path);
}

}  // namespace corozk::detail
