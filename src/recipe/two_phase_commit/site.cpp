// SPDX-License-Identifier: Apache-2.0
// A site: joins, votes, waits for the decision.
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/two_phase_commit/votes.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace corozk {

namespace detail {

namespace {

/// Deletes the nodes created by a site, in its session. Also while a client is being closed that leaves
/// the session.
task<> erase_of_site(port& p, transaction erasures, std::uint64_t generation) {
    retry attempts(p, generation);
    for (bool again = true; again;) {
        request erase(p, erasures, generation);
        erase.owed = true;
        error_code ec = co_await erase;
        again = co_await again_until_done(p, attempts, ec);
    }
}

}  // namespace

struct join_call;

class commit_site_impl final : public commit_party {
public:
    commit_site_impl(port& p, std::string path_, std::string name_, commit_options options)
        : commit_party(p, std::move(path_), std::move(options)),
          own(std::move(name_)),
          node(site_node(path(), own.name)),
          joined(joined_node(path(), own.name)),
          guid(p.new_guid()) {}

    void stop() noexcept override {
        recipe_core::stop();
        if (own.has_node && !own.is_dead(get_port()))
            get_port().spawn(abandon());
        own.has_node = false;
    }

    /// The transaction at the path, perhaps another one than before.
    void is(commit_header found) {
        if (mine.guid != found.guid) {
            outcome.reset();
            vote_sent.reset();
            vote_given = false;
        }
        commit_party::is(std::move(found));
    }

    /// The outcome of a transaction, unless another one has taken its place.
    void note(const this_transaction& decided, const outcome_slot& found) {
        if (mine.is_known() && mine.guid != decided.guid)
            return;
        mine = decided;
        outcome = found;
    }

    /// Deletes the site's node, the only one of this name ever in this transaction.
    task<> abandon() const {
        transaction erasures = mine.steps();
        erasures.erase(node);
        return erase_of_site(get_port(), std::move(erasures), own.generation);
    }

    /// Undoes a `join` whose call is over, as if the site had never joined.
    task<> undo_join() {
        port& p = get_port();
        retry attempts(p, own.generation);
        bool in_doubt = !std::exchange(own.has_node, false);
        while (in_doubt) {
            // Its create may have failed: the nodes may be those of another object of this client.
            request look(p, op_code::get, joined, own.generation);
            error_code ec = co_await behind_sync(p, look);
            in_doubt = co_await again_until_done(p, attempts, ec);
            if (!in_doubt && (ec || look.answer != guid))
                co_return;
        }
        transaction erasures = mine.steps();
        erasures.erase(node, 0).erase(joined);
        co_await erase_of_site(p, std::move(erasures), own.generation);
    }

    /// A site votes once. If the call ended before the outcome was known, the same vote may be
    /// repeated, but not changed.
    bool may_vote(commit_vote wish) const {
        bool other_wish = vote_sent && *vote_sent != wish;
        return !vote_given && !other_wish && !(voter && voter->waiting());
    }

    own_site own;
    const std::string node;
    const std::string joined;
    const std::string guid;  ///< data of `joined`: which object of a client is the site
    outcome_slot outcome;    ///< set when known
    bool joining = false;  ///< a driver is at work, perhaps to undo the join of a call that is over
    std::weak_ptr<join_call> joiner;       ///< the last call of `join`
    bool vote_given = false;               ///< the server has it
    std::optional<commit_vote> vote_sent;  ///< may have been lost
    const outcome_call* voter = nullptr;   ///< the call that votes
};

namespace {

using site_ptr = std::shared_ptr<commit_site_impl>;

}  // namespace

/// A call of `join`, and the signal of its driver.
struct join_call {
    join_call(commit_site_impl& self, handler_of<commit_transaction> handler, time_limit limit)
        : wake(self.get_port()), call(self, std::move(handler), wake, limit) {}

    signal wake;
    waiting_call<commit_transaction> call;
};

namespace {

/// How a site joins. Where a step finds that the transaction was cleaned up at the same time, or has
/// waited, the next attempt begins (`look_again`).
class joining_site {
public:
    joining_site(commit_site_impl& self, join_call& joiner)
        : self_(self),
          port_(self.get_port()),
          call_(joiner.call),
          wake_(joiner.wake),
          begin_watch_(wake_),
          decision_watch_(wake_),
          node_watch_(wake_) {}

    /// Creates the site's node or reads the outcome, unless the call is over before.
    task<error_code> run() {
        error_code ec = look_again;
        while (!call_.over() && retry(port_).again(ec))
            ec = co_await attempt();
        forget_watch(port_, begin_watch_, self_.path());
        forget_watch(port_, decision_watch_, decision_node(self_.path()));
        forget_watch(port_, node_watch_, self_.node);
        co_return ec;
    }

    /// Whether a node may exist, or come into being, although none was found.
    bool perhaps_ours() const noexcept { return perhaps_ours_; }

private:
    task<error_code> attempt() {
        error_code ec = co_await find_transaction();
        if (ec)
            co_return ec;
        ec = co_await look_for_decision(port_, self_.mine, &decision_watch_, self_.outcome);
        if (ec || self_.outcome)
            co_return unless_cleaned_up(ec);
        co_await session_alive(port_, wake_, call_);
        if (call_.over())
            co_return error_code();
        ec = co_await create_nodes();
        if (ec == zk_errc::no_node)
            ec = co_await why_missing(port_, self_.mine);
        else if (ec == zk_errc::node_exists)
            ec = co_await identify_node();
        co_return unless_cleaned_up(ec);
    }

    static error_code unless_cleaned_up(const error_code& ec) {
        return ec == zk_errc::no_node ? look_again : ec;
    }

    /// Reads which transaction it is, or waits for its beginning.
    task<error_code> find_transaction() {
        std::optional<commit_header> header;
        error_code ec = co_await read_header(port_, self_.path(), header);
        if (ec == zk_errc::no_node) {
            begin_watch_.disarm();
            ec = co_await watch_creation(port_, self_.path(), begin_watch_);
            if (!ec && !call_.over())
                co_await wake_.wait();
            co_return !ec || ec == zk_errc::node_exists ? look_again : ec;
        }
        if (ec)
            co_return ec;
        if (std::find(header->sites.begin(), header->sites.end(), self_.own.name) ==
            header->sites.end())
            co_return errc::not_a_member;
        if (!self_.header || self_.mine.guid != header->guid) {
            perhaps_ours_ = false;
            self_.is(std::move(*header));
        }
        co_return ec;
    }

    task<error_code> create_nodes() {
        const std::uint64_t generation = port_.status().generation;
        if (self_.own.generation != generation)
            perhaps_ours_ = false;
        self_.own.generation = generation;
        transaction steps = self_.mine.steps();
        steps.create(self_.joined, self_.guid, self_.mine.how());
        steps.create(self_.node, std::string(), self_.mine.how(create_mode::ephemeral));
        request create(port_, std::move(steps), generation, self_.path());
        create.only_for(&call_.users_call());
        const error_code ec = co_await create;
        self_.own.has_node = self_.own.has_node || !ec;
        perhaps_ours_ = perhaps_ours_ || fault_of(ec) == fault::unknown;
        co_return ec;
    }

    /// There is a node of this name, or there was.
    task<error_code> identify_node() {
        node_watch_.disarm();
        // In the same session: the server of the next one may not know of the node yet. In this order,
        // as a site that joins between the two requests has a node.
        request joined(port_, op_code::get, self_.joined, self_.own.generation);
        request node(port_, op_code::get, self_.node, self_.own.generation);
        node.attach(node_watch_);
        joined.send();
        node.send();
        const error_code has_come = co_await joined;
        const error_code is_there = co_await node;
        if (has_come && has_come != zk_errc::no_node)
            co_return has_come;
        if (!has_come && is_there == zk_errc::no_node)
            co_return co_await abort_if_dead(joined.record.czxid);
        if (is_there)
            co_return is_there;
        if (node.record.ephemeral_owner == port_.status().session_id) {
            self_.own.has_node = joined.answer == self_.guid;
            perhaps_ours_ = false;
            co_return self_.own.has_node ? error_code() : make_error_code(errc::already_exists);
        }
        if (!call_.over())
            co_await wake_.wait();
        co_return look_again;
    }

    /// A site of this name had joined before, and had no node afterwards.
    /// @param joined czxid of the node of its join
    task<error_code> abort_if_dead(std::int64_t joined) {
        // Or its join was undone between the two requests.
        request still(port_, op_code::exists, self_.joined, self_.own.generation);
        const error_code ec = co_await still;
        if (ec)
            co_return ec;
        if (still.record.czxid != joined)
            co_return look_again;
        co_return co_await write_abort(
            port_, self_.mine, "site " + self_.own.name + " died", self_.outcome);
    }

    commit_site_impl& self_;
    port& port_;
    waiting_call<commit_transaction>& call_;
    signal& wake_;
    watch_signal begin_watch_;
    watch_signal decision_watch_;
    watch_signal node_watch_;
    bool perhaps_ours_ = false;
};

task<> join_once(commit_site_impl& self, join_call& joiner) {
    joining_site steps(self, joiner);
    const error_code ec = co_await steps.run();
    bool perhaps_ours = steps.perhaps_ours();
    bool joined = !ec && (self.own.has_node || self.outcome);
    if (joined && !self.own.has_node && perhaps_ours) {
        // The response was lost, and the transaction was decided without this site.
        co_await self.undo_join();
        perhaps_ours = false;
    }
    if (joined && !joiner.call.over()) {
        joiner.call.complete(error_code(), self.describe(self.outcome));
        co_return;
    }
    // The call is over or has failed: delete the site's node.
    if (self.own.has_node || perhaps_ours)
        co_await self.undo_join();
    if (ec)
        joiner.call.fail(ec);
}

task<> join_driver(site_ptr self, std::shared_ptr<join_call> joiner) {
    session_signal session(self->get_port(), joiner->wake);
    // The driver of an earlier call, which is over, may not have undone its join yet.
    while (self->joining && !joiner->call.over())
        co_await joiner->wake.wait();
    if (joiner->call.over())
        co_return;
    self->joining = true;
    co_await join_once(*self, *joiner);
    self->joining = false;
    if (auto next = self->joiner.lock())
        next->wake.set();
}

/// Once a vote is sent, it may count, and cannot be changed.
class casting final : public interest {
public:
    casting(commit_site_impl& self, commit_vote wish, outcome_call& call) noexcept
        : self_(self), wish_(wish), call_(call) {}

    bool waiting() const noexcept override { return call_.waiting(); }
    void sent() const noexcept override {
        self_.vote_sent = wish_;
        call_.set_late_error(errc::in_doubt);
    }

private:
    commit_site_impl& self_;
    commit_vote wish_;
    outcome_call& call_;
};

/// Writes the vote to the site's node. A vote that was sent may count even if its response is lost,
/// so it is sent only while connected and while the call is pending.
/// @return `session_expired` if the node was deleted
task<error_code> write_vote(commit_site_impl& self,
                            commit_vote wish,
                            signal& wake,
                            outcome_call& call) {
    port& p = self.get_port();
    const casting who(self, wish, call);
    for (;;) {
        while (call.waiting() && !p.connected()) {
            if (p.status().state == session_state::closed)
                co_return errc::closed;
            co_await wake.wait();
        }
        if (!call.waiting())
            co_return error_code();
        transaction steps = self.mine.steps();
        steps.set(self.node, std::string(format_vote(wish)), 0);
        if (wish == commit_vote::abort) {
            // A vote to abort is decisive, regardless of the other sites.
            commit_outcome abort(false, "site " + self.own.name + " voted to abort");
            steps.create(decision_node(self.path()),
                         format_decision(abort, self.mine.guid),
                         self.mine.how());
        }
        request write(p, steps, self.own.generation, self.path());
        write.only_for(&who);
        error_code ec = co_await write;
        if (!ec || ec == zk_errc::node_exists) {  // written, or already decided
            self.vote_given = true;
            co_return error_code();
        }
        if (ec == zk_errc::no_node || fault_of(ec) == fault::session)
            co_return zk_errc::session_expired;
        if (ec == zk_errc::bad_version) {
            // Written by a request whose response was lost, or by another client.
            request read(p, op_code::get, self.node, self.own.generation);
            ec = co_await read;
            if (!ec) {
                self.vote_given = read.answer == format_vote(wish) && read.record.version == 1;
                co_return self.vote_given ? error_code() : make_error_code(errc::foreign_data);
            }
            if (ec == zk_errc::no_node)
                co_return zk_errc::session_expired;
        }
        if (!retry(p).again(ec))
            co_return ec;
    }
}

task<error_code> vote_steps(commit_site_impl& self,
                            std::optional<commit_vote> wish,
                            signal& wake,
                            outcome_call& call,
                            const alarm& due,
                            this_transaction& mine,
                            outcome_slot& outcome) {
    port& p = self.get_port();
    if (wish) {
        self.voter = &call;
        error_code ec = co_await write_vote(self, *wish, wake, call);
        if (self.voter == &call)
            self.voter = nullptr;
        if (ec == zk_errc::session_expired) {
            ec = co_await abort_as_dead(p, mine, self.own, outcome);
            co_return ec;
        }
        if (ec || !call.waiting())
            co_return ec;
    } else {
        // Without READ permission the server would never send the event of the decision.
        const bool with_quorum = true;
        error_code ec = co_await learn_identity(p, mine, with_quorum);
        if (ec)
            co_return ec;
    }
    bool decides = self.header && self.header->form == commit_form::all_sites && self.vote_sent &&
                   p.alive(self.own.generation);
    if (decides && (!wish || *wish == commit_vote::commit)) {
        vote_tally votes(p, mine, self.header->sites, &self.own, wake);
        co_return co_await votes.run(call, due, outcome);
    }
    co_return co_await await_decision(p, mine, self.own, wake, call, due, outcome);
}

task<> vote_driver(site_ptr self,
                   std::optional<commit_vote> wish,
                   handler_of<commit_outcome> handler,
                   time_limit limit) {
    port& p = self->get_port();
    signal wake(p);
    decision_times times(limit, p.now());
    // A site that does not decide only waits.
    bool decides = wish && self->header && self->header->form == commit_form::all_sites;
    if (decides)
        limit = times.deadline;
    outcome_call call(*self, std::move(handler), wake, limit);
    alarm due(p, wake);
    if (decides)
        times.start(due);
    if (!wish)
        call.set_late_error(errc::in_doubt);
    session_signal session(p, wake);
    this_transaction mine = self->mine;
    outcome_slot outcome;
    error_code ec = co_await vote_steps(*self, wish, wake, call, due, mine, outcome);
    if (outcome)
        self->note(mine, outcome);
    finish_call(call, ec, outcome);
}

/// Starts the driver, unless the outcome is known or the site may not vote.
void start_waiting(const site_ptr& self,
                   std::optional<commit_vote> wish,
                   time_limit limit,
                   handler_of<commit_outcome> handler) {
    if (!usable_at_path(self, handler))
        return;
    if (self->outcome) {
        immediate_result<commit_outcome>(
            self->executor(), std::move(handler), error_code(), *self->outcome);
    } else if (wish && !self->own.has_node) {
        refuse(self, std::move(handler), errc::not_a_member);
    } else if (wish && !self->may_vote(*wish)) {
        refuse(self, std::move(handler), errc::busy);
    } else {
        self->get_port().spawn(vote_driver(self, wish, std::move(handler), limit));
    }
}

task<> finish_driver(site_ptr self, handler_of<> handler, time_limit limit) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<> call(*self, std::move(handler), wake, limit);
    transaction steps = self->mine.steps();
    steps.create(done_node(self->path(), self->own.name), std::string(), self->mine.how());
    retry attempts(p);
    for (;;) {
        request create(p, steps, 0, self->path());
        create.only_for(&call.users_call());
        error_code ec = co_await create;
        if (co_await again_with_quorum(p, attempts, ec))
            continue;
        // It may have been created, and cleaned up since.
        bool gone = attempts.doubtful() && ec == zk_errc::no_node;
        if (ec && ec != zk_errc::node_exists && !gone) {
            call.fail(ec);
            co_return;
        }
        break;
    }
    if (self->own.has_node) {
        self->own.has_node = false;
        if (p.alive(self->own.generation))
            co_await self->abandon();
    }
    call.complete(error_code());
}

}  // namespace
}  // namespace detail

