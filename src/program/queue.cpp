// SPDX-License-Identifier: Apache-2.0
#include "outage.hpp"
#include "run_under.hpp"
#include <corozk/recipe/delay_queue.hpp>
#include <corozk/recipe/optimistic_transaction.hpp>
#include <corozk/recipe/queue.hpp>

#include <sstream>

namespace corozk::program {

namespace {

class queue_command final : public command {
public:
    explicit queue_command(CLI::App& app)
        : words_(app, {"put", "take", "consume", "peek", "size"}, "put") {
        add_number<std::int32_t>(app,
                                 "-p,--priority",
                                 priority_,
                                 "put: the items' priority; lower numbers are taken first");
        app.add_flag("--prioritized", prioritized_, "the queue's items have priorities");
        add_duration(app, "--delay", delay_, "put: the items are available after this time");
        app.add_flag("--delayed", delayed_, "the queue's items have due times");
        for (const char* name : {"--priority", "--prioritized"})
            app.get_option(name)->excludes("--delay", "--delayed");
        app.add_flag("--whole", whole_, "put: standard input is one item, not one per line");
        add_number<std::uint64_t>(
            app, "-c,--count", count_, "take, consume: how many items (default 1; 0: no limit)");
        wait_.describe(app, "there is no item");
        add_number<std::size_t>(
            app, "--bound", bound_, "put: wait while this many items are in the queue");
        add_compatibility(app, compatibility_, "native, curator or kazoo: how items are named");
        run_.describe_grace(app);
        app.footer(R"(Actions
  put      appends each of WORDS, or each line of standard input, as an item
  take     removes the first item and prints it; an end of line is added if there is none
           (for the exact bytes use consume or --json)
  consume  claims the first item and runs the command with it as standard input; removes
           the item if the command's exit code is 0, and returns it to the queue otherwise
  peek     prints the first item and does not remove it
  size     prints the number of children, including claimed items and children that other
           programs have created

take gives each item to exactly one client; if that client dies, the item is lost. If
standard output fails, the item is put back. With consume, another client then gets it.
The command's environment contains COROZK_ITEM (the item's name), COROZK_PRIORITY,
COROZK_FENCING_TOKEN, COROZK_NODE (the claim), COROZK_PATH and COROZK_HOSTS (and
COROZK_DUE for a delayed item). The command is stopped when the claim is lost (exit code
79). Signals are forwarded, as by corozk lock; after a terminating one, no further item
is taken, and the remaining requests have ten seconds. consume ends with the first
command that fails, even with --count 0, and with its exit code.

Examples
  corozk queue put /jobs 'resize a.png' 'resize b.png'
  find . -name '*.png' | corozk queue put /jobs
  corozk queue take --deadline 30s /jobs
  corozk queue put --delay 10m /reminders 'the tea is ready'
  corozk queue consume --delayed --count 0 /reminders -- notify
  corozk queue consume --count 0 /jobs -- sh -c 'read job; do-it "$job"')");
    }

    void check(const settings& s) override {
        if (priority_ && !words_.is("put"))
            throw usage_error("--priority belongs to 'put'; use --prioritized");
        if (delay_ && !words_.is("put"))
            throw usage_error("--delay belongs to 'put'; use --delayed");
        if ((delay_ || delayed_) && compatibility_ != compatibility::native)
            throw usage_error("only the native format has delayed items");
        if ((priority_ || prioritized_) && compatibility_ == compatibility::curator)
            throw usage_error("--compatibility curator has no priorities");
        if (priority_ && compatibility_ == compatibility::kazoo &&
            (*priority_ < 0 || *priority_ > 999))
            throw usage_error("--compatibility kazoo has priorities from 0 to 999");
        if (words_.is("put"))
            items_ = items_to_put(s);
    }

    command_line takes_command() const override {
        if (words_.is("consume"))
            return command_line::required;
        // Items that begin with a dash.
        return words_.is("put") ? command_line::optional : command_line::none;
    }

    asio::awaitable<int> run(command_context& context) override {
        if (priority_ || prioritized_)
            return work<priority_queue>(context);
        return delay_ || delayed_ ? work<delay_queue>(context) : work<queue>(context);
    }

private:
    template <class Queue>
    asio::awaitable<int> work(command_context& context) {
        queue_options options;
        options.acl = context.options.acl;
        options.bound = bound_;
        options.compatibility = compatibility_;
        Queue q(context.zk, words_.path(), options);
        ending<int> ended;
        co_await run_to_end(act(context, q), ended);
        co_return ended.failure ? report(context, ended.failure) : ended.take();
    }

