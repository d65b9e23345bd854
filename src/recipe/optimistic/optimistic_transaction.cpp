// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/optimistic/rule.hpp"
#include "recipe/toolkit/backoff.hpp"
#include "recipe/toolkit/exactly_once.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/optimistic_transaction.hpp>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace corozk {

namespace detail {

/// What one attempt of `run` has read and is to write.
struct attempt_state {
    explicit attempt_state(std::shared_ptr<optimistic_impl> core_) : core(std::move(core_)) {}

    std::shared_ptr<optimistic_impl> core;
    attempt_record record;
};

/// A single driver sends the transactions of an object, one after the other.
class optimistic_impl final : public recipe_core,
                              public std::enable_shared_from_this<optimistic_impl> {
public:
    struct entry {
        std::shared_ptr<attempt_state> state;
        bool writes = false;  ///< otherwise the reads are only verified

        /// It does not end with the client by itself: only its request shows whether it was applied.
        std::unique_ptr<pending_call<bool>> call;

        bool over() const noexcept { return !call->waiting(); }
        void abort() noexcept {
            if (!over())
                call->give_up(boost::asio::error::operation_aborted);
        }
    };

    optimistic_impl(port& p, std::string path, optimistic_transaction_options options)
        : recipe_core(p, "optimistic_transaction", path),
          wake_(p),
          ledger_(p, std::move(path), std::move(options.acl)) {}

    void enqueue(entry e) {
        waiting_.push_back(std::move(e));
        if (running_)
            return;
        running_ = true;
        port_.spawn(run(shared_from_this()));
    }

    signal& wake() noexcept { return wake_; }
    const backoff& pauses() const noexcept { return backoff_; }

    void stop() noexcept override {
        recipe_core::stop();
        for (entry& e : waiting_)
            e.abort();
        waiting_.clear();  // their records own this object
        if (current_)
            current_->abort();
        if (!running_)
            ledger_.retire();
    }

private:
    /// The entry that is served, until the guard is destroyed. Its handler may own the public
    /// object, whose destructor calls `stop`: the entry must not be destroyed before.
    class serving {
    public:
        serving(entry*& current, entry& e) noexcept : current_(current) { current_ = &e; }
        serving(const serving&) = delete;
        serving& operator=(const serving&) = delete;
        ~serving() { current_ = nullptr; }

    private:
        entry*& current_;
    };

    /// Once the transaction is sent, it is not known at the deadline whether it will be applied.
    class sending final : public interest {
    public:
        explicit sending(pending_call<bool>& call) noexcept : call_(call) {}

        bool waiting() const noexcept override { return call_.waiting(); }
        void sent() const noexcept override { call_.set_late_error(zk_errc::connection_loss); }

    private:
        pending_call<bool>& call_;
    };

    static task<> run(std::shared_ptr<optimistic_impl> self) {
        while (!self->waiting_.empty()) {
            entry e = std::move(self->waiting_.front());
            self->waiting_.pop_front();
            serving guard(self->current_, e);
            if (!e.over())
                co_await self->serve(e);
        }
        self->running_ = false;
        if (self->stopped())
            self->ledger_.retire();
    }

    task<> serve(entry& e) {
        const attempt_record& record = e.state->record;
        const bool changes = e.writes && record.writes();
        if (e.writes && record.fault()) {
            port_.report(log_level::warning, "transaction_attempt: ", record.fault_text());
            co_return e.call->fail(record.fault());
        }
        for (bool apart = false;; apart = true) {
            const attempt_steps steps(record, changes, apart);
            exactly_once_outcome outcome;
            if (changes)
                outcome = co_await apply(e, steps.all);
            else if (!steps.all.empty())
                outcome = co_await verify(e, steps.all);
            if (!outcome.error) {
                backoff_.succeeded();
                co_return e.call->complete(error_code(), true);
            }
            if (outcome.error == boost::asio::error::try_again)
                co_return e.call->complete(error_code(), false);
            auto verdict = attempt_verdict::error;
            if (outcome.failed)
                verdict = steps.judge(*outcome.failed, outcome.error);
            if (verdict == attempt_verdict::conflict) {
                backoff_.failed();
                co_return e.call->complete(error_code(), false);
            }
            if (verdict == attempt_verdict::error || e.over())
                co_return e.call->fail(outcome.error);
        }
    }

    task<exactly_once_outcome> apply(entry& e, std::vector<transaction::step> steps) {
        exactly_once_outcome outcome;
        e.call->set_late_error(errc::deadline_exceeded);  // none of an earlier round is in flight
        outcome.error = co_await ledger_.prepare(e.call->users_call());
        if (outcome.error || e.over())
            co_return outcome;
        const sending who(*e.call);
        const time_point begin = port_.now();
        outcome = co_await ledger_.commit_now(std::move(steps), who);
        if (!outcome.error)
            backoff_.measured(port_.now() - begin);
        co_return outcome;
    }

    task<exactly_once_outcome> verify(entry& e, std::vector<transaction::step> steps) {
        exactly_once_outcome outcome;
        for (;;) {
            request multi(port_, op_code::multi, std::string());
            multi.steps = steps;
            outcome.error = co_await multi;
            if (!outcome.error || e.over())
                co_return outcome;
            if (retry(port_, while_reachable).again(outcome.error))
                continue;
            const std::size_t failed = multi.failed_step();
            if (failed < multi.results.size())
                outcome.failed = failed;
            co_return outcome;
        }
    }

    signal wake_;
    exactly_once ledger_;
    std::deque<entry> waiting_;
    entry* current_ = nullptr;  ///< being served
    bool running_ = false;
    backoff backoff_{std::chrono::microseconds(200)};
};

namespace {

using state_ptr = std::shared_ptr<attempt_state>;
using node_text = std::optional<std::string>;

/// The topmost ancestor of a missing node that is missing, too, or the node.
task<error_code> find_missing(port& p,
                              const interest& who,
                              const attempt_record& record,
                              std::string& missing) {
    while (missing != "/") {
        std::string parent(parent_path(missing));
        if (const std::string* topmost = record.missing(parent)) {
            if (!topmost->empty())
                missing = *topmost;
            co_return error_code();
        }
        request exists(p, op_code::exists, parent);
        exists.only_for(&who);
        error_code ec = co_await exists;
        if (!ec)
            co_return ec;
        if (retry(p, while_reachable).again(ec))
            continue;
        if (ec != zk_errc::no_node)
            co_return ec;
        missing = std::move(parent);
    }
    co_return make_error_code(errc::chroot_missing);
}

task<error_code> record_missing(port& p,
                                const interest& who,
                                attempt_record& record,
                                std::string path) {
    std::string missing = path;
    error_code ec = co_await find_missing(p, who, record, missing);
    if (!ec)
        record.saw_nothing(path, std::move(missing));
    co_return ec;
}

task<error_code> read_node(port& p, const interest& who, attempt_record& record, std::string path) {
    for (;;) {
        request get(p, op_code::get, path);
        get.only_for(&who);
        error_code ec = co_await get;
        if (!ec)
            record.saw(path, std::move(get.answer), get.record.version);
        if (retry(p, while_reachable).again(ec))
            continue;
        if (ec == zk_errc::no_node)
            ec = co_await record_missing(p, who, record, std::move(path));
        co_return ec;
    }
}

task<error_code> read_nodes(port& p,
                            const interest& who,
                            attempt_record& record,
                            std::vector<std::string> paths) {
    std::erase_if(paths, [&](const std::string& path) { return record.known(path) != nullptr; });
    if (paths.empty())
        co_return error_code();
    for (;;) {
        request all(p, op_code::read_all, std::string());
        all.only_for(&who);
        for (const std::string& path : paths)
            all.reads.emplace_back(read_set::read_kind::data, path);
        error_code ec = co_await all;
        if (retry(p, while_reachable).again(ec))
            continue;
        for (std::size_t i = 0; i < paths.size() && !ec; ++i) {
            read_result& result = all.read_results[i];
            ec = result.error;
            if (!ec)
                record.saw(paths[i], std::move(result.data), result.stat.version);
            else if (ec == zk_errc::no_node)
                ec = co_await record_missing(p, who, record, paths[i]);
        }
        co_return ec;
    }
}

task<> serve_get(state_ptr state, std::string path, handler_of<node_text> handler) {
    port& p = state->core->get_port();
    waiting_call<node_text> call(*state->core, std::move(handler), state->core->wake());
    call.ahead_of_copies();
    error_code ec;
    if (!state->record.known(path))
        ec = co_await read_node(p, call.users_call(), state->record, path);
    if (ec)
        co_return call.fail(ec);
    call.complete(ec, *state->record.known(path));
}

task<> serve_get_all(state_ptr state,
                     std::vector<std::string> paths,
                     handler_of<std::vector<node_text>> handler) {
    port& p = state->core->get_port();
    waiting_call<std::vector<node_text>> call(
        *state->core, std::move(handler), state->core->wake());
    call.ahead_of_copies();
    const interest& who = call.users_call();
    if (error_code ec = co_await read_nodes(p, who, state->record, paths))
        co_return call.fail(ec);
    std::vector<node_text> found;
    for (const std::string& path : paths)
        found.push_back(*state->record.known(path));
    call.complete(error_code(), std::move(found));
}

task<> serve_pause(std::shared_ptr<optimistic_impl> core,
                   std::size_t round_trips,
                   time_limit limit,
                   handler_of<> handler) {
    port& p = core->get_port();
    signal wake(p);
    waiting_call<> call(*core, std::move(handler), wake, limit);
    call.ahead_of_copies();
    auto over = [&call] { return call.over(); };
    const auto rivals = core->pauses().failures();
    co_await core->pauses().pause(p, wake, static_cast<unsigned>(round_trips) * rivals, over);
    call.complete(error_code());
}

}  // namespace

attempt_commit::attempt_commit(std::shared_ptr<session_view> s,
                               impl_ptr impl,
                               call_site where,
                               time_limit limit)
    : where_(std::move(where)),
      limit_(limit),
      attempt_(std::move(s), std::make_shared<attempt_state>(impl)),
      impl_(std::move(impl)) {}

void attempt_commit::begin() {
    attempt_.state_ = std::make_shared<attempt_state>(impl_);
}

void attempt_commit::start_commit(const impl_ptr& impl,
                                  state_ptr state,
                                  bool writes,
                                  time_point deadline,
                                  handler_of<bool> handler) {
    if (!usable_at_path(impl, handler))
        return;
    optimistic_impl::entry e;
    e.state = std::move(state);
    e.writes = writes;
    e.call = make_call(impl->get_port(), impl->wake(), std::move(handler), deadline);
    impl->enqueue(std::move(e));
}

void attempt_commit::start_pause(const impl_ptr& impl,
                                 state_ptr state,
                                 time_point deadline,
                                 handler_of<> handler) {
    // A read each, and the transaction.
    const std::size_t round_trips = state->record.reads() + 1;
    run_at_path(impl, std::move(handler), [&](const impl_ptr& core, handler_of<> h) {
        return serve_pause(core, round_trips, deadline, std::move(h));
    });
}

}  // namespace detail

