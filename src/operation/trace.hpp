// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"
#include <corozk/tracer.hpp>

#include <utility>

namespace corozk::detail {

/// A request was sent, for the first time or again after a reconnect.
inline void trace_start(operation& op, std::int64_t session_id) noexcept {
    tracer* to = current_tracer();
    if (!to || op.span != 0)
        return;
    trace_point what;
    what.kind = trace_kind::request;
    what.name = to_string(op.code);
    // The path of add_auth is the scheme.
    if (op.code != op_code::add_auth)
        what.path = op.root && op.has_own_path() ? op.root->relative(op.path) : op.path;
    what.session_id = session_id;
    op.span = to->started(what);
}

/// A response arrived, or never will.
inline void trace_end(operation& op) noexcept {
    if (op.span == 0)
        return;
    auto span = std::exchange(op.span, 0);
    if (tracer* to = current_tracer())
        to->finished(span, op.error);
}

}  // namespace corozk::detail
