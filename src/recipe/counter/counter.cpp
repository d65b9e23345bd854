// SPDX-License-Identifier: Apache-2.0
#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/counter/rule.hpp"
#include "recipe/toolkit/backoff.hpp"
#include "recipe/toolkit/either_call.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/recipe/counter.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

namespace corozk {

namespace detail {

/// The node as last read or written.
struct counter_base {
    counter_record record;
    corozk::stat stat;
    bool missing = false;
    bool fresh = false;   ///< read after all operations of the current batch were started
    bool synced = false;  ///< read from a server that had caught up
    time_point as_of{};
};

/// A single driver serves all operations. It has one update in flight at a time, and combines the
/// operations that are started in the meantime into the next one.
class counter_impl final : public recipe_core,
                           public std::enable_shared_from_this<counter_impl>,
                           private interest {
public:
    struct entry {
        counter_operation operation = counter_operation::read;
        std::int64_t operand = 0;
        std::int64_t expected = 0;
        either_call<std::int64_t, counter_exchange> call;
        counter_step step;

        bool waiting() const { return call.waiting(); }
        void complete() {
            if (step.error)
                return call.fail(step.error);
            if (auto* value_call = call.get<std::int64_t>()) {
                bool before = operation == counter_operation::exchange;
                value_call->complete(error_code(), before ? step.before : step.after);
            } else {
                counter_exchange result{step.exchanged, step.after};
                call.get<counter_exchange>()->complete(error_code(), std::move(result));
            }
        }
    };
    using batch = std::deque<entry>;

    struct outcome {
        std::int64_t value = 0;
        bool applied = false;  ///< an update, even if the value remains the same
        bool changed = false;
    };

    counter_impl(port& p, std::string path, counter_options options)
        : recipe_core(p, "counter", path),
          reports(p, std::move(path)),
          wake_(p),
          options_(std::move(options)),
          format_(format_of(options_.compatibility, options_.bits)),
          writer_(p.new_guid().substr(0, 16)) {}

    void enqueue(entry e) {
        if (!format_)
            return e.call.fail(reject_format());
        waiting_.push_back(std::move(e));
        if (running_)
            return;
        running_ = true;
        port_.spawn(run(shared_from_this()));
    }

    signal& wake() noexcept { return wake_; }

    void stop() noexcept override {
        recipe_core::stop();
        fail_all(waiting_, boost::asio::error::operation_aborted);
        fail_all(current_, boost::asio::error::operation_aborted);
        waiting_.clear();
        wake_.set();
        reports.forget();
    }

    bool has_format() const noexcept { return format_.has_value(); }
    error_code reject_format() const {
        return reject(errc::bad_option, "bits must be 64, or 32 with compatibility::curator");
    }

    // What `next` reports.
    std::int64_t describe(const node_view& node) const {
        const auto record = parse(node);
        return record ? record->value : 0;
    }
    bool is_news(const node_view& node) const { return describe(node) != describe(reports.last()); }
    error_code problem(const node_view& node) const {
        return parse(node) ? error_code() : make_error_code(errc::foreign_data);
    }

    change_reports<followed_node, std::int64_t> reports;

private:
    std::optional<counter_record> parse(const node_view& node) const {
        return parse(node.present ? node.data : std::string_view(), node.present);
    }

    std::optional<counter_record> parse(std::string_view data, bool present = true) const {
        // Kazoo creates an empty node, which means the initial value there and in Curator.
        const bool empty = data.empty() && *format_ != counter_format::native;
        if (present && !empty)
            return parse_counter(*format_, data);
        counter_record record;
        record.value = options_.initial;
        return record;
    }

    static void fail_all(batch& entries, error_code ec) {
        for (entry& e : entries) {
            if (e.waiting())
                e.call.fail(ec);
        }
    }

    static task<> run(std::shared_ptr<counter_impl> self) {
        co_await self->work();
        self->running_ = false;
    }

    task<> work() {
        for (;;) {
            if (current_.empty())
                lost_ = false;
            if (base_ && !waiting_.empty())
                base_->fresh = false;
            std::move(waiting_.begin(), waiting_.end(), std::back_inserter(current_));
            waiting_.clear();
            drop_finished();
            if (current_.empty())
                co_return;
            error_code ec = co_await step();
            if (ec)
                fail_current(ec);
        }
    }

    /// Reads do not fail for the sake of updates that they were combined with: they are tried alone.
    void fail_current(error_code ec) {
        const bool alone = reads_only();
        std::erase_if(current_, [ec, alone](entry& e) {
            const bool fails = alone || e.operation != counter_operation::read;
            if (fails && e.waiting())
                e.call.fail(ec);
            return fails;
        });
    }

    bool reads_only() const {
        return std::all_of(current_.begin(), current_.end(), [](const entry& e) {
            return e.operation == counter_operation::read;
        });
    }

    void drop_finished() {
        std::erase_if(current_, [](const entry& e) { return !e.waiting(); });
    }

    /// One attempt at the current batch, which is kept if it must be tried again.
    task<error_code> step() {
        const bool updates = !reads_only();
        if (updates && *format_ != counter_format::native && backoff_.failures() > 0) {
            // A competitor's write makes the base obsolete: an attempt reads and writes, two round
            // trips.
            auto over = [this] { return stopped(); };
            co_await backoff_.pause(port_, wake_, 2 * backoff_.failures(), over);
            base_.reset();
        }
        if (updates && is_obsolete())
            base_.reset();
        if (!base_) {
            if (error_code ec = co_await load(false))
                co_return ec;
        }
        if (updates) {
            if (co_await waited_for_turn())
                co_return error_code();
        }
        outcome result = evaluate();
        // An update that does not change the value, and a comparison that fails, need no write, but a
        // server that has caught up: the decision must not be based on an old value.
        if (updates && !result.changed && !(base_->fresh && base_->synced)) {
            if (error_code ec = co_await load(true))
                co_return ec;
            result = evaluate();
        }
        if (base_->missing && result.applied)
            co_return co_await create();
        if (!result.changed) {
            if (base_->fresh)
                deliver();
            else
                base_.reset();
            co_return error_code();
        }

        counter_attempt attempt;
        attempt.base = base_->record;
        attempt.stat = base_->stat;
        attempt.writer = writer_;
        attempt.operation = ++operations_;
        attempt.result = advance(
            base_->record, result.value, writer_, attempt.operation, options_.remembered_writers);
        co_return co_await update(std::move(attempt));
    }

    /// Whether another writer is likely to have written since.
    bool is_obsolete() const {
        return *format_ == counter_format::native && base_ &&
               port_.now() - base_->as_of > backoff_.time_of(2) &&
               has_rivals(base_->record, writer_);
    }

    /// Lets other writers have their turns. If it has waited, the node must be read again.
    task<bool> waited_for_turn() {
        if (*format_ != counter_format::native || base_->missing)
            co_return false;
        const bool patient = lost_ && backoff_.gives_way(port_);
        const counter_turn turn = turn_of(base_->record, writer_, lost_, patient);
        // Nor when nobody has written while it waited.
        if (turn.now || waited_at_ == base_->stat.mzxid)
            co_return false;
        waited_at_ = base_->stat.mzxid;
        lost_ = true;
        auto over = [this] { return stopped(); };
        co_await backoff::wait(port_, wake_, backoff_.time_of(turn.pause), over);
        base_.reset();
        co_return true;
    }

    /// Whether all calls of the current batch are pending: otherwise nothing is sent, and it is
    /// evaluated again without those that have ended.
    bool waiting() const noexcept override {
        return std::all_of(
            current_.begin(), current_.end(), [](const entry& e) { return e.waiting(); });
    }

    /// Whether any of these calls is pending: a request that may have been applied can only be sent
    /// again as it was, with the operations of those that have ended.
    class any_of final : public interest {
    public:
        explicit any_of(const batch& calls) noexcept : calls_(calls) {}
        bool waiting() const noexcept override {
            return std::any_of(
                calls_.begin(), calls_.end(), [](const entry& e) { return e.waiting(); });
        }

    private:
        const batch& calls_;
    };

    /// Applies the current batch to the base.
    outcome evaluate() {
        drop_finished();
        outcome result;
        result.value = base_->record.value;
        for (entry& e : current_) {
            e.step = apply(*format_, e.operation, result.value, e.operand, e.expected);
            result.value = e.step.after;
            result.applied = result.applied || e.step.applied;
            result.changed = result.changed || e.step.changed;
        }
        return result;
    }

    void deliver() {
        for (entry& e : current_) {
            if (e.waiting())
                e.complete();
        }
        current_.clear();
    }

    bool adopt(const request& read, bool synced) {
        auto record = parse(read.answer);
        if (!record)
            return false;
        base_.emplace();
        base_->record = std::move(*record);
        base_->stat = read.record;
        base_->fresh = true;
        base_->synced = synced;
        base_->as_of = port_.now();
        return true;
    }

    /// @param caught_up whether the server must have everything that was written before
    task<error_code> load(bool caught_up) {
        for (;;) {
            request get(port_, op_code::get, path());
            error_code ec;
            if (caught_up)
                ec = co_await behind_sync(port_, get);
            else
                ec = co_await read_forward(port_, get);
            if (!ec) {
                const bool good = adopt(get, caught_up);
                co_return good ? error_code() : make_error_code(errc::foreign_data);
            }
            if (ec == zk_errc::no_node) {
                base_.emplace();
                base_->missing = true;
                base_->fresh = true;
                base_->synced = caught_up;
                base_->record.value = options_.initial;
                co_return error_code();
            }
            if (!retry(port_, while_reachable).again(ec))
                co_return ec;
        }
    }

    /// Creates the node with the initial value. Idempotent.
    task<error_code> create() {
        counter_record record;
        record.value = options_.initial;
        if (!fits(*format_, record.value))
            co_return make_error_code(errc::overflow);
        record.identity = port_.new_guid().substr(0, 16);
        request make(port_, op_code::create, path());
        make.only_for(this);
        make.data = print_counter(*format_, record);
        make.entries = options_.acl;
        error_code ec = co_await create_with_parents(port_, make);
        base_.reset();
        if (ec == zk_errc::node_exists || nobody_waited(ec) ||
            retry(port_, while_reachable).again(ec))
            ec = error_code();
        co_return ec;
    }

    void prepare(request& write, const counter_attempt& attempt) const {
        std::string data = print_counter(*format_, attempt.result);
        if (!must_replace(attempt.stat.version)) {
            write.data = std::move(data);
            write.version = attempt.stat.version;
            return;
        }
        write.code = op_code::multi;
        transaction steps;
        create_options options;
        options.acl = &options_.acl;
        steps.erase(path(), attempt.stat.version).create(path(), std::move(data), options);
        write.steps = std::move(steps).steps();
    }

    /// After an update by this client.
    void accept(counter_attempt& attempt, const request& write) {
        if (must_replace(attempt.stat.version)) {
            base_.reset();
        } else {
            base_->record = std::move(attempt.result);
            base_->stat = write.record;
            base_->as_of = port_.now();
        }
        backoff_.succeeded();
        deliver();
    }

    task<error_code> update(counter_attempt attempt) {
        request write(port_, op_code::set, path());
        prepare(write, attempt);
        write.only_for(this);
        time_point begin = port_.now();
        error_code ec = co_await write;
        if (!ec) {
            backoff_.measured(port_.now() - begin);
            accept(attempt, write);
            co_return ec;
        }
        if (ec == zk_errc::bad_version || ec == zk_errc::no_node || ec == zk_errc::node_exists) {
            backoff_.failed();
            lost_ = true;
            base_.reset();
            co_return error_code();
        }
        if (nobody_waited(ec))
            co_return error_code();
        retry sending(port_, while_reachable);
        const bool again = sending.again(ec);
        if (sending.doubtful())
            co_return co_await find_out(std::move(attempt), sending);
        co_return again ? error_code() : ec;
    }

    /// After a lost response: reads the node until the outcome of the update is known.
    task<error_code> find_out(counter_attempt attempt, retry& sending) {
        error_code unknown = zk_errc::connection_loss;
        for (;;) {
            // The server of a new session may lag behind the one that applied the update.
            request get(port_, op_code::get, path());
            error_code ec = co_await behind_sync(port_, get);
            if (co_await again_with_quorum(port_, sending, ec))
                continue;
            base_.reset();
            if (ec || !adopt(get, true))
                co_return unknown;
            switch (judge(*format_, attempt, base_->record, base_->stat)) {
                case counter_verdict::applied: deliver(); co_return error_code();
                case counter_verdict::not_applied: co_return error_code();
                case counter_verdict::unknown: co_return unknown;
                case counter_verdict::pending: break;
            }
            request write(port_, op_code::set, path());
            prepare(write, attempt);
            write.only_for(&any_call_);
            ec = co_await write;
            if (!ec) {
                accept(attempt, write);
                co_return error_code();
            }
            if (nobody_waited(ec))
                co_return error_code();
            if (ec == errc::closed)
                co_return unknown;
            // On any such error read again: the first request may have been applied after the read.
            const bool overtaken =
                ec == zk_errc::bad_version || ec == zk_errc::no_node || ec == zk_errc::node_exists;
            if (overtaken)
                continue;
            if (!co_await again_with_quorum(port_, sending, ec))
                co_return unknown;
        }
    }

    signal wake_;
    counter_options options_;
    std::optional<counter_format> format_;
    std::string writer_;
    std::uint64_t operations_ = 0;
    std::optional<counter_base> base_;
    batch waiting_;
    batch current_;
    any_of any_call_{current_};
    bool running_ = false;
    backoff backoff_{std::chrono::microseconds(200)};
    bool lost_ = false;           ///< the current batch has lost a race, or waited for its turn
    std::int64_t waited_at_ = 0;  ///< the node's last change when it waited
};

}  // namespace detail

counter::counter(const client& c, std::string path, counter_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

namespace {

template <class Result>
void start_operation(const std::shared_ptr<detail::counter_impl>& impl,
                     detail::counter_operation operation,
                     std::int64_t operand,
                     std::int64_t expected,
                     time_limit limit,
                     detail::handler_of<Result> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    detail::counter_impl::entry e;
    e.operation = operation;
    e.operand = operand;
    e.expected = expected;
    e.call = detail::make_call(impl->get_port(), impl->wake(), std::move(handler), limit);
    impl->enqueue(std::move(e));
}

}  // namespace

void counter::start_get(const impl_ptr& impl, time_limit limit, handler_of<std::int64_t> handler) {
    start_operation(impl, detail::counter_operation::read, 0, 0, limit, std::move(handler));
}

void counter::start_add(const impl_ptr& impl,
                        std::int64_t delta,
                        time_limit limit,
                        handler_of<std::int64_t> handler) {
    start_operation(impl, detail::counter_operation::add, delta, 0, limit, std::move(handler));
}

void counter::start_exchange(const impl_ptr& impl,
                             std::int64_t value,
                             time_limit limit,
                             handler_of<std::int64_t> handler) {
    using operation = detail::counter_operation;
    start_operation(impl, operation::exchange, value, 0, limit, std::move(handler));
}

void counter::start_compare_and_set(const impl_ptr& impl,
                                    std::int64_t expected,
                                    std::int64_t desired,
                                    time_limit limit,
                                    handler_of<counter_exchange> handler) {
    using operation = detail::counter_operation;
    start_operation(impl, operation::compare_and_set, desired, expected, limit, std::move(handler));
}

void counter::start_next(const impl_ptr& impl, handler_of<std::int64_t> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (!impl->has_format())
        return detail::refuse(impl, std::move(handler), impl->reject_format());
    detail::report_next(impl, std::move(handler));
}

}  // namespace corozk
