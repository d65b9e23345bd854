// SPDX-License-Identifier: Apache-2.0
#include "acquire_again.hpp"
#include "option_types.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

class lock_command final : public command {
public:
    std::string synopsis() const override { return "PATH -- COMMAND [ARGUMENT...]"; }

    void describe(CLI::App& app) override {
        app.add_option("PATH", path_, "the lock's folder; created when it is needed")->required();
        auto* shared = app.add_flag(
            "-s,--shared", shared_, "a reader: together with other readers, never with a writer");
        app.add_flag("-x,--exclusive", exclusive_, "a writer, alone, of a lock that has readers")
            ->excludes(shared);
        auto* priority = add_number<std::int32_t>(
            app,
            "-p,--priority",
            priority_,
            "a lock by priority: the lower number comes first, never before one who "
            "holds");
        add_compatibility(app,
                          compatibility_,
                          "native, curator or kazoo: to exclude programs that use these libraries")
            ->excludes(priority);
        wait_.describe(app,
                       "do not wait: end with 75 if somebody else has it, with 69 if no "
                       "server answers within a second");
        wait_.describe_conflict_code(app);
        run_.describe(app);
        app.footer(
            "Waits for the lock, runs the command, gives the lock back. Nothing is left behind, \n"
            "whatever happens: the lock goes with the session of a program that was killed.\n"
            "\n"
            "The command finds in its environment\n"
            "  COROZK_FENCING_TOKEN  grows with every holder: hand it to what the lock protects,\n"
            "                        and let that refuse smaller numbers\n"
            "  COROZK_PATH           the lock's folder\n"
            "  COROZK_NODE           the node that stands for the lock\n"
            "  COROZK_HOSTS          the servers\n"
            "When the lock is lost (the session expired, or somebody broke the lock) the command\n"
            "and all that descends from it, whatever sessions and process groups it has made, get\n"
            "SIGTERM, after --grace SIGKILL, and the exit code is 79. A signal that asks this\n"
            "program to end brings SIGKILL at once then. The same happens when this program is\n"
            "killed, be it with SIGKILL. What the command has left running when it ends goes, "
            "too,\n"
            "before the lock is given back: it gets half a second, then SIGTERM, then SIGKILL.\n"
            "What another service was asked to start (at, systemd-run, docker) does not descend\n"
            "from the command.\n"
            "\n"
            "SIGINT, SIGTERM and SIGQUIT are passed on to the command and its descendants, "
            "SIGHUP,\n"
            "SIGUSR1, SIGUSR2 and SIGALRM to the command alone. If it ends by the signal, so does\n"
            "this program. On a terminal both are one job, as with flock: Ctrl-C and Ctrl-Z go to\n"
            "both, and bg and fg work. Who is stopped keeps no session: if this program is "
            "stopped\n"
            "for longer than --session-timeout, its command is ended as for a lost lock.\n"
            "\n"
            "When the servers are away for longer than that, a waiting program goes on waiting.\n"
            "\n"
            "All who use one PATH have to agree on the kind: plain, --shared and --exclusive, or\n"
            "--priority.\n"
            "\n"
            "Examples\n"
            "  corozk lock /backup -- pg_dump -f /backup/db.sql app\n"
            "  corozk lock --try /cron/report -- make-report || [ $? = 75 ]\n"
            "  corozk lock --deadline 30s --priority 1 /printer -- lp urgent.pdf\n"
            "  corozk lock --shared /data -- sh -c 'rsync -a /data/ copy/'");
    }

    void check(const settings&) override {
        check_recipe_path(path_);
        if (priority_ && exclusive_)
            throw bad_word("--priority is exclusive anyway, unless --shared is said");
    }

    command_line takes_command() const override { return command_line::required; }

    std::optional<std::chrono::milliseconds> patience() const override { return wait_.patience(); }

    asio::awaitable<int> run(surroundings& here) override {
        if (priority_) {
            int code = co_await by_priority(here);
            co_return code;
        }
        if (shared_ || exclusive_) {
            int code = co_await by_kind(here);
            co_return code;
        }
        int code = co_await plain(here);
        co_return code;
    }

private:
    template <class Options>
    Options options_for(const surroundings& here) const {
        Options options(run_.identity_for(here.options));
        options.acl = here.options.acl;
        return options;
    }

    asio::awaitable<int> plain(surroundings& here) {
        auto options = options_for<lock_options>(here);
        options.compatibility = compatibility_;
        lock l(here.zk, path_, options);
        auto until = wait_.until();
        auto once = [&] { return wait_.try_only ? l.try_acquire() : l.acquire_until(until); };
        run_result ended = co_await acquire_and_run(here, wait_, run_, path_, once);
        co_return ended.code;
    }

    asio::awaitable<int> by_kind(surroundings& here) {
        auto options = options_for<shared_lock_options>(here);
        options.compatibility = compatibility_;
        shared_lock l(here.zk, path_, options);
        auto until = wait_.until();
        auto once = [&] {
            if (shared_)
                return wait_.try_only ? l.try_acquire_read() : l.acquire_read_until(until);
            return wait_.try_only ? l.try_acquire_write() : l.acquire_write_until(until);
        };
        run_result ended = co_await acquire_and_run(here, wait_, run_, path_, once);
        co_return ended.code;
    }

    asio::awaitable<int> by_priority(surroundings& here) {
        priority_lock l(here.zk, path_, options_for<priority_lock_options>(here));
        auto until = wait_.until();
        auto once = [&] {
            if (shared_) {
                return wait_.try_only ? l.try_acquire_read(*priority_)
                                      : l.acquire_read_until(*priority_, until);
            }
            return wait_.try_only ? l.try_acquire(*priority_) : l.acquire_until(*priority_, until);
        };
        run_result ended = co_await acquire_and_run(here, wait_, run_, path_, once);
        co_return ended.code;
    }

    std::string path_;
    bool shared_ = false;
    bool exclusive_ = false;
    std::optional<std::int32_t> priority_;
    compatibility compatibility_ = compatibility::native;
    wait_options wait_;
    run_options run_;
};

}  // namespace

std::unique_ptr<command> make_lock() {
    return std::make_unique<lock_command>();
}

}  // namespace corozk::program
