// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace corozk::bench {

/// A process does not keep to the protocol (judge/README.md), so that it cannot be judged.
class protocol_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What a process says, one a line.
enum class statement_kind {
    waiting,    ///< it asks for the lock now
    queued,     ///< its place in the queue is certain
    holding,    ///< it has it
    releasing,  ///< it gives it back now, without having been told to
    released,   ///< it has given it back
    lost,       ///< it has noticed that it does not have it any more
};

std::string_view to_string(statement_kind kind);

struct statement {
    statement_kind kind = statement_kind::waiting;
    std::optional<std::int64_t> token;  ///< of `holding`: a number that grows with every holder
};

/// @throws protocol_error if the line is none
statement parse_statement(std::string_view line);

}  // namespace corozk::bench
