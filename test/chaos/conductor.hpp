// SPDX-License-Identifier: Apache-2.0
// Three servers, many clients, and everything that can go wrong with them.
#pragma once

#include "resource.hpp"
#include <corozk/testing/ensemble.hpp>
#include <corozk/testing/fault_proxy.hpp>
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/stream_proxy.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace corozk::chaos {

struct plan {
    std::chrono::seconds length{30};
    std::uint64_t seed = 1;
    std::size_t clients = 6;
    std::filesystem::path keep;  ///< where the servers' folders are copied after a failure
};

class conductor {
public:
    conductor(std::string self, plan p);

    /// Everything: the servers' start, chaos, calm, the end, and the judgement. Prints a summary.
    bool operator()();

private:
    using clock = std::chrono::steady_clock;
    using milliseconds = std::chrono::milliseconds;

    struct member {
        std::unique_ptr<testing::process_guard> process;
        int life = 0;
        bool busy = false;  ///< a fault of it is under way
    };

    // The course.
    void set_up();
    testing::ensemble_options with_routes();
    void start_client(std::size_t which);
    std::string hosts_of(std::size_t client) const;
    void break_things();
    void look_after_clients();
    void calm_down();
    void see_progress();
    void end_clients();
    void check(bool holds, const std::string& what);

    // What goes wrong.
    void fault();
    void fault_of_server();
    bool all_serve();
    void stop_server(std::size_t which, milliseconds length);
    void slow_disk(std::size_t which, clock::time_point end);
    void fault_of_client();
    void watch_owner();
    void see_a_late_owner();
    void fault_of_network();
    void jump_clock();
    /// A fault begins, and is over after a while: then `undo` is called.
    void begin(const std::string& what, milliseconds length, std::function<void()> undo = {});
    void later(milliseconds in, std::function<void()> undo);
    void run_undone(bool all);
    milliseconds between(int least, int most);
    std::size_t one_of(std::size_t count);
    bool one_in(int n) { return one_of(static_cast<std::size_t>(n)) == 0; }

    // What is left.
    final_state look();
    std::vector<std::string> differences();
    bool report(const final_state& last);
    void report_turns();
    void keep_servers();
    void describe_servers();

    std::string self_;
    plan plan_;
    std::mt19937_64 random_;
    testing::temporary_directory folder_;
    resource resource_;
    /// Between servers: who asks, and whom.
    std::array<std::array<std::unique_ptr<testing::stream_proxy>, 3>, 3> routes_;
    std::unique_ptr<testing::ensemble> servers_;
    std::array<bool, 3> server_busy_{};
    /// Half of the clients reach the servers through one row, half through the other.
    std::array<std::array<std::unique_ptr<testing::fault_proxy>, 3>, 2> proxies_;
    std::vector<member> clients_;
    std::multimap<clock::time_point, std::function<void()>> undone_;
    /// An owner that stands still until somebody else has entered.
    struct late_owner {
        std::size_t which = 0;
        std::int64_t token = 0;
        clock::time_point give_up;
    };
    std::optional<late_owner> late_owner_;
    std::map<std::string, int> faults_;
    std::vector<std::string> problems_;
    bool calm_ = false;
};

}  // namespace corozk::chaos
