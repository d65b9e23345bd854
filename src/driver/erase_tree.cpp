// SPDX-License-Identifier: Apache-2.0
#include "driver/erase_tree.hpp"

#include "driver/request.hpp"
#include "operation/path.hpp"

#include <algorithm>
#include <list>
#include <vector>

namespace corozk::detail {

namespace {

constexpr std::size_t pipelined = 100;

/// Deletes some children of a node, and records those that have children.
task<error_code> erase_some(port& p,
                            const interest& call,
                            const std::string& parent,
                            const name_list& names,
                            std::size_t begin,
                            std::vector<std::string>& branches) {
    std::list<request> sent;
    for (std::size_t i = begin; i < std::min(begin + pipelined, names.size()); ++i) {
        request& r = sent.emplace_back(p, op_code::erase, join_path(parent, names[i]));
        r.only_for(&call);
        r.send();
    }
    error_code problem;
    for (request& r : sent) {
        error_code ec = co_await r;
        if (ec == zk_errc::not_empty)
            branches.push_back(r.path);
        else if (ec && ec != zk_errc::no_node)
            problem = ec;
    }
    co_return problem;
}

task<error_code> erase_children(port& p,
                                const interest& call,
                                const std::string& parent,
                                std::vector<std::string>& branches) {
    request listing(p, op_code::children, parent);
    listing.only_for(&call);
    error_code problem = co_await listing;
    for (std::size_t i = 0; !problem && i < listing.names.size(); i += pipelined)
        problem = co_await erase_some(p, call, parent, listing.names, i, branches);
    co_return problem;
}

}  // namespace

task<> erase_tree(port& p, std::string path, std::shared_ptr<pending_call<>> call) {
    std::vector<std::string> branches{std::move(path)};
    bool found = false;
    while (call->waiting() && !branches.empty()) {
        const std::string branch = branches.back();
        request last(p, op_code::erase, branch);
        last.only_for(&call->users_call());
        error_code ec = co_await last;
        if (ec == zk_errc::not_empty) {
            found = true;
            ec = co_await erase_children(p, call->users_call(), branch, branches);
        } else if (!ec || (ec == zk_errc::no_node && found)) {
            branches.pop_back();
            ec = error_code();
        } else if (is_outcome_unknown(ec)) {
            found = true;
        }
        // Another request may have deleted the node.
        const bool goes_on = !ec || is_recoverable(ec) || (ec == zk_errc::no_node && found);
        if (!goes_on)
            call->fail(ec);
    }
    call->complete(error_code());
}

}  // namespace corozk::detail