    /// An empty or full queue is reported in this command's words. @return the exit code
    int report(const command_context& context, const std::exception_ptr& failure) const {
        int code = not_acquired;
        try {
            std::rethrow_exception(failure);
        } catch (const boost::system::system_error& e) {
            if (e.code() == errc::would_block || e.code() == errc::deadline_exceeded)
                complain(refusal(e.code() == errc::deadline_exceeded), context.options.json);
            else
                code = complain_about(reason_of(failure, context.zk), context.options.json);
        } catch (...) {
            code = complain_about(failure, context.options.json);
        }
        if (put_ > 0) {
            std::string text = fmt::format("{} of {} items were put before", put_, items_.size());
            context.out.event(
                "put", text, {{"message", text}, {"items", put_}, {"of", items_.size()}});
        }
        return code;
    }

    std::string refusal(bool waited) const {
        if (words_.is("put") && bound_ == 0)
            return fmt::format("the items could not be put into {} in time", words_.path());
        if (words_.is("put")) {
            return fmt::format(
                "{} {} full: --bound {}", words_.path(), waited ? "stayed" : "is", bound_);
        }
        if (waited && (words_.is("size") || words_.is("peek")))
            return fmt::format("{} could not be read in time", words_.path());
        if (waited && taken_ > 0)
            return fmt::format("the deadline has passed; {} item{} of {} arrived before",
                               taken_,
                               taken_ == 1 ? "" : "s",
                               words_.path());
        const char* item = words_.is("consume") ? "unclaimed item" : "item";
        return waited ? fmt::format("no {} arrived in {} in time", item, words_.path())
                      : fmt::format("there is no {} in {}", item, words_.path());
    }

    template <class Queue>
    asio::awaitable<int> act(command_context& context, Queue& q) {
        int code = done;
        if (words_.is("size")) {
            std::size_t size = co_await answer(context, wait_, q.count_items());
            context.out.result(std::to_string(size), size);
        } else if (words_.is("peek")) {
            queue_item item = co_await answer(context, wait_, q.peek());
            show(context, item);
        } else if (words_.is("put")) {
            for (std::string& item : items_) {
                co_await waiting(context, put_one(q, std::move(item)));
                ++put_;
            }
        } else if (words_.is("take")) {
            for (std::uint64_t n = 0; count_ == 0 || n < count_; ++n) {
                auto operation = wait_.at_once() ? q.try_take() : q.take_until(wait_.until());
                queue_item item = co_await waiting(context, std::move(operation));
                co_await hand_over(context, item);
                ++taken_;
            }
        } else {
            run_result ended;
            for (std::uint64_t n = 0; count_ == 0 || n < count_; ++n) {
                auto operation = wait_.at_once() ? q.try_consume() : q.consume_until(wait_.until());
                queue_claim claim = co_await waiting(context, std::move(operation));
                ended = co_await consume_one(context, claim);
                ++taken_;
                if (ended.code != done || !ended.allows_another())
                    break;
            }
            code = ended.code;
        }
        co_return code;
    }

    template <class Value>
    asio::awaitable<Value> waiting(command_context& context, asio::awaitable<Value> operation) {
        if (wait_.at_once())
            return answer(context, wait_, std::move(operation));
        return context.interrupts.race(reporting_outages(
            context, "the connection was lost; still waiting", std::move(operation)));
    }

    template <class Queue, class... Place>
    asio::awaitable<void> put_at(Queue& q, std::string item, Place... place) {
        return wait_.at_once() ? q.try_put(std::move(item), place...)
                               : q.put_until(std::move(item), place..., wait_.until());
    }
    asio::awaitable<void> put_one(queue& q, std::string item) { return put_at(q, std::move(item)); }
    asio::awaitable<void> put_one(priority_queue& q, std::string item) {
        return put_at(q, std::move(item), priority_.value_or(0));
    }
    asio::awaitable<void> put_one(delay_queue& q, std::string item) {
        return put_at(q, std::move(item), due_time(delay_.value_or(std::chrono::milliseconds(0))));
    }

