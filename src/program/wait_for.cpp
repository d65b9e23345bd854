// SPDX-License-Identifier: Apache-2.0
#include "outage.hpp"

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
Continues to wait while the servers are away. --deadline 0 looks once.

A znode that exists for a moment only may be missed: delete it when all have seen it.

Examples
  corozk wait-for --deadline 10m /deploy/42/migrated && start-service
  corozk wait-for --gone /deploy/maintenance
  corozk wait-for --deadline 0 /deploy/42/migrated || echo 'not yet')");
    }

    asio::awaitable<int> run(command_context& context) override {
        attempt<bool> once = [&] { return comes(context.zk); };
        bool in_time = co_await through_outages(
            context, wait_.until(), "the connection was lost; still waiting", once);
        if (!in_time) {
            std::string problem = gone_ ? "still exists" : "did not come in time";
            complain(fmt::format("{} {}", path_, problem), context.options.json);
        }
        co_return in_time ? done : not_acquired;
    }

private:
    /// @return false at the deadline
    asio::awaitable<bool> comes(client& zk) const {
        time_point until = wait_.until();
        time_point answered = time_point::max();
        if (auto patience = wait_.patience())
            answered = std::chrono::steady_clock::now() + *patience;
        for (;;) {
            std::optional<watched_stat> seen = co_await before(answered, look(zk));
            if (!seen)
                co_return false;
            if (seen->stat.has_value() != gone_)
                co_return true;
            auto event = co_await before(until, seen->changed.next());
            if (!event)
                co_return false;
        }
    }

    /// The server may lag behind what others, or this program in an earlier session, have seen.
    asio::awaitable<watched_stat> look(client& zk) const {
        co_await zk.sync(path_);
        co_return co_await zk.watch_exists(path_);
    }

    /// @return nothing if it takes longer
    template <class Value>
    static asio::awaitable<std::optional<Value>> before(time_point until,
                                                        asio::awaitable<Value> operation) {
        using namespace asio::experimental::awaitable_operators;
        ending<Value> result;
        auto first = co_await (run_to_end(std::move(operation), result) || pause_until(until));
        if (first.index() == 1 && !result.value)
            co_return std::nullopt;
        co_return result.take();
    }

    std::string path_;
    bool gone_ = false;
};

}  // namespace

const command_entry wait_for_entry{"wait-for",
                                   "[--gone] PATH",
                                   "wait until a znode exists, or is gone",
                                   make_command<wait_for_command>};

}  // namespace corozk::program
