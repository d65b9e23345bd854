// SPDX-License-Identifier: Apache-2.0
#include "neighbour.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace corozk::bench {

neighbour::neighbour(stage& on)
    : on_(on), reader_(on.at_rate(open_loop::request::get, reads_per_second)) {}

boost::asio::awaitable<void> neighbour::until_passed(clock::time_point t) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    while (!reader_->has_passed(t)) {
        timer.expires_after(std::chrono::milliseconds(5));
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
}

boost::asio::awaitable<void> neighbour::begin() {
    co_await until_passed(clock::now());  // it is connected
    began_ = clock::now();
    cpu_before_ = on_.cpu_seconds();
}

boost::asio::awaitable<neighbour::experience> neighbour::end() {
    auto ended = clock::now();
    experience e;
    e.seconds = to_seconds(ended - began_);
    e.server_cpu_seconds = on_.cpu_seconds() - cpu_before_;
    co_await until_passed(ended);
    e.reads = reader_->between(began_, ended);
    co_return e;
}

void add_experience(result& r,
                    const stage& on,
                    const neighbour::experience& idle,
                    const neighbour::experience& busy,
                    std::size_t turns) {
    auto add = [&r](const std::string& key, const latencies& reads) {
        r.add(key + ".p50", reads.p50()).add(key + ".p99", reads.p99());
        r.add(key + ".max", reads.max());
    };
    add("neighbour_idle_us", idle.reads);
    add("neighbour_us", busy.reads);
    if (!on.owns_servers())
        return;
    double anyway = idle.server_cpu_seconds / idle.seconds * busy.seconds;
    r.add("server_cpu_us_per_turn",
          (busy.server_cpu_seconds - anyway) * 1e6 / static_cast<double>(turns));
}

}  // namespace corozk::bench
