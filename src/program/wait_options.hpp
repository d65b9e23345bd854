// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

namespace CLI {
class App;
}

namespace corozk::program {

/// How long to wait for something: the options of everything that waits. One budget, from the
/// program's start on, connecting included.
struct wait_options {
    bool try_only = false;
    std::optional<std::chrono::milliseconds> deadline;
    int conflict_code = 0;  ///< 0: the documented one

    /// -w
    void describe_deadline(CLI::App& app, const char* help);
    /// -n and -w
    void describe(CLI::App& app, const char* try_help);
    /// -E
    void describe_conflict_code(CLI::App& app);

    /// The moment until which to wait.
    std::chrono::steady_clock::time_point until() const;

    /// What is left of the deadline; it must be set.
    std::chrono::milliseconds left() const;

    /// How long connecting may take; nothing where the option of that name decides.
    std::optional<std::chrono::milliseconds> patience() const;

    /// Another round, with a budget of its own.
    void restart() { begin = std::chrono::steady_clock::now(); }

    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

}  // namespace corozk::program
