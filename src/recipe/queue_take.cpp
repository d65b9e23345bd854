// SPDX-License-Identifier: Apache-2.0
// The consumers' side of a queue.
#include "block/ask_again.hpp"
#include "block/behind_sync.hpp"
#include "block/parents.hpp"
#include "recipe/queue_impl.hpp"
#include "session/path.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t largest_batch = 64;

/// How many items are read before somebody asks for them.
constexpr std::size_t largest_lead = 16;

/// Beyond so many attempts in vain the pause grows no more.
constexpr unsigned most_losses = 16;
constexpr auto longest_pause = std::chrono::milliseconds(50);

/// Drivers end when there is nothing to do; those that wait for a connection go on.
bool only_the_connection(const error_code& ec) {
    return worth_another_try(ec);
}

}  // namespace

void queue_impl::enqueue(consumer c) {
    if (!names_.exist())
        return c.fail(errc::bad_option);
    // A watch tells of newcomers, but not before they could be seen elsewhere.
    if (c.no_wait || names_.ranked() || !watching_empty_)
        fresh_ = false;
    c.number = ++calls_;
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
    for (auto& [name, claim] : self->foreign_) {
        forget_watch(self->port_,
                     *claim,
                     watch_kind::data,
                     join_path(join_path(self->path_, name), "claim"));
    }
    self->foreign_.clear();
    if (self->stopped_)
        self->takes_.retire();
}

void queue_impl::drop_finished() {
    while (!consumers_.empty() && !consumers_.front().waiting())
        consumers_.pop_front();
}

void queue_impl::forget_listing() noexcept {
    order_.clear();
    next_ = 0;
    due_ = due_look();
    fresh_ = false;
}

/// Says which items of the listing may be taken; it holds until the next look.
void queue_impl::look_at_clock() {
    if (names_.timed()) {
        // What the clock needs may go with the queue object.
        due_ = stopped_ ? due_look() : look_at_due(order_, clock_());
    } else {
        due_.ripe = order_.size();
    }
}

bool queue_impl::somebody_is_impatient() const {
    return std::any_of(consumers_.begin(), consumers_.end(), [](const consumer& c) {
        return c.no_wait && c.waiting();
    });
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
    if (acknowledged)
        return;  // remembered until a listing is without it
    own_.erase(name);
    forget_listing();
    wake_.set();
}

void queue_impl::fail_consumers(error_code ec, bool only_impatient) {
    for (consumer& c : consumers_) {
        if (c.waiting() && (!only_impatient || c.no_wait))
            c.fail(ec);
    }
}

