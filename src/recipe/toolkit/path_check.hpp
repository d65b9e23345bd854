// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "operation/path.hpp"

#include <string>

namespace corozk::detail {

/// Tells the log why a path is refused; the error code cannot.
inline bool refuse_path(port& p, const char* recipe, const std::string& path, const char* problem) {
    if (p.logs(log_level::error))
        p.log(log_level::error, std::string(recipe) + ": the path \"" + path + "\" " + problem);
    return false;
}

/// Whether it can be a node's path.
inline bool node_path_is_good(port& p, const char* recipe, const std::string& path) {
    const char* problem = path_problem(path);
    return !problem || refuse_path(p, recipe, path, problem);
}

/// Whether it can be the path of a node that belongs to a recipe.
inline bool path_is_good(port& p, const char* recipe, const std::string& path) {
    if (path == "/")
        return refuse_path(p, recipe, path, "is the root: a recipe needs a node of its own");
    return node_path_is_good(p, recipe, path);
}

}  // namespace corozk::detail
