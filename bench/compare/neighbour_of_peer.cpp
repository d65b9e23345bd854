// SPDX-License-Identifier: Apache-2.0
#include "compare/neighbour_of_peer.hpp"

#include "compare/peer_kind.hpp"
#include "compare/peer_work.hpp"
#include "neighbours.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace corozk::bench {

namespace {

constexpr auto peer_start_limit = std::chrono::seconds(60);

class peer_run {
public:
    peer_run(job& j, const peer_kind& kind, std::size_t waiters, std::chrono::milliseconds hold)
        : job_(j), kind_(kind), waiters_(waiters), hold_(hold) {}

    boost::asio::awaitable<void> run(client& observer, result& r) {
        peer_program program = prepare_peer(kind_);
        if (!program.missing.empty())
            throw peer_failure(program.missing);
        std::vector<std::string> arguments{job_.on.hosts(),
                                           std::to_string(job_.wanted.session_timeout.count())};
        // It ends with this, in whatever it is.
        peer_process process(program.words, arguments);
        auto ready = co_await process.next(peer_start_limit);
        std::string version =
            program.version.empty() ? ready["version"].as_string().c_str() : program.version;
        r.set("title", fmt::format("{} {}", kind_.title, version));
        peer_work work(job_.on, observer, process, job_.wanted.deadline);
        std::size_t few = std::min<std::size_t>(waiters_, 100);
        std::string less =
            request(few, std::min<std::size_t>(few, 10), std::chrono::milliseconds(0));
        co_await work.ask(std::move(less));
        beside_.emplace(job_.on);
        peer_work::visit at;
        at.phase = "drain";
        at.before = [this] { return look(idle_); };
        at.after = [this] { return look(busy_); };
        std::string all = request(waiters_, waiters_, hold_);
        co_await work.ask(std::move(all), at);
        add_experience(r, job_.on, idle_, busy_, turns());
    }

private:
    std::size_t turns() const { return std::min(job_.wanted.releases, waiters_); }

    std::string request(std::size_t waiters, std::size_t sessions, std::chrono::milliseconds hold) {
        job_.on.shown().update(fmt::format("{}: {} waiters", kind_.title, waiters));
        return fmt::format("handover kind=lock path={} waiters={} sessions={} hold={}",
                           job_.on.fresh_path(kind_.name),
                           waiters,
                           sessions,
                           hold.count());
    }

    boost::asio::awaitable<void> look(neighbours::experience& seen) {
        co_await beside_->begin();
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, hold_ * turns());
        co_await timer.async_wait(boost::asio::use_awaitable);
        seen = co_await beside_->end();
    }

    job& job_;
    const peer_kind& kind_;
    std::size_t waiters_;
    std::chrono::milliseconds hold_;
    std::optional<neighbours> beside_;
    neighbours::experience idle_;
    neighbours::experience busy_;
};

}  // namespace

boost::asio::awaitable<result> measure_neighbour_of_peer(job& j,
                                                         std::string peer,
                                                         std::size_t waiters,
                                                         std::chrono::milliseconds hold) {
    const peer_kind& kind = find_peer(peer);
    result row;
    row.set("implementation", kind.name).set("recipe", "lock").set("title", kind.title);
    row.set("waiters", waiters).set("sessions", waiters);
    row.set("processes", 1).set("repeat", j.wanted.repeat).set("releases", j.wanted.releases);
    auto clients = co_await j.on.connect(1);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        peer_run run(j, kind, waiters, hold);
        std::string failure;
        try {
            co_await run.run(clients.front(), row);
        } catch (const peer_failure& e) {
            failure = e.what();
        }
        if (!failure.empty()) {
            row.set("failure", failure);
            break;
        }
    }
    co_await stage::close(clients);
    co_return row;
}

}  // namespace corozk::bench
