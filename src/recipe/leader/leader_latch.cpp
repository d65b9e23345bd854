// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/grant_request.hpp"
#include "recipe/contention/owned.hpp"
#include "recipe/leader/leader_latch_rule.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/waiting_calls.hpp"
#include <corozk/recipe/leader_latch.hpp>

namespace corozk {

namespace detail {

/// The implementation of a latch, kept alive by its driver while anything of it is left.
class latch_core final : public recipe_core, public std::enable_shared_from_this<latch_core> {
public:
    latch_core(port& p, const std::string& path, const client& c, election_options options)
        : recipe_core(p), campaign(c, path, std::move(options)), wake_(p) {}

    void start() {
        if (stopped())
            return;
        if (error_code ec = problem_of(campaign.session_, campaign.impl_))
            return become(latch_state::idle, ec);
        wanted_ = true;
        close_calls_.complete(boost::asio::error::operation_aborted);
        // Supersedes earlier decisions, even if the driver has not seen them yet.
        fatal_ = error_code();
        if (status_.state == latch_state::idle)
            become(latch_state::candidate, error_code());
        wake_.set();
        if (running_)
            return;
        running_ = true;
        get_port().spawn(run(shared_from_this()));
    }

    void stop() noexcept override {
        recipe_core::stop();
        wanted_ = false;
        wake_.set();
    }

    bool leads() const noexcept { return term.valid(); }
    const latch_status& status() const noexcept { return status_; }

    void wait_leadership(time_limit limit, handler_of<std::int64_t> handler) {
        if (leads() && wanted_)
            return immediate_result<std::int64_t>(
                executor(), std::move(handler), error_code(), term.fencing_token());
        if (!wanted_) {
            // After a permanent error it may still be cleaning up.
            error_code why = fatal_;
            if (status_.state == latch_state::idle)
                why = status_.reason;
            if (!why)
                why = errc::not_a_member;
            return refuse(this, std::move(handler), why);
        }
        leadership_calls_.add(*this, std::move(handler), wake_, limit);
    }

    void wait_changed(std::uint64_t seen, handler_of<latch_status> handler) {
        if (status_.revision != seen)
            return immediate_result<latch_status>(
                executor(), std::move(handler), error_code(), status_);
        // Nothing will happen any more.
        if (!running_ && get_port().status().state == session_state::closed)
            return refuse(this, std::move(handler), errc::closed);
        changed_calls_.add(*this, std::move(handler), wake_).ahead_of_copies();
    }

    void resign(time_limit limit, handler_of<> handler) {
        if (!leads() || !wanted_)
            return refuse(this, std::move(handler), errc::ownership_lost);
        resigning_ = true;
        resign_calls_.add(*this, std::move(handler), wake_, limit);
        wake_.set();
    }

    void close(time_limit limit, handler_of<> handler) {
        if (!running_)
            return immediate_result<>(executor(), std::move(handler), error_code());
        wanted_ = false;
        close_calls_.add(*this, std::move(handler), wake_, limit);
        fail_leadership(errc::not_a_member);
        wake_.set();
    }

    election campaign;
    ownership term;

private:
    void become(latch_state state, error_code reason) {
        status_.state = state;
        status_.reason = reason;
        status_.fencing_token = state == latch_state::leader ? term.fencing_token() : 0;
        ++status_.revision;
        changed_calls_.complete(error_code(), status_);
    }

    void fail_leadership(error_code reason) { leadership_calls_.complete(reason, 0); }

    void lead(ownership held) {
        term = std::move(held);
        become(latch_state::leader, error_code());
        leadership_calls_.complete(error_code(), term.fencing_token());
    }

    /// After a permanent error.
    void give_up(error_code reason) {
        wanted_ = false;
        fatal_ = reason;
        fail_leadership(reason);
    }

    void end_resignation(error_code ec) {
        resigning_ = false;
        resign_calls_.complete(ec);
    }

    /// Starts a candidacy.
    std::unique_ptr<grant_request> enter() {
        const contention_object& where = *campaign.impl_;
        return std::make_unique<grant_request>(
            queue_of(port_, where.settings()), acquire_request(), where.identity(), wake_);
    }

    static task<> run(std::shared_ptr<latch_core> self);

