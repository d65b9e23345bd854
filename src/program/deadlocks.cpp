// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contender_table.hpp"
#include "exit_code.hpp"
#include "option_types.hpp"
#include <corozk/recipe/deadlocks.hpp>

#include <boost/json/array.hpp>

#include <fmt/format.h>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

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
    for (const wait_edge& edge : edges) {
        boost::json::object value;
        value["path"] = edge.path;
        value["waiter"] = contender_value(edge.waiter, address_map());
        value["blocker"] = contender_value(edge.blocker, address_map());
        result.push_back(std::move(value));
    }
    return result;
}

class deadlocks_command final : public command {
public:
    std::string synopsis() const override { return "PATH..."; }

    void describe(CLI::App& app) override {
        app.add_option("PATH", paths_, "the folders of the locks, semaphores and elections")
            ->required();
        app.add_flag("--edges", edges_, "print everybody who waits, and for whom");
        app.footer(
            "Looks twice: what is reported was there all the time. A participant is a session, or\n"
            "what a contender says of itself (--identity) where that differs.\n"
            "\n"
            "Exit code 1 if there is a deadlock. 'corozk break NODE' is the way out.\n"
            "\n"
            "Examples\n"
            "  corozk deadlocks /accounts/a /accounts/b\n"
            "  corozk deadlocks --json /a /b | jq '.deadlocks | length'");
    }

    void check(const settings&) override {
        for (const std::string& path : paths_)
            check_path(path);
    }

    asio::awaitable<int> run(surroundings& here) override {
        wait_graph graph =
            co_await here.interrupts.race<wait_graph>(find_deadlocks(here.zk, paths_));
        std::string text;
        if (edges_) {
            for (const wait_edge& edge : graph.edges)
                text += line_of(edge) + "\n";
        }
        for (const auto& circle : graph.deadlocks) {
            text += fmt::format("deadlock of {}\n", circle.size());
            for (const wait_edge& edge : circle)
                text += fmt::format("  {}\n    {}\n", line_of(edge), printable(edge.waiter.path));
        }
        if (graph.deadlocks.empty())
            text += "no deadlock\n";
        boost::json::array deadlocks;
        for (const auto& circle : graph.deadlocks)
            deadlocks.push_back(values_of(circle));
        boost::json::object value;
        value["deadlocks"] = std::move(deadlocks);
        value["edges"] = values_of(graph.edges);
        here.out.result(text, value);
        co_return graph.deadlocks.empty() ? done : answer_is_no;
    }

private:
    std::vector<std::string> paths_;
    bool edges_ = false;
};

}  // namespace

std::unique_ptr<command> make_deadlocks() {
    return std::make_unique<deadlocks_command>();
}

}  // namespace corozk::program
