// SPDX-License-Identifier: Apache-2.0
#include "session/path.hpp"

namespace corozk::detail {

namespace {

const char* component_problem(std::string_view component) noexcept {
    if (component.empty())
        return "has an empty component: write single slashes";
    if (component == "." || component == "..") {
        return "has a relative component: '.' and '..' are not allowed";
    }
    return nullptr;
}

}  // namespace

const char* path_problem(std::string_view path, bool sequential) noexcept {
    if (path.empty())
        return "is empty: the root is \"/\"";
    if (path.front() != '/')
        return "is relative: begin it with '/'";
    if (path == "/")
        return nullptr;
    for (char c : path) {
        auto u = static_cast<unsigned char>(c);
        if (u < 0x20 || u == 0x7f)
            return "contains a control character";
    }
    bool trailing = path.back() == '/';
    if (trailing && !sequential)
        return "ends with a slash: remove it";
    std::string_view rest = path.substr(1);
    if (trailing)
        rest.remove_suffix(1);
    for (;;) {
        std::size_t slash = rest.find('/');
        bool last = slash == std::string_view::npos;
        std::string_view component = rest.substr(0, slash);
        // "/a/." with a sequence becomes "/a/.0000000001", which is a proper name.
        bool extended = last && sequential && !trailing;
        if (!extended) {
            if (const char* problem = component_problem(component))
                return problem;
        }
        if (last)
            return nullptr;
        rest.remove_prefix(slash + 1);
    }
}

std::string join_path(std::string_view parent, std::string_view name) {
    std::string path;
    path.reserve(parent.size() + 1 + name.size());
    path.append(parent);
    if (path.empty() || path.back() != '/')
        path.push_back('/');
    path.append(name);
    return path;
}

std::string_view parent_path(std::string_view path) noexcept {
    if (path.size() <= 1)
        return {};
    std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos)
        return {};
    return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string_view base_name(std::string_view path) noexcept {
    std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace corozk::detail
