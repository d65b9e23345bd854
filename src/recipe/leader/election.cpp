// SPDX-License-Identifier: Apache-2.0
#include "driver/pending_call.hpp"
#include "driver/request.hpp"
#include "driver/signal.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/leader/election_rule.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/update_node.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk {

using namespace detail;

namespace {

task<> write_acknowledgement(detail::port& s,
                             std::shared_ptr<const contention_object> impl,
                             std::shared_ptr<contender> term,
                             user_call<> user) {
    auto call = cancellable(std::move(user), stops_waiting);
    std::string candidate = term->path();
    std::string path = join_path(impl->path(), acknowledgement_of(base_name(candidate)));
    std::uint64_t generation = term->generation();
    error_code ec;
    retry attempts(s, generation);
    for (;;) {
        transaction steps;
        steps.check(candidate).create(path, std::string(), impl->settings().ephemeral());
        request multi(s, steps, generation);
        ec = co_await multi;
        const bool again = co_await again_with_quorum(s, attempts, ec);
        if (!again)
            break;
    }
    // The name is unique.
    if (ec == zk_errc::node_exists)
        ec = error_code();
    if (ec == zk_errc::no_node)
        ec = errc::ownership_lost;
    // An attempt whose response was lost may have created it before the term ended.
    const bool created = !ec || attempts.doubtful();
    if (!ec && term->stage() == contender::stage_type::granted) {
        term->attach(path);
    } else if (created) {
        if (s.alive(generation))
            s.use_service<background_deleter>().erase(path, generation);
        if (!ec)
            ec = errc::ownership_lost;
    }
    call->complete(ec);
}

/// Replaces the identity in the candidate's node, and leaves a release request there. Conditional,
/// so that a repeated attempt overwrites neither a request nor a later proclamation. The later one
/// counts only once it is written: until then it may fail, or be cancelled.
task<> write_identity(detail::port& s,
                      std::shared_ptr<const contention_object> impl,
                      std::shared_ptr<contender> term,
                      std::string identity,
                      user_call<> user) {
    auto call = cancellable(std::move(user), stops_waiting);
    const std::string path = term->path();
    const std::uint64_t generation = term->generation();
    const std::uint64_t number = ++term->proclamations();
    const std::string& request_text = impl->settings().release_request;
    if (has_release_request(identity, request_text))
        co_return call->fail(
            s.reject(errc::bad_option,
                     "election.proclaim: the last line of an identity must not be \"",
                     request_text,
                     "\""));
    bool writes = false;
    auto decide = [&](const request& read, std::optional<std::string>& data) {
        // What is not wanted any more is not written after what is.
        writes = call->waiting() && term->proclaimed() <= number;
        if (!writes)
            return error_code();
        const bool asked =
            read.record.version > 0 && has_release_request(read.answer, request_text);
        if (asked && impl->settings().request_replaces_data)
            return make_error_code(errc::busy);
        data = asked ? with_release_request(identity, request_text) : identity;
        return error_code();
    };
    retry attempts(s, generation);
    error_code ec = co_await update_node(s, path, attempts, update_options(), decide);
    if (!ec && writes)
        term->proclaimed() = number;
    call->complete(ec == zk_errc::no_node ? make_error_code(errc::ownership_lost) : ec);
}

bool same(const election_leader& a, const election_leader& b) {
    return a.path == b.path && a.acknowledged == b.acknowledged && a.identity == b.identity;
}

/// Reads the leader once or, with `seen`, after every event until it differs.
task<> watch_leader(detail::port& s,
                    std::shared_ptr<const contention_object> impl,
                    std::optional<election_leader> seen,
                    user_call<election_leader> user) {
    signal wake(s);
    auto call = cancellable(std::move(user), any_cancellation, &wake);
    session_signal changes(s, wake);
    const std::string& parent = impl->path();
    while (call->waiting()) {
        if (s.status().state == session_state::closed) {
            call->fail(errc::closed);
            break;
        }
        election_leader now;
        request listing(s, op_code::children, parent);
        error_code ec = co_await read_forward(s, listing);
        bool no_parent = ec == zk_errc::no_node;
        election_view view;
        if (!ec)
            view = view_election(impl->settings().names, listing.names);
        watch_signal node_watch(wake);
        watch_signal acknowledgement_watch(wake);
        std::string leader = join_path(parent, view.leader);
        std::string acknowledgement = join_path(parent, acknowledgement_of(view.leader));
        watch_kind kind = watch_kind::data;
        bool again = false;
        // Remains acknowledged: a leader that resigns deletes the acknowledgement first.
        if (seen && seen->acknowledged && seen->path == leader)
            view.acknowledged = true;
        if (!ec && !view.leader.empty()) {
            request get(s, op_code::get, leader);
            if (seen)
                get.attach(node_watch);
            request exists(s, op_code::exists, acknowledgement);
            bool watch_both = seen && !view.acknowledged;
            if (watch_both)
                exists.attach(acknowledgement_watch);
            get.send();
            if (watch_both)
                exists.send();
            ec = co_await get;
            if (watch_both) {
                error_code exists_ec = co_await exists;
                if (!exists_ec)
                    view.acknowledged = true;
                if (!ec && exists_ec && exists_ec != zk_errc::no_node)
                    ec = exists_ec;
            }
            // Deleted between the two requests, or in a later session.
            again = ec == zk_errc::no_node || (!ec && may_lag(s, get));
            now.path = leader;
            now.identity = without_release_request(
                get.answer, impl->settings().release_request, get.record.version);
            now.fencing_token = get.record.czxid;
            now.session_id = get.record.ephemeral_owner;
            now.acknowledged = view.acknowledged;
        } else if (seen && (!ec || no_parent) && same(now, *seen)) {
            // No leader: wait for a candidate, or for the parent.
            kind = no_parent ? watch_kind::exists : watch_kind::children;
            request look(s, no_parent ? op_code::exists : op_code::children, parent);
            look.attach(node_watch);
            ec = co_await look;
            again = no_parent ? !ec : ec == zk_errc::no_node;
            if (!ec && !no_parent)
                again = !view_election(impl->settings().names, look.names).leader.empty();
            if (no_parent && ec == zk_errc::no_node)
                ec = error_code();
            leader = parent;
        } else if (no_parent) {
            ec = error_code();
        }
        if (ec && seen)  // waits for the connection, or for the next session
            again = again || retry(s).again(ec);
        if (!again && ec)
            call->fail(ec);
        else if (!again && !(seen && same(now, *seen)))
            call->complete(error_code(), std::move(now));
        else if (!again)
            co_await wake.wait();
        forget_watch(s, node_watch, leader, kind);
        forget_watch(s, acknowledgement_watch, acknowledgement);
    }
}

/// The settings, without names if there is no such format.
contention_settings settings_of(std::string path, const election_options& options) {
    // LeaderSelector is an InterProcessMutex at its path.
    const auto what = options.leader_selector ? known_recipe::lock : known_recipe::election;
    contention_settings settings =
        settings_in_format(what, the_exclusive_rule, std::move(path), options);
    if (options.leader_selector && options.compatibility != compatibility::curator)
        settings.names = naming();
    return settings;
}

}  // namespace

