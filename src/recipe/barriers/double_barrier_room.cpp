// SPDX-License-Identifier: Apache-2.0
// The driver for a client's members at a barrier.
#include "recipe/barriers/double_barrier_room.hpp"

#include "driver/ensure_path.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/renew_parent.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>

namespace corozk::detail {

namespace {

barrier_seat& seat_of(const local_members::pointer& m) noexcept {
    return static_cast<barrier_seat&>(*m);
}

/// The calls for which a parent is created.
class entering_calls final : public interest {
public:
    explicit entering_calls(const local_members& members) noexcept : members_(members) {}

    bool waiting() const noexcept override {
        const auto& all = members_.all();
        return std::any_of(all.begin(), all.end(), [](const auto& m) {
            return m->phase == barrier_phase::entering && !seat_of(m).call->over();
        });
    }

private:
    const local_members& members_;
};

/// Replaces the parent if nobody is left. Otherwise some may wait for others that cannot come any
/// more: they look when the record is written.
task<> renew_or_tell(port& p, std::string parent) {
    // Without the record: compared with its number, new members would be inside.
    const bool keep_data = false;
    retry attempts(p);
    error_code ec;
    do
        ec = co_await renew_parent(p, parent, keep_data);
    while (attempts.again(ec));
    bool tell = ec == errc::sequence_exhausted;
    while (tell) {
        request read(p, op_code::get, parent);
        ec = co_await read;
        if (!ec) {
            request set(p, op_code::set, parent);
            set.data = read.answer;
            set.version = read.record.version;
            ec = co_await set;
        }
        tell = attempts.again(ec);  // after `bad_version`, they look already
    }
}

}  // namespace

/// A request about a member's node.
struct barrier_room::node_request {
    node_request(local_members::pointer member_, port& p, op_code code, std::string path)
        : member(std::move(member_)), ask(p, code, std::move(path), member->session) {}

