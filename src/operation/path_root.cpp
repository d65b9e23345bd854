// SPDX-License-Identifier: Apache-2.0
#include "operation/path_root.hpp"

#include "operation/operation.hpp"
#include "operation/step_path.hpp"

namespace corozk::detail {

namespace {

/// Whether the path of the operation is that of a znode of the user's.
bool has_own_path(const operation& op) noexcept {
    switch (op.code) {
        case op_code::add_auth:  // the scheme
        case op_code::get_config:
        case op_code::reconfigure:
        case op_code::who_am_i:
            return false;
        default:
            return !op.path.empty();  // of a transaction: for traces
    }
}

void strip(const path_root& root, std::string& path) {
    path.assign(std::string(root.relative(path)));
}

}  // namespace

void path_root::enter(operation& op) const {
    if (prefix_.empty())
        return;
    op.root = this;
    if (has_own_path(op))
        op.path = absolute(op.path, op.code == op_code::create && is_sequential(op.mode));
    for (transaction::step& step : op.steps) {
        const bool creates = step.kind == transaction::step_kind::create;
        step.path = absolute(step.path, creates && is_sequential(step.mode));
    }
    for (read_set::item& read : op.reads)
        read.path = absolute(read.path);
    if (persistent_watch_node* watcher = op.persistent_watcher())
        watcher->set_root(*this);
}

void path_root::leave(operation& op) {
    if (!op.root)
        return;
    const path_root& root = *std::exchange(op.root, nullptr);
    if (has_own_path(op))
        strip(root, op.path);
    for (transaction::step& step : op.steps)
        strip(root, step.path);
    for (read_set::item& read : op.reads)
        strip(root, read.path);
    if (op.error && op.code != op_code::multi)
        return;
    if (op.code == op_code::create)
        strip(root, op.answer);
    for (transaction_result& result : op.results) {
        if (!result.path.empty())
            strip(root, result.path);
    }
    if (op.code == op_code::ephemerals) {
        name_list relative;
        for (std::size_t i = 0; i < op.names.size(); ++i)
            relative.push_back(root.relative(op.names[i]));
        op.names = std::move(relative);
    }
}

}  // namespace corozk::detail
