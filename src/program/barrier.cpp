// SPDX-License-Identifier: Apache-2.0
#include "exit_code.hpp"
#include "outage.hpp"
#include "path_and_action.hpp"
#include "run_under.hpp"
#include "wait_options.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/double_barrier.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

class barrier_command final : public command {
public:
    std::string synopsis() const override {
        return "set|remove|status|wait|enter PATH [-- COMMAND...]";
    }

    void describe(CLI::App& app) override {
        words_.describe(app);
        wait_.describe_deadline(app, "wait at most so long, then end with 75");
        add_number<std::uint32_t>(
            app, "-c,--count", count_, "enter: how many members begin and end together", 1);
        run_.describe(app);
        app.footer(
            "Actions\n"
            "  set     holds back everybody who waits\n"
            "  remove  lets everybody proceed\n"
            "  status  whether it is set: exit code 0 if so, otherwise 1\n"
            "  wait    waits until it is removed; returns at once where there is none\n"
            "  enter   a double barrier: waits until --count members have come, runs the command,\n"
            "          and waits until all of them have ended theirs (or died)\n"
            "\n"
            "set and remove tell whether they changed something: exit code 0, otherwise 1.\n"
            "\n"
            "Examples\n"
            "  corozk barrier set /maintenance\n"
            "  corozk barrier wait --deadline 10m /maintenance && start-work\n"
            "  corozk barrier enter --count 3 /rounds -- ./one-of-three");
    }

    void check(const settings&) override {
        words_.check();
        check_recipe_path(words_.path());
        if (!words_.rest().empty())
            throw bad_word(fmt::format("'{}' is one word too many", words_.rest().front()));
        if ((words_.action() == "enter") != count_.has_value())
            throw bad_word("--count belongs to 'enter', and 'enter' needs it");
    }

    command_line takes_command() const override {
        return words_.action() == "enter" ? command_line::required : command_line::none;
    }

    std::optional<std::chrono::milliseconds> patience() const override { return wait_.patience(); }

    asio::awaitable<int> run(surroundings& here) override {
        int code = 0;
        if (words_.action() == "enter")
            code = co_await enter(here);
        else
            code = co_await single(here);
        co_return code;
    }

private:
    asio::awaitable<int> single(surroundings& here) {
        barrier_options options;
        options.acl = here.options.acl;
        barrier b(here.zk, words_.path(), options);
        if (words_.action() == "wait") {
            auto once = [&] { return wait_.deadline ? b.wait_for(wait_.left()) : b.wait(); };
            co_await through_outages<void>(
                here, wait_.until(), "the connection was lost; waiting on", once);
            co_return 0;
        }
        bool yes = false;
        if (words_.action() == "set")
            yes = co_await here.interrupts.race<bool>(b.set());
        else if (words_.action() == "remove")
            yes = co_await here.interrupts.race<bool>(b.remove());
        else
            yes = co_await here.interrupts.race<bool>(b.is_set());
        if (words_.action() == "status")
            here.out.result(yes ? "set" : "not set", yes);
        else if (here.options.json)
            here.out.result("", yes);
        co_return yes ? done : answer_is_no;
    }

    asio::awaitable<int> enter(surroundings& here) {
        double_barrier_options options;
        options.acl = here.options.acl;
        double_barrier member(here.zk, words_.path(), *count_, options);
        auto once = [&] {
            return wait_.deadline ? member.enter_for(wait_.left()) : member.enter();
        };
        co_await through_outages<void>(
            here, wait_.until(), "the connection was lost; entering again", once);
        child_description what;
        what.words = here.options.command;
        what.grace = run_.grace;
        what.environment = {{"COROZK_HOSTS", here.options.hosts},
                            {"COROZK_PATH", words_.path()},
                            {"COROZK_ROUND", std::to_string(member.round())}};
        session_status at_start = here.zk.status();
        std::function<asio::awaitable<std::string>()> lost = [&]() -> asio::awaitable<std::string> {
            // The membership goes with the session.
            session_status status = here.zk.status();
            while (status.generation == at_start.generation &&
                   status.state != session_state::lost && status.state != session_state::closed)
                status = co_await here.zk.next_state(status);
            co_return std::string("the session was lost");
        };
        run_result ended = co_await run_under(here, std::move(what), words_.path(), lost);
        if (!ended.lost)
            co_await here.interrupts.race<void>(member.leave());
        co_return ended.code;
    }

    path_and_action words_{"barrier", {"set", "remove", "status", "wait", "enter"}};
    wait_options wait_;
    std::optional<std::uint32_t> count_;
    run_options run_;
};

}  // namespace

std::unique_ptr<command> make_barrier() {
    return std::make_unique<barrier_command>();
}

}  // namespace corozk::program
