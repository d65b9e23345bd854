// SPDX-License-Identifier: Apache-2.0
#include "session/connector.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace corozk::detail {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto first_retry = 100ms;
constexpr auto last_retry = 1000ms;
constexpr auto shortest_pause = 10ms;
constexpr auto shortest_attempt = 500ms;
constexpr auto hasty_attempt = 100ms;  // if `connect_timeout` does not permit more

// A connection that lasts this long was successful.
constexpr auto lasting_connection = 1000ms;

// A session that expires while disconnected causes two: the old connection, and the one that
// reports the expiry.
constexpr std::size_t short_connections_in_order = 2;

// How long a look-up may delay attempts at the known addresses of the name.
constexpr auto longest_patience = 500ms;

constexpr std::size_t problems_kept = 16;

constexpr auto no_answer = "no answer in time";

// How long there may be no connection until the log says why: a server that is restarted is no
// reason to warn.
milliseconds untroubled(milliseconds session_timeout) {
    return std::clamp<milliseconds>(session_timeout / 2, 0ms, 5s);
}

}  // namespace

connect_problems::problem* connect_problems::find(const std::string& where) {
    bool known = problems_.size() < problems_kept || problems_.contains(where);
    return known ? &problems_[where] : nullptr;
}

void connect_problems::note(const std::string& where, const std::string& what) {
    if (problem* p = find(where)) {
        p->text = what;
        p->presumed = false;
    }
}

void connect_problems::presume(const std::string& where, const std::string& what) {
    problem* p = find(where);
    if (p && p->presumed)
        p->text = what;
}

error_code connect_problems::reason() const noexcept {
    switch (reach_) {
        case reach_type::none: return errc::host_not_found;
        case reach_type::attempted: return errc::no_server;
        case reach_type::handshake:
        case reach_type::denied: return errc::tls_failed;
        case reach_type::without_sasl: return zk_errc::auth_failed;
        default: return errc::server_silent;
    }
}

std::string connect_problems::text() const {
    std::string text;
    for (const auto& [where, what] : problems_)
        text += (text.empty() ? " (" : "; ") + where + ": " + what.text;
    return text.empty() ? text : text + ")";
}

connector::connector(const client_options& options, host_list hosts, std::mt19937_64& random)
    : options_(options),
      known_(std::move(hosts)),
      random_(random),
      timeout_(options.session_timeout),
      search_(random) {}

// ---------------------------------------------------------------------------------------------
// Decisions

connector::action connector::next(time_point now, bool unread) {
    action result;
    if (now >= connect_deadline_) {
        expect(time_point::max());
        result.kind = action::kind_type::give_up;
        result.reason = problems_.reason();
        return result;
    }
    switch (phase_) {
        case phase_type::waiting:
            if (now < due_)
                break;
            begin_round(now);
            [[fallthrough]];
        case phase_type::resolving:
            if (auto host = known_.take_wanted()) {
                result.kind = action::kind_type::resolve;
                result.host = *host;
            } else if (ready() ||
                       ((!round_.tried.empty() || now >= due_) && use_known_addresses())) {
                return attempt(now);
            } else if (!round_.tried.empty() || !known_.looking_up()) {
                // Do not wait for look-ups in progress if there were addresses to try.
                pause(++failed_rounds_, now);
            }
            break;
        case phase_type::attempting:
            if (now >= due_ && !unread) {
                end_attempt();
                result.kind = action::kind_type::abandon_attempt;
            }
            break;
        case phase_type::open:
            if (search_.next(now, known_, round_.tried.back())) {
                result.kind = action::kind_type::ask_servers;
            } else if (auto host = known_.take_wanted()) {
                result.kind = action::kind_type::resolve;
                result.host = *host;
            }
            break;
        default: break;
    }
    return result;
}

time_point connector::deadline() const noexcept {
    time_point due = std::min(due_, connect_deadline_);
    return open() ? std::min(due, search_.deadline()) : due;
}

/// Whether there is a server to try. The one that was given up is not tried before the addresses that
/// look-ups may find, or those that are known if these take long.
bool connector::ready() const noexcept {
    const bool others = round_.tried.empty() && known_.looking_up() && due_ != time_point::max();
    return !round_.untried.empty() && !(others && round_.untried.back() == round_.last);
}

connector::action connector::attempt(time_point now) {
    round_.tried.push_back(round_.untried.back());
    round_.untried.pop_back();
    phase_ = phase_type::attempting;
    attempt_started_ = now;
    presume_no_answer();
    limit_attempt();
    action result;
    result.kind = action::kind_type::attempt;
    result.server = round_.tried.back();
    return result;
}

/// Until more is known.
void connector::presume_no_answer() {
    problems_.reached(connect_problems::reach_type::attempted);
    problems_.presume(to_text(round_.tried.back()), no_answer);
}

