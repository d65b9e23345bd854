// SPDX-License-Identifier: Apache-2.0
#include "outage.hpp"
#include "run_under.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/double_barrier.hpp>

namespace corozk::program {

namespace {

class barrier_command final : public command {
public:
    explicit barrier_command(CLI::App& app)
        : words_(app, {"set", "remove", "status", "wait", "enter"}) {
        wait_.describe_deadline(app);
        add_number<std::uint32_t>(
            app, "-c,--count", count_, "enter: how many members begin and end together", 1);
        run_.describe_grace(app);
        app.footer(R"(Actions
  set     closes the barrier: clients that wait are held back
  remove  opens it: all clients proceed
  status  tells whether it is set: exit code 0 if so, otherwise 1
  wait    waits until it is removed; returns at once if there is none
  enter   enters a double barrier: waits for --count members, runs the command, and waits
          until the commands of all members have ended (or the members have died); a signal
          to the command ends that wait, and --deadline 0 suffices only for one member

The exit code of set and remove is 0 if they have changed something, otherwise 1.

The environment of enter's command contains COROZK_ROUND (the number of the round),
COROZK_PATH and COROZK_HOSTS.

Examples
  corozk barrier set /maintenance
  corozk barrier wait --deadline 10m /maintenance && start-work
  corozk barrier enter --count 3 /rounds -- ./one-of-three)");
    }

    void check(const settings&) override {
        if (words_.is("enter") != count_.has_value())
            throw usage_error("--count belongs to 'enter', and 'enter' needs it");
    }

    command_line takes_command() const override {
        return words_.is("enter") ? command_line::required : command_line::none;
    }

    asio::awaitable<int> run(command_context& context) override {
        return words_.is("enter") ? enter(context) : single(context);
    }

private:
    asio::awaitable<int> single(command_context& context) {
        barrier_options options;
        options.acl = context.options.acl;
        barrier b(context.zk, words_.path(), options);
        if (words_.is("wait")) {
            auto passing = wait_.at_once() ? answer(context, wait_, pass(b))
                                           : context.interrupts.race(reporting_outages(
                                                 context,
                                                 "the connection was lost; still waiting",
                                                 b.wait_until(wait_.until())));
            co_await std::move(passing);
            co_return done;
        }
        auto begin = [&] {
            return words_.is("set") ? b.set() : words_.is("remove") ? b.remove() : b.check();
        };
        bool yes = co_await answer(context, wait_, begin());
        if (words_.is("status"))
            context.out.result(yes ? "set" : "not set", yes);
        else if (context.options.json)
            context.out.result("", yes);
        co_return yes ? done : answer_is_no;
    }

    /// Looks once.
    asio::awaitable<void> pass(barrier& b) const {
        bool set = co_await b.check();
        if (set)
            throw error(errc::deadline_exceeded, "barrier.wait", words_.path());
    }

    asio::awaitable<int> enter(command_context& context) {
        double_barrier_options options;
        options.acl = context.options.acl;
        options.wait_for_next_round = !wait_.at_once();
        // Members wait for each other: without waiting, only one that is alone can enter.
        if (wait_.at_once() && *count_ > 1)
            throw error(errc::deadline_exceeded, "double_barrier.enter", words_.path());
        double_barrier member(context.zk, words_.path(), *count_, options);
        attempt<void> once = [&] {
            return member.enter_until(wait_.at_once() ? time_point::max() : wait_.until());
        };
        co_await through_outages(context,
                                 wait_,
                                 "the connection was lost; still waiting",
                                 once,
                                 "the session was lost; entering again");
        child_description what = run_.command_at(words_.path(), context.options);
        what.environment.emplace_back("COROZK_ROUND", std::to_string(member.round()));
        session_status at_start = context.zk.status();
        // The membership ends with the session.
        loss_wait lost = [&]() -> asio::awaitable<error_code> {
            session_status status = context.zk.status();
            while (status.generation == at_start.generation &&
                   status.state != session_state::lost && status.state != session_state::closed)
                status = co_await context.zk.next_status(status);
            error_code reason = zk_errc::session_expired;
            if (status.state == session_state::closed)
                reason = status.reason;
            co_return reason;
        };
        run_result ended = co_await run_under(context, what, words_.path(), lost);
        if (!ended.lost)
            co_await context.interrupts.race(member.leave());
        co_return ended.code;
    }

    path_and_action words_;
    std::optional<std::uint32_t> count_;
    run_options run_;
};

}  // namespace

const command_entry barrier_entry{"barrier",
                                  "set|remove|status|wait|enter PATH [-- COMMAND...]",
                                  "hold others back, wait, or begin and end together",
                                  make_command<barrier_command>};

}  // namespace corozk::program
