// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"

namespace corozk::matrix {

namespace client_scenarios {

std::string branch(const stage& s) {
    return s.folder() + "/branch";
}

/// Another client can delete what is left.
awaitable<void> probe(client& c, stage& s) {
    auto [ec] = co_await c.erase_tree(branch(s), as_tuple());
    s.check(!ec || ec == zk_errc::no_node, "the rest can be deleted: " + ec.message());
}

awaitable<void> erase(stage& s) {
    create_options options;
    options.acl = s.entries().empty() ? nullptr : &s.entries();
    for (const char* leaf : {"/a/x", "/a/y", "/b"})
        co_await s.theirs().ensure_path(branch(s) + leaf, options);
    co_await s.state("before");
    call<> erased(s, "erase_tree");
    s.ours().erase_tree(branch(s), erased.token());
    co_await erased.result();
    auto [ec, node] = co_await s.theirs().exists(branch(s), as_tuple());
    s.check(ec || !node, "the branch is deleted");
    co_await s.state("deleted");
}

const registered it([] {
    scenario s;
    s.recipe = "client";
    s.name = "erase_tree";
    s.play = erase;
    s.probe = probe;
    s.may_stay = [](stage&, const std::string& below) {
        return below == "branch" || below.starts_with("branch/");
    };
    s.without[fault::own_node_deleted] = "the client has no node";
    s.may_end_with[fault::parent_deleted] = {zk_errc::no_node};
    return s;
}());

}  // namespace client_scenarios

}  // namespace corozk::matrix
