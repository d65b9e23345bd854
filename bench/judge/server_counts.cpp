// SPDX-License-Identifier: Apache-2.0
#include "judge/server_counts.hpp"

#include "server_counters.hpp"
#include "watch/server_look.hpp"
#include "watch/server_words.hpp"

namespace corozk::bench {

namespace {

constexpr auto count_limit = std::chrono::seconds(10);

}  // namespace

boost::asio::awaitable<std::optional<stage::server_use>> server_counts::take() {
    if (on_.owns_servers())
        co_return on_.use();
    // Each question is counted as a packet that has come.
    stage::server_use sum;
    try {
        for (const auto& server : parse_hosts(on_.hosts())) {
            sum.received -= asked_;
            sum.bytes -= 4 * asked_;
            server_look l;
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
        }
    } catch (const server_silent&) {
        co_return std::nullopt;
    } catch (const word_refused&) {
        co_return std::nullopt;
    }
    ++asked_;
    co_return sum;
}

}  // namespace corozk::bench
