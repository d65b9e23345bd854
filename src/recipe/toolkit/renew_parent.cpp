// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/renew_parent.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/sequence_end.hpp"
#include <corozk/transaction.hpp>

#include <algorithm>
#include <utility>

namespace corozk::detail {

namespace {

/// Servers hide passwords from clients that may not administer the node.
bool is_masked(const acl_entry& entry) {
    return entry.scheme == "digest" && entry.id.ends_with(":x");
}

task<error_code> replace(port& p, const request& old, const request& rights, bool keep_data) {
    if (rights.error)
        co_return rights.error;
    if (std::any_of(rights.entries.begin(), rights.entries.end(), is_masked))
        co_return make_error_code(zk_errc::no_auth);
    create_options options;
    options.acl = &rights.entries;
    transaction steps;
    steps.erase(old.path, old.record.version);
    steps.create(old.path, keep_data ? old.answer : std::string(), options);
    // Not in another session: somebody may have replaced it by then.
    request replacement(p, steps, old.sent_in);
    co_return co_await replacement;
}

}  // namespace

task<error_code> renew_parent(port& p, std::string path, bool keep_data) {
    request look(p, op_code::get, path);
    request rights(p, op_code::get_acl, path);
    look.send();
    rights.send();
    error_code ec = co_await look;
    co_await rights;
    // Perhaps another client has replaced it.
    if (ec || !sequence_spent(look.record))
        co_return ec;
    if (look.record.num_children > 0)
        co_return make_error_code(errc::sequence_exhausted);
    ec = co_await replace(p, look, rights, keep_data);
    if (!ec) {
        p.report(log_level::warning,
                 "the sequence numbers of ",
                 path,
                 " were exhausted; the node was replaced");
    } else if (ec == zk_errc::no_auth) {
        p.report(log_level::warning,
                 "the sequence numbers of ",
                 path,
                 " are exhausted, and this client may not replace the node: that requires the "
                 "permissions to create and delete below its parent, and to read its ACL");
    }
    const bool exhausted = ec == zk_errc::not_empty || ec == zk_errc::no_auth;
    co_return exhausted ? make_error_code(errc::sequence_exhausted) : ec;
}

task<> try_renew_parent(port& p, std::string path) {
    co_await renew_parent(p, std::move(path));
}

}  // namespace corozk::detail
