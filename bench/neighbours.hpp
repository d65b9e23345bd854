// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "open_loop.hpp"
#include "stage.hpp"

#include <boost/asio/awaitable.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// Clients that have nothing to do with what the others do: each reads a node at a steady rate. In
/// an ensemble of ours there is one at each server, otherwise one.
class neighbours {
public:
    static constexpr double reads_per_second = 200;

    /// Of some time.
    struct experience {
        struct of_one {
            std::string role;  ///< of its server: see stage
            latencies reads;
        };
        std::vector<of_one> all;
        double seconds = 0;
        double server_cpu_seconds = 0;
    };

    explicit neighbours(stage& on);

    /// From now on it counts.
    boost::asio::awaitable<void> begin();
    boost::asio::awaitable<experience> end();

private:
    struct reader {
        std::string role;
        std::unique_ptr<open_loop> loop;
    };

    boost::asio::awaitable<void> until_passed(clock::time_point t);

    stage& on_;
    std::vector<reader> readers_;
    clock::time_point began_{};
    double cpu_before_ = 0;
};

/// The roles of servers that are told apart.
inline constexpr std::array<std::string_view, 4> told_roles{
    "leader", "follower", "lagging follower", "observer"};

/// Under which key a row has the time of reads at servers of this role, or of all if it is empty.
std::string neighbour_key(std::string_view role, bool idle);

/// What they noticed of so many turns, beside a time without any; and what a turn cost the servers
/// beyond what they did anyway.
void add_experience(result& r,
                    const stage& on,
                    const neighbours::experience& idle,
                    const neighbours::experience& busy,
                    std::size_t turns);

}  // namespace corozk::bench
