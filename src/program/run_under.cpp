// SPDX-License-Identifier: Apache-2.0
#include "run_under.hpp"

#include "outage.hpp"

#include <algorithm>
#include <pwd.h>
#include <system_error>
#include <unistd.h>

namespace corozk::program {

using namespace asio::experimental::awaitable_operators;

void run_options::describe_grace(CLI::App& app) {
    add_duration(
        app, "--grace", grace, "the time between SIGTERM and SIGKILL for a command (default 10s)");
}

void run_options::describe(CLI::App& app) {
    describe_grace(app);
    app.add_option("--identity",
                   identity,
                   "the name that 'contenders' shows (default: USER@HOST pid PID PROGRAM)");
}

std::string run_options::identity_for(const settings& s) const {
    if (!identity.empty())
        return identity;
    char host[256] = "?";
    ::gethostname(host, sizeof host - 1);
    const passwd* user = ::getpwuid(::geteuid());
    // Without its arguments, which may be confidential.
    std::string_view program = s.command.empty() ? std::string_view() : s.command.front();
    program.remove_prefix(program.rfind('/') + 1);
    return fmt::format("{}@{} pid {} {}", user ? user->pw_name : "?", host, ::getpid(), program);
}

child_description run_options::command_at(const std::string& path, const settings& s) const {
    child_description what;
    what.words = s.command;
    what.grace = grace;
    what.environment = {{"COROZK_HOSTS", s.hosts}, {"COROZK_PATH", path}};
    return what;
}

asio::awaitable<run_result> run_under(command_context& context,
                                      child_description what,
                                      std::string of,
                                      const loss_wait& lost) {
    run_result result;
    auto executor = co_await asio::this_coro::executor;
    std::optional<child_process> child;
    context.interrupts.before_command();
    if (!what.lease)
        what.lease = std::max(context.zk.negotiated_timeout(), std::chrono::milliseconds(100));
    try {
        child.emplace(executor, context.interrupts, what);
    } catch (const std::system_error& e) {
        complain(fmt::format("cannot run {}", e.what()), context.options.json);
        bool missing = e.code() == std::errc::no_such_file_or_directory;
        result.code = missing ? no_such_command : cannot_run_command;
        co_return result;
    }
    result.started = true;
    context.interrupts.after_start();
    ending<error_code> loss;
    std::size_t first = 2;
    while (first == 2) {
        loss = {};
        auto raced =
            co_await (child->ended() || run_to_end(lost(), loss) || context.interrupts.next());
        first = raced.index();
        if (first == 0) {
            result.code = std::get<0>(raced);
        } else if (first == 2 && child->forward(std::get<2>(raced))) {
            context.interrupts.was_forwarded(std::get<2>(raced));
            result.last = context.interrupts.asked_to_end_by() != 0;
        }
    }
    if (result.code == by_signal + SIGHUP && context.interrupts.got(SIGHUP)) {
        context.interrupts.command_hung_up();
        result.last = true;
    }
    // After a stop the guard's report arrives before the session's end is known.
    result.lost = first == 1 || child->lapsed();
    bool gone = false;
    if (result.lost) {
        result.code = ownership_was_lost;
        std::string reason = "this program was stopped for too long";
        if (first == 1)
            reason = message_of(loss.failure ? loss.failure : failure_of(*loss.value));
        context.out.event("lost",
                          fmt::format("lost {}: {}; stopping the command", of, reason),
                          {{"path", of}, {"reason", reason}});
        gone = co_await child->stop();
    } else {
        gone = co_await child->stop_what_is_left();
    }
    if (!gone) {
        result.stuck = true;
        complain("some of the command's descendants could not be ended", context.options.json);
    }
    co_return result;
}

asio::awaitable<void> release_unless_asked_to_end(command_context& context,
                                                  asio::awaitable<void> release) {
    try {
        co_await context.interrupts.race(std::move(release));
    } catch (const interrupted&) {
        // The command has answered with its exit code.
    }
}

asio::awaitable<run_result> run_under(command_context& context,
                                      const run_options& options,
                                      std::string path,
                                      ownership& held) {
    child_description what = options.command_at(path, context.options);
    what.environment.emplace_back("COROZK_NODE", held.path());
    what.environment.emplace_back("COROZK_FENCING_TOKEN", std::to_string(held.fencing_token()));
    if (context.options.verbose || context.options.json) {
        context.out.event(
            "acquired",
            fmt::format("holds {} with fencing token {}", held.path(), held.fencing_token()),
            {{"path", path}, {"node", held.path()}, {"fencing_token", held.fencing_token()}});
    }
    loss_wait lost = loss_of(held);
    run_result ended = co_await run_under(context, std::move(what), std::move(path), lost);
    if (!ended.lost) {
        ending<void> released;
        co_await run_to_end(release_unless_asked_to_end(context, held.release()), released);
        // The command has ended: a loss now, or of the connection, changes nothing.
        if (released.failure && context.options.verbose)
            complain(message_of(released.failure), context.options.json);
    }
    co_return ended;
}

}  // namespace corozk::program
