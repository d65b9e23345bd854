// SPDX-License-Identifier: Apache-2.0
// Instructions per operation of the optimised library (counted.cpp), counted by callgrind in the process of
// the client, against recorded.txt. A round needs more where answers arrive in more pieces, so that the least
// of several rounds is what counts.
#include <corozk/testing/server.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace corozk::testing::instructions_test {

namespace {

constexpr double tolerance = 0.05;

/// Instructions per operation, by the operation's name.
using table = std::map<std::string, std::uint64_t>;

std::ifstream opened(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error(path + " cannot be read");
    return file;
}

/// Of the lines that say one thing each the number behind this word.
std::uint64_t number_behind(const std::string& word, std::istream& file) {
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(word))
            return std::stoull(line.substr(word.size()));
    }
    throw std::runtime_error("callgrind has written no '" + word + "'");
}

table count_instructions() {
    temporary_directory folder;
    std::string place = folder.path().native();
    std::string command = fmt::format(
        "{} --quiet --tool=callgrind --instr-atstart=no --callgrind-out-file={}/dump {} {} "
        ">{}/sections",
        COROZK_VALGRIND,
        place,
        COROZK_COUNTED,
        shared_server().hosts(),
        place);
    INFO(command);
    REQUIRE(std::system(command.c_str()) == 0);
    table result;
    auto sections = opened(place + "/sections");
    int dump = 0;
    std::uint64_t operations = 0;
    for (std::string name; sections >> operations && std::getline(sections >> std::ws, name);) {
        auto file = opened(fmt::format("{}/dump.{}", place, ++dump));
        std::uint64_t each = number_behind("totals: ", file) / operations;
        auto [at, first] = result.emplace(name, each);
        at->second = std::min(at->second, each);
    }
    REQUIRE(dump > 0);
    return result;
}

table read_table(std::istream& from) {
    table result;
    for (std::string line; std::getline(from, line);) {
        if (line.empty() || line.starts_with('#'))
            continue;
        std::size_t bar = line.find('|');
        if (bar == std::string::npos)
            throw std::runtime_error("no line of a table of instructions: " + line);
        std::size_t end = line.find_last_not_of(' ', bar - 1);
        result[line.substr(0, end + 1)] = std::stoull(line.substr(bar + 1));
    }
    return result;
}

std::string text_of(const table& t) {
    std::string text =
        "# SPDX-License-Identifier: Apache-2.0\n"
        "# Instructions per operation; test/costs/README.md says how to record them anew.\n";
    for (const auto& [name, instructions] : t)
        text += fmt::format("{:<68} | {:>7}\n", name, instructions);
    return text;
}

/// What is off by more than the tolerance, either way, or in one of them only.
std::string differences(const table& recorded, const table& now) {
    std::string text;
    for (const auto& [name, instructions] : now) {
        auto at = recorded.find(name);
        if (at == recorded.end()) {
            text += fmt::format("{}\n  recorded: nothing\n  now: {}\n", name, instructions);
            continue;
        }
        double change = static_cast<double>(instructions) / static_cast<double>(at->second) - 1;
        if (std::abs(change) > tolerance)
            text += fmt::format("{}\n  recorded: {}\n  now: {} ({:+.1f} %)\n",
                                name,
                                at->second,
                                instructions,
                                change * 100);
    }
    for (const auto& [name, instructions] : recorded) {
        if (!now.contains(name))
            text += fmt::format("{}\n  recorded: {}\n  now: not counted\n", name, instructions);
    }
    return text;
}

}  // namespace

TEST_CASE("instructions: what is off by more than the tolerance is told, either way") {
    table recorded{{"get", 10'000}, {"set: one by one", 20'000}};
    std::istringstream file(text_of(recorded));
    CHECK(read_table(file) == recorded);
    CHECK(differences(recorded, recorded).empty());
    CHECK(differences(recorded, {{"get", 10'400}, {"set: one by one", 19'100}}).empty());
    CHECK(differences(recorded, {{"get", 10'600}, {"set: one by one", 20'000}}) ==
          "get\n  recorded: 10000\n  now: 10600 (+6.0 %)\n");
    CHECK(differences(recorded, {{"get", 10'000}, {"set: one by one", 18'000}}) ==
          "set: one by one\n  recorded: 20000\n  now: 18000 (-10.0 %)\n");
    CHECK(differences(recorded, {{"get", 10'000}}) ==
          "set: one by one\n  recorded: 20000\n  now: not counted\n");
    CHECK(differences({{"get", 10'000}}, recorded) ==
          "set: one by one\n  recorded: nothing\n  now: 20000\n");
}

TEST_CASE("instructions: as recorded") {
    table now = count_instructions();
    if (std::getenv("COROZK_RECORD_COSTS")) {
        std::ofstream file(COROZK_RECORDED_INSTRUCTIONS);
        file << text_of(now);
        REQUIRE(file.flush());
        return;
    }
    auto file = opened(COROZK_RECORDED_INSTRUCTIONS);
    std::string different = differences(read_table(file), now);
    INFO(different << "If this is meant: test/costs/README.md.");
    CHECK(different.empty());
}

}  // namespace corozk::testing::instructions_test
