// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <functional>
#include <string_view>

namespace corozk {

/** @brief How much is logged; each level includes the ones above it. */
enum class log_level { off, error, warning, info, debug };

/** @brief The name of a level, such as "warning". */
COROZK_DECL std::string_view to_string(log_level level) noexcept;

/**
 * @brief Where log lines go.
 *
 * The default writes errors and warnings to standard error. `logger{log_level::off}` silences
 * everything. The function is called on the client's executor, without a trailing newline, and must
 * not throw. Lines of the ZooKeeper C client come through the same function, prefixed "c client: ".
 * Credentials are never logged.
 *
 * @par Thread safety
 * The C client has one log level for the whole process (`zoo_set_debug_level`): it is raised to the
 * most talkative client and filtered for each client here.
 */
struct logger {
    logger() = default;
    explicit logger(log_level level_) : level(level_) {}  ///< To standard error.
    logger(log_level level_, std::function<void(log_level, std::string_view)> write_)
        : level(level_), write(std::move(write_)) {}

    log_level level = log_level::warning;  ///< What is less severe is dropped.

    /// Empty means standard error.
    std::function<void(log_level, std::string_view)> write;
};

}  // namespace corozk
