// SPDX-License-Identifier: Apache-2.0
#include "stage.hpp"

#include "certificates.hpp"
#include "host_list.hpp"
#include "interruption.hpp"
#include "output.hpp"
#include "server_counters.hpp"
#include "usage.hpp"
#include <corozk/testing/four_letter.hpp>
#include <corozk/version.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <exception>
#include <random>
#include <stdexcept>

namespace corozk::bench {

namespace {

constexpr std::size_t warm_up_samples = 500;
constexpr std::size_t warm_up_in_flight = 500;
/// With a server that collects garbage.
constexpr auto server_patience = std::chrono::seconds(60);
/// Of an ensemble's servers the one that may have to lag: with the lowest id it is never elected
/// while they know the same.
constexpr std::size_t lagging = 0;
constexpr auto clean_up_limit = std::chrono::seconds(20);

testing::server_options options_for(const settings& s) {
    testing::server_options o;
    o.tick_time = std::chrono::milliseconds(2'000);
    o.heap = "-Xmx" + s.heap;
    // What the virtual machine takes by default on such machines, and all others were measured
    // with.
    o.java_properties = {"-XX:-UseSerialGC", "-XX:+UseG1GC"};
    o.where = s.on_disk ? testing::storage::disk : testing::storage::memory;
    o.quick_start = false;
    // For hours the logs of all changes would take tens of gigabytes.
    o.config_lines = {"autopurge.snapRetainCount=3", "autopurge.purgeInterval=1"};
    o.log_level = "WARN";
    return o;
}

/// Of sessions that are not to expire, however short those are that are measured.
int raw_timeout(const settings& s) {
    constexpr auto least = std::chrono::milliseconds(20'000);
    return static_cast<int>(std::max(s.session_timeout, least).count());
}

/// Requests of processes that were killed may still arrive.
boost::asio::awaitable<void> erase_all(client& c, std::string path) {
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    for (;;) {
        auto [ec] = co_await c.erase_tree(path, boost::asio::as_tuple(boost::asio::use_awaitable));
        if (!ec || ec == zk_errc::no_node)
            co_return;
        pause.expires_after(std::chrono::milliseconds(100));
        co_await pause.async_wait(boost::asio::use_awaitable);
    }
}

std::string random_name() {
    std::random_device source;
    return fmt::format("/corozk-bench-{:08x}{:08x}", source(), source());
}

}  // namespace

stage::stage(const settings& s, progress& p) : settings_(s), progress_(p), root_(random_name()) {
    ::zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    // corozk's sessions choose by themselves. Two bare ones are at the same server: a leader's `sync`
    // does not wait for itself.
    ::zoo_deterministic_conn_order(1);
    if (s.hosts.empty()) {
        start_servers();
    } else {
        hosts_ = s.hosts;
        prompt_hosts_ = s.hosts;
    }
}

void stage::prepare() {
    interruption::check();
    if (settings_.look_only)
        return;
    progress_.update("connecting to " + hosts_);
    {
        raw_loop loop(prompt_hosts_, root_, raw_timeout(settings_));
        made_ = true;
        loop.make(root_);
    }
    version_ = server_version();
    warm_up();
    progress_.clear();
}

stage::~stage() {
    progress_.clear();
}

void stage::start_servers() {
    auto member = options_for(settings_);
    if (settings_.servers > 1) {
        start_ensemble(member);
        return;
    }
    progress_.update("starting a ZooKeeper server");
    if (settings_.tls && has_tls())
        testing::speak_tls(member, tls_port_.emplace().port(), "server", "none");
    standalone_ = std::make_unique<testing::server>(member);
    hosts_ = standalone_->hosts();
    prompt_hosts_ = hosts_;
}

void stage::start_ensemble(const testing::server_options& member) {
    testing::ensemble_options o;
    o.size = static_cast<std::size_t>(settings_.servers);
    o.observers = settings_.observers;
    o.member = member;
    // As in ZooKeeper's sample configuration: a new leader may wait in vain for so many ticks
    // (ZOOKEEPER-4685), and sessions should outlive that.
    o.init_limit = 10;
    if (lag().count() > 0) {
        o.quorum_route = [this](std::size_t asks, std::size_t whom, std::uint16_t port) {
            return late_route(asks, whom, port);
        };
    }
    progress_.update(fmt::format("starting {} ZooKeeper servers", o.size + o.observers));
    ensemble_ = std::make_unique<testing::ensemble>(o);
    hosts_ = ensemble_->hosts();
    prompt_hosts_ = hosts_;
    if (lag().count() == 0)
        return;
    if (leader() == lagging)
        throw std::runtime_error("the server that is to lag was elected leader");
    // Last: some clients try the first one first.
    std::string late = server(lagging).hosts();
    prompt_hosts_ = hosts_.substr(late.size() + 1);
    hosts_ = prompt_hosts_ + ',' + late;
}

std::uint16_t stage::late_route(std::size_t asks, std::size_t whom, std::uint16_t port) {
    if (asks != lagging)
        return port;
    testing::stream_proxy& way = late_[whom];
    way.set_delay(testing::direction::to_client, lag());
    way.forward_to(port);
    return way.port();
}

/// Java compiles what is called often: before that, everything is several times slower.
void stage::warm_up() {
    auto warm = [this](raw_loop& loop, std::size_t requests) {
        loop.on_progress = [this](std::size_t, std::size_t) {
            interruption::check();
            progress_.update("warming the server up");
        };
        loop.pipeline(requests, warm_up_in_flight);
    };
    // Each write warms all of an ensemble's servers up.
    for (std::size_t i = 0; ensemble_ && i < servers(); ++i) {
        raw_loop loop(server(i).hosts(), root_, raw_timeout(settings_));
        warm(loop, settings_.warm_up / servers());
    }
    auto loop = raw();
    warm(*loop, settings_.warm_up);
    loop->measure(std::min(settings_.warm_up, warm_up_samples));
}

std::string stage::server_version() {
    if (!hosts_.starts_with("127.0.0.1:") && !hosts_.starts_with("localhost:"))
        return "unknown";
    // Of an ensemble, one may be down.
    for (std::uint16_t port : ports_of(hosts_)) {
        try {
            std::string text = testing::four_letter(port, "srvr");
            constexpr std::string_view key = "ookeeper version: ";
            auto at = text.find(key);
            if (at == text.npos)
                continue;
            text = text.substr(at + key.size());
            return text.substr(0, text.find_first_of("-, \n"));
        } catch (const std::exception&) {
            continue;
        }
    }
    return "unknown";
}

std::string stage::fresh_path(std::string_view name) {
    return fmt::format("{}/{}-{}", root_, name, ++paths_);
}

void stage::move_away(std::chrono::milliseconds distance) {
    near_hosts_ = prompt_hosts_;
    std::string far;
    for (std::uint16_t port : ports_of(near_hosts_)) {
        testing::stream_proxy& way =
            *distant_.emplace_back(std::make_unique<testing::stream_proxy>());
        way.set_delay(testing::direction::to_client, distance);
        way.forward_to(port);
        far += (far.empty() ? "" : ",") + way.hosts();
    }
    hosts_ = prompt_hosts_ = far;
}

void stage::move_back() noexcept {
    hosts_ = prompt_hosts_ = std::move(near_hosts_);
    distant_.clear();
}

client_options stage::options() const {
    client_options o(hosts_);
    o.session_timeout = settings_.session_timeout;
    o.logger.level = log_level::error;
    return o;
}

std::optional<client_options> stage::secure_options() const {
    if (!tls_port_)
        return std::nullopt;
    client_options o = options();
    o.hosts = fmt::format("127.0.0.1:{}", tls_port_->port());
    o.tls = testing::made().trusting("ca.pem");
    return o;
}

boost::asio::awaitable<std::vector<client>> stage::connect(std::size_t count) {
    return connect(count, options());
}

boost::asio::awaitable<std::vector<client>> stage::connect(std::size_t count, client_options with) {
    std::vector<client> clients;
    clients.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (count > 10)
            progress_.update("connecting sessions", i, count);
        clients.push_back(co_await client::connect(with));
    }
    co_return clients;
}

void stage::start_closing(std::vector<client>& clients) {
    for (auto& c : clients)
        c.close([](error_code) {});
}

boost::asio::awaitable<void> stage::close(std::vector<client>& clients) {
    auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::steady_timer all_are_closed(executor, clock::time_point::max());
    std::size_t open = clients.size();
    for (auto& c : clients) {
        c.close([&open, &all_are_closed](error_code) {
            if (--open == 0)
                all_are_closed.cancel();
        });
    }
    while (open > 0)
        co_await all_are_closed.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    clients.clear();
}

std::unique_ptr<raw_loop> stage::raw() {
    auto loop = std::make_unique<raw_loop>(prompt_hosts_, root_, raw_timeout(settings_));
    loop->on_progress = [this](std::size_t, std::size_t) {
        interruption::check();
        progress_.update("measuring the floor");
    };
    return loop;
}

std::unique_ptr<raw_ring> stage::ring(std::size_t sessions) {
    auto ring = std::make_unique<raw_ring>(prompt_hosts_, root_, raw_timeout(settings_), sessions);
    ring->on_progress = [this](std::size_t done, std::size_t total) {
        interruption::check();
        progress_.update("passing a token around bare sessions", done, total);
    };
    return ring;
}

std::unique_ptr<open_loop> stage::at_rate(open_loop::request what,
                                          double per_second,
                                          std::string hosts) {
    std::string node = fresh_path("node");
    raw()->make(node);
    return std::make_unique<open_loop>(hosts.empty() ? prompt_hosts_ : std::move(hosts),
                                       node,
                                       static_cast<int>(settings_.session_timeout.count()),
                                       what,
                                       per_second);
}

raw_loop::samples stage::floor(std::size_t count) {
    return raw()->measure(count);
}

void stage::add_floor(result& r, const raw_loop::samples& floor, std::string_view key) {
    r.add("floor_us.p50", floor.handover.p50());
    r.add("floor_us.p99", floor.handover.p99());
    if (!key.empty())
        r.add("floor_ratio", r.last(key) / floor.handover.p50());
}

std::size_t stage::servers() const noexcept {
    return standalone_ ? 1 : ensemble_ ? ensemble_->size() : 0;
}

testing::server& stage::server(std::size_t index) {
    return standalone_ ? *standalone_ : (*ensemble_)[index];
}

std::optional<std::size_t> stage::leader() const {
    if (!ensemble_)
        return std::nullopt;
    return ensemble_->leader();
}

std::string stage::role(std::size_t index) const {
    if (!ensemble_)
        return {};
    std::string mode = ensemble_->mode(index);
    bool late = lag().count() > 0 && index == lagging && mode == "follower";
    return late ? "lagging follower" : mode;
}

latencies stage::floor_at(std::size_t index, std::size_t count) {
    std::string to = server(leader().value_or(index)).hosts();
    raw_loop loop(to, server(index).hosts(), root_, raw_timeout(settings_));
    return loop.measure(count).handover;
}

std::map<std::string, std::string> stage::ask(std::size_t index) {
    ++asked_;
    return testing::mntr(server(index).port(), server_patience);
}

stage::server_use stage::use() {
    // The servers count these questions, too: one packet more has come, and four bytes.
    server_use sum;
    sum.received = -asked_;
    sum.bytes = -4 * asked_;
    for (std::size_t i = 0; i < servers(); ++i) {
        auto counts = ask(i);
        auto number = [&counts](std::string_view name) {
            auto at = counts.find(std::string(name));
            return at == counts.end() ? 0 : std::stoll(at->second);
        };
        sum.received += number("zk_packets_received");
        for (auto name : notification_counters)
            sum.notifications += number(name);
        sum.bytes += number("zk_bytes_received_count") + number("zk_response_bytes");
    }
    sum.cpu_seconds = cpu_seconds();
    return sum;
}

double stage::cpu_seconds() {
    double sum = 0;
    for (std::size_t i = 0; i < servers(); ++i)
        sum += usage::process_cpu_seconds(server(i).pid());
    return sum;
}

std::int64_t stage::watches() {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < servers(); ++i)
        sum += std::stoll(ask(i)["zk_watch_count"]);
    return sum;
}

std::int64_t stage::nodes() {
    return owns_servers() ? std::stoll(ask(0)["zk_znode_count"]) : 0;
}

std::string stage::description() const {
    if (!owns_servers())
        return fmt::format("ZooKeeper {} at {}", version_, hosts_);
    std::string which =
        settings_.servers == 1 ? "a server" : fmt::format("{} servers", settings_.servers);
    if (auto n = settings_.observers; n > 0)
        which += n == 1 ? " and an observer" : fmt::format(" and {} observers", n);
    std::string text = fmt::format("ZooKeeper {}, {} of our own on this machine, data {}",
                                   version_,
                                   which,
                                   settings_.on_disk ? "on disk" : "in memory");
    if (lag().count() > 0)
        text += fmt::format(", one follower {} ms behind the leader", lag().count());
    return text;
}

boost::json::object stage::facts() const {
    boost::json::object facts;
    facts["zookeeper"] = boost::json::string(version_);
    facts["servers"] = owns_servers() ? "own" : "given";
    facts["hosts"] = boost::json::string(hosts_);
    facts["warm_up"] = settings_.warm_up;
    if (owns_servers()) {
        facts["server_count"] = settings_.servers;
        facts["data"] = settings_.on_disk ? "disk" : "memory";
        facts["heap"] = boost::json::string(settings_.heap);
    }
    if (ensemble_) {
        facts["observers"] = settings_.observers;
        facts["lag_ms"] = lag().count();
        boost::json::object roles;
        for (std::size_t i = 0; i < servers(); ++i)
            roles[(*ensemble_)[i].hosts()] = boost::json::string(role(i));
        facts["roles"] = std::move(roles);
    }
    return facts;
}

void stage::clean_up() noexcept {
    if (owns_servers() || !made_)
        return;  // their data goes with them
    made_ = false;
    try {
        boost::asio::io_context context(1);
        std::exception_ptr problem;
        bool ended = false;
        auto work = [this]() -> boost::asio::awaitable<void> {
            auto clients = co_await connect(1);
            co_await erase_all(clients.front(), root_);
            co_await close(clients);
        };
        boost::asio::co_spawn(context, work(), [&](std::exception_ptr e) {
            problem = e;
            ended = true;
        });
        context.run_for(clean_up_limit);
        if (problem)
            std::rethrow_exception(problem);
        if (!ended)
            throw std::runtime_error(fmt::format("not within {} s", clean_up_limit.count()));
    } catch (const std::exception& e) {
        progress_.clear();
        remark(fmt::format("could not remove {}: {}\n", root_, e.what()));
    }
}

void add_handovers(result& r,
                   const stage::server_use& before,
                   const stage::server_use& after,
                   double handovers) {
    auto requests = static_cast<double>(after.received - before.received);
    auto notifications = static_cast<double>(after.notifications - before.notifications);
    auto bytes = static_cast<double>(after.bytes - before.bytes);
    double cpu_us = (after.cpu_seconds - before.cpu_seconds) * 1e6;
    r.add("server_cpu_us_per_handover", cpu_us / handovers);
    r.add("server.requests_per_handover", requests / handovers);
    r.add("server.notifications_per_handover", notifications / handovers);
    r.add("server.bytes_per_handover", bytes / handovers);
}

}  // namespace corozk::bench
