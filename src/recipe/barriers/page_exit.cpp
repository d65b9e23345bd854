// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/page_exit.hpp"

#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/barriers/page_barrier_rule.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <utility>

namespace corozk::detail {

task<error_code> page_exit::go_out(bool& again) {
    if (!ready_gone_) {
        request erase(nodes_.client, op_code::erase, nodes_.ready, nodes_.generation);
        error_code ec = co_await erase;
        if (ec && ec != zk_errc::no_node)
            co_return ec;
        ready_gone_ = true;
    }
    if (watch_.armed())
        co_return error_code();
    // It may already be there again, with the same name, for the next round.
    if (std::exchange(watch_.erased, false) && !watched_.empty())
        std::erase(others_, base_name(watched_));
    request listing(nodes_.client, op_code::children, nodes_.parent, nodes_.generation);
    error_code ec = co_await listing;
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    const page_barrier_view view = view_page_barrier(listing.names);
    others_ = listed_ ? still_members(others_, view) : view.members;
    listed_ = true;
    const page_leave step = plan_page_leave(others_, nodes_.name);
    if (step == page_leave::done)
        co_return error_code();
    again = true;
    if (step == page_leave::erase) {
        request erase(nodes_.client, op_code::erase, nodes_.own, nodes_.generation);
        ec = co_await erase;
        gone_ = !ec || ec == zk_errc::no_node;
        co_return gone_ ? error_code() : ec;
    }
    watched_ = join_path(nodes_.parent,
                         step == page_leave::watch_first ? others_.front() : others_.back());
    request look(nodes_.client, op_code::get, watched_, nodes_.generation);
    look.attach(watch_);
    ec = co_await look;
    again = ec == zk_errc::no_node;
    watch_.erased = again;
    co_return again ? error_code() : ec;
}

void page_exit::forget() {
    if (watch_.armed())
        forget_watch(nodes_.client, watch_, watched_);
}

}  // namespace corozk::detail
