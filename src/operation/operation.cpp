// SPDX-License-Identifier: Apache-2.0
#include "operation/operation.hpp"

#include "operation/step_path.hpp"

namespace corozk::detail {

bool operation::has_own_path() const noexcept {
    switch (code) {
        case op_code::add_auth:  // the scheme
        case op_code::get_config:
        case op_code::reconfigure:
        case op_code::who_am_i: return false;
        default: return !path.empty();  // of a transaction: for traces
    }
}

namespace {

void strip(const path_root& root, std::string& path) {
    path.assign(std::string(root.relative(path)));
}

}  // namespace

void operation::enter(const path_root& its_root) {
    if (its_root.prefix().empty())
        return;
    root = &its_root;
    if (has_own_path())
        path = root->absolute(path, code == op_code::create && is_sequential(mode));
    for (transaction::step& step : steps) {
        const bool creates = step.kind == transaction::step_kind::create;
        step.path = root->absolute(step.path, creates && is_sequential(step.mode));
    }
    for (read_set::item& read : reads)
        read.path = root->absolute(read.path);
    if (persistent_watcher_)
        persistent_watcher_->set_root(its_root);
}

void operation::leave_root() {
    if (!root)
        return;
    const path_root& from = *std::exchange(root, nullptr);
    if (has_own_path())
        strip(from, path);
    for (transaction::step& step : steps)
        strip(from, step.path);
    for (read_set::item& read : reads)
        strip(from, read.path);
    if (error && code != op_code::multi)
        return;
    if (code == op_code::create)
        strip(from, answer);
    for (transaction_result& result : results) {
        if (!result.path.empty())
            strip(from, result.path);
    }
    if (code == op_code::ephemerals) {
        name_list relative;
        for (std::size_t i = 0; i < names.size(); ++i)
            relative.push_back(from.relative(names[i]));
        names = std::move(relative);
    }
}

}  // namespace corozk::detail
