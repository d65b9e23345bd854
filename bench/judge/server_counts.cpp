// SPDX-License-Identifier: Apache-2.0
#include "judge/server_counts.hpp"

#include "server_counters.hpp"
#include "watch/server_words.hpp"

#include <cstddef>
#include <utility>

namespace corozk::bench {

namespace {

constexpr auto count_limit = std::chrono::seconds(10);

}  // namespace

boost::asio::awaitable<std::optional<stage::server_use>> server_counts::take() {
    if (on_.owns_servers())
        co_return on_.use();
    // Each question is counted as a packet that has come.
    stage::server_use sum;
    std::vector<server_look> looks;
    try {
        for (const auto& server : parse_hosts(on_.hosts())) {
            sum.received -= asked_;
            sum.bytes -= 4 * asked_;
            server_look l;
            l.asked = std::chrono::steady_clock::now();
            parse_mntr(co_await ask_server(server, "mntr", count_limit), l);
            auto number = [&l](std::string_view name) {
                return static_cast<std::int64_t>(l.counter(name));
            };
            sum.received += number("zk_packets_received");
            for (auto name : notification_counters) {
                sum.notifications += number(name);
                sum.counts_notifications = sum.counts_notifications && l.counters.contains(name);
            }
            sum.bytes += number("zk_bytes_received_count") + number("zk_response_bytes");
            looks.push_back(std::move(l));
        }
    } catch (const server_silent&) {
        co_return std::nullopt;
    } catch (const word_refused&) {
        co_return std::nullopt;
    }
    ++asked_;
    bool anew = false;
    for (std::size_t i = 0; i < looks_.size(); ++i)
        anew = anew || has_restarted(looks_[i], looks[i]);
    looks_ = std::move(looks);
    if (anew)
        co_return std::nullopt;
    co_return sum;
}

}  // namespace corozk::bench
