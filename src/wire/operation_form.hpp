// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/jute.hpp"
#include "wire/op_code.hpp"

#include <cstdint>
#include <string_view>

namespace corozk::detail {

/// What an operation looks like on the wire: the fields behind the header, a letter for each.
///
///   b boolean   i int32   l int64   S a stat
///   s string    p path: it begins with '/' and contains no zero byte
///   d data: a buffer, or jute's null
///   [...] any number of these; never nested
///   ? what follows may be missing, if the record is not part of a transaction
struct operation_form {
    wire_op op;
    std::string_view name;  ///< as in ZooKeeper's sources
    const char* request;
    const char* response;
};

/// The row with the number 0 is that of operations that are not known.
const operation_form& form_of(wire_op op) noexcept;
const operation_form& form_at(std::uint8_t number) noexcept;
std::uint8_t number_of(const operation_form& form) noexcept;

std::string_view to_string(wire_op op) noexcept;

/// Reads the fields of one record, which is a part of a transaction or not; the reader fails if
/// they are not there. Nothing is allocated.
void read_record(jute_reader& in, const char* fields, bool in_transaction = false) noexcept;

/// Whether it may stand for a node's path.
bool is_wire_path(std::string_view text) noexcept;

}  // namespace corozk::detail
