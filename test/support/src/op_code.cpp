// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/op_code.hpp"

#include "wire/operation_form.hpp"

namespace corozk::testing {
namespace {

using corozk::detail::wire_op;

constexpr wire_op on_the_wire(op_code op) noexcept {
    return static_cast<wire_op>(op);
}

static_assert(on_the_wire(op_code::close_session) == wire_op::close_session);
static_assert(on_the_wire(op_code::erase) == wire_op::remove);
static_assert(on_the_wire(op_code::multi_read) == wire_op::multi_read);
static_assert(on_the_wire(op_code::who_am_i) == wire_op::who_am_i);

}  // namespace

std::string_view to_string(op_code op) noexcept {
    return corozk::detail::to_string(on_the_wire(op));
}

bool has_path(op_code op) noexcept {
    const char first = *corozk::detail::form_of(on_the_wire(op)).request;
    return first == 'p' || first == 's';
}

bool is_create(op_code op) noexcept {
    return corozk::detail::is_creation(on_the_wire(op));
}

}  // namespace corozk::testing