election::election(const client& c, std::string path, election_options options)
    : contention_recipe(
          c,
          std::make_shared<const contention_object>(settings_of(std::move(path), options),
                                                    options.identity,
                                                    std::vector<std::string>{"candidate"}),
          COROZK_CONTENTION_NAMES("election")) {}

bool election::worth_another_term(const error_code& ec) noexcept {
    return ec == errc::ownership_lost || is_transient(ec);
}

void election::start_campaign_again(const callee& of,
                                    const std::shared_ptr<ownership>& term,
                                    time_limit limit,
                                    handler_of<ownership> handler) {
    // Requests the new node first; then its destructor releases the old one.
    const ownership old = std::move(*term);
    start_acquire(of, claim().within(limit), std::move(handler));
}

void election::start_acknowledge(const callee& of,
                                 const owned_ptr& term,
                                 time_limit limit,
                                 handler_of<> handler) {
    std::shared_ptr<contender> c;
    if (error_code ec = find_held(of, term, c))
        return refuse(of.owner, std::move(handler), ec);
    run_driver(of, std::move(handler), limit, &write_acknowledgement, std::move(c));
}

void election::start_proclaim(const callee& of,
                              const owned_ptr& term,
                              std::string identity,
                              time_limit limit,
                              handler_of<> handler) {
    std::shared_ptr<contender> c;
    if (error_code ec = find_held(of, term, c))
        return refuse(of.owner, std::move(handler), ec);
    run_driver(of, std::move(handler), limit, &write_identity, std::move(c), std::move(identity));
}

void election::start_observe(const callee& of,
                             std::optional<election_leader> seen,
                             handler_of<election_leader> handler) {
    run_driver(of, std::move(handler), &watch_leader, std::move(seen));
}

}  // namespace corozk
