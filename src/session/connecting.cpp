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

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <optional>
#include <utility>

namespace corozk::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto first_retry = 100ms;
constexpr auto last_retry = 1000ms;
constexpr auto shortest_pause = 10ms;
constexpr auto shortest_attempt = 500ms;
constexpr auto hasty_attempt = 100ms;  // where `connect` may not last longer

// A connection that has lasted for this long was a good one.
constexpr auto lasting_connection = 1000ms;

// Whose session expires meanwhile loses two at once: the old one, and the one that tells of it.
constexpr std::size_t short_connections_in_order = 2;

// How long a look-up of a name whose addresses are known may keep us from trying these.
constexpr auto longest_patience = 500ms;

// How often a client that is read-only asks for a server with a quorum.
constexpr auto first_question = 200ms;
constexpr auto last_question = 10'000ms;

// Of many problems.
constexpr std::size_t problems_told = 16;

using boost::asio::ip::address;

/// An address as text, or nothing; `problem` says why one cannot be used.
std::optional<address> numeric(const std::string& name, std::string& problem) {
    error_code not_numeric;
    address result = boost::asio::ip::make_address(name, not_numeric);
    if (not_numeric)
        return std::nullopt;
    if (result.is_v6() && result.to_v6().is_link_local() && result.to_v6().scope_id() == 0) {
        problem =
            "a link-local address needs a network interface of this machine, as in fe80::1%eth0";
    }
    return result;
}

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

/// One form for each address.
address plain(const address& a) {
    if (a.is_v6() && a.to_v6().is_v4_mapped())
        return make_address_v4(boost::asio::ip::v4_mapped, a.to_v6());
    return a;
}

/// What the C client's errno says of a connection.
std::string failure_text(const error_code& failure) {
    // The C client's own word for a server that hangs up.
    if (!failure || failure.value() == EHOSTDOWN)
        return "it closed the connection";
    return failure.message();
}

}  // namespace

void session::connect(user_call<> call) {
    call.ahead_of_copies();
    if (abandoned_)
        return call.fail(errc::closed);
    heed_fork();
    bool ended = phase_ == phase_type::closed || phase_ == phase_type::idle;
    if (phase_ == phase_type::draining || phase_ == phase_type::parting) {
        return call.fail(errc::closed);
    }
    if (phase_ == phase_type::open)
        return call.complete(error_code());
    if (ended) {
        hosts_ = parse_hosts(options_.hosts);
        error_code problem;
        if (!hosts_.problem.empty()) {
            log(log_level::error, "host list \"" + options_.hosts + "\" " + hosts_.problem);
            problem = errc::bad_host_list;
        } else if ((options_.tls && !has_tls()) || (options_.sasl && !has_sasl())) {
            std::string what = options_.tls && !has_tls() ? "TLS" : "SASL";
            log(log_level::error, what + " was asked for, but the C client was built without it");
            problem = errc::not_supported;
        } else if (std::string text = option_problem(options_); !text.empty()) {
            log(log_level::error, "bad option: " + text);
            problem = errc::bad_option;
        }
        if (problem) {
            fail_for_good(problem);
            return call.fail(problem);
        }
    }
    bool first = connect_calls_.empty();
    if (first) {
        connect_deadline_ = options_.connect_timeout == 0ms
                                ? time_point::max()
                                : time_limit(options_.connect_timeout).from(now());
    }
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
        forget_problems();
        failed_rounds_ = short_connections_ = 0;
        timeout_ = options_.session_timeout;
        set_state(session_state::connecting);
        begin_round();
    }
    wake();
}

void session::begin_round() {
    phase_ = phase_type::resolving;
    if (!trim_watches()) {
        // Not all at once: the loop gets its turns in between.
        phase_ = phase_type::waiting;
        retry_at_ = now();
        return;
    }
    servers_.clear();
    tried_.clear();
    addresses_.resize(hosts_.hosts.size());
    patience_ends_ = now() + std::min<std::chrono::milliseconds>(timeout_ / 10, longest_patience);
    // Clients spread over the servers.
    std::vector<std::size_t> order(hosts_.hosts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t i : order)
        resolve(i);
    if (with_quorum_) {
        std::erase(servers_, *with_quorum_);
        servers_.push_back(*with_quorum_);
        with_quorum_.reset();
    }
    next_attempt();
}

