// SPDX-License-Identifier: Apache-2.0
// How a session comes to a connection, loses it, and comes to another.
#include "driver/request.hpp"
#include "session/internal_operation.hpp"
#include "session/session.hpp"
#if COROZK_HAS_SASL
#include "c_client/sasl.hpp"
#endif
#include <corozk/version.hpp>

#include <boost/asio/ip/address.hpp>

#include <cerrno>
#include <utility>

namespace corozk::detail {

namespace {

using namespace std::chrono_literals;

/// What is wrong with the options, or nothing.
std::string option_problem(const client_options& options) {
    // The C client allows a connection a third of it to be made.
    if (options.session_timeout < 100ms)
        return "session_timeout must be at least 100 ms";
    if (options.session_timeout > std::chrono::hours(24 * 10)) {
        return "session_timeout must be at most 10 days";
    }
    if (options.connect_timeout < 0ms)
        return "connect_timeout must not be negative (0: for ever)";
    if (options.close_timeout < 0ms)
        return "close_timeout must not be negative";
    if (options.queue_timeout < 0ms)
        return "queue_timeout must not be negative";
    if (options.max_request_size < 1024)
        return "max_request_size must be at least 1024 bytes";
    if (options.tls && options.sasl)
        return "tls and sasl: the C client cannot do both";
    if (options.tls) {
        // The C client takes them as one text, separated by commas, and wants all of them.
        for (const std::string& file :
             {options.tls->ca_file, options.tls->certificate_file, options.tls->key_file}) {
            if (file.empty() || file.find(',') != file.npos)
                return "tls needs ca_file, certificate_file and key_file, without commas";
        }
        if (options.tls->key_password.find(',') != std::string::npos)
            return "tls: key_password must have no comma";
    }
#if COROZK_HAS_SASL
    if (options.sasl)
        return sasl_problem(*options.sasl);
#endif
    return {};
}

/// What the C client's errno says of a connection.
std::string failure_text(const error_code& failure) {
    // How the C client reports a server that hangs up.
    if (!failure || failure.value() == EHOSTDOWN)
        return "it closed the connection";
    return failure.message();
}

}  // namespace

/// @return why these options cannot be used; the log says what is wrong.
error_code session::unusable_options() {
    const host_list& hosts = connector_.hosts();
    if (!hosts.problem.empty()) {
        log(log_level::error, "host list \"" + options_.hosts + "\" " + hosts.problem);
        return errc::bad_host_list;
    }
    if ((options_.tls && !has_tls()) || (options_.sasl && !has_sasl())) {
        std::string what = options_.tls && !has_tls() ? "TLS" : "SASL";
        log(log_level::error, what + " was asked for, but the C client was built without it");
        return errc::not_supported;
    }
    std::string problem = option_problem(options_);
    if (problem.empty())
        return {};
    log(log_level::error, "bad option: " + problem);
    return errc::bad_option;
}

void session::connect(user_call<> call) {
    call.ahead_of_copies();
    heed_fork();
    if (abandoned_ || closing_.active())
        return call.fail(errc::closed);
    if (connector_.open())
        return call.complete(error_code());
    bool ended = connector_.idle();
    if (error_code problem; ended && (problem = unusable_options())) {
        fail_for_good(problem);
        return call.fail(problem);
    }
    if (connect_calls_.empty())
        connector_.expect(now());
    auto shared = std::make_shared<user_call<>>(std::move(call));
    // When nobody waits for the first session any more, nobody wants it either.
    shared->on_cancel([this, weak = std::weak_ptr(shared)](cancellation_type) {
        session& s = *this;  // completing the call destroys this function
        if (auto c = weak.lock())
            c->fail(boost::asio::error::operation_aborted);
        std::erase_if(s.connect_calls_, [](const auto& c) { return !c->waiting(); });
        if (s.connect_calls_.empty())
            s.give_up_connecting(boost::asio::error::operation_aborted);
        s.wake();
    });
    connect_calls_.push_back(std::move(shared));
    if (ended) {
        set_state(session_state::connecting);
        connector_.start(now());
        advance();
    }
    wake();
}

/// Carries out what the connector decides.
void session::advance() {
    using kind = connector::action::kind_type;
    for (;;) {
        auto todo = connector_.next(now(), arrivals_left());
        switch (todo.kind) {
            case kind::wait:
                return wake();
            case kind::begin_round:
                // Not all watches at once: other coroutines run in between.
                if (!trim_watches())
                    return wake();
                connector_.begin_round(now());
                break;
            case kind::resolve:
                look_up(todo.host);
                break;
            case kind::attempt:
                attempt(todo.server);
                break;
            case kind::abandon_attempt:
                handle_->abort();
                monitor_.close();
                break;
            case kind::ask_for_quorum:
                ask_for_quorum();
                break;
            case kind::give_up:
                give_up_connecting(todo.reason);
                break;
        }
    }
}

void session::look_up(std::size_t host) {
    lookups_.resize(connector_.hosts().hosts.size());
    lookups_[host] = std::make_unique<name_lookup>(
        connector_.hosts().hosts[host].name,
        executor_,
        [self = shared_from_this(), host](const std::string& problem,
                                          const std::vector<boost::asio::ip::address>& found) {
            self->lookups_[host].reset();
            self->connector_.resolved(host, problem, found);
            self->advance();
        });
}

void session::stop_connecting() noexcept {
    connector_.stop();
    // They may own the session: destroyed when nothing here is in use.
    auto last = std::move(lookups_);
    lookups_.clear();
}

void session::attempt(const connector::endpoint& server) {
    if (!handle_) {
        handle_settings settings;
        settings.chroot = connector_.hosts().chroot;
        settings.session_timeout = options_.session_timeout;
        settings.allow_read_only = options_.allow_read_only;
        settings.tls = options_.tls ? &*options_.tls : nullptr;
        settings.sasl = options_.sasl ? &*options_.sasl : nullptr;
        error_code error;
        handle_ = handle::make(
            settings,
            inbox_,
            [this](log_level level, std::string_view text) {
                if (logs(level))
                    log(level, "c client: " + std::string(text));
            },
            error);
        if (!handle_)
            return connect_failed(error);
        fresh_handle_ = true;
    }
    handle_->set_server(server);
    // The C client skips a turn after it has failed once.
    for (int i = 0; i < 3 && !handle_->open(); ++i)
        handle_->interest();
    if (!handle_->open())
        connector_.attempt_failed(failure_text(handle_->failure()));
}

/// The C client has no socket any more.
void session::connection_down() {
    readable_ = writable_ = false;
    monitor_.close();
    // After SASL has failed the C client says nothing, and cannot be used any more.
    if (handle_ && handle_->state() == handle_state::auth_failed) {
        authentication_failed();
        return;
    }
    if (connector_.attempting()) {
        connector_.attempt_failed(failure_text(handle_->failure()));
        advance();
    } else if (connector_.verifying() || connector_.open()) {
        set_state(status_.state == session_state::connecting ? session_state::connecting
                                                             : session_state::suspended);
        reconnect();
    }
}

void session::reconnect() {
    connector_.connection_lost(now());
    advance();
}

void session::established(bool read_only) {
    if (!connector_.attempting() || !handle_ || !handle_->connected())
        return;
    connector_.established(handle_->negotiated_timeout(), read_only, now());
    keeps_session_ = !read_only || fresh_handle_;
    if (keeps_session_)
        clock_.start(connector_.attempt_started(), connector_.timeout());
    last_sent_ = now();
    ++counters_.connects;
    status_.session_id = handle_->session_id();
    status_.negotiated_timeout = connector_.timeout();
    if (fresh_handle_) {
        fresh_handle_ = false;
        ++status_.generation;
        for (const auth_info& auth : options_.auth)
            apply_auth(auth);
    }
    if (connector_.open())
        session_ready(read_only);
    else
        verify_chroot();
}

/// Ahead of what is queued, and before the session is open.
bool session::submit_at_once(operation& op) {
    op.state = operation::progress::sent;
    op.sent_at = now();
    if (!handle_->submit(op))
        return false;
    sent_.push_back(op);
    ++in_flight_;
    ++counters_.requests;
    return true;
}

void session::apply_auth(const auth_info& auth) {
    auto ignore = [](operation&) {};
    auto* op = new detached_request<decltype(ignore)>(op_code::add_auth, auth.scheme, ignore);
    op->data = auth.credential;
    if (!submit_at_once(*op))
        delete op;
}

void session::verify_chroot() {
    auto verified = [this](operation& op) {
        // After the loss of the connection it is asked again.
        if (!connector_.verifying() || is_session_lost(op.error) || is_recoverable(op.error))
            return;
        if (op.error == zk_errc::no_node) {
            log(log_level::error,
                "the parent znode \"" + connector_.hosts().chroot +
                    "\" of the host list does not exist: create it first");
            connect_failed(errc::chroot_missing);
            return;
        }
        bool read_only = handle_->state() == handle_state::read_only;
        connector_.verified(read_only, now());
        session_ready(read_only);
    };
    verification_ = std::make_unique<internal_operation>(op_code::exists, "/", verified);
    verification_->sent_in = status_.generation;
    submit_at_once(*verification_);
}

void session::session_ready(bool read_only) {
    set_state(read_only ? session_state::read_only : session_state::connected);
    if (drops_to_retry_.empty()) {
        drops_to_retry_.swap(late_drops_);
    } else {
        for (auto& [path, kinds] : late_drops_)
            drops_to_retry_[path].merge(kinds);
        late_drops_.clear();
    }
    for (auto& call : std::exchange(connect_calls_, {}))
        call->complete(error_code());
    advance();
}

void session::ask_for_quorum() {
    stop_looking();
    auto yes = [this](const connector::endpoint& server) {
        stop_looking();
        connector_.quorum_found(server);
        // How the C client reports this begins the next round.
        handle_->abort();
        wake();
    };
    for (const auto& server : connector_.other_servers()) {
        questions_.push_back(std::make_shared<quorum_question>(executor_, server));
        questions_.back()->ask(yes);
    }
}

void session::stop_looking() noexcept {
    for (auto& question : questions_)
        question->withdraw();
    questions_.clear();
}

void session::authentication_failed() {
    refused_for_good(
        zk_errc::auth_failed,
        options_.sasl && !connector_.open()
            ? "SASL authentication failed: check the user, the password and the mechanisms"
            : "authentication failed: check the scheme and the credential");
}

/// The server closes each connection on which anything is asked before that (`enforce.auth.schemes`,
/// ZOOKEEPER-3561): nothing that was asked again could ever be answered.
void session::authentication_demanded() {
    refused_for_good(zk_errc::session_closed_require_sasl_auth,
                     "the server serves nobody without credentials of a scheme that it demands: "
                     "give them in client_options::auth or sasl");
}

void session::refused_for_good(error_code reason, std::string_view why) {
    if (closing_.active()) {
        closing_.fail();
        finish_closing();
    } else if (!connector_.idle()) {
        log(log_level::error, why);
        fail_for_good(reason);
    }
}

/// A client that has had a session goes on without those who wait.
void session::give_up_connecting(error_code reason) {
    if (status_.state == session_state::connecting)
        return connect_failed(reason);
    connector_.expect_nothing();
    for (auto& call : std::exchange(connect_calls_, {}))
        call->fail(reason);
}

void session::connect_failed(error_code reason) {
    if (reason != boost::asio::error::operation_aborted && logs(log_level::warning)) {
        log(log_level::warning,
            "cannot connect to " + options_.hosts + ": " + reason.message() +
                connector_.problems());
    }
    fail_for_good(reason);
}

/// The server has said so.
void session::session_over() {
    if (closing_.active()) {
        closing_.hung_up();
        finish_closing();
    } else {
        session_lost(zk_errc::session_expired);
    }
}

void session::session_lost(error_code reason) {
    ++counters_.expirations;
    readable_ = writable_ = false;
    if (logs(log_level::warning)) {
        log(log_level::warning, "the session was lost; its ephemeral nodes are gone or will go");
    }
    retire_handle();
    monitor_.close();
    late_drops_.clear();
    drops_to_retry_.clear();
    set_state(session_state::lost, reason);
    watches_.drop_all(reason);
    fail_queued(reason);
    if (options_.renew_session && !connector_.hosts().hosts.empty()) {
        reconnect();
    } else {
        fail_for_good(reason);
    }
}

void session::add_auth(auth_info auth) {
    options_.auth.push_back(std::move(auth));
}

}  // namespace corozk::detail
