// SPDX-License-Identifier: Apache-2.0
// Three servers, many clients, and everything that can go wrong with them.
#pragma once

#include "client.hpp"
#include "deck.hpp"
#include "resource.hpp"
#include "tls/tls_front.hpp"
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
#include <random>
#include <string>
#include <vector>

namespace corozk::chaos {

struct plan {
    std::chrono::seconds length{30};
    std::uint64_t seed = 1;
    std::size_t clients = 6;
    bool tls = false;
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

    /// A way to a server, which can be broken.
    struct way {
        explicit way(std::uint16_t server, bool tls) : proxy(server) {
            if (tls)
                front.emplace(proxy.port());
        }
        std::string hosts() const { return front ? front->hosts() : proxy.hosts(); }

        testing::fault_proxy proxy;
        std::optional<testing::tls_front> front;
    };

    /// `happen` begins it, and returns false if it cannot be now.
    struct fault_kind {
        const char* name;
        int weight;  ///< how often, beside the others
        bool (conductor::*happen)(const std::string& what);
    };
    static constexpr const char* owner_stopped = "owner stopped";
    static const std::vector<fault_kind>& fault_kinds();
    static std::vector<int> weights();

    // The course.
    void set_up();
    testing::ensemble_options with_routes();
    void start_client(std::size_t which);
    std::string hosts_of(std::size_t client) const;
    void break_things();
    bool is_long() const;
    void look_after_clients();
    void end_clients();
    void check(bool holds, const std::string& what);

    // When nothing goes wrong any more.
    void calm_down();
    void settle();
    void see_progress();
    void drain_queue();
    /// False, and a problem, if it does not come.
    bool wait_for(const std::function<bool()>& state, const std::string& what);

    // What goes wrong: with servers,
    bool kill_server(const std::string& what);
    bool stop_servers(const std::string& what);
    void stop_server(const std::string& what, std::size_t which, milliseconds length);
    bool slow_disk(const std::string& what);
    void write_slowly(std::size_t which, clock::time_point end);
    bool cut_off_server(const std::string& what);
    void hold_quorum_traffic(std::size_t which, bool on);
    bool all_serve();

    // ... with clients,
    bool kill_client(const std::string& what);
    bool stop_client(const std::string& what);
    bool stop_next_owner(const std::string& what);
    void watch_owner();
    void see_a_late_owner();
    bool jump_ahead(const std::string& what);
    bool jump_wall_clock(const std::string& what);
    bool jump_clock(const std::string& what, int signal, milliseconds length);

    // ... and between them.
    testing::fault_proxy& any_proxy();
    bool cut_connections(const std::string& what);
    bool lose_direction(const std::string& what);
    bool delay_network(const std::string& what);
    bool part_network(const std::string& what);

    void fault();
    /// A fault begins, and is over after a while: then `undo` is called.
    void begin(const std::string& what, milliseconds length, std::function<void()> undo = {});
    void later(milliseconds in, std::function<void()> undo);
    void run_undone(bool all);
    milliseconds between(milliseconds least, milliseconds most);
    std::size_t one_of(std::size_t count);
    bool one_in(int n) { return one_of(static_cast<std::size_t>(n)) == 0; }

    // What is left.
    final_state look();
    std::vector<std::string> differences();
    bool report(const final_state& last);
    void report_faults();
    void see_every_fault();
    void keep_servers();
    void describe_servers();
    static std::string what_threads_do(testing::server& s);

    std::string self_;
    plan plan_;
    std::mt19937_64 random_;
    deck deck_;
    testing::temporary_directory folder_;
    resource resource_;
    /// Between servers: who asks, and whom.
    std::array<std::array<std::unique_ptr<testing::stream_proxy>, 3>, 3> routes_;
    std::unique_ptr<testing::ensemble> servers_;
    std::array<bool, 3> server_busy_{};
    /// Half of the clients reach the servers through one row, half through the other.
    std::array<std::array<std::unique_ptr<way>, 3>, 2> ways_;
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