/// A silent server gets a share of the available time, so that the others get theirs.
void connector::limit_attempt() {
    // A single silent server is tried again, too, before the session expires.
    std::size_t in_round = std::max<std::size_t>(round_.tried.size() + round_.untried.size(), 2);
    auto share =
        std::chrono::duration_cast<milliseconds>(timeout_ * 2 / 3) / static_cast<int>(in_round);
    due_ = attempt_started_ + std::max<milliseconds>(share, shortest_attempt);
    if (connect_deadline_ == time_point::max())
        return;
    auto left =
        (connect_deadline_ - attempt_started_) / static_cast<int>(round_.untried.size() + 1);
    due_ = std::min(due_, attempt_started_ + std::max<time_point::duration>(left, hasty_attempt));
}

void connector::end_attempt() noexcept {
    if (std::exchange(round_.outdated, false)) {
        given_up_ = round_.tried.back();
        return wait_until(attempt_started_);  // that is, now
    }
    phase_ = phase_type::resolving;
}

void connector::wait_until(time_point when) noexcept {
    phase_ = phase_type::waiting;
    due_ = when;
}

void connector::pause(std::size_t failures, time_point now) {
    auto delay = first_retry * (1 << std::min<std::size_t>(failures - 1, 4));
    // Several of them must not cause expiry.
    auto lives = std::min(timeout_, options_.session_timeout);
    auto longest = std::clamp<milliseconds>(lives / 10, shortest_pause, last_retry);
    delay = std::min<milliseconds>(delay, longest);
    // Jitter for the clients of a restarted server.
    std::uniform_int_distribution<std::int64_t> spread(delay.count() / 2, delay.count());
    wait_until(now + milliseconds(spread(random_)));
}

// ---------------------------------------------------------------------------------------------
// Events

void connector::start(time_point now) {
    problems_ = {};
    failed_rounds_ = short_connections_ = 0;
    timeout_ = options_.session_timeout;
    chroot_ = hosts().chroot.empty() ? chroot_type::exists : chroot_type::unknown;
    if (options_.connect_timeout == 0ms)  // otherwise the failure says it
        explain_at_ = now + untroubled(timeout_);
    wait_until(now);
}

void connector::stop() noexcept {
    phase_ = phase_type::idle;
    due_ = connect_deadline_ = time_point::max();
    known_.stop();
    search_.stop();
}

bool connector::replace(host_list hosts, time_point now) {
    // Programs set the list again and again, as they get it from elsewhere.
    if (hosts == known_.hosts())
        return false;
    server_search::old_list before{known_.servers(), known_.unresolved()};
    std::vector<std::string> names;
    if (attempting())
        names = known_.names_of(round_.tried.back());
    known_.replace(std::move(hosts));
    if (idle())
        return true;
    failed_rounds_ = 0;
    search_.list_replaced(std::move(before), timeout_, now);
    if (verifying())
        return true;
    problems_ = {};
    if (open()) {
        // It moves within one session timeout.
        explain_at_ = now + timeout_ + untroubled(timeout_);
        return true;
    }
    if (!attempting()) {
        wait_until(now);
        return true;
    }
    // Then the new list is tried, the others first.
    round_.outdated = true;
    presume_no_answer();
    // A server is asked for the certificate, or the principal, of its names.
    const bool named = options_.tls.has_value() || options_.sasl.has_value();
    const bool still_listed = known_.knows(round_.tried.back()) &&
                              (!named || known_.names_of(round_.tried.back()) == names);
    // Unless it has succeeded.
    if (!still_listed)
        due_ = now;
    return true;
}

void connector::begin_round(time_point now) {
    phase_ = phase_type::resolving;
    due_ = now + std::min<milliseconds>(timeout_ / 10, longest_patience);
    search_.stop();
    round_ = {};
    round_.last = std::exchange(given_up_, std::nullopt);
    // Distributes clients over the servers.
    std::vector<std::size_t> order(known_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t i : order) {
        if (known_.lacks_interface(i)) {
            problems_.note(known_.name(i),
                           "a link-local address needs a network interface of this machine, as in "
                           "fe80::1%eth0");
        } else if (known_.refresh(i)) {
            use(i);
        }
    }
    if (auto first = search_.take_target(); first && known_.knows(*first)) {
        std::erase(round_.untried, *first);
        round_.untried.push_back(*first);
    }
}

/// Tries the host's addresses next, in random order: one name may refer to a whole ensemble.
void connector::use(std::size_t host) {
    std::vector<endpoint> found = known_.servers(host);
    std::shuffle(found.begin(), found.end(), random_);
    for (const endpoint& server : found) {
        if (std::count(round_.untried.begin(), round_.untried.end(), server) == 0 &&
            std::count(round_.tried.begin(), round_.tried.end(), server) == 0) {
            add(server);
        }
    }
}

