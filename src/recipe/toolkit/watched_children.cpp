// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/watched_children.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <utility>

namespace corozk::detail {

watched_children::watched_children(port& p, std::string parent, signal& wake)
    : port_(p), parent_(std::move(parent)), listed_(wake), missing_(wake) {}

task<error_code> watched_children::list(name_list& names) {
    request listing(port_, op_code::children, parent_);
    error_code ec = co_await read_or_await(port_, listing, listed_, missing_);
    if (ec == zk_errc::no_node)
        ec = error_code();
    if (!ec)
        names = std::move(listing.names);
    co_return ec;
}

void watched_children::forget() {
    forget_watch(port_, listed_, parent_, watch_kind::children);
    forget_watch(port_, missing_, parent_);
}

}  // namespace corozk::detail
