// SPDX-License-Identifier: Apache-2.0
#include "run_under.hpp"

#include "exit_code.hpp"
#include "option_types.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <pwd.h>
#include <system_error>
#include <unistd.h>

namespace corozk::program {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

void run_options::describe(CLI::App& app) {
    add_duration(
        app,
        "--grace",
        grace,
        "how long the command may take to end after SIGTERM, before SIGKILL (default 10s)");
    app.add_option("--identity",
                   identity,
                   "who we are, for those who look (default: USER@HOST pid PID PROGRAM)");
}

std::string run_options::identity_for(const settings& s) const {
    if (!identity.empty())
        return identity;
    char host[256] = "?";
    ::gethostname(host, sizeof host - 1);
    const passwd* user = ::getpwuid(::geteuid());
    // The program alone: its arguments are nobody's business.
    std::string_view program = s.command.empty() ? std::string_view() : s.command.front();
    program.remove_prefix(program.rfind('/') + 1);
    return fmt::format("{}@{} pid {} {}", user ? user->pw_name : "?", host, ::getpid(), program);
}

asio::awaitable<run_result> run_under(surroundings& here,
                                      child_description what,
                                      std::string of_what,
                                      std::function<asio::awaitable<std::string>()> lost) {
    run_result result;
    auto executor = co_await asio::this_coro::executor;
    std::optional<child_process> child;
    try {
        child.emplace(executor, what);
    } catch (const std::system_error& e) {
        complain(fmt::format("cannot run {}", e.what()), here.options.json);
        bool missing = e.code() == std::errc::no_such_file_or_directory;
        result.code = missing ? no_such_command : cannot_run_command;
        co_return result;
    }
    for (;;) {
        ending<std::string> loss;
        auto first = co_await (child->ended() || run_to_end<std::string>(lost(), loss) ||
                               here.interrupts.next());
        if (first.index() == 0) {
            result.code = std::get<0>(first);
            co_return result;
        }
        if (first.index() == 2) {
            child->signal(std::get<2>(first));
            continue;
        }
        std::string reason;
        try {
            reason = loss.take();
        } catch (const std::exception& e) {
            reason = e.what();
        }
        boost::json::object event;
        event["event"] = "lost";
        event["path"] = of_what;
        event["reason"] = reason;
        here.out.event(fmt::format("lost {}: {}; stopping the command", of_what, reason), event);
        co_await child->stop();
        result.code = ownership_was_lost;
        result.lost = true;
        co_return result;
    }
}

asio::awaitable<int> run_under(surroundings& here,
                               const run_options& options,
                               std::string folder,
                               ownership& held) {
    child_description what;
    what.words = here.options.command;
    what.grace = options.grace;
    what.environment = {{"COROZK_HOSTS", here.options.hosts},
                        {"COROZK_PATH", folder},
                        {"COROZK_NODE", held.path()},
                        {"COROZK_FENCING_TOKEN", std::to_string(held.fencing_token())}};
    if (here.options.verbose || here.options.json) {
        boost::json::object event;
        event["event"] = "acquired";
        event["path"] = folder;
        event["node"] = held.path();
        event["fencing_token"] = held.fencing_token();
        here.out.event(
            fmt::format("holds {} with fencing token {}", held.path(), held.fencing_token()),
            event);
    }
    std::function<asio::awaitable<std::string>()> lost = [&held]() -> asio::awaitable<std::string> {
        error_code reason = co_await held.lost();
        co_return reason.message();
    };
    run_result ended = co_await run_under(here, std::move(what), std::move(folder), lost);
    if (!ended.lost) {
        auto [ec] = co_await held.release(asio::as_tuple(asio::use_awaitable));
        // The command has ended: that it was lost just now, or the connection, changes nothing.
        if (ec && here.options.verbose)
            complain(fmt::format("release: {}", ec.message()), here.options.json);
    }
    co_return ended.code;
}

}  // namespace corozk::program
