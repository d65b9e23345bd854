// SPDX-License-Identifier: Apache-2.0
#include "contender_table.hpp"

#include "output.hpp"

#include <boost/json/array.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace corozk::program {

namespace {

constexpr std::size_t columns = 8;
using row = std::array<std::string, columns>;

std::string address_of(const contender_info& c, const address_map& addresses) {
    auto found = addresses.find(c.session_id);
    return found == addresses.end() ? std::string() : found->second;
}

std::string kind_of(const contender_info& c) {
    std::string kind = c.kind;
    if (c.weight != 1)
        kind += fmt::format(" x{}", c.weight);
    if (c.priority != 0)
        kind += fmt::format(" p{}", c.priority);
    return kind;
}

}  // namespace

std::string contender_table(const std::string& path,
                            const std::vector<contender_info>& contenders,
                            const address_map& addresses) {
    auto now = std::chrono::system_clock::now();
    std::vector<row> rows{{"STATE", "KIND", "SINCE", "AGE", "SESSION", "FROM", "WHO", "NODE"}};
    std::size_t holders = 0;
    for (const contender_info& c : contenders) {
        holders += c.holds ? 1 : 0;
        std::string from = address_of(c, addresses);
        rows.push_back({c.holds ? "holds" : "waits",
                        kind_of(c),
                        utc(c.since),
                        age(now - c.since),
                        session_name(c.session_id),
                        from.empty() ? "-" : from,
                        c.data.empty() ? "-" : printable(c.data),
                        printable(c.path)});
    }
    std::string text =
        fmt::format("{}: {} holding, {} waiting\n", path, holders, contenders.size() - holders);
    if (contenders.empty())
        return text;
    std::array<std::size_t, columns> widths{};
    for (const row& r : rows) {
        for (std::size_t i = 0; i < columns; ++i)
            widths[i] = std::max(widths[i], r[i].size());
    }
    for (const row& r : rows) {
        for (std::size_t i = 0; i + 1 < columns; ++i)
            text += fmt::format("{:{}}  ", r[i], widths[i]);
        text += r.back() + "\n";
    }
    return text;
}

boost::json::object contender_value(const contender_info& c, const address_map& addresses) {
    boost::json::object value;
    value["node"] = c.path;
    value["kind"] = c.kind;
    value["holds"] = c.holds;
    value["weight"] = c.weight;
    value["priority"] = c.priority;
    value["fencing_token"] = c.fencing_token;
    value["session"] = session_name(c.session_id);
    std::string from = address_of(c, addresses);
    if (from.empty())
        value["from"] = nullptr;
    else
        value["from"] = from;
    value["who"] = c.data;
    value["since"] = utc(c.since);
    boost::json::array waits_for;
    for (const std::string& path : c.waits_for)
        waits_for.emplace_back(path);
    value["waits_for"] = std::move(waits_for);
    return value;
}

boost::json::object contender_value(const std::string& path,
                                    const std::vector<contender_info>& contenders,
                                    const address_map& addresses) {
    boost::json::array all;
    for (const contender_info& c : contenders)
        all.push_back(contender_value(c, addresses));
    boost::json::object value;
    value["path"] = path;
    value["contenders"] = std::move(all);
    return value;
}

}  // namespace corozk::program
