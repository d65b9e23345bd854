// SPDX-License-Identifier: Apache-2.0
#include "session/request_size.hpp"

#include "operation/step_path.hpp"

namespace corozk::detail {

namespace {

/// The size of a request without strings and lists: header, trailer, lengths, numbers.
constexpr std::size_t request_overhead = 128;

/// The same for a step of a transaction: header, at most two lengths, and two numbers.
constexpr std::size_t step_overhead = 25;
constexpr std::size_t ttl_size = 8;

/// The same for an entry of an access control list.
constexpr std::size_t entry_overhead = 12;

std::size_t size_of(const acl& entries) noexcept {
    constexpr std::string_view open_scheme = "world";
    constexpr std::string_view open_id = "anyone";
    if (entries.empty())
        return open_scheme.size() + open_id.size() + entry_overhead;
    std::size_t size = 0;
    for (const acl_entry& entry : entries)
        size += entry.scheme.size() + entry.id.size() + entry_overhead;
    return size;
}

std::size_t size_of(const transaction::step& step) noexcept {
    std::size_t size = step.path.size() + step.data.size() + step_overhead;
    if (step.kind == transaction::step_kind::create)
        size += size_of(step.acl);
    if (has_ttl(step.mode))
        size += ttl_size;
    return size;
}

}  // namespace

std::size_t request_size(const request_fields& op) noexcept {
    std::size_t size = op.path.size() + op.data.size() + request_overhead;
    if (op.code == op_code::create || op.code == op_code::set_acl)
        size += size_of(op.entries);
    for (const std::string& argument : op.arguments)
        size += argument.size();
    for (const read_set::item& read : op.reads)
        size += read.path.size() + step_overhead;
    for (const transaction::step& step : op.steps)
        size += size_of(step);
    return size;
}

}  // namespace corozk::detail
