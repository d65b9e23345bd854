// SPDX-License-Identifier: Apache-2.0
#include "plain_queue.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace corozk::bench {

boost::asio::awaitable<void> plain_queue::put(std::string data) {
    create_options item;
    item.mode = create_mode::persistent_sequential;
    co_await client_->create(path_ + "/queue-", std::move(data), item);
}

boost::asio::awaitable<std::string> plain_queue::take() {
    constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
    for (;;) {
        while (!listed_.empty()) {
            std::string item = path_ + '/' + std::move(listed_.back());
            listed_.pop_back();
            auto [unread, node] = co_await client_->get(item, token);
            if (unread == zk_errc::no_node)
                continue;  // somebody else was quicker
            if (unread)
                throw error(unread, "get", item);
            auto [missed] = co_await client_->erase(item, token);
            if (missed == zk_errc::no_node)
                continue;
            if (missed)
                throw error(missed, "delete", item);
            co_return std::move(node.data);
        }
        auto now = co_await client_->watch_children(path_);
        listed_ = std::move(now.children.names);
        std::sort(listed_.begin(), listed_.end(), std::greater<>());
        changed_ = std::move(now.changed);
        if (listed_.empty())
            co_await changed_.next();
    }
}

}  // namespace corozk::bench
