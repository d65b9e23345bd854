// SPDX-License-Identifier: Apache-2.0
#include "acquiring_command.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk::program {

namespace {

class elect_command final : public acquiring_command {
public:
    explicit elect_command(CLI::App& app)
        : acquiring_command(app, "election", "native, curator (LeaderLatch) or kazoo (Election)") {
        app.add_flag("--again",
                     again_,
                     "when leadership is lost, stop the command, campaign again, and run the "
                     "command again");
        app.footer(
            R"(Campaigns, waits for leadership, runs the command, and resigns when it ends. One
candidate leads at any time; when it resigns or dies, the next one is notified.

For the environment, signals, and the loss of leadership see corozk lock --help. --again
continues until the command ends without having been stopped, with any exit code (79
included), however long the servers are unreachable: --deadline and --try count from each
loss.

Examples
  corozk elect /scheduler -- ./scheduler
  corozk elect --again /scheduler -- ./scheduler   # as a service
  corozk contenders /scheduler                     # who leads?)");
    }

    asio::awaitable<int> run(command_context& context) override {
        auto begin = [this](election& e, time_point until) {
            return wait_.at_once() ? e.try_campaign() : e.campaign_until(until);
        };
        return run_owning<election, election_options>(context, begin);
    }
};

}  // namespace

const command_entry elect_entry{"elect",
                                "PATH -- COMMAND [ARGUMENT...]",
                                "run a command as the leader",
                                make_command<elect_command>};

}  // namespace corozk::program
