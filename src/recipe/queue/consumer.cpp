// SPDX-License-Identifier: Apache-2.0
// The consumers' driver: the order of calls, and backoff.
#include "recipe/queue/consumer.hpp"

#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"

#include <utility>

namespace corozk::detail {

namespace {

/// The number of claims by other clients that are watched while there is other work.
constexpr std::size_t most_watched = 256;

}  // namespace

void queue_consumer::enqueue(consumer_call call) {
    if (!settings_->names.exist())
        return call.result.fail(port_.reject(
            errc::bad_option, "queue ", settings_->path, ": that library has no such queue"));
    if (settings_->options.window == 0)
        return call.result.fail(port_.reject(
            errc::bad_option, "queue ", settings_->path, ": window must be at least 1"));
    call.number = index_.call_begins(call.no_wait);
    calls_.push(std::move(call));
    start();
}

task<> queue_consumer::serve() {
    session_signal states(port_, wake_);
    for (calls_.drop_finished(); !calls_.empty(); calls_.drop_finished()) {
        if (port_.status().state == session_state::closed) {
            fail(errc::closed);
            continue;
        }
        if (std::exchange(generation_, port_.status().generation) != port_.status().generation)
            index_.session_ended();
        // Now, as there might always be less urgent work.
        error_code ec = co_await watch_claims_elsewhere(most_watched);
        if (!ec && std::exchange(pause_next_, false)) {
            auto over = [this] { return stopped(); };
            co_await backoff_.pause(port_, wake_, backoff_.failures(), over);
            continue;
        }
        calls_.drop_finished();
        if (calls_.empty())
            continue;
        const kind asked = calls_.first().what;
        if (!ec)
            ec = co_await take_next_step();
        if (!ec)
            continue;
        index_.forget_listing();
        if (fault_of(ec) == fault::unreachable) {
            calls_.fail_those_that_cannot_wait(ec);
        } else if (!is_transient(ec)) {
            calls_.fail(asked, ec);  // others may be permitted
        }
    }
    if (newcomers_.armed())
        forget_watch(port_, newcomers_, settings_->path, watch_kind::children);
    drop_claim_watches();
    doubt_parent_soon();
}

std::size_t queue_consumer::place() {
    return index_.place(settings_->options.window, [this](std::size_t limit) {
        return port_.random_below(static_cast<std::uint32_t>(limit));
    });
}

task<error_code> queue_consumer::take_next_step() {
    read_clock();
    const consumer_call& first = calls_.first();
    const kind what = first.what;
    switch (index_.decide(port_.status().revision, first.number, !calls_.some_cannot_wait())) {
        case next_step::list: co_return co_await list(nullptr);
        case next_step::wait: co_return co_await wait_for_items();
        case next_step::check_parent:
            // Claims proceed in the meantime, as a wrong one can be ended.
            if (what != kind::consume)
                co_return co_await check_parent();
            break;
        case next_step::get_available: break;
    }
    switch (what) {
        case kind::take: co_return co_await take();
        case kind::peek: co_return co_await peek();
        case kind::consume: co_return co_await claim();
    }
    co_return error_code();
}

void queue_consumer::claim_ended(const std::string& name, bool acknowledged) {
    index_.claim_ended(name, acknowledged);
    if (!acknowledged)
        wake_.set();
}

void queue_consumer::succeeded(time_point begin) {
    last_succeeded_ = true;
    index_.round_succeeded();
    backoff_.succeeded();
    backoff_.measured(port_.now() - begin);
}

/// All consumers start with the first item, or with one of the window. The one that gets it goes on;
/// the others try again after a random pause.
void queue_consumer::failed() {
    last_succeeded_ = false;
    pause_next_ = true;
    backoff_.failed();
}

queue_item queue_consumer::to_item(available_item item) const {
    queue_item result;
    result.name = std::move(item.name);
    result.data = std::move(item.content->data);
    if (settings_->names.timed()) {
        result.due = time_of_due(item.key.rank);
    } else {
        result.priority = static_cast<std::int32_t>(item.key.rank);
    }
    return result;
}

}  // namespace corozk::detail
