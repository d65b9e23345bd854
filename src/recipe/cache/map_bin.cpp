// SPDX-License-Identifier: Apache-2.0
#include "recipe/cache/map_bin.hpp"

#include "driver/breather.hpp"
#include "node_map/node_map_editor.hpp"

#include <boost/asio/post.hpp>

#include <new>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t dropped_at_once = 256;

}  // namespace

std::shared_ptr<const node_map> map_bin::share(const node_map& map) {
    {
        std::lock_guard lock(mutex_);
        thread_ = std::this_thread::get_id();
    }
    auto give_back = [bin = shared_from_this()](const node_map* shared) {
        node_map unused(*shared);
        delete shared;
        bin->take(std::move(unused));
    };
    return std::shared_ptr<const node_map>(new node_map(map), std::move(give_back));
}

void map_bin::close() noexcept {
    std::lock_guard lock(mutex_);
    executor_ = boost::asio::any_io_executor();
}

void map_bin::take(node_map unused) noexcept {
    node_map_editor rest(std::move(unused));
    if (rest.drop_some(dropped_at_once))
        return;
    std::lock_guard lock(mutex_);
    if (!executor_ || thread_ != std::this_thread::get_id())
        return;
    try {
        go_on(executor_, std::move(rest));
    } catch (const std::bad_alloc&) {
        // It has been destroyed at once.
    }
}

void map_bin::go_on(boost::asio::any_io_executor executor, node_map_editor rest) {
    auto next = [self = shared_from_this(), executor, rest = std::move(rest)]() mutable {
        if (rest.drop_some(dropped_at_once))
            return;
        join_free_memory();
        self->go_on(std::move(executor), std::move(rest));
    };
    boost::asio::post(executor, std::move(next));
}

}  // namespace corozk::detail
