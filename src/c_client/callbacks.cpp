// SPDX-License-Identifier: Apache-2.0
#include "c_client/callbacks.hpp"

#include "c_client/c_types.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace corozk::detail {

namespace {

operation& operation_of(const void* data) noexcept {
    return *static_cast<operation*>(const_cast<void*>(data));
}

/// @param s  what the C client has read of the node, if it is of use
void arrive(operation& op, int rc, const Stat* s = nullptr) {
    if (rc == ZOK && s)
        op.record = to_stat(*s);
    op.error = to_answer_error(rc);
    op.inbox->emplace_back(op);
}

}  // namespace

void on_void(int rc, const void* data) {
    arrive(operation_of(data), rc);
}

void on_stat(int rc, const Stat* s, const void* data) {
    arrive(operation_of(data), rc, s);
}

void on_data(int rc, const char* value, int size, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    if (rc == ZOK && size > 0)
        op.answer.assign(value, static_cast<std::size_t>(size));
    arrive(op, rc, s);
}

void on_children(int rc, const String_vector* names, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    if (rc == ZOK) {
        auto count = static_cast<std::size_t>(names->count);
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < count; ++i)
            bytes += std::strlen(names->data[i]);
        op.names.reserve(count, bytes);
        for (std::size_t i = 0; i < count; ++i)
            op.names.push_back(names->data[i]);
    }
    arrive(op, rc, s);
}

void on_watch(zhandle_t*, int type, int state, const char* path, void* context) {
    auto& inbox = *static_cast<std::vector<arrival>*>(context);
    if (type == ZOO_SESSION_EVENT) {
        inbox.emplace_back(to_handle_state(state));
    } else {
        inbox.emplace_back(to_event_type(type), path);
    }
}

}  // namespace corozk::detail
