// SPDX-License-Identifier: Apache-2.0
#include "exit_code.hpp"
#include "option_types.hpp"
#include "outage.hpp"
#include "path_and_action.hpp"
#include "run_under.hpp"
#include "wait_options.hpp"
#include <corozk/recipe/delay_queue.hpp>
#include <corozk/recipe/queue.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <sstream>

namespace corozk::program {

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

class queue_command final : public command {
public:
    std::string synopsis() const override {
        return "put|take|consume|peek|size PATH [ITEM...] [-- COMMAND...]";
    }

    void describe(CLI::App& app) override {
        words_.describe(app);
        auto* priority =
            add_number<std::int32_t>(app,
                                     "-p,--priority",
                                     priority_,
                                     "put: the items' priority; the lower number is taken first");
        auto* prioritized =
            app.add_flag("--prioritized", prioritized_, "the queue's items have priorities");
        auto* delay = add_duration(
            app, "--delay", delay_, "put: nobody takes the items before so long has passed");
        auto* delayed = app.add_flag(
            "--delayed", delayed_, "the queue's items have a time each, and come by it");
        for (auto* option : {priority, prioritized})
            option->excludes(delay)->excludes(delayed);
        app.add_flag("--whole", whole_, "put: standard input is one item, not one in each line");
        add_number<std::uint64_t>(
            app, "-c,--count", count_, "take, consume: so many items (default 1; 0: for ever)");
        wait_.describe(app,
                       "do not wait: end with 75 if there is no item, with 69 if no server answers "
                       "within a second");
        add_number<std::size_t>(
            app, "--bound", bound_, "put: wait while so many items are in the queue");
        add_compatibility(app, compatibility_, "native, curator or kazoo: how items are named");
        run_.describe(app);
        app.footer(
            "Actions\n"
            "  put      appends each of WORDS as an item, or each line of standard input\n"
            "  take     removes the first item and prints it\n"
            "  consume  claims the first item and runs the command with it on standard input; the\n"
            "           item is removed when the command ends with 0, and goes back otherwise\n"
            "  peek     prints the first item and leaves it\n"
            "  size     prints how many items there are\n"
            "\n"
            "take gives each item to exactly one taker; if that one dies with it, it is gone. If\n"
            "standard output fails, it goes back to its place.\n"
            "consume gives it to another one then. Its command finds COROZK_ITEM (the item's "
            "name),\n"
            "COROZK_PRIORITY, COROZK_FENCING_TOKEN, COROZK_NODE (the claim), COROZK_PATH and\n"
            "COROZK_HOSTS (and of a delayed item COROZK_DUE) in its environment; it is stopped\n"
            "when the claim is lost (exit code 79). Signals are passed on to it, as by corozk "
            "lock;\n"
            "after one that asks to end, no further item is taken.\n"
            "\n"
            "Examples\n"
            "  corozk queue put /jobs 'resize a.png' 'resize b.png'\n"
            "  find . -name '*.png' | corozk queue put /jobs\n"
            "  corozk queue take --deadline 30s /jobs\n"
            "  corozk queue put --delay 10min /reminders 'the tea is ready'\n"
            "  corozk queue consume --delayed --count 0 /reminders -- notify\n"
            "  corozk queue consume --count 0 /jobs -- sh -c 'read job; do-it \"$job\"'");
    }

    void check(const settings&) override {
        words_.check();
        check_recipe_path(words_.path());
        if (!words_.rest().empty() && words_.action() != "put")
            throw bad_word(fmt::format("'{}' is one word too many", words_.rest().front()));
        if (priority_ && words_.action() != "put")
            throw bad_word("--priority belongs to 'put'; say --prioritized");
        if (delay_ && words_.action() != "put")
            throw bad_word("--delay belongs to 'put'; say --delayed");
        if ((delay_ || delayed_) && compatibility_ != compatibility::native)
            throw bad_word("only a queue of the native format has delayed items");
    }

    command_line takes_command() const override {
        if (words_.action() == "consume")
            return command_line::required;
        // Items that begin with a dash.
        return words_.action() == "put" ? command_line::optional : command_line::none;
    }

