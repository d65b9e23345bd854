// SPDX-License-Identifier: Apache-2.0
// What the status page shows. Watches keep it up to date, so that looking at it costs ZooKeeper
// nothing, however many look.
#pragma once

#include "bell.hpp"
#include "jobs.hpp"
#include "leader.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/json.hpp>

#include <memory>
#include <string>

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

    bool connected() const { return status_.state == corozk::session_state::connected; }

    /// Follows everything, for ever.
    awaitable<void> follow() {
        using namespace asio::experimental::awaitable_operators;
        co_await (follow_session() && follow_members() && follow_leader() && follow_jobs() &&
                  follow_ticks());
    }

private:
    awaitable<void> follow_session() {
        for (;;) {
            status_ = co_await zk_.next_state(status_);
            publish();
        }
    }

    awaitable<void> follow_members() {
        corozk::children_cache cache(zk_, "/service/members");
        for (corozk::tree_state now;;) {
            now = co_await cache.next(now.revision);
            members_ = now.nodes;
            publish();
        }
    }

    awaitable<void> follow_leader() {
        for (;;) {
            elected_ = co_await leader_.next(elected_);
            publish();
        }
    }

    /// Looks at most five times a second, however busy the queue is.
    awaitable<void> follow_jobs() {
        asio::steady_timer pause(zk_.get_executor());
        for (;;) {
            corozk::watched_children jobs = co_await zk_.watch_children("/service/jobs");
            waiting_ = co_await jobs_.waiting();
            publish();
            co_await jobs.changed.next();
            pause.expires_after(std::chrono::milliseconds(200));
            co_await pause.async_wait(asio::use_awaitable);
        }
    }

    awaitable<void> follow_ticks() {
        corozk::node_cache cache(zk_, "/service/ticks");
        for (corozk::node_state now;;) {
            now = co_await cache.next(now.revision);
            ticks_ = now.data.empty() ? 0 : std::stol(now.data);
            publish();
        }
    }

    void publish() {
        boost::json::array members;
        if (members_) {
            for (const auto& [name, node] : *members_) {
                boost::json::object row;
                row["name"] = name;
                row["address"] = node.data;
                row["leader"] = name == elected_.identity;
                members.push_back(std::move(row));
            }
        }
        boost::json::object all;
        all["self"] = name_;
        all["session"] = boost::json::string(corozk::to_string(status_.state));
        all["members"] = std::move(members);
        all["waiting"] = waiting_;
        all["done"] = jobs_.done();
        all["ticks"] = ticks_;
        text_ = boost::json::serialize(all);
        changed.ring();
    }

    corozk::client& zk_;
    std::string name_;
    jobs& jobs_;
    leader& leader_;
    corozk::session_status status_;
    std::shared_ptr<const std::map<std::string, corozk::node_data>> members_;
    corozk::election_leader elected_;
    std::size_t waiting_ = 0;
    long ticks_ = 0;
    std::string text_;
};

}  // namespace service