void session::resolve(std::size_t index) {
    const std::string& name = hosts_.hosts[index].name;
    host_addresses& host = addresses_[index];
    std::string problem;
    if (auto address = numeric(name, problem)) {
        if (problem.empty())
            return use(index, {*address});
        return note_problem(name, problem);
    }
    if (std::exchange(host.fresh, false))
        return use(index, host.known);
    // One that lasts longer than a round goes on.
    if (host.asked)
        return;
    host.asked = std::make_unique<name_lookup>(
        name,
        executor_,
        [self = shared_from_this(), index, number = lookups_](
            const std::string& text, const std::vector<address>& addresses) {
            if (!self->abandoned_ && number == self->lookups_)
                self->resolved(index, text, addresses);
        });
}

void session::resolved(std::size_t index,
                       const std::string& problem,
                       const std::vector<address>& addresses) {
    host_addresses& host = addresses_[index];
    host.asked.reset();
    if (problem.empty()) {
        host.known = addresses;
    } else {
        note_problem(hosts_.hosts[index].name, problem);
    }
    if (phase_ == phase_type::resolving || phase_ == phase_type::attempting) {
        // A name server that is away must not keep us from servers that we know.
        use(index, host.known);
        if (phase_ == phase_type::resolving)
            next_attempt();
        else
            limit_attempt();
    } else {
        host.fresh = problem.empty();
    }
    wake();
}

/// The name service takes long; the servers may be where they were.
void session::use_known_addresses() {
    patience_ends_ = time_point::max();
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        if (addresses_[i].asked)
            use(i, addresses_[i].known);
    }
    next_attempt();
}

/// To be tried next, in random order: one name may stand for a whole ensemble.
void session::use(std::size_t index, std::vector<address> addresses) {
    std::shuffle(addresses.begin(), addresses.end(), random_);
    for (const address& a : addresses) {
        endpoint server(plain(a), hosts_.hosts[index].port);
        auto among = [&server](const std::vector<endpoint>& list) {
            return std::find(list.begin(), list.end(), server) != list.end();
        };
        if (!among(servers_) && !among(tried_))
            servers_.push_back(server);
    }
}

std::vector<boost::asio::ip::tcp::endpoint> session::known_servers() const {
    std::vector<endpoint> all;
    for (std::size_t i = 0; i < hosts_.hosts.size(); ++i) {
        std::string problem;
        if (auto a = numeric(hosts_.hosts[i].name, problem)) {
            if (problem.empty())
                all.emplace_back(plain(*a), hosts_.hosts[i].port);
        } else {
            for (const address& known : addresses_[i].known)
                all.emplace_back(plain(known), hosts_.hosts[i].port);
        }
    }
    return all;
}

void session::forget_lookups() {
    ++lookups_;
    // They may own the session: destroyed when nothing here is in use.
    std::vector<host_addresses> old = std::move(addresses_);
    addresses_.clear();
    for (const host_addresses& host : old) {
        addresses_.emplace_back();
        addresses_.back().known = host.known;
    }
}

bool session::looking_up() const noexcept {
    return std::any_of(addresses_.begin(), addresses_.end(), [](const host_addresses& host) {
        return host.asked != nullptr;
    });
}

void session::next_attempt() {
    while (!servers_.empty()) {
        tried_.push_back(servers_.back());
        servers_.pop_back();
        if (!handle_) {
            handle_settings settings;
            settings.chroot = hosts_.chroot;
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
            if (!handle_) {
                connect_failed(error);
                return;
            }
            fresh_handle_ = true;
        }
        handle_->set_server(tried_.back());
        phase_ = phase_type::attempting;
        attempt_started_ = now();
        limit_attempt();
        // The C client skips a turn after it has failed once.
        for (int i = 0; i < 3 && !handle_->open(); ++i)
            handle_->interest();
        if (handle_->open()) {
            wake();
            return;
        }
        refused_connection_ = true;
        note_problem(to_text(tried_.back()), failure_text(handle_->failure()));
    }
    // Names without an answer are not waited for where there was something to try.
    if (looking_up() && tried_.empty()) {
        phase_ = phase_type::resolving;
    } else {
        round_over();
    }
}

