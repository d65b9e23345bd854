// SPDX-License-Identifier: Apache-2.0
// Connecting, losing the connection, and reconnecting.
#include "driver/request.hpp"
#include "session/session.hpp"
#if COROZK_HAS_SASL
#include "network/sasl.hpp"
#endif
#include <corozk/version.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace corozk::detail {

namespace {

using namespace std::chrono_literals;

/// Why the options are invalid, or empty.
std::string option_problem(const client_options& options) {
    const std::pair<bool, const char*> problems[] = {
        // The C client limits connecting to a third of it.
        {options.session_timeout < 100ms, "session_timeout must be at least 100 ms"},
        {options.session_timeout > 240h, "session_timeout must be at most 10 days"},
        {options.connect_timeout < 0ms, "connect_timeout must not be negative (0: no limit)"},
        {options.close_timeout < 0ms, "close_timeout must not be negative"},
        {options.queue_timeout < 0ms, "queue_timeout must not be negative"},
        {options.session && (options.session->id == 0 || options.session->password.size() != 16),
         "session must have an id and a password of 16 bytes"},
        {std::any_of(options.auth.begin(),
                     options.auth.end(),
                     [](const auth_info& a) { return a.scheme.empty(); }),
         "auth must not have an empty scheme"},
        {options.max_request_size < 1024, "max_request_size must be at least 1024 bytes"},
    };
    for (const auto& [is_so, text] : problems) {
        if (is_so)
            return text;
    }
#if COROZK_HAS_SASL
    if (options.sasl) {
        if (std::string problem = sasl_problem(*options.sasl); !problem.empty())
            return problem;
    }
#endif
    return {};
}

}  // namespace

/// @return an error if the options cannot be used; the details are logged
error_code session::unusable_options() {
    const host_list& hosts = connector_.hosts();
    if (!hosts.problem.empty()) {
        log(log_level::error, "host list \"" + options_.hosts + "\" " + hosts.problem);
        return errc::bad_host_list;
    }
    if ((options_.tls && !has_tls()) || (options_.sasl && !has_sasl())) {
        std::string what = options_.tls && !has_tls() ? "TLS" : "SASL";
        log(log_level::error, what + " was requested, but the library was built without it");
        return errc::not_supported;
    }
    const std::string problem = option_problem(options_);
    if (problem.empty())
        return {};
    log(log_level::error, "bad option: " + problem);
    return errc::bad_option;
}

void session::connect(user_call<> call) {
    call.ahead_of_copies();
    heed_fork();
    if (agenda_.stopped() || closing_.active() || views_.ownerless)
        return call.fail(errc::closed);
    if (connector_.open())
        return call.complete(error_code());
    bool ended = connector_.idle();
    if (error_code problem; ended && (problem = unusable_options())) {
        fail_for_good(problem);
        return call.fail(problem);
    }
    const time_point deadline = options_.connect_timeout == 0ms
                                    ? time_point::max()
                                    : time_limit(options_.connect_timeout).from(now());
    auto shared = std::make_shared<user_call<>>(std::move(call));
    // Cancellation of the call stops connecting to the first session.
    shared->on_cancel([this, weak = std::weak_ptr(shared)](cancellation_type) {
        auto stopped = weak.lock();
        if (!stopped)
            return;          // as the session
        session& s = *this;  // completion destroys this function
        stopped->fail(boost::asio::error::operation_aborted);
        std::erase_if(s.calls_.connecting, [](const auto& c) { return !c.call->waiting(); });
        s.go_on_connecting(boost::asio::error::operation_aborted);
        s.wake();
    });
    calls_.connecting.push_back({std::move(shared), deadline});
    connector_.expect(calls_.connecting.front().deadline);
    wake();  // first, as in begin_closing: it may fail within this call
    if (ended) {
        closing_ = closing_steps();
        set_state(session_state::connecting);
        connector_.start(now());
        advance();
    }
}

/// Carries out the connector's decisions.
void session::advance() {
    using kind = connector::action::kind_type;
    explain_delay();
    for (;;) {
        auto todo = connector_.next(now(), traffic_.has_arrivals());
        switch (todo.kind) {
            case kind::wait: return wake();
            case kind::resolve: look_up(todo.host); break;
            case kind::attempt: attempt(todo.server); break;
            case kind::abandon_attempt: link_.drop(); break;
            case kind::ask_servers: ask_servers(); break;
            case kind::give_up: give_up_connecting(todo.reason); break;
        }
    }
}