    signal wake_;
    latch_status status_;
    bool wanted_ = false;
    bool running_ = false;
    bool resigning_ = false;
    error_code fatal_;
    waiting_calls<std::int64_t> leadership_calls_;
    waiting_calls<latch_status> changed_calls_;
    waiting_calls<> resign_calls_;
    waiting_calls<> ending_calls_;  ///< of the term that is being released
    waiting_calls<> close_calls_;
};

task<> latch_core::run(std::shared_ptr<latch_core> self) {
    latch_core& me = *self;
    port& p = me.get_port();
    session_signal session(p, me.wake_);
    std::unique_ptr<grant_request> candidacy;
    std::unique_ptr<grant_request> failed;  ///< a failed candidacy, until its node was deleted
    std::unique_ptr<inner_call<error_code>> loss;
    std::unique_ptr<inner_call<>> release;
    for (;;) {
        if (p.status().state == session_state::closed && me.wanted_)
            me.give_up(errc::closed);
        if (candidacy && candidacy->done() && candidacy->error()) {
            error_code ec = candidacy->error();
            failed = std::move(candidacy);
            if (me.wanted_ && !grant_request::worth_another(ec))
                me.give_up(ec);
        }
        if (failed && failed->gone())
            failed.reset();
        if (release && release->done()) {
            me.ending_calls_.complete(release->error());
            release.reset();
        }
        latch_view view;
        view.wanted = me.wanted_;
        view.session =
            p.alive(p.status().generation) && p.status().state != session_state::read_only;
        view.campaigning = candidacy && !candidacy->done();
        view.granted = candidacy && candidacy->done();
        view.leading = bool(me.term);
        view.lost = loss && loss->done();
        view.resigning = me.resigning_;
        view.releasing = release != nullptr;
        view.leaving = failed != nullptr;
        switch (decide(view)) {
            case latch_step::wait: co_await me.wake_.wait(); break;
            case latch_step::campaign: candidacy = me.enter(); break;
            case latch_step::withdraw:
                candidacy->abandon(boost::asio::error::operation_aborted);
                while (!candidacy->done())
                    co_await me.wake_.wait();
                // Its end was not a refusal, although the latch may have been started again.
                if (candidacy->error())
                    failed = std::move(candidacy);
                break;
            case latch_step::lead:
                loss = std::make_unique<inner_call<error_code>>(p, me.wake_);
                me.lead(std::move(candidacy->granted()));
                me.term.wait_lost(loss->token());
                candidacy.reset();
                break;
            case latch_step::refuse:
                release = std::make_unique<inner_call<>>(p, me.wake_);
                candidacy->granted().release(release->token());
                candidacy.reset();
                break;
            case latch_step::forget: {
                error_code reason = loss->error() ? loss->error() : loss->value();
                loss.reset();
                me.term = ownership();
                if (me.resigning_)
                    me.end_resignation(reason);
                me.become(latch_state::candidate, reason);
                break;
            }
            case latch_step::release:
                // From here on resignation refers to the next term.
                me.resigning_ = false;
                me.ending_calls_.take(me.resign_calls_);
                loss.reset();
                release = std::make_unique<inner_call<>>(p, me.wake_);
                me.term.release(release->token());
                me.become(latch_state::candidate, error_code());
                break;
            case latch_step::stop:
                me.running_ = false;
                if (!me.stopped())
                    me.become(latch_state::idle, std::exchange(me.fatal_, error_code()));
                me.close_calls_.complete(error_code());
                co_return;
        }
    }
}

}  // namespace detail

using namespace detail;

leader_latch::leader_latch(const client& c, std::string path, election_options options)
    : recipe_object(c.implementation(), std::move(path), c, std::move(options)) {}

void leader_latch::start() {
    if (impl_)
        impl_->start();
}

bool leader_latch::has_leadership() const noexcept {
    return impl_ && impl_->leads();
}

latch_status leader_latch::status() const {
    return impl_ ? impl_->status() : latch_status();
}

std::string leader_latch::term_path() const {
    return impl_ ? impl_->term.path() : std::string();
}

election& leader_latch::as_election() const noexcept {
    static election none;
    return impl_ ? impl_->campaign : none;
}

ownership& leader_latch::term() const noexcept {
    static ownership none;
    return impl_ ? impl_->term : none;
}

void leader_latch::start_wait_leadership(const impl_ptr& impl,
                                         time_limit limit,
                                         handler_of<std::int64_t> handler) {
    if (usable(impl, handler))
        impl->wait_leadership(limit, std::move(handler));
}

void leader_latch::start_next_status(const impl_ptr& impl,
                                     std::uint64_t revision,
                                     handler_of<latch_status> handler) {
    if (usable(impl, handler))
        impl->wait_changed(revision, std::move(handler));
}

void leader_latch::start_resign(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (usable(impl, handler))
        impl->resign(limit, std::move(handler));
}

void leader_latch::start_close(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (usable(impl, handler))
        impl->close(limit, std::move(handler));
}

namespace {

/// Whether there is a term; if not, completes the handler.
template <class... Values>
bool in_term(const std::shared_ptr<latch_core>& impl,
             const std::shared_ptr<owned>& term,
             handler_of<Values...>& handler) {
    if (!term)
        refuse(impl, std::move(handler), impl ? errc::ownership_lost : errc::closed);
    return term != nullptr;
}

}  // namespace

void leader_latch::start_commit(const impl_ptr& impl,
                                const owned_ptr& term,
                                transaction steps,
                                handler_of<std::vector<transaction_result>> handler) {
    if (in_term(impl, term, handler))
        guarded_commit({term}, std::move(steps), std::move(handler));
}

void leader_latch::start_read(const impl_ptr& impl,
                              const owned_ptr& term,
                              std::string path,
                              handler_of<node_data> handler) {
    if (in_term(impl, term, handler))
        synced_read(term->owner_port(), std::move(path), std::move(handler));
}

void leader_latch::start_wait_release_requested(const impl_ptr& impl,
                                                const owned_ptr& term,
                                                handler_of<> handler) {
    if (in_term(impl, term, handler))
        term->wait_release_requested(user_call<>(term->owner_port(), std::move(handler)));
}

}  // namespace corozk