    void read_input(const settings& s) override {
        if (words_.action() == "put")
            items_ = items_to_put(s.command);
    }

    std::optional<std::chrono::milliseconds> patience() const override { return wait_.patience(); }

    asio::awaitable<int> run(surroundings& here) override {
        queue_options options;
        options.acl = here.options.acl;
        options.bound = bound_;
        options.compatibility = compatibility_;
        int code = 0;
        if (priority_ || prioritized_) {
            priority_queue q(here.zk, words_.path(), options);
            code = co_await work(here, q);
        } else if (delay_ || delayed_) {
            delay_queue q(here.zk, words_.path(), options);
            code = co_await work(here, q);
        } else {
            queue q(here.zk, words_.path(), options);
            code = co_await work(here, q);
        }
        co_return code;
    }

private:
    /// That there is nothing, or no room, is an answer in words of its own.
    template <class Queue>
    asio::awaitable<int> work(surroundings& here, Queue& q) {
        int code = done;
        try {
            code = co_await act(here, q);
        } catch (const boost::system::system_error& e) {
            if (e.code() != errc::would_block && e.code() != errc::deadline_exceeded)
                throw;
            complain(answer_no(e.code() == errc::deadline_exceeded), here.options.json);
            code = not_acquired;
        }
        co_return code;
    }

    std::string answer_no(bool waited) const {
        const std::string& action = words_.action();
        if (action == "put") {
            return fmt::format(
                "{} {} full: --bound {}", words_.path(), waited ? "stayed" : "is", bound_);
        }
        std::string item = action == "consume" ? "item that nobody has claimed" : "item";
        if (waited)
            return fmt::format("no {} came to {} in time", item, words_.path());
        return fmt::format("there is no {} in {}", item, words_.path());
    }

    template <class Queue>
    asio::awaitable<int> act(surroundings& here, Queue& q) {
        const std::string& action = words_.action();
        if (action == "size") {
            std::size_t size = co_await here.interrupts.race<std::size_t>(q.size());
            here.out.result(std::to_string(size), size);
        } else if (action == "peek") {
            queue_item item = co_await here.interrupts.race<queue_item>(q.peek());
            show(here, item);
        } else if (action == "put") {
            for (std::string& item : items_)
                co_await here.interrupts.race<void>(put_one(q, std::move(item)));
        } else if (action == "take") {
            for (std::uint64_t n = 0; count_ == 0 || n < count_; ++n) {
                auto operation = wait_.try_only ? q.try_take() : q.take_until(wait_.until());
                queue_item item = co_await here.interrupts.race<queue_item>(std::move(operation));
                co_await hand_over(here, item);
            }
        } else {
            for (std::uint64_t n = 0; count_ == 0 || n < count_; ++n) {
                auto operation = wait_.try_only ? q.try_consume() : q.consume_until(wait_.until());
                queue_claim claim =
                    co_await here.interrupts.race<queue_claim>(std::move(operation));
                int code = co_await consume_one(here, claim);
                if (code != 0)
                    co_return code;
            }
        }
        co_return 0;
    }

    asio::awaitable<void> put_one(queue& q, std::string item) {
        return wait_.try_only ? q.try_put(std::move(item))
                              : q.put_until(std::move(item), wait_.until());
    }

    asio::awaitable<void> put_one(priority_queue& q, std::string item) {
        std::int32_t priority = priority_.value_or(0);
        return wait_.try_only ? q.try_put(std::move(item), priority)
                              : q.put_until(std::move(item), priority, wait_.until());
    }

    asio::awaitable<void> put_one(delay_queue& q, std::string item) {
        due_time when = delay_.value_or(std::chrono::milliseconds(0));
        return wait_.try_only ? q.try_put(std::move(item), when)
                              : q.put_until(std::move(item), when, wait_.until());
    }

