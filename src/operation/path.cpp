// SPDX-License-Identifier: Apache-2.0
#include "operation/path.hpp"

#include <corozk/types.hpp>

#include <boost/locale/utf.hpp>

#include <algorithm>
#include <cstddef>

namespace corozk {

const char* invalid_path_reason(std::string_view path) noexcept {
    return detail::path_problem(path);
}

namespace detail {

namespace {

/// The server decodes invalid UTF-8 to this.
constexpr char32_t replacement = 0xfffd;

/// Removes the first character, unless it is invalid.
char32_t take_character(std::string_view& text) noexcept {
    namespace utf = boost::locale::utf;
    const char* end = text.data();
    const char32_t character = utf::utf_traits<char>::decode(end, text.data() + text.size());
    if (!utf::is_valid_codepoint(character))
        return replacement;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return character;
}

bool is_control(char32_t c) noexcept {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

/// The server's rule (PathUtils.validatePath) is based on UTF-16: characters that need surrogates
/// are rejected.
const char* character_problem(std::string_view text) noexcept {
    for (;;) {
        // Most paths are plain ASCII, and every request of a recipe has some.
        auto other = std::find_if(
            text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
        text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
        if (text.empty())
            return nullptr;
        const char32_t c = take_character(text);
        if (is_control(c))
            return "contains a control character";
        if ((c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0)
            return "contains a character that ZooKeeper does not allow, or invalid UTF-8";
    }
}

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
    if (const char* problem = character_problem(path))
        return problem;
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
        // A sequential "/a/." becomes "/a/.0000000001", which is valid.
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

bool is_node_name(std::string_view name) noexcept {
    return name.find('/') == std::string_view::npos && !component_problem(name) &&
           !character_problem(name);
}

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::string_view rest = text;
        const bool shown = !is_control(take_character(text));
        // An invalid one is still there: only its first byte is taken, as others may be valid.
        const bool invalid = text.size() == rest.size();
        if (invalid)
            text.remove_prefix(1);
        if (shown && !invalid)
            result.append(rest.substr(0, rest.size() - text.size()));
        else
            result.push_back('?');
    }
    return result;
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

bool is_at_or_below(std::string_view path, std::string_view ancestor) noexcept {
    if (ancestor == "/")
        return true;
    return path.starts_with(ancestor) &&
           (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

}  // namespace detail
}  // namespace corozk
