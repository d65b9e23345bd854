// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "open_loop.hpp"
#include "stage.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace corozk::bench {

/// A client that has nothing to do with what the others do: it reads a node at a steady rate.
class neighbour {
public:
    static constexpr double reads_per_second = 200;

    /// Some time.
    struct experience {
        latencies reads;
        double seconds = 0;
        double server_cpu_seconds = 0;
    };

    explicit neighbour(stage& on);

    /// From now on it counts.
    boost::asio::awaitable<void> begin();
    boost::asio::awaitable<experience> end();

private:
    boost::asio::awaitable<void> until_passed(clock::time_point t);

    stage& on_;
    std::unique_ptr<open_loop> reader_;
    clock::time_point began_{};
    double cpu_before_ = 0;
};

/// What it noticed of so many turns, beside a time without any; and what a turn cost the servers
/// beyond what they did anyway.
void add_experience(result& r,
                    const stage& on,
                    const neighbour::experience& idle,
                    const neighbour::experience& busy,
                    std::size_t turns);

}  // namespace corozk::bench
