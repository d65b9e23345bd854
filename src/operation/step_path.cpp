// SPDX-License-Identifier: Apache-2.0
#include "operation/step_path.hpp"

#include "operation/path.hpp"

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

const char* path_problem(const transaction::step& step) noexcept {
    bool creates = step.kind == transaction::step_kind::create;
    return path_problem(step.path, creates && is_sequential(step.mode));
}

}  // namespace corozk::detail