    asio::awaitable<int> consume_one(surroundings& here, queue_claim& claim) {
        child_description what;
        what.words = here.options.command;
        what.grace = run_.grace;
        what.input = claim.data();
        what.environment = {{"COROZK_HOSTS", here.options.hosts},
                            {"COROZK_PATH", words_.path()},
                            {"COROZK_NODE", claim.path()},
                            {"COROZK_ITEM", claim.name()},
                            {"COROZK_PRIORITY", std::to_string(claim.priority())},
                            {"COROZK_FENCING_TOKEN", std::to_string(claim.fencing_token())}};
        if (delayed_)
            what.environment.emplace_back("COROZK_DUE", utc(claim.due()));
        std::function<asio::awaitable<std::string>()> lost =
            [&claim]() -> asio::awaitable<std::string> {
            co_await claim.wait_lost();
            co_return std::string("the claim is gone: the session was lost, or somebody erased it");
        };
        run_result ended = co_await run_under(here, std::move(what), claim.name(), lost);
        if (ended.lost)
            co_return ended.code;
        if (ended.code == 0)
            co_await acknowledge(here, claim);
        else
            co_await claim.release();
        co_return ended.code;
    }

    /// The work is done: that a server is away for a moment does not undo it.
    static asio::awaitable<void> acknowledge(surroundings& here, queue_claim& claim) {
        for (;;) {
            auto [ec] =
                co_await claim.acknowledge(transaction(), asio::as_tuple(asio::use_awaitable));
            if (!ec)
                co_return;
            if (ec != errc::not_connected || !claim.valid())
                throw error(ec, "acknowledge", claim.name());
            co_await connected_again(here, clock::time_point::max());
        }
    }

    /// Whoever asks us to end waits for some seconds more: something would be lost.
    static asio::awaitable<void> connected_at_last(surroundings& here) {
        ending<void> connected;
        co_await run_to_end<void>(connected_again(here, clock::time_point::max()), connected);
        if (connected.failure)
            co_await connected_or_late(here.zk, clock::now() + std::chrono::seconds(10));
    }

    /// Prints an item that was removed. If that cannot be done it goes back to its old place.
    asio::awaitable<void> hand_over(surroundings& here, const queue_item& item) const {
        std::exception_ptr failure;
        try {
            show(here, item);
        } catch (...) {
            failure = std::current_exception();
        }
        if (!failure)
            co_return;
        create_options options;
        if (!here.options.acl.empty())
            options.acl = &here.options.acl;
        std::string node = words_.path() + "/" + item.name;
        for (;;) {
            auto [ec, made] = co_await here.zk.create(
                node, item.data, options, asio::as_tuple(asio::use_awaitable));
            if (!ec || ec == zk_errc::node_exists)
                break;
            ending<void> connected;
            if (is_outage(ec))
                co_await run_to_end<void>(connected_at_last(here), connected);
            if (!is_outage(ec) || connected.failure) {
                complain(fmt::format("{} is lost: {}", node, ec.message()), here.options.json);
                break;
            }
        }
        std::rethrow_exception(failure);
    }

    std::vector<std::string> items_to_put(const std::vector<std::string>& behind) const {
        std::vector<std::string> items = words_.rest();
        items.insert(items.end(), behind.begin(), behind.end());
        if (!items.empty())
            return items;
        std::string input = read_standard_input();
        if (whole_) {
            items.push_back(std::move(input));
            return items;
        }
        std::istringstream lines(input);
        for (std::string line; std::getline(lines, line);)
            items.push_back(line);
        return items;
    }

    void show(surroundings& here, const queue_item& item) const {
        boost::json::object value;
        value["name"] = item.name;
        value["priority"] = item.priority;
        if (delayed_)
            value["due"] = utc(item.due);
        value["data"] = item.data;
        here.out.result(item.data, value);
    }

    path_and_action words_{"queue", {"put", "take", "consume", "peek", "size"}};
    std::optional<std::int32_t> priority_;
    bool prioritized_ = false;
    std::optional<std::chrono::milliseconds> delay_;
    bool delayed_ = false;
    bool whole_ = false;
    wait_options wait_;
    std::uint64_t count_ = 1;
    std::size_t bound_ = 0;
    std::vector<std::string> items_;
    compatibility compatibility_ = compatibility::native;
    run_options run_;
};

}  // namespace

std::unique_ptr<command> make_queue() {
    return std::make_unique<queue_command>();
}

}  // namespace corozk::program
