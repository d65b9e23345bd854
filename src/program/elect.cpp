// SPDX-License-Identifier: Apache-2.0
#include "acquire_again.hpp"
#include "option_types.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

class elect_command final : public command {
public:
    std::string synopsis() const override { return "PATH -- COMMAND [ARGUMENT...]"; }

    void describe(CLI::App& app) override {
        app.add_option("PATH", path_, "the election's folder; created when it is needed")
            ->required();
        app.add_flag("--again",
                     again_,
                     "when the leadership is lost, stop the command, stand for election again, and "
                     "run it anew");
        add_compatibility(app, compatibility_, "native, curator (LeaderLatch) or kazoo (Election)");
        wait_.describe(app,
                       "do not wait: end with 75 if somebody else has it, with 69 if no "
                       "server answers within a second");
        wait_.describe_conflict_code(app);
        run_.describe(app);
        app.footer(
            "Stands for election, waits until it leads, runs the command, and resigns when that \n"
            "ends. One candidate leads at any time; when it goes, the next one is woken.\n"
            "\n"
            "The environment, the signals and what happens when the leadership is lost: as for\n"
            "corozk lock. With --again it goes on for as long as the command is not the one that\n"
            "ends, however long the servers are away: --deadline and --try count from each loss.\n"
            "A command that ends by itself ends it, with any exit code, 79 included.\n"
            "\n"
            "Examples\n"
            "  corozk elect /scheduler -- ./scheduler\n"
            "  corozk elect --again /scheduler -- ./scheduler   # as a service\n"
            "  corozk contenders /scheduler                     # who leads?");
    }

    void check(const settings&) override { check_recipe_path(path_); }

    command_line takes_command() const override { return command_line::required; }

    std::optional<std::chrono::milliseconds> patience() const override { return wait_.patience(); }

    asio::awaitable<int> run(surroundings& here) override {
        election_options options(run_.identity_for(here.options));
        options.acl = here.options.acl;
        options.compatibility = compatibility_;
        election e(here.zk, path_, options);
        auto once = [&] {
            return wait_.try_only ? e.try_campaign() : e.campaign_until(wait_.until());
        };
        run_result ended = co_await acquire_and_run(here, wait_, run_, path_, once);
        while (again_ && ended.lost) {
            wait_.restart();
            ended = co_await acquire_and_run(here, wait_, run_, path_, once);
        }
        co_return ended.code;
    }

private:
    std::string path_;
    bool again_ = false;
    compatibility compatibility_ = compatibility::native;
    wait_options wait_;
    run_options run_;
};

}  // namespace

std::unique_ptr<command> make_elect() {
    return std::make_unique<elect_command>();
}

}  // namespace corozk::program