void transaction_attempt::start_get(const state_ptr& state,
                                    std::string path,
                                    detail::handler_of<std::optional<std::string>> handler) {
    if (!detail::usable_at_path(state->core, handler))
        return;
    if (!detail::node_path_is_good(state->core->get_port(), "transaction_attempt.get", path))
        return detail::refuse(state->core, std::move(handler), errc::bad_path);
    state->core->get_port().spawn(detail::serve_get(state, std::move(path), std::move(handler)));
}

void transaction_attempt::start_get_all(
    const state_ptr& state,
    std::vector<std::string> paths,
    detail::handler_of<std::vector<std::optional<std::string>>> handler) {
    if (!detail::usable_at_path(state->core, handler))
        return;
    for (const std::string& path : paths) {
        if (!detail::node_path_is_good(state->core->get_port(), "transaction_attempt.get", path))
            return detail::refuse(state->core, std::move(handler), errc::bad_path);
    }
    state->core->get_port().spawn(
        detail::serve_get_all(state, std::move(paths), std::move(handler)));
}

transaction_attempt& transaction_attempt::create(std::string path,
                                                 std::string data,
                                                 create_options options) {
    state_->record.create(std::move(path), std::move(data), options);
    return *this;
}

transaction_attempt& transaction_attempt::set(std::string path, std::string data) {
    state_->record.set(std::move(path), std::move(data));
    return *this;
}

transaction_attempt& transaction_attempt::erase(std::string path) {
    state_->record.erase(std::move(path));
    return *this;
}

optimistic_transaction::optimistic_transaction(const client& c,
                                               std::string path,
                                               optimistic_transaction_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

}  // namespace corozk
