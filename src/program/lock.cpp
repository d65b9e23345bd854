// SPDX-License-Identifier: Apache-2.0
#include "acquiring_command.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::program {

namespace {

class lock_command final : public acquiring_command {
public:
    explicit lock_command(CLI::App& app)
        : acquiring_command(
              app,
              "lock",
              "native, curator or kazoo: to exclude programs that use these libraries") {
        app.add_flag("-s,--shared", shared_, "for reading, together with other readers");
        add_number<std::int32_t>(
            app,
            "-p,--priority",
            priority_,
            "a lock by priority: lower numbers are granted first; no holder is preempted")
            ->excludes("--compatibility");
        app.add_flag("-x,--exclusive", exclusive_, "for writing, alone; the lock has readers, too")
            ->excludes("--shared", "--priority");
        app.footer(
            R"(Waits for the lock, runs the command, releases the lock. Nothing is left behind in any
case: the lock of a killed program ends with its session.

The command's environment contains
  COROZK_FENCING_TOKEN  increases with every holder: pass it to the protected resource,
                        and let that reject smaller numbers
  COROZK_PATH           the lock's parent znode
  COROZK_NODE           the znode that represents the lock
  COROZK_HOSTS          the servers
When the lock is lost (the session expired, or another client broke the lock) the command
and all its descendants, in any session and process group, get SIGTERM, after --grace
SIGKILL, and the exit code is 79. If another terminating signal arrives during that time,
SIGKILL is sent at once. The command is stopped in the same way if this program is killed,
even by SIGKILL. Processes that the command leaves running are ended before the lock is
released: after half a second by SIGTERM, then by SIGKILL. Processes started through
another service (at, systemd-run, docker) are not descendants of the command.

SIGINT, SIGTERM and SIGQUIT are forwarded to the command and its descendants, SIGHUP,
SIGUSR1, SIGUSR2 and SIGALRM to the command only. If the command ends by the signal, so
does this program. A SIGHUP that the command survives changes nothing. On a terminal both
are one job, as with flock: Ctrl-C and Ctrl-Z go to both, and bg and fg work. A stopped
program keeps no session: if this one is stopped for longer than --session-timeout, its
command is ended as for a lost lock.

If the servers are unreachable for longer than that, a waiting program continues to wait.

All clients of one PATH must agree on its kind: plain, --shared and --exclusive, or
--priority.

Examples
  corozk lock /backup -- pg_dump -f /backup/db.sql app
  corozk lock --try /cron/report -- make-report || [ $? = 75 ]
  corozk lock --deadline 30s --priority 1 /printer -- lp urgent.pdf
  corozk lock --shared /data -- sh -c 'rsync -a /data/ copy/')");
    }

    asio::awaitable<int> run(command_context& context) override {
        if (priority_)
            return by_priority(context);
        if (shared_ || exclusive_)
            return by_kind(context);
        return run_owning<lock, lock_options>(context, [this](lock& l, time_point until) {
            return wait_.at_once() ? l.try_acquire() : l.acquire_until(until);
        });
    }

private:
    asio::awaitable<int> by_kind(command_context& context) {
        auto begin = [this](shared_lock& l, time_point until) {
            if (shared_)
                return wait_.at_once() ? l.try_acquire_read() : l.acquire_read_until(until);
            return wait_.at_once() ? l.try_acquire_write() : l.acquire_write_until(until);
        };
        return run_owning<shared_lock, shared_lock_options>(context, begin);
    }

    asio::awaitable<int> by_priority(command_context& context) {
        auto begin = [this, p = *priority_](priority_lock& l, time_point until) {
            if (shared_)
                return wait_.at_once() ? l.try_acquire_read(p) : l.acquire_read_until(p, until);
            return wait_.at_once() ? l.try_acquire(p) : l.acquire_until(p, until);
        };
        return run_owning<priority_lock, priority_lock_options>(context, begin);
    }

    bool shared_ = false;
    bool exclusive_ = false;
    std::optional<std::int32_t> priority_;
};

}  // namespace

const command_entry lock_entry{"lock",
                               "PATH -- COMMAND [ARGUMENT...]",
                               "run a command under a lock",
                               make_command<lock_command>};

}  // namespace corozk::program
