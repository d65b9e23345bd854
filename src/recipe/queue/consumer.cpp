// SPDX-License-Identifier: Apache-2.0
// The consumers' driver: in which order calls are served, and when it backs off.
#include "recipe/queue/consumer.hpp"

#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"

#include <utility>

namespace corozk::detail {

namespace {

/// At most so many claims of other clients are watched while there is something else to do.
constexpr std::size_t most_watched = 256;

}  // namespace

queue_item make_item(const queue_names& names, available_item item) {
    queue_item result;
    result.name = std::move(item.name);
    result.data = std::move(item.content->data);
    if (names.timed()) {
        result.due = time_of_due(item.key.rank);
    } else {
        result.priority = static_cast<std::int32_t>(item.key.rank);
    }
    return result;
}

queue_consumer::queue_consumer(port& p,
                               std::shared_ptr<const queue_settings> settings,
                               wall_clock clock,
                               std::weak_ptr<session> s)
    : port_(p),
      settings_(std::move(settings)),
      clock_(std::move(clock)),
      session_(std::move(s)),
      wake_(p),
      index_(settings_->names),
      takes_(p, settings_->options.control_path, settings_->options.acl) {}

void queue_consumer::stop() {
    const bool idle = state_ == driver_state::idle;
    state_ = idle ? driver_state::stopped : driver_state::stopping;
    calls_.fail(boost::asio::error::operation_aborted);
    wake_.set();
    if (idle)
        takes_.retire();
}

void queue_consumer::enqueue(consumer_call call) {
    if (!settings_->names.exist())
        return call.result.fail(errc::bad_option);
    call.number = index_.call_begins(call.no_wait);
    calls_.push(std::move(call));
    if (state_ != driver_state::idle)
        return wake_.set();
    state_ = driver_state::running;
    port_.spawn(run(shared_from_this()));
}

task<> queue_consumer::run(std::shared_ptr<queue_consumer> self) {
    co_await self->serve();
    self->drop_claim_watches();
    self->doubt_parent_soon();
    if (self->stopped())
        self->takes_.retire();
    self->state_ = self->stopped() ? driver_state::stopped : driver_state::idle;
}

task<> queue_consumer::serve() {
    session_signal states(port_, wake_);
    std::uint64_t generation = port_.status().generation;
    for (;;) {
        calls_.drop_finished();
        if (calls_.empty())
            co_return;
        if (port_.status().state == session_state::closed) {
            calls_.fail(errc::closed);
            continue;
        }
        if (generation != port_.status().generation) {
            generation = port_.status().generation;
            index_.session_ended();
        }
        // Now: there might always be something less urgent to do.
        error_code ec = co_await watch_claims_elsewhere(most_watched);
        if (!ec && last_attempt_ == attempt_result::failed) {
            last_attempt_ = attempt_result::failed_paused;
            auto over = [this] { return stopped(); };
            co_await backoff_.pause(port_, wake_, backoff_.failures(), over);
            continue;
        }
        if (!ec)
            ec = co_await take_next_step();
        if (!ec)
            continue;
        index_.forget_listing();
        if (ec == errc::not_connected) {
            calls_.fail_those_that_cannot_wait(ec);
        } else if (!worth_another_try(ec)) {
            calls_.fail(ec);
        }
    }
}

task<error_code> queue_consumer::take_next_step() {
    calls_.drop_finished();
    if (calls_.empty())
        co_return error_code();
    read_clock();
    switch (index_.decide(port_.status().revision)) {
        case next_step::list_or_wait:
            if (!calls_.some_cannot_wait())
                co_return co_await wait_for_items();
            [[fallthrough]];
        case next_step::list:
            co_return co_await list(nullptr);
        case next_step::wait:
            co_return co_await wait_for_items();
        case next_step::check_parent:
            // Claims do that meanwhile: one that should not be can be ended.
            if (calls_.first() != consumer_call::kind::consume)
                co_return co_await check_parent();
            break;
        case next_step::get_available:
            break;
    }
    switch (calls_.first()) {
        case consumer_call::kind::take:
            co_return co_await take();
        case consumer_call::kind::peek:
            co_return co_await peek();
        case consumer_call::kind::consume:
            co_return co_await claim();
    }
    co_return error_code();
}

void queue_consumer::claim_ended(const std::string& name, bool acknowledged) {
    index_.claim_ended(name, acknowledged);
    if (!acknowledged)
        wake_.set();
}

std::size_t queue_consumer::batch_size(consumer_call::kind what) const {
    return calls_.batch_size(what, index_.last_covered_call());
}

consumer_call* queue_consumer::next_call(consumer_call::kind what) {
    return calls_.next(what, index_.last_covered_call());
}

void queue_consumer::succeeded(time_point begin) {
    last_attempt_ = attempt_result::succeeded;
    backoff_.succeeded();
    backoff_.measured(port_.now() - begin);
}

/// All consumers begin with the first item. The one that got it continues with what it has read by then;
/// the others list again after a random time.
void queue_consumer::failed() {
    last_attempt_ = attempt_result::failed;
    backoff_.failed();
}

}  // namespace corozk::detail
