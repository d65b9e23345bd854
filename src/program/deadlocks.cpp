// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contender_table.hpp"
#include <corozk/recipe/deadlocks.hpp>

#include <boost/json/array.hpp>

namespace corozk::program {

namespace {

std::string who(const contender_info& c) {
    std::string session = session_name(c.session_id);
    return c.data.empty() ? "session " + session
                          : fmt::format("{} (session {})", printable(c.data), session);
}

std::string line_of(const wait_edge& edge) {
    return fmt::format("{} waits at {} for {}", who(edge.waiter), edge.path, who(edge.blocker));
}

boost::json::array values_of(const std::vector<wait_edge>& edges) {
    boost::json::array result;
    for (const wait_edge& edge : edges)
        result.push_back({{"path", edge.path},
                          {"waiter", contender_value(edge.waiter, {})},
                          {"blocker", contender_value(edge.blocker, {})}});
    return result;
}

class deadlocks_command final : public command {
public:
    explicit deadlocks_command(CLI::App& app) {
        app.add_option("PATH", paths_, "the parent znodes of the locks, semaphores and elections")
            ->required()
            ->each(check_recipe_path);
        app.add_flag("--edges", edges_, "print all waiting clients, and what they wait for");
        app.footer(
            R"(Reads everything twice, and reports only what existed both times. A participant is a
session or, if its contenders have different --identity values, each of these. Contenders
of several sessions with the same --identity are one participant: so give everything that
one job runs the same --identity, and unrelated jobs different ones. (The default differs
for each process. Addresses do not count, as Curator writes that of its host.)
Supports the same recipes as corozk contenders: not Kazoo's Semaphore; and waits for
Curator's leases are not shown.

Exit code 1 if there is a deadlock. 'corozk break NODE' resolves it.

Examples
  corozk deadlocks /accounts/a /accounts/b
  corozk deadlocks --json /a /b | jq '.deadlocks | length')");
    }

    asio::awaitable<int> run(command_context& context) override {
        wait_graph graph = co_await context.interrupts.race(find_deadlocks(context.zk, paths_));
        std::string text;
        if (edges_) {
            for (const wait_edge& edge : graph.edges)
                text += line_of(edge) + "\n";
        }
        boost::json::array deadlocks;
        for (const auto& cycle : graph.deadlocks) {
            deadlocks.push_back(values_of(cycle));
            text += fmt::format("deadlock of {}\n", cycle.size());
            for (const wait_edge& edge : cycle)
                text += fmt::format("  {}\n    {}\n", line_of(edge), printable(edge.waiter.path));
        }
        if (deadlocks.empty())
            text += "no deadlock\n";
        boost::json::object value{{"deadlocks", std::move(deadlocks)},
                                  {"edges", values_of(graph.edges)}};
        context.out.result(text, value);
        co_return graph.deadlocks.empty() ? done : answer_is_no;
    }

private:
    std::vector<std::string> paths_;
    bool edges_ = false;
};

}  // namespace

const command_entry deadlocks_entry{"deadlocks",
                                    "PATH...",
                                    "find clients that wait for each other",
                                    make_command<deadlocks_command>};

}  // namespace corozk::program
