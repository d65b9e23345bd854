// SPDX-License-Identifier: Apache-2.0
#include "outage.hpp"

#include <algorithm>

namespace corozk::program {

namespace {

class wait_for_command final : public command {
public:
    explicit wait_for_command(CLI::App& app) {
        app.add_option("PATH", path_, "the znode")->required()->each(check_path);
        app.add_flag("--gone", gone_, "wait until the znode does not exist");
        wait_.describe_deadline(app);
        app.footer(
            R"(Waits until the znode exists; ends at once if it does. Its parents may be missing, too.
Continues to wait while the servers are unreachable. --deadline 0 checks once.

A znode that exists only for a moment may be missed: delete it when all have seen it.

Without permission to READ the znode it takes a few seconds longer: servers then do not
report it, so that this program checks every five seconds. (Some servers deny even that:
exit code 77.)

Examples
  corozk wait-for --deadline 10m /deploy/42/migrated && start-service
  corozk wait-for --gone /deploy/maintenance
  corozk wait-for --deadline 0 /deploy/42/migrated || echo 'not yet')");
    }

    asio::awaitable<int> run(command_context& context) override {
        attempt<bool> once = [&] { return comes(context.zk); };
        bool in_time = co_await through_outages(
            context, wait_, "the connection was lost; still waiting", once);
        if (!in_time) {
            std::string problem = gone_ ? "still exists" : "did not appear before the deadline";
            complain(fmt::format("{} {}", path_, problem), context.options.json);
        }
        co_return in_time ? done : not_acquired;
    }

private:
    /// @return false at the deadline
    asio::awaitable<bool> comes(client& zk) const {
        time_point due = wait_.response_due();
        for (;;) {
            watched_stat seen = co_await response(wait_, due, look(zk));
            if (seen.stat.has_value() != gone_)
                co_return true;
            std::optional<bool> ended = co_await ends_unreported(zk, seen.changed);
            if (ended)
                co_return *ended;
            due = std::max(due, std::chrono::steady_clock::now() + to_respond);
        }
    }

    /// Waits for an event, but also looks from time to time, and at the deadline: without the
    /// permission to read a znode there is no event. @return nothing if there is an event
    asio::awaitable<std::optional<bool>> ends_unreported(client& zk, watch& changed) const {
        constexpr std::chrono::seconds between_looks{5};
        const time_point until = wait_.until();
        for (;;) {
            time_point now = std::chrono::steady_clock::now();
            if (now >= until)
                co_return false;
            auto event = co_await before(std::min(until, now + between_looks), changed.next());
            if (event)
                co_return std::nullopt;
            now = std::chrono::steady_clock::now();
            bool there = co_await response(wait_, std::max(until, now + to_respond), exists(zk));
            if (there != gone_)
                co_return true;
        }
    }

    asio::awaitable<bool> exists(client& zk) const {
        auto found = co_await zk.exists(path_);
        co_return found.has_value();
    }

    /// The server may lag behind what others, or this program in an earlier session, have seen.
    asio::awaitable<watched_stat> look(client& zk) const {
        co_await zk.sync(path_);
        co_return co_await zk.watch_exists(path_);
    }

    static constexpr std::chrono::seconds to_respond{1};  // at the deadline

    std::string path_;
    bool gone_ = false;
};

}  // namespace

const command_entry wait_for_entry{"wait-for",
                                   "[--gone] PATH",
                                   "wait until a znode exists, or is gone",
                                   make_command<wait_for_command>};

}  // namespace corozk::program