/// A server that is silent takes a share of the time there is, and leaves the others theirs.
void session::limit_attempt() {
    // A single server that is silent is asked again, too, before the session is over.
    std::size_t in_round = std::max<std::size_t>(tried_.size() + servers_.size(), 2);
    auto share = std::chrono::duration_cast<std::chrono::milliseconds>(timeout_ * 2 / 3) /
                 static_cast<int>(in_round);
    attempt_deadline_ =
        attempt_started_ + std::max<std::chrono::milliseconds>(share, shortest_attempt);
    if (connect_calls_.empty() || connect_deadline_ == time_point::max())
        return;
    auto left = (connect_deadline_ - attempt_started_) / static_cast<int>(servers_.size() + 1);
    attempt_deadline_ = std::min(
        attempt_deadline_, attempt_started_ + std::max<time_point::duration>(left, hasty_attempt));
}

void session::forget_problems() {
    refused_connection_ = silent_server_ = false;
    problems_.clear();
}

/// Of one that is given up.
void session::note_attempt() {
    bool accepted = handle_ && handle_->state() == handle_state::associating;
    note_problem(
        to_text(tried_.back()),
        accepted ? "it accepted the connection, but gave no session in time" : "no answer in time");
}

void session::note_problem(const std::string& where, const std::string& what) {
    if (problems_.size() < problems_told || problems_.contains(where))
        problems_[where] = what;
}

void session::round_over() {
    ++failed_rounds_;
    pause(failed_rounds_);
}

void session::pause(std::size_t failures) {
    auto delay = first_retry * (1 << std::min<std::size_t>(failures - 1, 4));
    // Several of them must not cost the session. (What a server grants may be anything, even negative.)
    auto lives =
        timeout_ > 0ms ? std::min(timeout_, options_.session_timeout) : options_.session_timeout;
    auto longest = std::clamp<std::chrono::milliseconds>(lives / 10, shortest_pause, last_retry);
    delay = std::min<std::chrono::milliseconds>(delay, longest);
    // Not all clients of a restarted server at once.
    std::uniform_int_distribution<std::int64_t> spread(delay.count() / 2, delay.count());
    phase_ = phase_type::waiting;
    retry_at_ = now() + std::chrono::milliseconds(spread(random_));
    wake();
}

void session::attempt_failed() {
    if (handle_->state() == handle_state::connecting)
        refused_connection_ = true;
    note_attempt();
    handle_->abort();
    monitor_.close();
    next_attempt();
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
    switch (phase_) {
        case phase_type::attempting:
            if (!silent_server_)
                refused_connection_ = true;
            note_problem(to_text(tried_.back()), failure_text(handle_->failure()));
            next_attempt();
            break;
        case phase_type::verifying:
        case phase_type::open:
            set_state(status_.state == session_state::connecting ? session_state::connecting
                                                                 : session_state::suspended);
            reconnect();
            break;
        default:
            break;
    }
}

/// At once, unless connections end as soon as they are made: by a server that cannot be understood,
/// that hangs up on a request which is asked again each time, or whose sessions are over at once.
void session::reconnect() {
    if (now() - attempt_started_ >= lasting_connection)
        short_connections_ = 0;
    ++short_connections_;
    if (short_connections_ <= short_connections_in_order) {
        begin_round();
    } else {
        pause(short_connections_ - short_connections_in_order);
    }
}

void session::established(bool read_only) {
    if (phase_ != phase_type::attempting || !handle_ || !handle_->connected())
        return;
    failed_rounds_ = 0;
    servers_.clear();
    forget_problems();
    timeout_ = handle_->negotiated_timeout();
    keeps_session_ = !read_only || fresh_handle_;
    if (keeps_session_)
        clock_.start(attempt_started_, timeout_);
    last_sent_ = now();
    ++counters_.connects;
    status_.session_id = handle_->session_id();
    status_.negotiated_timeout = timeout_;
    if (fresh_handle_) {
        fresh_handle_ = false;
        ++status_.generation;
        for (const auth_info& auth : options_.auth)
            apply_auth(auth);
    }
    if (!hosts_.chroot.empty() && !chroot_verified_) {
        verify_chroot();
    } else {
        phase_ = phase_type::open;
        set_state(read_only ? session_state::read_only : session_state::connected);
        session_ready();
    }
}

void session::apply_auth(const auth_info& auth) {
    auto ignore = [](operation&) {};
    auto* op = new detached_request<decltype(ignore)>(op_code::add_auth, auth.scheme, ignore);
    op->data = auth.credential;
    op->state = operation::progress::sent;
    op->sent_at = now();
    if (!handle_->submit(*op)) {
        delete op;
        return;
    }
    sent_.push_back(*op);
    ++in_flight_;
    ++counters_.requests;
}

