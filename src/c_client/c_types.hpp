// SPDX-License-Identifier: Apache-2.0
// Conversions from and to the C client's types.
#pragma once

#include "c_client/handle.hpp"
#include "operation/operation.hpp"

#include <zookeeper/zookeeper.h>

#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

stat to_stat(const Stat& s) noexcept;
error_code to_error(int rc) noexcept;

/// The error of a request. Whatever reason the C client gives for the end of the connection, the
/// outcome is unknown.
error_code to_answer_error(int rc) noexcept;

int to_c_mode(create_mode mode) noexcept;
handle_state to_handle_state(int s) noexcept;
watch_event_type to_event_type(int type) noexcept;

/// The C client's view of an ACL; borrows the strings.
class c_acl {
public:
    explicit c_acl(const acl& entries) {
        list_.reserve(entries.size());
        for (const acl_entry& e : entries) {
            ACL a;
            a.perms = static_cast<std::int32_t>(e.allowed);
            a.id.scheme = const_cast<char*>(e.scheme.c_str());
            a.id.id = const_cast<char*>(e.id.c_str());
            list_.push_back(a);
        }
        vector_.count = static_cast<std::int32_t>(list_.size());
        vector_.data = list_.data();
    }
    c_acl(const c_acl&) = delete;
    c_acl& operator=(const c_acl&) = delete;

    const ACL_vector* get() const noexcept {
        return list_.empty() ? &ZOO_OPEN_ACL_UNSAFE : &vector_;
    }

private:
    std::vector<ACL> list_;
    ACL_vector vector_{};
};

/// Arguments and results of a transaction in flight, read and written by the C client.
struct multi_storage {
    explicit multi_storage(const std::vector<transaction::step>& steps);
    void add(std::size_t i, const transaction::step& s);

    std::vector<zoo_op_t> ops;
    std::vector<zoo_op_result_t> results;
    std::vector<Stat> stats;
    std::vector<std::string> paths;
    std::vector<std::unique_ptr<c_acl>> acls;
};

}  // namespace corozk::detail
