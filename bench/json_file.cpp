// SPDX-License-Identifier: Apache-2.0
#include "json_file.hpp"

#include "arguments.hpp"
#include "facts.hpp"
#include "utf8_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace corozk::bench {

json_file::json_file(std::string name) : name_(std::move(name)) {
    if (name_.empty())
        return;
    std::error_code ignored;
    is_new_ = !std::filesystem::exists(name_, ignored);
    std::ofstream file(name_, std::ios::app);
    if (!file) {
        throw usage_error(fmt::format("--json: cannot write {}: {}", name_, std::strerror(errno)));
    }
}

json_file::~json_file() {
    std::error_code problem;
    if (is_new_ && std::filesystem::file_size(name_, problem) == 0 && !problem)
        std::filesystem::remove(name_, problem);
}

boost::json::array rows_of(std::string_view command,
                           std::span<const std::string_view> words,
                           const stage& on,
                           const boost::json::object& facts,
                           const std::vector<result>& results) {
    boost::json::object run = machine_facts();
    for (const auto& [key, value] : on.facts())
        run[key] = value;
    for (const auto& [key, value] : facts)
        run[key] = value;
    boost::json::array options;
    for (auto word : words)
        options.emplace_back(boost::json::string(to_utf8(word)));
    run["options"] = std::move(options);
    boost::json::array rows;
    for (const result& r : results) {
        boost::json::object row;
        row["workload"] = boost::json::string(command);
        for (const auto& [key, value] : r.to_json())
            row[key] = value;
        row["run"] = run;
        rows.emplace_back(std::move(row));
    }
    return rows;
}

void json_file::write(const boost::json::array& rows) {
    if (name_.empty())
        return;
    std::string text = "[";
    for (const auto& row : rows) {
        text += text.size() == 1 ? "\n" : ",\n";
        text += boost::json::serialize(row);
    }
    text += "\n]\n";
    std::ofstream file(name_, std::ios::trunc);
    file << text;
    if (!file.flush()) {
        throw std::runtime_error(fmt::format("cannot write {}: {}", name_, std::strerror(errno)));
    }
}

}  // namespace corozk::bench
