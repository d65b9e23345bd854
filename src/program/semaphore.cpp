// SPDX-License-Identifier: Apache-2.0
#include "acquiring_command.hpp"
#include <corozk/recipe/semaphore.hpp>

namespace corozk::program {

namespace {

class semaphore_command final : public acquiring_command {
public:
    explicit semaphore_command(CLI::App& app)
        : acquiring_command(
              app, "semaphore", "native, curator (InterProcessSemaphoreV2) or kazoo (Semaphore)") {
        add_number<std::int32_t>(
            app, "-l,--limit", limit_, "how many permits there are; the same for all clients", 1)
            ->required();
        add_number<std::int32_t>(
            app, "-k,--permits", permits_, "how many the command needs (default 1)", 1);
        app.add_flag(
            "--change-limit", change_, "make --limit the limit for all clients, and run nothing");
        app.add_flag("--available", show_, "print how many permits are free, and run nothing")
            ->excludes("--change-limit");
        app.footer(
            R"(Waits for the permits, runs the command, releases them. Permits are acquired all at
once: a client that waits for three holds none of them meanwhile. First come, first
served.

For the environment, signals, and the loss of permits see corozk lock --help.

Examples
  corozk semaphore --limit 4 /gpus -- ./train           # one of four
  corozk semaphore --limit 4 --permits 3 /gpus -- ./train-big
  corozk semaphore --limit 4 --available /gpus
  corozk semaphore --limit 8 --change-limit /gpus)");
    }

    void check(const settings&) override {
        if (permits_ > limit_)
            throw usage_error(
                fmt::format("{} permits are never free: the limit is {}", permits_, limit_));
        if (permits_ > 1 && compatibility_ != compatibility::native)
            throw usage_error("only the native format has more than one of --permits at a time");
        if (change_ && compatibility_ == compatibility::curator)
            throw usage_error(
                "--compatibility curator stores no limit: there is no --change-limit");
    }

    command_line takes_command() const override {
        return change_ || show_ ? command_line::none : command_line::required;
    }

    asio::awaitable<int> run(command_context& context) override {
        if (change_ || show_)
            return look(context);
        auto begin = [this](semaphore& s, time_point until) {
            return wait_.at_once() ? s.try_acquire(permits_) : s.acquire_until(permits_, until);
        };
        return run_owning<semaphore, semaphore_options>(context, begin, limit_);
    }

private:
    asio::awaitable<int> look(command_context& context) {
        semaphore s(context.zk, path_, limit_, recipe_options<semaphore_options>(context));
        std::int32_t free = co_await answer(context, wait_, ask(s));
        if (show_)
            context.out.result(std::to_string(free), free);
        co_return done;
    }

    asio::awaitable<std::int32_t> ask(semaphore& s) const {
        if (!change_)
            co_return co_await s.count_available();
        co_await s.set_limit(limit_);
        co_return limit_;
    }

    std::int32_t limit_ = 0;
    std::int32_t permits_ = 1;
    bool change_ = false;
    bool show_ = false;
};

}  // namespace

const command_entry semaphore_entry{"semaphore",
                                    "--limit N PATH -- COMMAND [ARGUMENT...]",
                                    "run a command with some of a limited number of permits",
                                    make_command<semaphore_command>};

}  // namespace corozk::program
