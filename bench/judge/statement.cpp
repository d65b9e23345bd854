// SPDX-License-Identifier: Apache-2.0
#include "judge/statement.hpp"

#include "operation/path.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>

namespace corozk::bench {

namespace {

constexpr std::array<std::string_view, 6> names{
    "waiting", "queued", "holding", "releasing", "released", "lost"};

[[noreturn]] void fail(std::string_view line) {
    constexpr std::size_t most = 60;
    throw protocol_error(fmt::format(
        "said '{}{}', which is not waiting, queued, holding [TOKEN], releasing, released or lost; "
        "what else it has to say belongs on standard error",
        corozk::detail::printable(line.substr(0, most)),
        line.size() > most ? "..." : ""));
}

}  // namespace

std::string_view to_string(statement_kind kind) {
    return names.at(static_cast<std::size_t>(kind));
}

statement parse_statement(std::string_view line) {
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    auto space = line.find(' ');
    std::string_view name = line.substr(0, space);
    std::size_t index = 0;
    while (index < names.size() && names[index] != name)
        ++index;
    if (index == names.size())
        fail(line);
    statement result;
    result.kind = static_cast<statement_kind>(index);
    if (space == line.npos)
        return result;
    std::string_view rest = line.substr(space + 1);
    std::int64_t token = 0;
    auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), token);
    bool whole = problem == std::errc() && end == rest.data() + rest.size();
    if (result.kind != statement_kind::holding || !whole)
        fail(line);
    result.token = token;
    return result;
}

}  // namespace corozk::bench
