// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compare/peer_process.hpp"
#include "stage.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace corozk::bench {

/// One measured part of what a peer did: its own figures, and what was seen from outside.
struct peer_phase {
    double operations = 0;
    double seconds = 0;
    bool server_is_ours = false;  ///< otherwise the next four are not known
    double requests = 0;          ///< these three by the server's count
    double notifications = 0;
    double bytes = 0;
    double server_cpu_seconds = 0;
    double client_cpu_seconds = 0;
    double memory_bytes = 0;  ///< what the process grew by
    std::size_t threads = 0;  ///< at the end
    boost::json::object values;
};

using peer_phases = std::map<std::string, peer_phase>;

/// Has a peer do something, and measures it from outside.
class peer_work {
public:
    peer_work(stage& on, client& observer, peer_process& process, std::chrono::seconds limit)
        : on_(on), observer_(observer), process_(process), limit_(limit) {}

    /// @throws peer_failure
    boost::asio::awaitable<peer_phases> ask(std::string request);

    /// Something to do around the beginning of a phase, instead of waiting for its end: what the
    /// peer does from then on is not heard.
    struct visit {
        std::string phase;
        std::function<boost::asio::awaitable<void>()> before;
        std::function<boost::asio::awaitable<void>()> after;
    };
    boost::asio::awaitable<void> ask(std::string request, const visit& at);

private:
    struct sample;
    sample look();
    boost::asio::awaitable<boost::json::object> next_message();
    boost::asio::awaitable<void> until_queued(boost::json::object wanted);
    boost::asio::awaitable<std::size_t> count_nodes(const boost::json::object& wanted);

    stage& on_;
    client& observer_;
    peer_process& process_;
    std::chrono::seconds limit_;
    std::int64_t watches_before_ = 0;
};

}  // namespace corozk::bench
