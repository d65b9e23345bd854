// SPDX-License-Identifier: Apache-2.0
#include <corozk/counters.hpp>
#include <corozk/logger.hpp>
#include <corozk/session_state.hpp>
#include <corozk/tracer.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>
#include <corozk/watch_types.hpp>

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>

namespace corozk {

BOOST_DESCRIBE_ENUM(log_level, off, error, warning, info, debug)
BOOST_DESCRIBE_ENUM(session_state, idle, connecting, connected, read_only, suspended, lost, closed)
BOOST_DESCRIBE_ENUM(trace_kind, operation, request, tenure)
BOOST_DESCRIBE_ENUM(watch_event_type, created, erased, data_changed, children_changed, unknown)

std::atomic<tracer*> detail::installed_tracer{nullptr};

tracer::~tracer() = default;

acl open_acl() {
    return {acl_entry(permission::all, "world", "anyone")};
}

acl read_only_acl() {
    return {acl_entry(permission::read, "world", "anyone")};
}

acl creator_acl() {
    return {acl_entry(permission::all, "auth", "")};
}

std::string_view to_string(log_level level) noexcept {
    return boost::describe::enum_to_string(level, "unknown");
}

std::string_view to_string(session_state state) noexcept {
    return boost::describe::enum_to_string(state, "unknown");
}

std::string_view to_string(trace_kind kind) noexcept {
    return boost::describe::enum_to_string(kind, "unknown");
}

std::string_view to_string(watch_event_type type) noexcept {
    return boost::describe::enum_to_string(type, "unknown");
}

transaction::step& transaction::add(step_kind kind, std::string path, std::int32_t version) {
    if (steps_.empty())
        steps_.reserve(2);  // the fewest that are worth a transaction
    step& s = steps_.emplace_back();
    s.kind = kind;
    s.path = std::move(path);
    s.version = version;
    return s;
}

transaction& transaction::create(std::string path, std::string data, create_options options) {
    step& s = add(step_kind::create, std::move(path));
    s.data = std::move(data);
    s.mode = options.mode;
    s.ttl = options.ttl;
    if (options.acl)
        s.acl = *options.acl;
    return *this;
}

transaction& transaction::erase(std::string path, std::int32_t version) {
    add(step_kind::erase, std::move(path), version);
    return *this;
}

transaction& transaction::set(std::string path, std::string data, std::int32_t version) {
    add(step_kind::set, std::move(path), version).data = std::move(data);
    return *this;
}

transaction& transaction::check(std::string path, std::int32_t version) {
    add(step_kind::check, std::move(path), version);
    return *this;
}

transaction& transaction::append(const transaction& other) {
    // By index: it may be this one.
    const std::size_t count = other.steps_.size();
    for (std::size_t i = 0; i < count; ++i)
        steps_.push_back(other.steps_[i]);
    return *this;
}

}  // namespace corozk
