// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace corozk::program {

/// How long to wait. One budget, from the program's start on, which includes connecting.
struct wait_options {
    bool try_only = false;
    std::optional<std::chrono::milliseconds> deadline;
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

    /// Adds -w.
    void describe_deadline(CLI::App& app);

    /// Adds -n and -w. @param in_vain when -n ends with 75
    void describe(CLI::App& app, const std::string& in_vain);

    std::chrono::steady_clock::time_point until() const;

    /// How long connecting may take; nothing where --connect-timeout alone decides.
    std::optional<std::chrono::milliseconds> patience() const;

    /// Starts another round, with a budget of its own.
    void restart() { begin = std::chrono::steady_clock::now(); }
};

}  // namespace corozk::program