void session::verify_chroot() {
    phase_ = phase_type::verifying;
    verification_ =
        std::make_unique<internal_operation>(op_code::exists, "/", [this](operation& op) {
            if (phase_ != phase_type::verifying || is_session_lost(op.error) ||
                op.error == zk_errc::session_closed_require_sasl_auth) {
                return;
            }
            if (op.error == zk_errc::no_node) {
                log(log_level::error,
                    "the folder \"" + hosts_.chroot +
                        "\" of the host list does not exist: create it first");
                connect_failed(errc::chroot_missing);
                return;
            }
            chroot_verified_ = true;
            phase_ = phase_type::open;
            set_state(handle_->state() == handle_state::read_only ? session_state::read_only
                                                                  : session_state::connected);
            session_ready();
        });
    operation& op = *verification_;
    op.state = operation::progress::sent;
    op.sent_at = now();
    op.sent_in = status_.generation;
    if (handle_->submit(op)) {
        sent_.push_back(op);
        ++in_flight_;
        ++counters_.requests;
    }
}

void session::session_ready() {
    if (drops_to_retry_.empty()) {
        drops_to_retry_.swap(late_drops_);
    } else {
        for (auto& [path, kinds] : late_drops_)
            drops_to_retry_[path].merge(kinds);
        late_drops_.clear();
    }
    auto calls = std::move(connect_calls_);
    connect_calls_.clear();
    for (auto& call : calls)
        call->complete(error_code());
    ask_after_ = 0ms;
    look_for_quorum();
}

/// Asks all others, again after pauses that grow.
void session::look_for_quorum() {
    bool read_only = phase_ == phase_type::open && status_.state == session_state::read_only;
    stop_looking();
    // What a server answers to that is not encrypted.
    if (!read_only || options_.tls)
        return;
    ask_after_ =
        std::clamp<std::chrono::milliseconds>(ask_after_ * 2, first_question, last_question);
    ask_at_ = now() + ask_after_;
    auto yes = [this](const endpoint& server) {
        with_quorum_ = server;
        stop_looking();
        // What it says of its end brings the next round.
        handle_->abort();
        wake();
    };
    for (const endpoint& server : known_servers()) {
        if (server == tried_.back())
            continue;
        questions_.push_back(std::make_shared<quorum_question>(executor_, server));
        questions_.back()->ask(yes);
    }
}

void session::stop_looking() noexcept {
    ask_at_ = time_point::max();
    for (auto& question : questions_)
        question->withdraw();
    questions_.clear();
}

void session::authentication_failed() {
    refused_for_good(
        zk_errc::auth_failed,
        options_.sasl && phase_ != phase_type::open
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
    if (phase_ == phase_type::closed)
        return;
    if (closing()) {
        finish_closing(errc::session_left_to_expire);
        return;
    }
    log(log_level::error, why);
    fail_for_good(reason);
}

error_code session::connect_problem() const {
    if (phase_ == phase_type::attempting && handle_ &&
        handle_->state() == handle_state::associating) {
        return errc::server_silent;
    }
    if (silent_server_)
        return errc::server_silent;
    if (refused_connection_ || phase_ == phase_type::attempting)
        return errc::no_server;
    return errc::host_not_found;
}

/// Who has had a session goes on without those who wait.
void session::give_up_connecting(error_code reason) {
    if (status_.state == session_state::connecting)
        return connect_failed(reason);
    for (auto& call : std::exchange(connect_calls_, {}))
        call->fail(reason);
}

void session::connect_failed(error_code reason) {
    if (phase_ == phase_type::attempting)
        note_attempt();
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        if (addresses_[i].asked)
            note_problem(hosts_.hosts[i].name, "no answer from the name service in time");
    }
    if (reason != boost::asio::error::operation_aborted && logs(log_level::warning)) {
        std::string text = "cannot connect to " + options_.hosts + ": " + reason.message();
        const char* separator = " (";
        for (const auto& [where, what] : problems_)
            text += std::exchange(separator, "; ") + where + ": " + what;
        if (!problems_.empty())
            text += ")";
        log(log_level::warning, text);
    }
    fail_for_good(reason);
}

/// The server has said so.
void session::session_over() {
    if (closing()) {
        finish_closing(error_code());
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
    if (options_.renew_session && !hosts_.hosts.empty()) {
        reconnect();
    } else {
        fail_for_good(reason);
    }
}

void session::add_auth(auth_info auth) {
    options_.auth.push_back(std::move(auth));
}

}  // namespace corozk::detail
