// SPDX-License-Identifier: Apache-2.0
#include "driver/ensure_path.hpp"

#include "operation/path.hpp"

namespace corozk::detail {

namespace {

/// "/" always exists, unless the chroot was deleted.
task<error_code> look_for_root(port& p, const interest* call) {
    for (;;) {
        request exists(p, op_code::exists, "/");
        exists.only_for(call);
        error_code ec = co_await exists;
        if (is_recoverable(ec))
            continue;
        co_return ec == zk_errc::no_node ? make_error_code(errc::chroot_missing) : ec;
    }
}

}  // namespace

task<error_code> ensure_path(
    port& p, std::string path, acl entries, create_mode mode, const interest* call) {
    // Ascend to the deepest ancestor that exists, then create downwards, so that permissions on the
    // nodes above it do not matter.
    if (path == "/")
        co_return co_await look_for_root(p, call);
    std::vector<std::string> missing;
    std::string current = path;
    while (!current.empty() && current != "/") {
        request create(p, op_code::create, current);
        create.mode = mode;
        create.entries = entries;
        create.only_for(call);
        error_code ec = co_await create;
        if (ec == zk_errc::no_auth) {
            // It may exist without permission to create siblings.
            request exists(p, op_code::exists, current);
            exists.only_for(call);
            error_code found = co_await exists;
            if (found != zk_errc::no_node)
                ec = found;
        }
        if (is_recoverable(ec))
            continue;  // idempotent
        if (ec == zk_errc::no_node) {
            std::string parent(parent_path(current));
            missing.push_back(std::move(current));
            current = std::move(parent);
        } else if (ec && ec != zk_errc::node_exists) {
            co_return ec;
        } else {
            if (missing.empty())
                co_return error_code();
            current = std::move(missing.back());
            missing.pop_back();
        }
    }
    // Even a child of the root cannot be created: the chroot is missing.
    co_return missing.empty() ? error_code() : make_error_code(errc::chroot_missing);
}

task<error_code> create_with_parents(port& p, request& creation, create_mode parents) {
    for (;;) {
        error_code ec = co_await creation;
        if (ec != zk_errc::no_node)
            co_return ec;
        std::string path = creation.path;
        acl entries = creation.entries;
        if (creation.code == op_code::multi) {
            const std::size_t failed = creation.failed_step();
            if (failed == creation.results.size() ||
                creation.steps[failed].kind != transaction::step_kind::create)
                co_return ec;
            path = creation.steps[failed].path;
            entries = creation.steps[failed].acl;
        }
        path.resize(parent_path(path).size());
        ec = co_await ensure_path(
            p, std::move(path), std::move(entries), parents, creation.sent_for());
        if (ec)
            co_return ec;
        creation.renew();
    }
}

}  // namespace corozk::detail
