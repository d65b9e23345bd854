// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "open_loop.hpp"
#include "progress.hpp"
#include "raw_loop.hpp"
#include "raw_ring.hpp"
#include "result.hpp"
#include "settings.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/ensemble.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/testing/server.hpp>
#include <corozk/testing/stream_proxy.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What a measurement plays on: the server (our own, unless one was named) and a folder that is all
/// ours.
class stage {
public:
    /// Starts our own servers, if none were named.
    stage(const settings& s, progress& p);

    /// Makes the folder and warms the servers up.
    void prepare();

    /// Stops our servers and removes their data.
    ~stage();

    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

    const std::string& hosts() const noexcept { return hosts_; }

    /// A path of our folder that was not used before.
    std::string fresh_path(std::string_view name);

    /// Every response of our own servers arrives so much later at whatever connects from now on, until
    /// `move_back`, which cuts its connections.
    void move_away(std::chrono::milliseconds distance);
    void move_back() noexcept;

    /// What clients connect with.
    client_options options() const;

    /// The same over TLS; none if the server has no port for it.
    std::optional<client_options> secure_options() const;

    /// Connects on the coroutine's executor: with `options()`, or with others.
    boost::asio::awaitable<std::vector<client>> connect(std::size_t count);
    boost::asio::awaitable<std::vector<client>> connect(std::size_t count, client_options with);

    /// Begins to close them, which ends everything that waits on them.
    static void start_closing(std::vector<client>& clients);

    /// All at the same time.
    static boost::asio::awaitable<void> close(std::vector<client>& clients);

    /// The floor, measured now (see raw_loop); blocks for about 1.5 ms per sample.
    raw_loop::samples floor(std::size_t count);

    /// Adds the floor's keys, and a ratio to it if `key` names what to compare.
    static void add_floor(result& r, const raw_loop::samples& floor, std::string_view key = {});

    std::unique_ptr<raw_loop> raw();

    /// So many sessions that pass a turn on; blocks, too.
    std::unique_ptr<raw_ring> ring(std::size_t sessions);

    /// A client of its own thread, which sends so many requests a second to a node of its own;
    /// at `hosts`, if there are any.
    std::unique_ptr<open_loop> at_rate(open_loop::request what,
                                       double per_second,
                                       std::string hosts = {});

    /// Whether the servers are our own, to look into and to maltreat.
    bool owns_servers() const noexcept { return standalone_ || ensemble_; }
    testing::server& server(std::size_t index = 0);

    /// Which of our own servers leads; nothing if there is one only, or none now.
    std::optional<std::size_t> leader() const;

    /// "leader", "follower", "lagging follower" or "observer"; empty if the servers are no ensemble
    /// of ours, or this one does not serve now.
    std::string role(std::size_t index) const;

    /// So much later than the others one of our servers hears of everything.
    std::chrono::milliseconds lag() const noexcept { return settings_.lag; }

    /// The floor where the event is seen at this server, and the delete is sent to the leader.
    latencies floor_at(std::size_t index, std::size_t count);
    std::size_t servers() const noexcept;

    struct server_use {
        double cpu_seconds = 0;
        std::int64_t received = 0;  ///< requests
        std::int64_t notifications = 0;
        std::int64_t bytes = 0;            ///< of all that is received and sent
        bool counts_notifications = true;  ///< whether all servers do
    };
    /// Sums over our own servers, without what asking them adds; nothing when they are not ours.
    server_use use();

    /// CPU time of our own servers, which are not asked for it; 0 when they are not ours.
    double cpu_seconds();

    /// How many nodes our own servers' first one has; 0 when they are not ours.
    std::int64_t nodes();

    /// How many watches our own servers hold; 0 when they are not ours.
    std::int64_t watches();

    std::string description() const;
    boost::json::object facts() const;

    progress& shown() noexcept { return progress_; }

    /// Removes our folder, if it was made, from a server that is not our own; for some seconds at
    /// most.
    void clean_up() noexcept;

private:
    /// The server's words about itself.
    std::map<std::string, std::string> ask(std::size_t index);
    void start_servers();
    void start_ensemble(const testing::server_options& member);
    std::uint16_t late_route(std::size_t asks, std::size_t whom, std::uint16_t port);
    void warm_up();
    std::string server_version();

    const settings& settings_;
    progress& progress_;
    std::unique_ptr<testing::server> standalone_;
    std::map<std::size_t, testing::stream_proxy> late_;  ///< by whom the lagging server asks
    std::unique_ptr<testing::ensemble> ensemble_;
    std::string hosts_;
    std::string prompt_hosts_;  ///< those that do not lag
    std::string near_hosts_;    ///< while `distant_` are used
    std::vector<std::unique_ptr<testing::stream_proxy>> distant_;
    std::optional<testing::port_reservation> tls_port_;
    std::string root_;
    std::string version_;
    bool made_ = false;  ///< the folder, at least its making was begun
    std::size_t paths_ = 0;
    std::int64_t asked_ = 0;  ///< how often `ask` was called
};

/// How many samples of the floor are taken before and after a measurement.
inline constexpr std::size_t floor_samples = 400;

/// What so many hand-overs between two moments have cost the servers.
void add_handovers(result& r,
                   const stage::server_use& before,
                   const stage::server_use& after,
                   double handovers);

}  // namespace corozk::bench
