// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace corozk::bench {

/// Calls something when its time is over, unless it has gone before.
class time_limit {
public:
    template <class Function>
    time_limit(const boost::asio::any_io_executor& executor,
               std::chrono::seconds limit,
               Function when_over)
        : timer_(executor, limit), armed_(std::make_shared<bool>(true)) {
        // The timer's handler may be on its way when this goes.
        timer_.async_wait([armed = armed_, when_over = std::move(when_over)](auto cancelled) {
            if (!cancelled && *armed)
                when_over();
        });
    }
    ~time_limit() { *armed_ = false; }
    time_limit(const time_limit&) = delete;
    time_limit& operator=(const time_limit&) = delete;

private:
    boost::asio::steady_timer timer_;
    std::shared_ptr<bool> armed_;
};

}  // namespace corozk::bench