void session::look_up(std::size_t host) {
    inquiries_.names.resize(connector_.servers().size());
    inquiries_.names[host] = std::make_unique<name_lookup>(
        connector_.servers().name(host),
        executor_,
        [self = shared_from_this(), host](const std::string& problem,
                                          const std::vector<boost::asio::ip::address>& found) {
            self->inquiries_.names[host].reset();
            self->connector_.resolved(host, problem, found);
            self->advance();
        });
}

void session::stop_connecting() noexcept {
    connector_.stop();
    link_.streams().stop();
    // They may own the session: destroy them last.
    auto last = std::exchange(inquiries_.names, {});
}

void session::attempt(const connector::endpoint& server) {
    if (!link_.client()) {
        auto write = [this](log_level level, std::string_view text) {
            if (logs(level))
                log(level, "c client: " + std::string(text));
        };
        auto changed = [this](handle_state state) { traffic_.arriving().emplace_back(state); };
        error_code error;
        link_.use(handle::make(options_, identity_.to_continue(), changed, write, error));
        if (!link_.client())
            return connect_failed(error);
    }
    link_.connect(server, connector_.servers().names_of(server));
}

/// Of the TLS settings.
void session::report_unused_files() {
    if (std::string why = link_.streams().take_warning(); !why.empty())
        report(log_level::warning, why, " (the previous certificates stay in use)");
}

void session::explain_delay() {
    if (!connector_.take_explanation(now()) || closing_.active())
        return;
    if (!connector_.open()) {
        return report(log_level::warning,
                      "there is still no connection to ",
                      options_.hosts,
                      connector_.problems());
    }
    const connector::endpoint& current = connector_.tried().back();
    if (connector_.servers().knows(current) || connector_.search().leaving())
        return;
    note_answers();
    report(log_level::warning,
           "the client stays at ",
           to_text(current),
           ", because no server of the host list ",
           options_.hosts,
           " can be used yet",
           connector_.problems());
}

/// There is no connection: an attempt has failed, or it was lost.
void session::connection_down() {
    report_unused_files();
    std::string why = link_.problem();
    const bool by_tls = link_.wire().shaking_hands();
    const bool unusable_settings = link_.wire().unusable_settings();
    const sasl_failure failure = link_.wire().authentication_failure();
    link_.close();
    if (unusable_settings) {
        log(log_level::error, "bad option: " + why);
        return fail_for_good(errc::bad_option);
    }
    // Once there was a session, what fails at this side may succeed later: a KDC may be away.
    if (failure == sasl_failure::denied ||
        (failure == sasl_failure::own && status().generation == 0)) {
        log(log_level::error, why);
        return refused_for_good(zk_errc::auth_failed);
    }
    if (connector_.attempting()) {
        if (logs(log_level::debug))
            log(log_level::debug, to_text(connector_.tried().back()) + ": " + why);
        if (by_tls)
            connector_.denied_by_tls();
        if (failure == sasl_failure::not_offered)
            connector_.denied_sasl();
        connector_.attempt_failed(why);
        advance();
    } else if (connector_.verifying() || connector_.open()) {
        if (logs(log_level::info))
            log(log_level::info, to_text(connector_.tried().back()) + " lost: " + why);
        if (status().state != session_state::connecting)
            set_state(session_state::suspended);
        if (connector_.open())
            traffic_.disconnected(now());
        reconnect();
    }
}

void session::reconnect() {
    connector_.connection_lost(now());
    advance();
}

void session::established() {
    if (!connector_.attempting() || !link_.connected())
        return;
    // In this very turn: a recipe may have seen it expired.
    if (past_deadline())
        return session_lost(zk_errc::session_expired);
    report_unused_files();
    const handle& client = *link_.client();
    bool read_only = link_.read_only();
    connector_.established(client.negotiated_timeout(), read_only, now());
    bool fresh = link_.established();
    bool continued = client.session_id() == status().session_id;
    const bool resumed = identity_.established(client.credentials());
    board_.established(client.session_id(), connector_.timeout(), fresh);
    // A session that was established before expires at the quorum meanwhile, if it is one of the quorum:
    // a server without one does not keep it alive, though it may accept it.
    const bool held = read_only && !fresh && continued;
    if (!held)
        clock_.start(link_.requested_at(), connector_.timeout());
    if (held || (read_only && resumed))
        clock_.hold();
    traffic_.connected(now());
    ++counters_.connects;
    watches_.connected(link_.wire().last_zxid());
    for (const auth_info& auth : options_.auth) {
        operation& op = make_detached(op_code::add_auth, auth.scheme, [](operation&) {});
        op.data = auth.credential;
        submit_at_once(op);
    }
    if (connector_.open())
        ready();
    else
        verify_chroot();
}

/// Before queued requests, and even before the session is open; sent by the next `send_queued`.
void session::submit_at_once(operation& op) {
    send(op, now());  // the server knows it
}

