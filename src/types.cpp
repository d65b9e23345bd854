// SPDX-License-Identifier: Apache-2.0
#include <corozk/counters.hpp>
#include <corozk/logger.hpp>
#include <corozk/session_state.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

namespace corozk {

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
    switch (level) {
        case log_level::off:
            return "off";
        case log_level::error:
            return "error";
        case log_level::warning:
            return "warning";
        case log_level::info:
            return "info";
        case log_level::debug:
            return "debug";
    }
    return "unknown";
}

std::string_view to_string(session_state state) noexcept {
    switch (state) {
        case session_state::idle:
            return "idle";
        case session_state::connecting:
            return "connecting";
        case session_state::connected:
            return "connected";
        case session_state::read_only:
            return "read_only";
        case session_state::suspended:
            return "suspended";
        case session_state::lost:
            return "lost";
        case session_state::closed:
            return "closed";
    }
    return "unknown";
}

transaction& transaction::create(std::string path, std::string data, create_options options) {
    step& s = steps_.emplace_back();
    s.kind = step_kind::create;
    s.path = std::move(path);
    s.data = std::move(data);
    s.mode = options.mode;
    s.ttl = options.ttl;
    if (options.acl)
        s.entries = *options.acl;
    return *this;
}

transaction& transaction::erase(std::string path, std::int32_t version) {
    step& s = steps_.emplace_back();
    s.kind = step_kind::erase;
    s.path = std::move(path);
    s.version = version;
    return *this;
}

transaction& transaction::set(std::string path, std::string data, std::int32_t version) {
    step& s = steps_.emplace_back();
    s.kind = step_kind::set;
    s.path = std::move(path);
    s.data = std::move(data);
    s.version = version;
    return *this;
}

transaction& transaction::check(std::string path, std::int32_t version) {
    step& s = steps_.emplace_back();
    s.kind = step_kind::check;
    s.path = std::move(path);
    s.version = version;
    return *this;
}

transaction& transaction::append(const transaction& other) {
    // By index: it may be this one.
    std::size_t count = other.steps_.size();
    steps_.reserve(steps_.size() + count);
    for (std::size_t i = 0; i < count; ++i)
        steps_.push_back(other.steps_[i]);
    return *this;
}

}  // namespace corozk