void connector::add(const endpoint& server) {
    round_.untried.insert(server == round_.last ? round_.untried.begin() : round_.untried.end(),
                          server);
}

/// If look-ups take long, the known addresses may still be valid.
bool connector::use_known_addresses() {
    due_ = time_point::max();
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_.looking_up(i))
            use(i);
    }
    return !round_.untried.empty();
}

void connector::resolved(std::size_t host, const std::string& problem, addresses found) {
    bool now = phase_ == phase_type::resolving || phase_ == phase_type::attempting;
    if (problem.empty()) {
        // Kept for the next round only if that is to begin: later it may not be true any more.
        const bool soon = phase_ == phase_type::waiting;
        known_.resolved(host, !soon, std::move(found));
        // An address that is its name's no more must not be asked for a certificate of its own.
        std::erase_if(round_.untried,
                      [this](const endpoint& server) { return !known_.knows(server); });
    } else {
        known_.failed(host);
        problems_.note(known_.name(host), problem);
    }
    // An unavailable name server must not prevent attempts at known servers.
    if (now)
        use(host);
    if (phase_ == phase_type::attempting)
        limit_attempt();
}

void connector::shaking_hands() {
    problems_.reached(connect_problems::reach_type::handshake);
    problems_.presume(to_text(round_.tried.back()), "it did not answer the TLS handshake in time");
}

void connector::denied_by_tls() {
    problems_.reached(connect_problems::reach_type::denied);
}

void connector::denied_sasl() {
    problems_.reached(connect_problems::reach_type::without_sasl);
}

void connector::accepted() {
    problems_.reached(connect_problems::reach_type::accepted);
    problems_.presume(to_text(round_.tried.back()),
                      "it accepted the connection, but established no session in time");
}

void connector::authenticating() {
    problems_.reached(connect_problems::reach_type::accepted);
    problems_.presume(to_text(round_.tried.back()),
                      "SASL was not ready in time to authenticate (GSSAPI asks Kerberos' servers)");
}

void connector::attempt_failed(const std::string& why) {
    problems_.note(to_text(round_.tried.back()), why);
    end_attempt();
}

void connector::established(milliseconds timeout, bool read_only, time_point now) {
    failed_rounds_ = 0;
    round_.untried.clear();
    problems_ = {};
    timeout_ = timeout;
    if (chroot_ == chroot_type::exists)
        return verified(read_only, now);
    chroot_ = chroot_type::unknown;
    phase_ = phase_type::verifying;
    due_ = time_point::max();
    problems_.reached(connect_problems::reach_type::accepted);
    problems_.presume(to_text(round_.tried.back()),
                      "it did not report in time whether the chroot exists");
}

void connector::unverified(const std::string& why) {
    problems_.note(to_text(round_.tried.back()), why);
}

void connector::verified(bool read_only, time_point now) {
    chroot_ = chroot_type::exists;
    problems_ = {};
    phase_ = phase_type::open;
    due_ = connect_deadline_ = explain_at_ = time_point::max();
    if (read_only)
        search_.look_for_quorum(now);
}

void connector::give_up_server() {
    given_up_ = round_.tried.back();
}

/// Reconnects at once, unless connections repeatedly end shortly after they were made: by a server
/// with malformed responses, that closes the connection on a request that is sent again each time,
/// or whose sessions expire at once.
void connector::connection_lost(time_point now) {
    search_.stop();
    if (open())
        problems_ = {};  // of servers that the client did not move to
    // The end of its session does not begin another outage.
    if (open() || verifying())
        explain_at_ = std::min(explain_at_, now + untroubled(timeout_));
    if (now - attempt_started_ >= lasting_connection)
        short_connections_ = 0;
    if (++short_connections_ <= short_connections_in_order)
        wait_until(now);
    else
        pause(short_connections_ - short_connections_in_order, now);
}

void connector::found(const endpoint& server, time_point now) {
    search_.found(server, std::max<milliseconds>(timeout_ / 3, shortest_pause), now);
}

void connector::refused(const endpoint& server, const std::string& why) {
    if (why.empty())
        problems_.presume(to_text(server), no_answer);
    else
        problems_.note(to_text(server), why);
}

bool connector::take_explanation(time_point now) noexcept {
    if (now < explain_at_ || idle())
        return false;
    explain_at_ = time_point::max();
    return true;
}

bool connector::take_question() noexcept {
    if (!verifying() || chroot_ != chroot_type::ask_again)
        return false;
    chroot_ = chroot_type::unknown;
    return true;
}

std::string connector::problems() {
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_.looking_up(i))
            problems_.note(known_.name(i), "no answer from the name service in time");
    }
    return problems_.text();
}

}  // namespace corozk::detail