void session::verify_chroot() {
    auto verified = [this](operation& op) {
        // After the loss of the connection it is repeated: then this phase is over.
        if (connector_.verifying() && !is_session_lost(op.error))
            chroot_checked(op.error);
    };
    submit_at_once(make_detached(op_code::exists, connector_.hosts().chroot, verified));
}

void session::chroot_checked(error_code ec) {
    if (ec == zk_errc::no_node && link_.read_only()) {
        // The others may have it since this one lost its quorum.
        const std::string why = "without a quorum, it has no node " + connector_.hosts().chroot;
        connector_.unverified(why);
        connector_.give_up_server();
        link_.give_up(why);
    } else if (ec == zk_errc::no_node) {
        connector_.unverified("it has no node " + connector_.hosts().chroot);
        log(log_level::error,
            "the parent znode \"" + connector_.hosts().chroot +
                "\" of the host list does not exist: create it first");
        connect_failed(errc::chroot_missing);
    } else if (ec == zk_errc::throttled) {
        connector_.verify_again();  // after the pause
    } else if (ec && ec != zk_errc::no_auth) {
        const std::string why =
            "when asked whether the chroot exists, it responded: " + ec.message();
        connector_.unverified(why);
        link_.give_up(why);
    } else {
        connector_.verified(link_.read_only(), now());
        ready();
    }
}

void session::check_chroot_again() {
    if (traffic_.resumes_at() == time_point::max() && connector_.take_question())
        verify_chroot();
}

void session::ready() {
    set_state(link_.read_only() ? session_state::read_only : session_state::connected);
    for (auto& [call, deadline] : std::exchange(calls_.connecting, {}))
        call->complete(error_code());
    if (options_.follow_reconfiguration && !link_.read_only())  // it may not know the newest
        follow_ensemble();
    advance();
}

void session::follow_ensemble() {
    if (!inquiries_.ensemble) {
        auto follow = [this](const std::string& hosts) {
            set_hosts(hosts + connector_.hosts().chroot);
        };
        inquiries_.ensemble = std::make_unique<ensemble_follower>(*this, follow);
    }
    inquiries_.ensemble->connected();
}

error_code session::set_hosts(const std::string& text) {
    heed_fork();
    host_list hosts = parse_hosts(text);
    const host_list& before = connector_.hosts();
    if (hosts.problem.empty() && hosts.chroot != before.chroot) {
        hosts.problem = "has another root than the client, whose root is \"" +
                        (before.chroot.empty() ? "/" : before.chroot) + "\"";
    }
    if (!hosts.problem.empty()) {
        report(log_level::error, "host list \"", text, "\" ", hosts.problem);
        return errc::bad_host_list;
    }
    options_.hosts = text;
    if (!connector_.replace(std::move(hosts), now()))
        return {};
    stop_looking();
    auto last = std::exchange(inquiries_.names, {});
    report(log_level::info, "the host list is now ", text);
    advance();
    return {};
}

void session::ask_servers() {
    note_answers();
    stop_looking();
    auto yes = [this](const connector::endpoint& server) {
        stop_looking();
        connector_.found(server, now());
        report(log_level::info, "moving to ", to_text(server));
        wake();
    };
    const server_search& search = connector_.search();
    auto demand =
        search.for_quorum() ? quorum_question::demand::quorum : quorum_question::demand::presence;
    for (const auto& server : search.candidates()) {
        inquiries_.quorum.push_back(std::make_unique<quorum_question>(server, demand));
        inquiries_.quorum.back()->ask(link_.streams(), connector_.servers().names_of(server), yes);
    }
}

/// What is known of a server stays known while it is asked again.
void session::note_answers() {
    for (const auto& question : inquiries_.quorum)
        connector_.refused(question->server(), question->problem());
}

/// For another one, once all requests have got their responses.
void session::leave_server() {
    if (!connector_.search().leaving() || traffic_.awaited() > 0 || !link_.client())
        return;
    connector_.left();
    // The C client's report of this starts the next round.
    link_.give_up("the client moves to another server");
}

void session::stop_looking() noexcept {
    inquiries_.quorum.clear();
}

/// When a server from which nothing has come is given up, early enough to find another one. Not for
/// a time in which this process did nothing. The C client does not do so: it sees no responses, and
/// while read-only checks no timeouts (see `relay::vouch_for_server`, `handle::look_after_session`).
time_point session::silence_deadline() const noexcept {
    if (!connection_made())
        return time_point::max();
    const time_point heard_at = std::max(link_.wire().heard_at(), timers_.back_at());
    const time_point silent = heard_at + connector_.timeout() * 2 / 3;
    if (!link_.read_only() || traffic_.in_flight() == 0)
        return silent;
    return std::min(silent, traffic_.unanswered_since() + connector_.timeout() / 3);
}

