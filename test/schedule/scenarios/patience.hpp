// SPDX-License-Identifier: Apache-2.0
// Actors that wait for one another outside ZooKeeper, while the clock of the model goes on.
#pragma once

#include "engine/stage.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <string>

namespace corozk::schedule {

inline awaitable<void> pause() {
    auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::steady_timer timer(executor, std::chrono::seconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
}

/// How often it has been noted down, for somebody who goes on accordingly.
inline std::size_t times_noted(actor& a, const std::string& kind) {
    std::size_t noted = a.on().notes(kind).size();
    a.on().remember(a.client_index(), noted);
    return noted;
}

/// Until so many have noted it down.
inline awaitable<void> until_noted(actor& a, std::string kind, std::size_t count = 1) {
    while (times_noted(a, kind) < count)
        co_await pause();
}

/// Notes down that an actor is over, however it ends.
class noted_at_the_end {
public:
    noted_at_the_end(actor& a, std::string kind) : actor_(a), kind_(std::move(kind)) {}
    noted_at_the_end(const noted_at_the_end&) = delete;
    noted_at_the_end& operator=(const noted_at_the_end&) = delete;
    ~noted_at_the_end() { actor_.on().note_down(kind_, actor_.name()); }

private:
    actor& actor_;
    std::string kind_;
};

}  // namespace corozk::schedule
