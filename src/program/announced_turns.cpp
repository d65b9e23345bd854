// SPDX-License-Identifier: Apache-2.0
#include "announced_turns.hpp"

#include <boost/asio/post.hpp>

#include <string_view>

namespace corozk::program {

asio::awaitable<void> announced_turns::watch(client& zk) {
    if (changes_.pending())
        co_return;
    auto [ec, changes] = co_await zk.add_watch(queue_, watch_mode::persistent_recursive, as_tuple);
    if (ec && ec != zk_errc::unimplemented)
        throw error(ec, "watch", queue_);
    changes_ = std::move(changes);
}

asio::awaitable<void> announced_turns::follow() {
    for (;;) {
        auto [ec, event] = co_await changes_.next(as_tuple);
        if (ec)
            break;
        ++reported_;
        note(event);
    }
    // There is no watch, or this was cancelled.
    co_await pause_until(time_point::max());
}

asio::awaitable<void> announced_turns::catch_up() {
    using namespace asio::experimental::awaitable_operators;
    std::uint64_t before = 0;
    do {
        before = reported_;
        co_await (follow() || asio::post(asio::use_awaitable));
    } while (reported_ != before);
}

void announced_turns::note(const watch_event& event) {
    if (event.type != watch_event_type::created)
        return;
    std::string_view path = event.path;
    auto slash = path.rfind('/');
    if (path == queue_)
        count_ = 0;
    else if (path.substr(0, slash) == queue_ && path.ends_with("-turn"))
        ++count_;
}

}  // namespace corozk::program
