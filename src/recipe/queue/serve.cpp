// SPDX-License-Identifier: Apache-2.0
// Those who ask for items: in which order they are served, and when they step back for others.
#include "recipe/queue/queue_impl.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t largest_batch = 64;

/// Beyond so many attempts in vain the pause grows no more.
constexpr unsigned most_losses = 16;
constexpr auto longest_pause = std::chrono::milliseconds(50);

/// So many items that others have are watched while there is something else to do.
constexpr std::size_t most_watched = 256;

/// Calls that have ended are looked for where so many may have.
constexpr std::size_t least_sweep = 16;

}  // namespace

void queue_impl::enqueue(consumer c) {
    if (!names_.exist())
        return c.fail(errc::bad_option);
    // A watch tells of newcomers, but not before they could be seen elsewhere.
    if (c.no_wait || names_.ranked() || !watching_empty_)
        fresh_ = false;
    c.number = ++calls_;
    drop_finished();
    consumers_.push_back(std::move(c));
    if (consuming_) {
        wake_.set();
        return;
    }
    consuming_ = true;
    port_.spawn(run_consumers(shared_from_this()));
}

task<> queue_impl::run_consumers(std::shared_ptr<queue_impl> self) {
    co_await self->serve();
    self->consuming_ = false;
    self->drop_foreign_claims();
    self->doubt_folder_soon();
    if (self->stopped_)
        self->takes_.retire();
}

task<> queue_impl::serve() {
    session_signal states(port_, wake_);
    std::uint64_t generation = port_.status().generation;
    for (;;) {
        drop_finished();
        if (consumers_.empty())
            co_return;
        if (port_.status().state == session_state::closed) {
            fail_consumers(errc::closed, false);
            continue;
        }
        if (generation != port_.status().generation) {
            // The old session's claims are nobody's now, or soon.
            generation = port_.status().generation;
            own_.clear();
            foreign_.clear();
            forget_listing();
        }
        // At once: others might always have something for us that is less urgent.
        error_code ec = co_await watch_foreign_claims(most_watched);
        if (!ec && std::exchange(step_back_, false)) {
            co_await pause();
            continue;
        }
        if (!ec)
            ec = co_await serve_some();
        if (!ec)
            continue;
        forget_listing();
        if (ec == errc::not_connected) {
            fail_consumers(ec, true);
        } else if (!worth_another_try(ec)) {
            fail_consumers(ec, false);
        }
    }
}

/// One step: finds out what there is, or hands some of it out.
task<error_code> queue_impl::serve_some() {
    drop_finished();
    if (consumers_.empty())
        co_return error_code();
    look_at_clock();
    bool known = !next_candidates(1).empty();
    bool stale = names_.ranked() && !fresh_;
    error_code ec;
    if (stale || !known) {
        // Where nothing was due a moment ago, a listing without a watch would not be the last.
        bool will_wait = names_.timed() && !known && !somebody_is_impatient();
        if (!fresh_ && !will_wait) {
            ec = co_await list(nullptr);
        } else {
            ec = co_await wait_for_items();
        }
    } else if (!sure_of_folder() && consumers_.front().what != wanted::consume) {
        // A claim shows whose it is: there the look costs no time.
        ec = co_await look_at_folder();
    } else {
        switch (consumers_.front().what) {
            case wanted::take:
                ec = co_await serve_takes();
                break;
            case wanted::peek:
                ec = co_await serve_peek();
                break;
            case wanted::consume:
                ec = co_await serve_consumers();
                break;
        }
    }
    co_return ec;
}

/// Those behind one who waits only when there are as many as there may be of these: so it takes no time
/// where thousands wait.
void queue_impl::drop_finished() {
    while (!consumers_.empty() && !consumers_.front().waiting())
        consumers_.pop_front();
    if (consumers_.size() < sweep_at_)
        return;
    std::erase_if(consumers_, [](const consumer& c) { return !c.waiting(); });
    sweep_at_ = std::max(least_sweep, 2 * consumers_.size());
}

void queue_impl::fail_consumers(error_code ec, bool only_impatient) {
    for (consumer& c : consumers_) {
        if (c.waiting() && (!only_impatient || c.no_wait))
            c.fail(ec);
    }
}

bool queue_impl::somebody_is_impatient() const {
    return std::any_of(consumers_.begin(), consumers_.end(), [](const consumer& c) {
        return c.no_wait && c.waiting();
    });
}

/// How many waiting consumers at the front want this, of those for whom we have a listing.
std::size_t queue_impl::run_length(wanted what) const {
    std::size_t count = 0;
    for (const consumer& c : consumers_) {
        if (!is_listed_for(c))
            break;
        if (!c.waiting())
            continue;
        if (c.what != what || count == largest_batch)
            break;
        ++count;
    }
    return count;
}

/// Whether the listing says which item comes first for somebody: with ranks, only if it was asked for
/// after the call.
bool queue_impl::is_listed_for(const consumer& c) const {
    return !names_.ranked() || c.number <= listed_for_;
}

/// Who gets what was removed or claimed.
queue_impl::consumer* queue_impl::next_taker(wanted what) {
    for (consumer& c : consumers_) {
        if (!is_listed_for(c))
            break;
        if (c.what == what && c.waiting())
            return &c;
    }
    return nullptr;
}

queue_item queue_impl::make_item(std::string name, std::string data, const queue_key& key) const {
    queue_item item;
    item.name = std::move(name);
    item.data = std::move(data);
    if (names_.timed()) {
        item.due = time_of_due(key.rank);
    } else {
        item.priority = static_cast<std::int32_t>(key.rank);
    }
    return item;
}

void queue_impl::claim_ended(const std::string& name, bool acknowledged) {
    own_.erase(name);
    if (acknowledged) {
        gone_.insert(name);
        return;
    }
    forget_listing();
    wake_.set();
}

void queue_impl::won(time_point begin) {
    lost_last_ = false;
    if (losses_ > 0)
        --losses_;
    round_ = (round_ * 7 + (port_.now() - begin)) / 8;
}

void queue_impl::lost() {
    lost_last_ = true;
    step_back_ = true;
    losses_ = std::min(losses_ + 1, most_losses);
}

/// All who take begin at the front, so that all but one of those who try at the same time do so in
/// vain. The one goes on with what it has read already; the others look again at random times, the
/// later the more often they lost.
task<> queue_impl::pause() {
    std::chrono::nanoseconds window =
        std::min<std::chrono::nanoseconds>(round_ * losses_, longest_pause);
    auto draw =
        static_cast<std::int64_t>(std::stoull(port_.new_guid().substr(0, 8), nullptr, 16) % 1024);
    alarm timer(port_, wake_);
    timer.set(port_.now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                window * draw / 1024));
    while (!timer.rang() && !stopped_ && port_.status().state != session_state::closed)
        co_await wake_.wait();
}

}  // namespace corozk::detail
