// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace corozk::detail {

/// A znode that stands for "/": the paths of its users are relative to it.
class path_root {
public:
    /// @param prefix "/app", or empty: paths are as the server has them
    explicit path_root(std::string prefix) : prefix_(std::move(prefix)) {}

    const std::string& prefix() const noexcept { return prefix_; }

    /// @param sequential the server will append digits: to a name below the root, not to its own
    std::string absolute(std::string_view path, bool sequential = false) const {
        return prefix_ + std::string(path == "/" && !prefix_.empty() && !sequential ? "" : path);
    }

    /// A path that is not below the root remains as it is.
    std::string_view relative(std::string_view path) const noexcept {
        std::string_view rest = path.starts_with(prefix_) ? path.substr(prefix_.size()) : path;
        if (rest.empty())
            return "/";
        return rest.front() == '/' ? rest : path;
    }

private:
    std::string prefix_;
};

}  // namespace corozk::detail