    local_members::pointer member;
    request ask;
};

void barrier_room::add(seat_ptr seat, barrier_phase wanted) {
    members_.add(std::move(seat), wanted);
    wake_.set();
    if (!running_) {
        running_ = true;
        port_.spawn(run(shared_from_this()));
    }
}

task<> barrier_room::run(std::shared_ptr<barrier_room> self) {
    port& p = self->port_;
    session_signal session(p, self->wake_);
    while (p.status().state != session_state::closed) {
        self->wake_.clear();
        const std::uint64_t generation = p.status().generation;
        const bool alive = p.alive(generation);
        self->members_.session_is(generation, alive);
        self->settle();
        bool again = false;
        // A server without a quorum changes nothing.
        if (alive && p.status().state != session_state::read_only && !self->members_.empty())
            again = co_await self->pass(generation);
        if (self->members_.empty())
            break;
        if (!again)
            co_await self->wake_.wait();
    }
    self->members_.clear();
    forget_watch(p, self->target_watch_, self->watched_target_);
    forget_watch(p, self->record_watch_, self->parent_);
    self->running_ = false;
}

/// Tells the members which calls are over and which watches have fired, and completes the calls of
/// those that have entered or left.
void barrier_room::settle() {
    for (const auto& m : members_.all()) {
        barrier_seat& s = seat_of(m);
        if (s.call->over())
            members_.give_up(s);
        if (s.node != member_node::exists)
            s.own_watch.disarm();
        s.watched = s.own_watch.certain();
    }
    for (const auto& m : members_.take_finished()) {
        seat_of(m).own_watch.disarm();
        seat_of(m).call->complete(m->result);
    }
    for (late_member& late : members_.take_late())
        port_.use_service<background_deleter>().erase_late(
            parent_, std::move(late.prefix), late.session);
}

/// The steps of the recipe, for all members at once: those that enter create their nodes, watch the
/// record and list the members, and the last one starts the round; those that leave list, delete
/// their nodes and watch the lowest one. Which of these steps are due is decided by `local_members`.
/// @return whether the next pass is due; otherwise wait for the signal
task<bool> barrier_room::pass(std::uint64_t generation) {
    const barrier_reads wanted = members_.begin_pass();
    std::deque<request> reads;
    auto prepare = [&](bool is_wanted, op_code code) -> request* {
        return is_wanted ? &reads.emplace_back(port_, code, parent_, generation) : nullptr;
    };
    prepare(wanted.sync, op_code::sync);
    request* const record = prepare(wanted.record, op_code::get);
    request* const listing = prepare(wanted.list, op_code::children);
    // A change of the record most likely means that nobody waits any more.
    const bool changed = std::exchange(record_watched_, false) && !record_watch_.armed();
    const bool watches = members_.entering() && !changed;

    // Create or delete nodes, watch the record, list the members.
    std::deque<node_request> nodes = send_node_requests(generation);
    if (watches) {
        record_watch_.disarm();
        record->attach(record_watch_);
    } else {
        forget_watch(port_, record_watch_, parent_);
    }
    for (request& read : reads)
        read.send();
    bool parent_missing = co_await finish(nodes);
    error_code ec;
    for (request& read : reads) {
        const error_code failed = co_await read;
        ec = ec ? ec : failed;
    }
    record_watched_ = watches && !ec;
    if (ec == zk_errc::no_node) {
        members_.parent_missing();
        parent_missing = parent_missing || members_.entering();
    } else if (ec) {
        if (watches)
            forget_watch(port_, record_watch_, parent_);
        if (!parent_missing)
            members_.failed(ec);
    }
    settle();
    if (parent_missing && !members_.empty()) {
        acl entries = seat_of(members_.all().front()).entries;
        const entering_calls entering(members_);
        ec = co_await ensure_path(
            port_, parent_, std::move(entries), create_mode::container, &entering);
        if (ec && !nobody_waited(ec))
            members_.failed(ec);
        settle();
        co_return true;
    }
    if (ec)
        co_return members_.due();

    // Start the round if all are there.
    const auto round = members_.read(record, listing);
    settle();
    if (round)
        co_await start(*round, generation);
    if (members_.entering() && !record_watched_)
        co_return true;

    // Wait.
    if (!members_.due())
        co_await watch_members();
    if (!members_.due())
        co_await watch_target(generation);
    settle();
    co_return members_.due();
}

std::deque<barrier_room::node_request> barrier_room::send_node_requests(std::uint64_t generation) {
    std::deque<node_request> requests;
    for (const auto& m : members_.all()) {
        if (m->node == member_node::unwanted) {
            requests.emplace_back(m, port_, op_code::erase, join_path(parent_, m->name));
        } else if (m->phase == barrier_phase::entering && m->node == member_node::none) {
            std::string name = members_.name_node(*m, port_.new_guid(), generation);
            requests.emplace_back(m, port_, op_code::create, join_path(parent_, name));
            request& create = requests.back().ask;
            create.mode = create_mode::ephemeral_sequential;
            create.entries = seat_of(m).entries;
        }
    }
    for (node_request& r : requests)
        r.ask.send();
    return requests;
}

/// @return whether the parent is missing
task<bool> barrier_room::finish(std::deque<node_request>& requests) {
    bool parent_missing = false;
    bool refused = false;
    for (auto& [m, ask] : requests) {
        const error_code ec = co_await ask;
        if (ask.code == op_code::create) {
            members_.created(*m, ec, base_name(ask.answer));
            parent_missing = parent_missing || ec == zk_errc::no_node;
            continue;
        }
        members_.deleted(*m, ec);
        if (m->node == member_node::none)
            refused = refused || m->result == errc::sequence_exhausted;
        else if (m->phase == barrier_phase::outside)
            port_.report(log_level::warning,
                         "double barrier: could not delete ",
                         ask.path,
                         ": ",
                         ec.message());
    }
    if (refused)
        port_.spawn(renew_or_tell(port_, parent_));
    settle();
    co_return parent_missing;
}

task<> barrier_room::start(const barrier_start& round, std::uint64_t generation) {
    constexpr std::size_t overhead = 32;
    transaction steps;
    steps.set(parent_, format_round(round.record), round.version);
    std::size_t size =
        round.members.size() * (parent_.size() + round.members.front().name.size() + overhead);
    // If the transaction is too large, the record is replaced without checking the members, which
    // may have changed since the listing, as on the page.
    if (size + 1024 < port_.max_request_size()) {
        for (const barrier_member& m : round.members)
            steps.check(join_path(parent_, m.name));
    }
    request open(port_, std::move(steps), generation, parent_);
    error_code ec = co_await open;
    settle();
    if (ec)
        members_.failed(ec);
    else
        members_.started(round.record);
    settle();
}

/// Watches the nodes of waiting members, which enter again if another client deletes them.
task<> barrier_room::watch_members() {
    std::deque<node_request> reads;
    for (const auto& m : members_.all()) {
        if (!m->waits() || m->watched)
            continue;
        reads.emplace_back(m, port_, op_code::get, join_path(parent_, m->name));
        seat_of(m).own_watch.disarm();
        reads.back().ask.attach(seat_of(m).own_watch);
        reads.back().ask.send();
    }
    for (auto& [m, ask] : reads) {
        const error_code ec = co_await ask;
        members_.watched(*m, ec);
    }
}

task<> barrier_room::watch_target(std::uint64_t generation) {
    const std::string& name = members_.target();
    const std::string path = name.empty() ? name : join_path(parent_, name);
    if (path == watched_target_ && target_watch_.armed())
        co_return;
    forget_watch(port_, target_watch_, watched_target_);
    watched_target_ = path;
    if (path.empty())
        co_return;
    request read(port_, op_code::get, path, generation);
    read.attach(target_watch_);
    const error_code ec = co_await read;
    if (ec)
        members_.failed(ec);
}

}  // namespace corozk::detail
