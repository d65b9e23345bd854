// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace corozk::bench {

namespace {

/// Another command with its own defaults, on the same server.
boost::asio::awaitable<void> run_part(job& j, std::string_view name) {
    auto all = all_commands();
    const command& part =
        *std::find_if(all.begin(), all.end(), [name](const command& c) { return c.name == name; });
    settings s = j.wanted;
    part.defaults(s);
    s.peers = j.wanted.peers;
    s.repeat = j.wanted.repeat;
    job inner(s, j.on);
    co_await part.run(inner);
    j.output += inner.output + "\n";
    j.exit_code = std::max(j.exit_code, inner.exit_code);
    for (const auto& [key, value] : inner.facts)
        j.facts[key] = value;
    for (result& row : inner.results) {
        if (row.text("workload").empty())
            row.set("workload", name);
        j.results.push_back(std::move(row));
    }
}

}  // namespace

boost::asio::awaitable<void> run_report(job& j) {
    constexpr std::array<std::string_view, 2> parts{"compare", "herd"};
    for (auto part : parts)
        co_await run_part(j, part);
}

}  // namespace corozk::bench