/// How many waiting consumers at the front want the same, of those for whom we have a listing.
std::size_t queue_impl::run_length() const {
    std::size_t count = 0;
    for (const consumer& c : consumers_) {
        if (!is_listed_for(c))
            break;
        if (!c.waiting())
            continue;
        if (c.what != consumers_.front().what || count == largest_batch)
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

std::vector<queue_impl::candidate> queue_impl::next_candidates(std::size_t count) {
    std::vector<candidate> batch;
    while (!own_.empty() && next_ < order_.size() && own_.contains(listing_[order_[next_].index])) {
        ++next_;
    }
    for (std::size_t i = next_; i < due_.ripe && batch.size() < count; ++i) {
        std::string_view name = listing_[order_[i].index];
        if (own_.contains(name) || foreign_.contains(name))
            continue;
        auto known = ahead_.find(name);
        if (known != ahead_.end()) {
            batch.push_back(known->second);
        } else {
            candidate c;
            c.name = name;
            c.key = order_[i].key;
            batch.push_back(std::move(c));
        }
    }
    return batch;
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

task<error_code> queue_impl::list(watch_signal* watch) {
    for (;;) {
        request listing(port_, op_code::children, path_);
        if (watch)
            listing.attach(*watch);
        fresh_ = true;  // unless somebody asks for an item from now on
        listed_for_ = calls_;
        error_code ec = co_await listing;
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(port_, path_, options_.acl, folder_mode());
            if (!ec)
                continue;
        }
        if (ec) {
            fresh_ = false;
            co_return ec;
        }
        listing_ = std::move(listing.names);
        order_ = item_order(names_, listing_);
        next_ = 0;
        look_at_clock();
        if (!foreign_.empty() || !ahead_.empty() || !own_.empty()) {
            // What is not in the listing is gone.
            decltype(foreign_) foreign;
            decltype(ahead_) ahead;
            decltype(own_) own;
            for (std::size_t i = 0; i < listing_.size(); ++i) {
                std::string_view name = listing_[i];
                if (auto it = foreign_.find(name); it != foreign_.end()) {
                    foreign.insert(foreign_.extract(it));
                }
                if (auto it = ahead_.find(name); it != ahead_.end()) {
                    ahead.insert(ahead_.extract(it));
                }
                if (auto it = own_.find(name); it != own_.end())
                    own.insert(own_.extract(it));
            }
            own_.swap(own);
            foreign_.swap(foreign);
            ahead_.swap(ahead);
        }
        co_return error_code();
    }
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
        bool ended = false;
        std::erase_if(foreign_, [&](const auto& f) {
            ended = ended || f.second->ended;
            return f.second->ended;
        });
        if (ended)
            forget_listing();

        error_code ec;
        look_at_clock();
        bool known = !next_candidates(1).empty();
        bool stale = names_.ranked() && !fresh_;
        if (std::exchange(step_back_, false)) {
            co_await pause();
            continue;
        }
        if (stale || !known) {
            // Where nothing was due a moment ago, a listing without a watch would not be the last.
            bool will_wait = names_.timed() && !known && !somebody_is_impatient();
            if (!fresh_ && !will_wait) {
                ec = co_await list(nullptr);
            } else {
                ec = co_await wait_for_items();
            }
        } else {
            drop_finished();
            if (consumers_.empty())
                co_return;
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
        if (!ec)
            continue;
        forget_listing();
        if (ec == errc::not_connected) {
            fail_consumers(ec, true);
        } else if (!only_the_connection(ec)) {
            fail_consumers(ec, false);
        }
    }
}

/// Nothing is there for us: the listing is from after everybody's asking, or else those who wait may
/// have to.
task<error_code> queue_impl::wait_for_items() {
    fail_consumers(errc::would_block, true);
    for (consumer& c : consumers_) {
        if (c.what == wanted::peek && c.waiting())
            c.fail(errc::would_block);
    }
    drop_finished();
    if (consumers_.empty())
        co_return error_code();
    watch_signal newcomers(wake_);
    error_code ec = co_await watch_foreign_claims();
    if (!ec)
        ec = co_await list(&newcomers);
    std::uint64_t generation = port_.status().generation;
    auto nothing_new = [&] {
        return newcomers.armed() && generation == port_.status().generation &&
               port_.status().state != session_state::closed && !stopped_ &&
               std::none_of(
                   foreign_.begin(), foreign_.end(), [](const auto& f) { return f.second->ended; });
    };
    watching_empty_ = true;
    alarm next_look(port_, wake_);
    while (fresh_ && next_candidates(1).empty() && nothing_new()) {
        if (due_.again) {
            next_look.set(port_.now() + *due_.again);
        } else {
            next_look.clear();
        }
        co_await wake_.wait();
        look_at_clock();
        drop_finished();
        if (consumers_.empty())
            break;
    }
    watching_empty_ = false;
    if (!newcomers.armed())
        forget_listing();
    forget_watch(port_, newcomers, watch_kind::children, path_);
    co_return ec;
}

/// Has us told when items come back.
task<error_code> queue_impl::watch_foreign_claims() {
    struct look {
        look(port& p, std::string name_, const std::string& path)
            : name(std::move(name_)), get(p, op_code::get, path) {}
        std::string name;
        request get;
    };
    std::vector<std::unique_ptr<look>> looks;
    for (auto& [name, claim] : foreign_) {
        if (claim->armed() || claim->ended)
            continue;
        auto l = std::make_unique<look>(port_, name, join_path(join_path(path_, name), "claim"));
        l->get.attach(*claim);
        l->get.send();
        looks.push_back(std::move(l));
    }
    error_code result;
    for (auto& l : looks) {
        request& get = l->get;
        error_code ec = co_await get;
        if (ec == zk_errc::no_node) {
            foreign_.erase(l->name);
            forget_listing();
        } else if (ec) {
            result = ec;
        }
    }
    co_return result;
}

/// Reads those that were not read yet. Takes out what is gone.
task<error_code> queue_impl::read(std::vector<candidate>& batch) {
    std::vector<std::unique_ptr<request>> gets(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (batch[i].read)
            continue;
        gets[i] = std::make_unique<request>(port_, op_code::get, join_path(path_, batch[i].name));
        gets[i]->send();
    }
    error_code result;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (!gets[i])
            continue;
        request& get = *gets[i];
        error_code ec = co_await get;
        if (!ec) {
            batch[i].read = true;
            batch[i].data = std::move(get.answer);
            batch[i].version = get.record.version;
            batch[i].ephemeral = get.record.ephemeral_owner != 0;
        } else if (ec != zk_errc::no_node) {
            result = ec;
        }
    }
    // Whoever takes begins at the front: where some have gone, more will have.
    std::size_t present = batch.size();
    std::erase_if(batch, [](const candidate& c) { return !c.read; });
    if (!result && batch.size() < present)
        forget_listing();
    co_return result;
}

task<error_code> queue_impl::serve_peek() {
    std::vector<candidate> batch = next_candidates(1);
    for (candidate& c : batch)
        c.read = false;
    error_code ec = co_await read(batch);
    if (ec || batch.empty())
        co_return ec;
    candidate& c = batch.front();
    for (consumer& waiting : consumers_) {
        if (waiting.what != wanted::peek || !waiting.waiting() || !is_listed_for(waiting))
            break;
        waiting.item->complete(error_code(), make_item(c.name, c.data, c.key));
    }
    co_return error_code();
}

task<error_code> queue_impl::serve_takes() {
    std::vector<candidate> batch = next_candidates(run_length());
    time_point begin = port_.now();
    if (error_code ec = co_await read(batch))
        co_return ec;
    drop_finished();
    // Whoever was cancelled meanwhile needs none.
    batch.resize(std::min(batch.size(), run_length()));
    if (batch.empty())
        co_return error_code();

    std::vector<transaction::step> steps;
    for (const candidate& c : batch) {
        transaction::step step;
        step.kind = transaction::step_kind::erase;
        step.path = join_path(path_, c.name);
        step.version = c.version;
        steps.push_back(std::move(step));
    }
    // Meanwhile read what the next ones will want.
    std::vector<candidate> lead;
    std::vector<std::unique_ptr<request>> gets;
    if (!names_.ranked() && !lost_last_) {
        std::size_t ahead = std::min(batch.size(), largest_lead);
        lead = next_candidates(batch.size() + ahead);
        lead.erase(lead.begin(),
                   lead.begin() + static_cast<std::ptrdiff_t>(std::min(batch.size(), lead.size())));
        std::erase_if(lead, [](const candidate& c) { return c.read; });
        for (const candidate& c : lead) {
            gets.push_back(
                std::make_unique<request>(port_, op_code::get, join_path(path_, c.name)));
        }
    }
    if (names_.ranked())
        fresh_ = false;
    for (auto& get : gets)
        get->send();
    ledger_outcome outcome = co_await takes_.commit(std::move(steps));
    for (const candidate& c : batch)
        ahead_.erase(c.name);
    for (std::size_t i = 0; i < gets.size(); ++i) {
        request& get = *gets[i];
        if (co_await get)
            continue;
        candidate& c = lead[i];
        c.read = true;
        c.data = std::move(get.answer);
        c.version = get.record.version;
        c.ephemeral = get.record.ephemeral_owner != 0;
        ahead_.emplace(c.name, std::move(c));
    }
    error_code ec = outcome.error;
    if (!ec || is_outcome_unknown(ec)) {
        won(begin);
        // The listing up to the last of them is used up.
        for (const candidate& last = batch.back(); next_ < order_.size(); ++next_) {
            if (order_[next_].key == last.key) {
                ++next_;
                break;
            }
        }
        co_await give_out(std::move(batch), ec);
        co_return error_code();
    }
    if (outcome.failed < batch.size()) {
        const std::string& name = batch[outcome.failed].name;
        if (ec == zk_errc::not_empty) {
            foreign_.emplace(name, std::make_unique<foreign_claim>(wake_));
            co_return error_code();
        }
        if (ec == zk_errc::no_node || ec == zk_errc::bad_version) {
            // Others take from the front as well, and will be further when we look again.
            lost();
            forget_listing();
            co_return error_code();
        }
    }
    co_return ec;
}

/// Hands the removed items to those who wait; what nobody wants any more goes back.
task<> queue_impl::give_out(std::vector<candidate> batch, error_code ec) {
    for (candidate& c : batch) {
        consumer* taker = next_taker(wanted::take);
        if (!taker) {
            if (!ec)
                co_await put_back(std::move(c));
            continue;
        }
        taker->item->complete(ec, make_item(std::move(c.name), std::move(c.data), c.key));
        drop_finished();
    }
}

/// Creates it again under its old name: at its old place.
task<> queue_impl::put_back(candidate item) {
    for (;;) {
        std::vector<transaction::step> steps(1);
        steps[0].kind = transaction::step_kind::create;
        steps[0].path = join_path(path_, item.name);
        steps[0].data = item.data;
        steps[0].mode = item.ephemeral ? create_mode::ephemeral : create_mode::persistent;
        steps[0].entries = options_.acl;
        ledger_outcome outcome = co_await takes_.commit(std::move(steps));
        forget_listing();
        error_code ec = outcome.error;
        if (ec == zk_errc::no_node)
            ec = co_await ensure_folder(port_, path_, options_.acl, folder_mode());
        if (ec == zk_errc::node_exists)
            co_return;  // an attempt of unknown outcome did it
        if (!outcome.error || (ec && !only_the_connection(ec))) {
            if (ec && port_.logs(log_level::error)) {
                port_.log(log_level::error,
                          "could not put the item " + item.name + " back into " + path_ + ": " +
                              ec.message());
            }
            co_return;
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Claims

/// After a lost answer, or when there is a claim already.
task<bool> queue_impl::claim_is_ours(std::string path,
                                     std::string guid,
                                     std::uint64_t generation,
                                     std::int64_t& token,
                                     error_code& ec) {
    for (;;) {
        // The new server may lag behind the one that got the claim.
        request get(port_, op_code::get, path);
        get.generation = generation;
        ec = co_await behind_sync(port_, get);
        if (ask_again(port_, generation, ec))
            continue;
        if (ec)
            co_return false;
        token = get.record.czxid;
        co_return get.answer == guid&& get.record.ephemeral_owner == port_.status().session_id;
    }
}

/// Never erases somebody else's claim: the name is the same for all.
task<> queue_impl::give_claim_back(std::string path, std::string guid, std::uint64_t generation) {
    bool certain = true;
    for (;;) {
        if (!certain) {
            std::int64_t token = 0;
            error_code ec;
            if (!co_await claim_is_ours(path, guid, generation, token, ec))
                co_return;
        }
        request erase(port_, op_code::erase, path);
        erase.generation = generation;
        error_code ec = co_await erase;
        if (!ask_again(port_, generation, ec))
            co_return;
        certain = false;
    }
}

task<error_code> queue_impl::serve_consumers() {
    struct attempt {
        attempt(port& p, candidate c_, const std::string& item_path)
            : c(std::move(c_)),
              path(join_path(item_path, "claim")),
              create(p, op_code::create, path),
              get(p, op_code::get, item_path) {}
        candidate c;
        std::string path;
        request create;
        request get;
    };
    std::uint64_t generation = port_.status().generation;
    // Where others claim as well, only what is ours is read.
    const bool read_at_once = losses_ == 0;
    time_point begin = port_.now();
    std::size_t claimed = 0;
    std::size_t claimed_by_others = 0;
    std::vector<std::unique_ptr<attempt>> attempts;
    for (candidate& c : next_candidates(run_length())) {
        std::string item_path = join_path(path_, c.name);
        auto a = std::make_unique<attempt>(port_, std::move(c), item_path);
        a->create.data = port_.new_guid();
        a->create.mode = create_mode::ephemeral;
        a->create.entries = options_.acl;
        a->create.generation = generation;
        a->get.generation = generation;
        a->create.send();
        if (read_at_once)
            a->get.send();
        attempts.push_back(std::move(a));
    }
    if (names_.ranked())
        fresh_ = false;
    if (!read_at_once) {
        for (auto& a : attempts) {
            request& create = a->create;
            if (!co_await create)
                a->get.send();
        }
    }
    error_code result;
    for (auto& pointer : attempts) {
        attempt& a = *pointer;
        request& create = a.create;
        request& get = a.get;
        error_code ec = co_await create;
        if (read_at_once)
            co_await get;  // whatever became of the claim: the answer comes here
        std::int64_t token = create.record.czxid;
        bool ours = !ec;
        if (is_outcome_unknown(ec)) {
            ours = co_await claim_is_ours(a.path, create.data, generation, token, ec);
            if (!ours && !ec)
                ec = zk_errc::node_exists;
        }
        if (!ours) {
            if (ec == zk_errc::node_exists) {
                ++claimed_by_others;
                foreign_.emplace(a.c.name, std::make_unique<foreign_claim>(wake_));
            } else if (ec == zk_errc::no_node) {
                forget_listing();
            } else if (ec == zk_errc::no_children_for_ephemerals) {
                result = errc::not_supported;
            } else {
                result = ec;
            }
            continue;
        }
        ++claimed;
        error_code get_ec = co_await get;
        while (ask_again(port_, generation, get_ec)) {
            request again(port_, op_code::get, join_path(path_, a.c.name));
            again.generation = generation;
            get_ec = co_await again;
            get.answer = std::move(again.answer);
        }
        consumer* taker = next_taker(wanted::consume);
        if (get_ec || !taker) {
            co_await give_claim_back(a.path, create.data, generation);
            forget_listing();
            if (get_ec && get_ec != zk_errc::no_node)
                result = get_ec;
            continue;
        }
        own_.insert(a.c.name);
        queue_item item = make_item(a.c.name, std::move(get.answer), a.c.key);
        auto claim = std::make_shared<claim_impl>(
            port_, shared_from_this(), std::move(item), create.data, generation, token);
        taker->claim->complete(error_code(), queue_claim(session_.lock(), std::move(claim)));
        drop_finished();
    }
    if (claimed > 0) {
        won(begin);
    } else if (claimed_by_others > 0) {
        lost();
    }
    co_return result;
}

}  // namespace corozk::detail
