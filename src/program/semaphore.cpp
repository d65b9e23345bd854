// SPDX-License-Identifier: Apache-2.0
#include "acquire_again.hpp"
#include "option_types.hpp"
#include <corozk/recipe/semaphore.hpp>

#include <fmt/format.h>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

class semaphore_command final : public command {
public:
    std::string synopsis() const override { return "--limit N PATH -- COMMAND [ARGUMENT...]"; }

    void describe(CLI::App& app) override {
        app.add_option("PATH", path_, "the semaphore's folder; created when it is needed")
            ->required();
        add_number<std::int32_t>(
            app, "-l,--limit", limit_, "how many permits there are; the same for everybody", 1)
            ->required();
        add_number<std::int32_t>(
            app, "-k,--permits", permits_, "how many the command needs (default 1)", 1);
        app.add_flag(
            "--change-limit", change_, "make --limit the limit for everybody, and run nothing");
        app.add_flag("--available", show_, "print how many permits are free, and run nothing");
        add_compatibility(
            app, compatibility_, "native, curator (InterProcessSemaphoreV2) or kazoo (Semaphore)");
        wait_.describe(app,
                       "do not wait: end with 75 if somebody else has it, with 69 if no "
                       "server answers within a second");
        wait_.describe_conflict_code(app);
        run_.describe(app);
        app.footer(
            "Waits for the permits, runs the command, gives them back. All at once: who waits\n"
            "for three holds none of them meanwhile. First come, first served.\n"
            "\n"
            "The environment, the signals and what happens when the permits are lost: as for\n"
            "corozk lock.\n"
            "\n"
            "Examples\n"
            "  corozk semaphore --limit 4 /gpus -- ./train           # one of four\n"
            "  corozk semaphore --limit 4 --permits 3 /gpus -- ./train-big\n"
            "  corozk semaphore --limit 4 --available /gpus\n"
            "  corozk semaphore --limit 8 --change-limit /gpus");
    }

    void check(const settings&) override {
        check_recipe_path(path_);
        if (permits_ > limit_)
            throw bad_word(
                fmt::format("{} permits are never free: the limit is {}", permits_, limit_));
        if (change_ && show_)
            throw bad_word("--change-limit and --available are two different things");
    }

    command_line takes_command() const override {
        return change_ || show_ ? command_line::none : command_line::required;
    }

    std::optional<std::chrono::milliseconds> patience() const override { return wait_.patience(); }

    asio::awaitable<int> run(surroundings& here) override {
        semaphore_options options(run_.identity_for(here.options));
        options.acl = here.options.acl;
        options.compatibility = compatibility_;
        semaphore s(here.zk, path_, limit_, options);
        if (change_) {
            co_await here.interrupts.race<void>(s.set_limit(limit_));
            co_return 0;
        }
        if (show_) {
            std::int32_t free = co_await here.interrupts.race<std::int32_t>(s.available());
            here.out.result(std::to_string(free), free);
            co_return 0;
        }
        auto until = wait_.until();
        auto once = [&] {
            return wait_.try_only ? s.try_acquire(permits_) : s.acquire_until(permits_, until);
        };
        run_result ended = co_await acquire_and_run(here, wait_, run_, path_, once);
        co_return ended.code;
    }

private:
    std::string path_;
    std::int32_t limit_ = 0;
    std::int32_t permits_ = 1;
    bool change_ = false;
    bool show_ = false;
    compatibility compatibility_ = compatibility::native;
    wait_options wait_;
    run_options run_;
};

}  // namespace

std::unique_ptr<command> make_semaphore() {
    return std::make_unique<semaphore_command>();
}

}  // namespace corozk::program
