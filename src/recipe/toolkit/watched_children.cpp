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
    for (;;) {
        request listing(port_, op_code::children, parent_);
        listing.attach(listed_);
        error_code ec = co_await read_forward(port_, listing);
        if (!ec) {
            names = std::move(listing.names);
            co_return ec;
        }
        listed_.disarm();
        if (ec != zk_errc::no_node)
            co_return ec;
        ec = co_await watch_creation(port_, parent_, missing_);
        if (!ec)
            names = name_list();
        if (ec != zk_errc::node_exists)
            co_return ec;
    }
}

void watched_children::forget() {
    forget_watch(port_, listed_, watch_kind::children, parent_);
    forget_watch(port_, missing_, watch_kind::exists, parent_);
}

}  // namespace corozk::detail
