// SPDX-License-Identifier: Apache-2.0
#include "contender_table.hpp"

#include "output.hpp"
#include "table.hpp"

#include <boost/json/value_from.hpp>

#include <fmt/format.h>

#include <utility>

namespace corozk::program {

namespace {

const std::string* address_of(const contender_info& c, const address_map& addresses) {
    auto found = addresses.find(c.session_id);
    return found == addresses.end() ? nullptr : &found->second;
}

}  // namespace

std::string kind_of(const contender_info& c) {
    std::string kind = c.kind;
    if (c.weight != 1)
        kind += fmt::format(" x{}", c.weight);
    if (c.priority != 0)
        kind += fmt::format(" p{}", c.priority);
    return kind;
}

std::string contender_table(const std::string& path,
                            const std::vector<contender_info>& contenders,
                            const address_map& addresses) {
    auto now = std::chrono::system_clock::now();
    std::vector<table_row> rows{
        {"STATE", "KIND", "SINCE", "AGE", "SESSION", "FROM", "WHO", "NODE"}};
    std::size_t holders = 0;
    for (const contender_info& c : contenders) {
        holders += c.holds ? 1 : 0;
        const std::string* from = address_of(c, addresses);
        rows.push_back({c.holds ? "holds" : "waits",
                        kind_of(c),
                        utc(c.since),
                        age(now - c.since),
                        session_name(c.session_id),
                        from ? *from : "-",
                        c.data.empty() ? "-" : printable(c.data),
                        printable(c.path)});
    }
    std::string text =
        fmt::format("{}: {} holding, {} waiting\n", path, holders, contenders.size() - holders);
    if (!contenders.empty())
        text += table(std::move(rows));
    return text;
}

boost::json::object contender_value(const contender_info& c, const address_map& addresses) {
    boost::json::object value{{"node", c.path},
                              {"kind", c.kind},
                              {"holds", c.holds},
                              {"weight", c.weight},
                              {"priority", c.priority},
                              {"fencing_token", c.fencing_token},
                              {"session", session_name(c.session_id)},
                              {"from", nullptr},
                              {"who", c.data},
                              {"since", utc(c.since)},
                              {"waits_for", boost::json::value_from(c.waits_for)}};
    if (const std::string* from = address_of(c, addresses))
        value["from"] = *from;
    return value;
}

}  // namespace corozk::program
