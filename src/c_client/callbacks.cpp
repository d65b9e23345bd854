// SPDX-License-Identifier: Apache-2.0
#include "c_client/callbacks.hpp"

#include "c_client/c_types.hpp"

#include <algorithm>
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

int checked(int rc, bool was_read) noexcept {
    return rc == ZOK && !was_read ? ZMARSHALLINGERROR : rc;
}

/// Truncates a list to the elements that were read. If a response ends early the C client passes a
/// list of the announced length, filled up with nulls; freeing that would touch gigabytes.
/// @return whether the list was complete
template <class List, class Function>
bool cut_to_readable(List& list, Function is_read) noexcept {
    constexpr std::int32_t count_of_null = -1;
    std::int32_t count = 0;
    while (list.data && count < list.count && is_read(list.data[count]))
        ++count;
    if (list.count == count || list.count == count_of_null)
        return true;
    // The incomplete element may have parts that must be freed.
    list.count = std::min(count + 1, std::max(list.count, 0));
    return false;
}

}  // namespace

[[gnu::noinline, gnu::no_sanitize_address]] void leave_zeroes_on_the_stack() noexcept {
    char below[2048];
    ::explicit_bzero(below, sizeof below);
}

void on_void(int rc, const void* data) {
    arrive(operation_of(data), rc);
}

void on_string(int rc, const char*, const void* data) {
    arrive(operation_of(data), rc);
}

void on_created(int rc, const char* path, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    rc = checked(rc, path && (!s || s->czxid != 0));
    if (rc == ZOK)
        op.answer = path;
    arrive(op, rc, s);
}

void on_stat(int rc, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    // The server's built-in nodes may have a stat of zeroes.
    rc = checked(rc, !s || s->mzxid != 0 || op.code != op_code::set);
    arrive(op, rc, s);
}

void on_data(int rc, const char* value, int size, const Stat* s, const void* data) {
    constexpr int size_of_null = -1;
    operation& op = operation_of(data);
    rc = checked(rc, value || size == size_of_null);
    if (rc == ZOK && value && size > 0)
        op.answer.assign(value, static_cast<std::size_t>(size));
    arrive(op, rc, s);
}

void on_children(int rc, const String_vector* names, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    auto* list = const_cast<String_vector*>(names);  // on the C client's stack
    auto is_read = [](const char* name) { return name != nullptr; };
    rc = checked(rc, !list || cut_to_readable(*list, is_read));
    if (rc == ZOK && list) {
        auto count = static_cast<std::size_t>(list->count);
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < count; ++i)
            bytes += std::strlen(list->data[i]);
        op.names.reserve(count, bytes);
        for (std::size_t i = 0; i < count; ++i)
            op.names.push_back(list->data[i]);
    }
    arrive(op, rc, s);
}

void on_acl(int rc, ACL_vector* list, Stat* s, const void* data) {
    operation& op = operation_of(data);
    auto is_read = [](const ACL& a) { return a.id.scheme && a.id.id; };
    rc = checked(rc, !list || cut_to_readable(*list, is_read));
    op.entries.clear();
    if (rc == ZOK && list) {
        for (std::int32_t i = 0; i < list->count; ++i) {
            const ACL& a = list->data[i];
            op.entries.emplace_back(static_cast<permission>(a.perms), a.id.scheme, a.id.id);
        }
    }
    arrive(op, rc, s);
}

void on_multi(int rc, const void* data) {
    operation& op = operation_of(data);
    multi_storage& m = *static_cast<multi_storage*>(op.foreign.get());
    op.results.resize(m.results.size());
    error_code reason = to_answer_error(rc);
    for (std::size_t i = 0; i < m.results.size(); ++i) {
        transaction_result& r = op.results[i];
        const transaction::step& s = op.steps[i];
        r.error = to_error(m.results[i].err);
        if (reason)
            continue;
        if (s.kind == transaction::step_kind::create)
            r.path = m.paths[i].c_str();
        if (s.kind == transaction::step_kind::set)
            r.stat = to_stat(m.stats[i]);
    }
    arrive(op, rc);
}

void on_watch(zhandle_t*, int type, int state, const char* path, void* context) {
    auto& inbox = *static_cast<std::vector<arrival>*>(context);
    if (type == ZOO_SESSION_EVENT) {
        inbox.emplace_back(to_handle_state(state));
    } else {
        inbox.emplace_back(to_event_type(type), path ? path : "");
    }
}

}  // namespace corozk::detail
