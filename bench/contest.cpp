// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include "contest_run.hpp"
#include "our_lock.hpp"
#include "plain_locks.hpp"

namespace corozk::bench {

std::string_view title_of(std::string_view implementation) {
    if (implementation == "textbook") return "textbook recipe";
    if (implementation == "herd") return "herd lock";
    return "corozk";
}

std::size_t sensible_limit(std::string_view implementation) {
    if (implementation == "textbook") return 10'000;  // 10,000 listings of 10,000 names
    if (implementation == "herd") return 1'000;       // 1,000 releases wake 1,000 waiters each
    return 0;
}

boost::asio::awaitable<void> run_contest(stage& s, contest_setup setup, result& r) {
    std::size_t samples = setup.floor_samples > 0 ? setup.floor_samples : floor_samples;
    auto floor = s.floor(samples);
    if (setup.implementation == "textbook") {
        co_await run_contest_of<textbook_lock>(s, setup, r);
    } else if (setup.implementation == "herd") {
        co_await run_contest_of<herd_lock>(s, setup, r);
    } else {
        co_await run_contest_of<our_lock>(s, setup, r);
    }
    floor.add(s.floor(samples));
    stage::add_floor(r, floor, "handover_us.p50");
}

}  // namespace corozk::bench