commit_site::commit_site(const client& c,
                         std::string path,
                         std::string name,
                         commit_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(name), std::move(options)) {}

std::string commit_site::name() const {
    return impl_ ? impl_->own.name : std::string();
}

void commit_site::start_join(const impl_ptr& impl,
                             time_limit limit,
                             handler_of<commit_transaction> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    const auto earlier = impl->joiner.lock();
    if (impl->own.has_node || (earlier && earlier->call.waiting())) {
        detail::refuse(impl, std::move(handler), errc::busy);
    } else if (impl->outcome && impl->header) {
        detail::immediate_result<commit_transaction>(
            impl->executor(), std::move(handler), error_code(), impl->describe(impl->outcome));
    } else if (!detail::sites_are_good({impl->own.name})) {
        detail::refuse(impl, std::move(handler), impl->reject(errc::bad_path, "invalid site name"));
    } else {
        auto joiner = std::make_shared<detail::join_call>(*impl, std::move(handler), limit);
        impl->joiner = joiner;
        impl->get_port().spawn(detail::join_driver(impl, std::move(joiner)));
    }
}

void commit_site::start_vote(const impl_ptr& impl,
                             commit_vote wish,
                             time_limit limit,
                             handler_of<commit_outcome> handler) {
    detail::start_waiting(impl, wish, limit, std::move(handler));
}

void commit_site::start_wait_outcome(const impl_ptr& impl,
                                     time_limit limit,
                                     handler_of<commit_outcome> handler) {
    detail::start_waiting(impl, std::nullopt, limit, std::move(handler));
}

void commit_site::start_finish(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (!impl->outcome) {
        return detail::refuse(impl, std::move(handler), errc::in_doubt);
    }
    impl->get_port().spawn(detail::finish_driver(impl, std::move(handler), limit));
}

}  // namespace corozk
