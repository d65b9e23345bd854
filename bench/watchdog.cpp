// SPDX-License-Identifier: Apache-2.0
#include "watchdog.hpp"

#include <corozk/testing/waiting_for_core.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace corozk::bench {

struct watchdog::state {
    explicit state(boost::asio::any_io_executor e) : executor(std::move(e)) {}

    boost::asio::any_io_executor executor;
    testing::waiting_for_core core;
    clock::time_point last = clock::now();
    std::chrono::nanoseconds waited = core.total();
    gap longest;
    bool stopped = false;
};

watchdog::watchdog(boost::asio::any_io_executor executor)
    : state_(std::make_shared<state>(std::move(executor))) {
    bark(state_);
}

watchdog::~watchdog() {
    state_->stopped = true;
}

void watchdog::bark(std::shared_ptr<state> s) {
    auto& executor = s->executor;
    boost::asio::post(executor, [s = std::move(s)]() mutable {
        if (s->stopped)
            return;
        auto now = clock::now();
        auto waited = s->core.total();
        double seen = to_seconds(now - s->last) * 1e3;
        double without = to_seconds(waited - s->waited) * 1e3;
        s->longest.seen_ms = std::max(s->longest.seen_ms, seen);
        s->longest.own_ms = std::max(s->longest.own_ms, seen - without);
        s->last = now;
        s->waited = waited;
        bark(std::move(s));
    });
}

watchdog::gap watchdog::take() {
    return std::exchange(state_->longest, gap());
}

}  // namespace corozk::bench
