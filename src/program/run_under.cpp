// SPDX-License-Identifier: Apache-2.0
#include "run_under.hpp"

#include "exit_code.hpp"
#include "option_types.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
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
        "how long what is stopped may take to end after SIGTERM, before SIGKILL (default 10s)");
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

namespace {

void say_lost(surroundings& here, const std::string& of_what, ending<std::string>& loss) {
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
}

}  // namespace

asio::awaitable<run_result> run_under(surroundings& here,
                                      child_description what,
                                      std::string of_what,
                                      std::function<asio::awaitable<std::string>()> lost) {
    run_result result;
    auto executor = co_await asio::this_coro::executor;
    std::optional<child_process> child;
    what.lease = std::max(here.zk.negotiated_timeout(), std::chrono::milliseconds(100));
    try {
        child.emplace(executor, here.interrupts, what);
    } catch (const std::system_error& e) {
        complain(fmt::format("cannot run {}", e.what()), here.options.json);
        bool missing = e.code() == std::errc::no_such_file_or_directory;
        result.code = missing ? no_such_command : cannot_run_command;
        co_return result;
    }
    ending<std::string> loss;
    std::size_t first = 2;
    while (first == 2) {
        auto raced = co_await (child->ended() || run_to_end<std::string>(lost(), loss) ||
                               here.interrupts.next());
        first = raced.index();
        if (first == 0)
            result.code = std::get<0>(raced);
        else if (first == 2)
            child->pass_on(std::get<2>(raced));
    }
    bool gone = false;
    if (first == 0 && child->lapsed()) {
        // We were stopped, and are told of it before the session's end is.
        loss.value = "this program was stopped for too long";
        first = 1;
    }
    if (first == 1) {
        result.code = ownership_was_lost;
        result.lost = true;
        say_lost(here, of_what, loss);
        gone = co_await child->stop();
    } else {
        gone = co_await child->stop_what_is_left();
    }
    if (!gone)
        complain("some of what the command has started could not be ended", here.options.json);
    co_return result;
}

asio::awaitable<run_result> run_under(surroundings& here,
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
        error_code reason = co_await held.wait_lost();
        co_return reason.message();
    };
    run_result ended = co_await run_under(here, std::move(what), std::move(folder), lost);
    if (!ended.lost) {
        auto [ec] = co_await held.release(asio::as_tuple(asio::use_awaitable));
        // The command has ended: that it was lost just now, or the connection, changes nothing.
        if (ec && here.options.verbose)
            complain(fmt::format("release: {}", ec.message()), here.options.json);
    }
    co_return ended;
}

}  // namespace corozk::program
