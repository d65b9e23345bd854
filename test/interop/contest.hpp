// SPDX-License-Identifier: Apache-2.0
// Contests with another party on one path, and single contenders of both.
#pragma once

#include "party.hpp"
#include "record.hpp"
#include <corozk/contender_info.hpp>
#include <corozk/ownership.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corozk::testing {

/// What is under test: acquires at a path in a role ("read" or "write").
using acquire_function = std::function<boost::asio::awaitable<ownership>(std::string role)>;

/// Creates that for a client and a path.
using recipe_function = std::function<acquire_function(client& zk, std::string path)>;

struct contest {
    contest() = default;
    party_kind with = party_kind::curator;
    std::string kind;                         ///< for the other party's program
    std::vector<std::string> roles{"write"};  ///< in turn
    contest_goal goal;
    int ours = 2;
    int theirs = 2;
    std::vector<std::string> more;  ///< for the other party's program
    recipe_function recipe;
    std::vector<std::string> folders;  ///< must be empty afterwards; the path itself if none
};

inline client_options interop_options() {
    client_options options(shared_server().hosts());
    options.session_timeout = std::chrono::seconds(30);
    options.logger.level = log_level::off;
    return options;
}

inline boost::asio::awaitable<client> interop_client() {
    auto executor = co_await boost::asio::this_coro::executor;
    client_options options = interop_options();
    co_return co_await client::connect(executor, options);
}

/// A client of ours that can lose its session.
class mortal_client {
public:
    boost::asio::awaitable<void> connect() {
        auto executor = co_await boost::asio::this_coro::executor;
        client_options options = interop_options();
        options.hosts = proxy_.hosts();
        zk = co_await client::connect(executor, options);
    }

    /// The server ends its session.
    void expire() { corozk::testing::expire(proxy_.session()); }

    /// The same, and there is no next session until it may come back.
    void die() {
        proxy_.set_acceptance(acceptance::close_at_once);
        expire();
    }
    void come_back() { proxy_.set_acceptance(acceptance::normal); }

    client zk;

private:
    fault_proxy proxy_{shared_server().port()};
};

/// The session of a party that is to die, in the program's words.
inline constexpr const char* short_session = "session=5000";

/// One path and its record.
class meeting {
public:
    meeting() : path(fresh_path()), record_path(path + "-record"), hand(observer()) {
        open_record(hand, record_path);
    }

    /// The program's arguments for this place.
    std::vector<std::string> arguments(std::initializer_list<std::string> more) const {
        std::vector<std::string> all{"path=" + path, "record=" + record_path};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    turns result() { return turns::parse(hand.data(record_path + "/turns")); }

    /// How many contenders of a party hold.
    std::size_t inside(const std::string& who) {
        std::size_t count = 0;
        for (const std::string& name : hand.children(record_path + "/inside")) {
            if (name.starts_with(who + "-"))
                ++count;
        }
        return count;
    }

    /// Lets the holders release.
    void tell_to_leave() { hand.plant(record_path + "/leave"); }

    std::string path;
    std::string record_path;
    admin hand;
};

/// Runs a test's body with a client of ours. Holders that exclude each other must not overlap.
template <class Body>
void meet(meeting& at, Body body) {
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client zk = co_await interop_client();
            co_await body(zk);
            co_await zk.close();
        },
        party_limit + std::chrono::seconds(20));
    run_to_idle(context);
    CHECK(violations(at.hand, at.record_path) == std::vector<std::string>());
}

namespace detail {

/// One of our contenders, with a session of its own.
struct contest_side {
    explicit contest_side(client session) : zk(std::move(session)) {}
    client zk;
    std::shared_ptr<record> book;
    std::exception_ptr problem;
    bool over = false;
};

inline boost::asio::awaitable<void> take_turns(std::shared_ptr<contest_side> side,
                                               acquire_function acquire,
                                               std::vector<std::string> roles) {
    for (std::size_t turn = 0; !side->book->done(); ++turn) {
        std::string role = roles[turn % roles.size()];
        ownership held = co_await acquire(role);
        std::string marker = co_await side->book->enter(role);
        bool valid = held.valid();
        co_await side->book->leave(marker);
        if (!valid)
            throw std::runtime_error("what we held was not valid");
        co_await held.release();
    }
    co_await side->zk.close();
}

}  // namespace detail

/// Both parties contend until there were enough hand-overs each way. Two holders that exclude each
/// other must never have overlapped, and no node may be left behind.
inline turns contend(const contest& c) {
    meeting at;
    std::vector<std::string> arguments =
        at.arguments({"task=contend",
                      "kind=" + c.kind,
                      "contenders=" + std::to_string(c.theirs),
                      "limit=" + std::to_string(c.goal.limit),
                      "handovers=" + std::to_string(c.goal.handovers),
                      "together=" + std::to_string(c.goal.together)});
    arguments.insert(arguments.end(), c.more.begin(), c.more.end());
    party theirs(c.with, arguments);
    std::vector<std::shared_ptr<detail::contest_side>> sides;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client pen = co_await interop_client();
            auto book = std::make_shared<record>(std::move(pen), at.record_path, c.goal);
            for (int i = 0; i < c.ours; ++i) {
                client zk = co_await interop_client();
                auto side = std::make_shared<detail::contest_side>(std::move(zk));
                side->book = book;
                sides.push_back(side);
                acquire_function acquire = c.recipe(side->zk, at.path);
                boost::asio::co_spawn(context,
                                      detail::take_turns(side, acquire, c.roles),
                                      [side](std::exception_ptr e) {
                                          side->problem = e;
                                          side->over = true;
                                      });
            }
            auto everybody_ended = [&] {
                bool all = theirs.ended();
                for (const auto& side : sides) {
                    if (side->problem)
                        std::rethrow_exception(side->problem);
                    all = all && side->over;
                }
                return all;
            };
            co_await theirs.until(everybody_ended, "enough hand-overs: " + at.result().print());
            co_await book->close();
        },
        party_limit + std::chrono::seconds(20));
    run_to_idle(context);

    turns result = at.result();
    INFO("last, to us, to them, our visits, their visits, together: " << result.print());
    CHECK(violations(at.hand, at.record_path) == std::vector<std::string>());
    CHECK(result.reached(c.goal));
    CHECK(at.hand.children(at.record_path + "/inside").empty());
    std::vector<std::string> folders = c.folders;
    if (folders.empty())
        folders.emplace_back();
    for (const std::string& below : folders) {
        INFO("left behind in " << at.path + below);
        CHECK(at.hand.children(at.path + below) == std::vector<std::string>());
    }
    return result;
}

}  // namespace corozk::testing