    asio::awaitable<run_result> consume_one(command_context& context, queue_claim& claim) {
        child_description what = run_.command_at(words_.path(), context.options);
        what.input = claim.data();
        what.environment.insert(what.environment.end(),
                                {{"COROZK_NODE", claim.path()},
                                 {"COROZK_ITEM", claim.name()},
                                 {"COROZK_PRIORITY", std::to_string(claim.priority())},
                                 {"COROZK_FENCING_TOKEN", std::to_string(claim.fencing_token())}});
        if (delayed_)
            what.environment.emplace_back("COROZK_DUE", utc(claim.due()));
        loss_wait lost = loss_of(claim);
        run_result ended = co_await run_under(context, what, claim.name(), lost);
        if (!ended.lost && ended.code == 0)
            co_await context.interrupts.insist(acknowledge(context.zk, claim));
        else if (!ended.lost)
            co_await release_unless_asked_to_end(context, claim.release());
        co_return ended;
    }

    /// The work is done: waits for a server rather than doing it twice.
    static asio::awaitable<void> acknowledge(client& zk, queue_claim& claim) {
        for (;;) {
            auto [ec] = co_await claim.acknowledge(transaction(), as_tuple);
            if (!ec)
                co_return;
            if (ec != errc::not_connected || !claim.valid())
                throw error(ec, "acknowledge", claim.name());
            co_await connected_until(zk, time_point::max());
        }
    }

    /// Prints an item that was removed. If that fails the item is put back in its place.
    asio::awaitable<void> hand_over(command_context& context, const queue_item& item) const {
        std::exception_ptr failure;
        try {
            show(context, item);
        } catch (...) {
            failure = std::current_exception();
        }
        if (!failure)
            co_return;
        std::string problem;
        try {
            co_await context.interrupts.insist(put_back(context, item));
        } catch (const interrupted&) {
            problem = "no connection to a server in time";
        } catch (const boost::system::system_error& e) {
            problem = text_of(e.code());
        }
        if (!problem.empty())
            complain(fmt::format("{}/{} is lost: {}", words_.path(), item.name, problem),
                     context.options.json);
        std::rethrow_exception(failure);
    }

    /// Exactly once: another client may take it before the response arrives, or is lost.
    asio::awaitable<void> put_back(command_context& context, const queue_item& item) const {
        optimistic_transaction_options options;
        options.acl = context.options.acl;
        // The queue's own parent of such records.
        optimistic_transaction once(context.zk, words_.path() + "-control", options);
        create_options how;
        if (!context.options.acl.empty())
            how.acl = &context.options.acl;
        auto create = [&](transaction_attempt& attempt) -> asio::awaitable<void> {
            attempt.create(words_.path() + "/" + item.name, item.data, how);
            co_return;
        };
        for (;;) {
            ending<void> created;
            co_await run_to_end(once.run(create), created);
            try {
                co_return created.take();
            } catch (const boost::system::system_error& e) {
                if (e.code() != errc::not_connected)
                    throw;
            }
            co_await connected_until(context.zk, time_point::max());
        }
    }

    std::vector<std::string> items_to_put(const settings& s) const {
        std::vector<std::string> items = words_.words(s);
        if (!items.empty())
            return items;
        std::string input = read_standard_input();
        if (whole_)
            return {input};
        std::istringstream lines(input);
        for (std::string line; std::getline(lines, line);)
            items.push_back(line);
        return items;
    }

    void show(command_context& context, const queue_item& item) const {
        boost::json::object value{{"name", item.name}, {"priority", item.priority}};
        if (delayed_)
            value["due"] = utc(item.due);
        value["data"] = item.data;
        context.out.result(item.data, value);
    }

    path_and_action words_;
    std::optional<std::int32_t> priority_;
    bool prioritized_ = false;
    std::optional<std::chrono::milliseconds> delay_;
    bool delayed_ = false;
    bool whole_ = false;
    std::uint64_t count_ = 1;
    std::size_t bound_ = 0;
    std::vector<std::string> items_;
    std::size_t put_ = 0;  ///< of them
    std::uint64_t taken_ = 0;
    compatibility compatibility_ = compatibility::native;
    run_options run_;
};

}  // namespace

const command_entry queue_entry{"queue",
                                "put|take|consume|peek|size PATH [ITEM...] [-- COMMAND...]",
                                "put items into a queue, take them, or work on them",
                                make_command<queue_command>};

}  // namespace corozk::program