/// When a server is given up that may have lost its leader: it answers pings, and reads for which no
/// other response is owed, but keeps no session alive.
time_point session::leader_deadline() const noexcept {
    if (!connection_made() || link_.read_only() || closing_.active())
        return time_point::max();
    return clock_.patience_end(traffic_.leader_awaited_since());
}

void session::give_up_useless_server() {
    if (agenda_.stopped() || link_.wire().input())
        return;
    const bool silent = silence_deadline() <= now();
    if (!silent && now() < leader_deadline())
        return;
    connector_.give_up_server();
    link_.give_up(silent ? "it was silent for too long"
                         : "it has not responded in time to a request for which it needs its "
                           "leader, and may have lost it");
    wake();
}

/// When a heartbeat keeps the session alive: before the C client's pings, whose responses are not
/// reported.
time_point session::heartbeat_due() const noexcept {
    if (!connection_made() || !link_.connected())
        return time_point::max();
    return traffic_.heartbeat_due(connector_.timeout() * 3 / 10);
}

void session::heartbeat() {
    if (heartbeat_due() > now())
        return;
    operation& op = make_detached(op_code::sync, "/", [](operation&) {});
    op.heartbeat = true;
    submit_at_once(op);
}

/// The server closes each connection after the first request, so that retries would never succeed.
void session::refused_for_good(error_code reason) {
    if (closing_.active()) {
        closing_.fail();
        return finish_closing();
    }
    if (connector_.idle())
        return;
    const char* why = "authentication failed: check the scheme and the credential";
    if (reason != zk_errc::auth_failed) {
        // `enforce.auth.schemes`, ZOOKEEPER-3561
        why = "the server requires authentication: configure client_options::auth or sasl";
    } else if (options_.sasl && !connector_.open()) {
        why =
            "SASL authentication failed: check the user, the password, and that the server allows "
            "the mechanism (ZooKeeper 3.9.6 allows DIGEST-MD5 only with fips-mode=false)";
    }
    log(log_level::error, why);
    fail_for_good(reason);
}

/// Some calls of `connect` have ended. After the last one only a client that has had a session
/// continues.
void session::go_on_connecting(error_code reason) {
    if (!calls_.connecting.empty())
        connector_.expect(calls_.connecting.front().deadline);
    else if (status().state == session_state::connecting)
        connect_failed(reason);
    else
        connector_.expect(time_point::max());
}

/// Fails the calls of `connect` whose time is over.
void session::give_up_connecting(error_code reason) {
    auto late = std::exchange(calls_.connecting, {});
    const auto patient = std::find_if(
        late.begin(), late.end(), [this](const auto& c) { return c.deadline > now(); });
    calls_.connecting.assign(std::make_move_iterator(patient), std::make_move_iterator(late.end()));
    late.erase(patient, late.end());
    go_on_connecting(reason);
    for (connecting_call& each : late)
        each.call->fail(reason);
}

void session::connect_failed(error_code reason) {
    // What is wrong with TLS is in the text only.
    log_level level = reason == errc::tls_failed ? log_level::error : log_level::warning;
    if (reason != boost::asio::error::operation_aborted && logs(level)) {
        log(level,
            "cannot connect to " + options_.hosts + ": " + reason.message() +
                connector_.problems());
    }
    fail_for_good(reason);
}

/// The server has reported the expiry.
void session::session_over() {
    if (closing_.active()) {
        closing_.hung_up();
        finish_closing();
    } else {
        identity_.expired();
        session_lost(zk_errc::session_expired);
    }
}

void session::session_lost(error_code reason) {
    ++counters_.expirations;
    log(log_level::warning,
        "the session was lost; its ephemeral nodes have been or will be deleted");
    identity_.lost();
    if (connection_made() && now() - link_.wire().heard_at() < connector_.timeout() / 4)
        traffic_.window().overwhelmed(traffic_.in_flight(), now());
    retire_client();
    link_.close();
    watches_.session_lost();
    set_state(session_state::lost, reason);
    watches_.drop_all(reason);
    traffic_.refuse_queued(reason);
    if (options_.renew_session && !connector_.hosts().hosts.empty()) {
        reconnect();
    } else {
        fail_for_good(reason);
    }
}

void session::add_auth(auth_info auth) {
    // Each is sent on each connection.
    const bool known = std::any_of(options_.auth.begin(), options_.auth.end(), [&](const auto& a) {
        return a.scheme == auth.scheme && a.credential == auth.credential;
    });
    if (!known)
        options_.auth.push_back(std::move(auth));
}

}  // namespace corozk::detail
