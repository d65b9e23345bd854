// SPDX-License-Identifier: Apache-2.0
#include "operation/step_path.hpp"

#include "operation/path.hpp"

#include <cstdint>

namespace corozk::detail {

bool is_sequential(create_mode mode) noexcept {
    return mode == create_mode::persistent_sequential ||
           mode == create_mode::ephemeral_sequential ||
           mode == create_mode::persistent_sequential_with_ttl;
}

bool has_ttl(create_mode mode) noexcept {
    return mode == create_mode::persistent_with_ttl ||
           mode == create_mode::persistent_sequential_with_ttl;
}

const char* ttl_problem(create_mode mode, std::chrono::milliseconds ttl) noexcept {
    // What is left in the server's number, which also marks the node as one with a TTL.
    constexpr std::chrono::milliseconds longest{(std::int64_t{1} << 40) - 1};
    if (has_ttl(mode) != (ttl.count() > 0))
        return "a TTL and a mode with a TTL go together";
    return ttl > longest ? "a TTL is at most 2^40 - 1 milliseconds (34 years)" : nullptr;
}

const char* plain_mode_problem(create_mode mode) noexcept {
    const bool plain = mode == create_mode::persistent || mode == create_mode::ephemeral;
    return plain ? nullptr : "the mode must be persistent or ephemeral";
}

const char* path_problem(const transaction::step& step) noexcept {
    bool creates = step.kind == transaction::step_kind::create;
    return path_problem(step.path, creates && is_sequential(step.mode));
}

}  // namespace corozk::detail
