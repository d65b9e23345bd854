// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"

#include <boost/json/array.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What a program of the benchmark can do: `corozk-bench` all of it, `corozk-demo` one command, so
/// that it is compiled in a fraction of the time.
struct program {
    std::string_view name;
    std::span<const command> commands;

    /// `--report` and `--from`; null where the program makes no reports. The first fails if a report
    /// cannot be made there.
    void (*prepare_report)(const std::filesystem::path& folder) = nullptr;
    std::string (*write_report)(const std::filesystem::path& folder,
                                const boost::json::array& rows) = nullptr;
    boost::json::array (*read_rows)(const std::vector<std::string>& files) = nullptr;

    /// What the program does as a child of itself (`--processes`); null where it has none.
    int (*run_worker)(std::span<const std::string_view> words) = nullptr;
};

/// @return the exit code
int run_program(const program& p, int argc, char** argv);

}  // namespace corozk::bench
