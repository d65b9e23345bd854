// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <functional>
#include <string_view>

namespace corozk {

/** @brief Log levels; each includes the more severe ones. */
enum class log_level { off, error, warning, info, debug };

/** @brief The name of a level, such as "warning". */
COROZK_DECL std::string_view to_string(log_level level) noexcept;

/**
 * @brief The destination of log messages.
 *
 * By default, errors and warnings are written to standard error; `logger{log_level::off}` disables
 * logging. The function is called on the client's executor with one message, without a trailing
 * newline, and must not throw or call this library. Messages of the ZooKeeper C client are passed
 * to the same function, prefixed with "c client: ". Credentials are never logged.
 *
 * @par Level of the C client
 * The C client has one log level per process (`zoo_set_debug_level`): it is set to the most verbose
 * level of all clients, and messages are then filtered per client.
 */
struct logger {
    logger() = default;
    explicit logger(log_level level_) : level(level_) {}  ///< To standard error.
    logger(log_level level_, std::function<void(log_level, std::string_view)> write_)
        : level(level_), write(std::move(write_)) {}

    log_level level = log_level::warning;  ///< Less severe messages are dropped.

    /// Empty means standard error.
    std::function<void(log_level, std::string_view)> write;
};

}  // namespace corozk
