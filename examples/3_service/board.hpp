// SPDX-License-Identifier: Apache-2.0
// The content of the status page. It is updated by watches, so that requests for the page cost
// ZooKeeper nothing.
#pragma once

#include "bell.hpp"
#include "jobs.hpp"
#include "keep_up.hpp"
#include "leader.hpp"
#include "peers.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace service {

class board {
public:
    board(corozk::client& zk, std::string name, jobs& work, leader& elected)
        : changed(zk.get_executor()),
          zk_(zk),
          name_(std::move(name)),
          jobs_(work),
          leader_(elected),
          status_(zk.status()) {
        publish();
    }

    bell changed;

    /// As JSON.
    const std::string& text() const { return text_; }

    /// Follows everything, forever.
    awaitable<void> follow(health& all) {
        using namespace asio::experimental::awaitable_operators;
        auto session = [this](health::part& state) { return follow_session(state); };
        auto members = [this](health::part& state) { return follow_members(state); };
        auto leading = [this](health::part& state) { return follow_leader(state); };
        auto waiting = [this](health::part& state) { return follow_jobs(state); };
        auto ticking = [this](health::part& state) { return follow_ticks(state); };
        co_await (keep_up(all, "session", session) && keep_up(all, "status: members", members) &&
                  keep_up(all, "status: leader", leading) &&
                  keep_up(all, "status: jobs", waiting) && keep_up(all, "status: ticks", ticking));
    }

private:
    awaitable<void> follow_session(health::part& state) {
        for (;;) {
            if (status_.state == corozk::session_state::connected)
                state.works();
            else
                state.fails(std::string(corozk::to_string(status_.state)));
            publish();
            status_ = co_await zk_.next_status(status_);
        }
    }

    awaitable<void> follow_members(health::part& state) {
        corozk::service_cache cache(zk_, peers::path, peers::kind);
        for (corozk::service_state now;;) {
            now = co_await cache.next(now);
            members_ = now.instances;
            state.works();
            publish();
        }
    }

    awaitable<void> follow_leader(health::part& state) {
        elected_ = corozk::election_leader();
        for (;;) {
            publish();
            state.works();
            elected_ = co_await leader_.next(elected_);
        }
    }

    /// Reads at most five times a second, regardless of the load.
    awaitable<void> follow_jobs(health::part& state) {
        asio::steady_timer pause(zk_.get_executor());
        for (;;) {
            corozk::watched_children jobs = co_await zk_.watch_children("/service/jobs");
            waiting_ = co_await jobs_.waiting();
            state.works();
            publish();
            co_await jobs.changed.next();
            pause.expires_after(std::chrono::milliseconds(200));
            co_await pause.async_wait(asio::use_awaitable);
        }
    }

    awaitable<void> follow_ticks(health::part& state) {
        corozk::node_cache cache(zk_, "/service/ticks");
        for (corozk::node_state now;;) {
            now = co_await cache.next(now);
            ticks_ = now.data.empty() ? 0 : to_number(now.data);
            if (ticks_)
                state.works();
            else
                state.fails("/service/ticks does not contain a number");
            publish();
        }
    }

    void publish() {
        boost::json::array members;
        for (const corozk::service_instance& one : members_) {
            members.push_back(
                {{"name", one.id},
                 {"address", one.address + ":" + std::to_string(one.port.value_or(0))},
                 {"leader", one.id == elected_.identity}});
        }
        boost::json::object all;
        all["self"] = name_;
        all["session"] = boost::json::string(corozk::to_string(status_.state));
        all["members"] = std::move(members);
        all["waiting"] = waiting_;
        all["done"] = jobs_.done();
        all["put_aside"] = jobs_.put_aside();
        if (ticks_)
            all["ticks"] = *ticks_;
        else
            all["ticks"] = nullptr;
        text_ = boost::json::serialize(all);
        changed.ring();
    }

    corozk::client& zk_;
    std::string name_;
    jobs& jobs_;
    leader& leader_;
    corozk::session_status status_;
    std::vector<corozk::service_instance> members_;
    corozk::election_leader elected_;
    std::size_t waiting_ = 0;
    std::optional<long> ticks_ = 0;  ///< empty: not a number
    std::string text_;
};

}  // namespace service
