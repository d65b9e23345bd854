// SPDX-License-Identifier: Apache-2.0
#include "neighbours.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace corozk::bench {

namespace {

/// Of servers of this role, or of all.
latencies reads_at(std::string_view role, const neighbours::experience& e) {
    latencies reads;
    for (const auto& one : e.all) {
        if (role.empty() || one.role == role)
            reads.add(one.reads);
    }
    return reads;
}

}  // namespace

neighbours::neighbours(stage& on) : on_(on) {
    auto read = [&on](std::string hosts) {
        return on.at_rate(open_loop::request::get, reads_per_second, std::move(hosts));
    };
    if (on.servers() < 2) {
        readers_.push_back({"", read({})});
        return;
    }
    for (std::size_t i = 0; i < on.servers(); ++i)
        readers_.push_back({on.role(i), read(on.server(i).hosts())});
}

boost::asio::awaitable<void> neighbours::until_passed(clock::time_point t) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    auto behind = [t](const reader& r) { return !r.loop->has_passed(t); };
    while (std::any_of(readers_.begin(), readers_.end(), behind)) {
        timer.expires_after(std::chrono::milliseconds(5));
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
}

boost::asio::awaitable<void> neighbours::begin() {
    co_await until_passed(clock::now());  // they are connected
    began_ = clock::now();
    cpu_before_ = on_.cpu_seconds();
}

boost::asio::awaitable<neighbours::experience> neighbours::end() {
    auto ended = clock::now();
    experience e;
    e.seconds = to_seconds(ended - began_);
    e.server_cpu_seconds = on_.cpu_seconds() - cpu_before_;
    co_await until_passed(ended);
    for (const reader& r : readers_)
        e.all.push_back({r.role, r.loop->between(began_, ended)});
    co_return e;
}

std::string neighbour_key(std::string_view role, bool idle) {
    std::string key = "neighbour";
    if (!role.empty())
        key += "_at_" + std::string(role);
    std::replace(key.begin(), key.end(), ' ', '_');
    return key + (idle ? "_idle_us" : "_us");
}

void add_experience(result& r,
                    const stage& on,
                    const neighbours::experience& idle,
                    const neighbours::experience& busy,
                    std::size_t turns) {
    auto add = [&r](std::string_view role, bool still, const latencies& reads) {
        std::string key = neighbour_key(role, still);
        r.add(key + ".p50", reads.p50()).add(key + ".p99", reads.p99());
        r.add(key + ".max", reads.max());
    };
    add("", true, reads_at("", idle));
    add("", false, reads_at("", busy));
    for (std::string_view role : told_roles) {
        if (auto reads = reads_at(role, busy); !reads.empty()) {
            add(role, true, reads_at(role, idle));
            add(role, false, reads);
        }
    }
    if (!on.owns_servers())
        return;
    double anyway = idle.server_cpu_seconds / idle.seconds * busy.seconds;
    r.add("server_cpu_us_per_turn",
          (busy.server_cpu_seconds - anyway) * 1e6 / static_cast<double>(turns));
}

}  // namespace corozk::bench
