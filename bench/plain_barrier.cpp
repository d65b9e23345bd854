// SPDX-License-Identifier: Apache-2.0
#include "plain_barrier.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace corozk::bench {

namespace {

constexpr std::string_view ready_name = "ready";

std::vector<std::string> members_of(node_children children) {
    std::erase(children.names, ready_name);
    std::sort(children.names.begin(), children.names.end());
    return std::move(children.names);
}

}  // namespace

boost::asio::awaitable<void> plain_barrier::enter() {
    std::string flag = path_ + '/' + std::string(ready_name);
    auto seen = co_await client_->watch_exists(flag);
    create_options mine;
    mine.mode = create_mode::ephemeral;
    co_await client_->create(path_ + '/' + name_, std::string(), mine);
    if (seen.stat)
        co_return;
    auto children = co_await client_->get_children(path_);
    if (members_of(std::move(children)).size() < size_) {
        co_await seen.changed.next();
        co_return;
    }
    auto [ec, node] = co_await client_->create(
        flag, std::string(), create_options(), boost::asio::as_tuple(boost::asio::use_awaitable));
    if (ec && ec != zk_errc::node_exists)
        throw error(ec, "create", flag);
}

boost::asio::awaitable<void> plain_barrier::leave() {
    for (bool there = true;;) {
        auto children = co_await client_->get_children(path_);
        auto members = members_of(std::move(children));
        if (members.empty())
            co_return;
        bool lowest = there && members.front() == name_;
        if (there && (!lowest || members.size() == 1)) {
            co_await client_->erase(path_ + '/' + name_);
            there = false;
            if (lowest)
                co_return;
        }
        std::string awaited = path_ + '/' + (lowest ? members.back() : members.front());
        auto other = co_await client_->watch_exists(awaited);
        if (other.stat)
            co_await other.changed.next();
    }
}

}  // namespace corozk::bench
