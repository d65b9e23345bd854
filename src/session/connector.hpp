// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"
#include "session/known_servers.hpp"
#include "session/server_search.hpp"
#include <corozk/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace corozk::detail {

/// Why there is no connection: an error code for all servers, and a text for each.
class connect_problems {
public:
    /// The furthest stage that an attempt has reached.
    enum class reach_type : std::uint8_t {
        none,
        attempted,
        handshake,
        accepted,
        denied,  ///< by TLS, which a server of TLS 1.3 may do after this side has agreed
        without_sasl,
    };

    void reached(reach_type at_least) noexcept { reach_ = std::max(reach_, at_least); }
    void note(const std::string& where, const std::string& what);

    /// What to say if nothing more is learnt; a problem that was noted before is kept.
    void presume(const std::string& where, const std::string& what);
    error_code reason() const noexcept;

    /// " (a:2181: connection refused; b: unknown name)", or empty.
    std::string text() const;

private:
    reach_type reach_ = reach_type::none;
    struct problem {
        problem() = default;
        std::string text;
        bool presumed = true;
    };
    problem* find(const std::string& where);
    std::map<std::string, problem> problems_;  ///< by server or name
};

/// The strategy for connecting: the next server and the time for it, pauses between rounds of
/// attempts, name look-ups, and when a connected client goes to another server (`server_search`).
///
/// Does no I/O. The owner reports events and then carries out the actions returned by `next`, until
/// that is `wait`; it calls `next` again at `deadline`.
class connector {
public:
    using endpoint = known_servers::endpoint;
    using addresses = known_servers::addresses;

    enum class phase_type : std::uint8_t {
        idle,
        waiting,     ///< for the next round of attempts
        resolving,   ///< in a round: addresses are collected and tried
        attempting,  ///< the relay connects, then the C client requests a session
        verifying,   ///< connected; checking whether the chroot exists
        open,        ///< connected
    };

    struct action {
        enum class kind_type : std::uint8_t {
            wait,
            resolve,          ///< look up `host` and call `resolved`
            attempt,          ///< connect to `server`; report `accepted` and the outcome
            abandon_attempt,  ///< no outcome in time: drop the connection
            ask_servers,      ///< ask the `search` for its candidates; report the first as `found`
            give_up,          ///< `connect_timeout` is over: fail with the given reason
        };
        kind_type kind = kind_type::wait;
        std::size_t host = 0;
        endpoint server;
        error_code reason;
    };

    connector(const client_options& options, host_list hosts, std::mt19937_64& random);

    /// The next action. With `unread` input an attempt does not time out, as it may have succeeded.
    action next(time_point now, bool unread = false);

    /// When `next` must be called at the latest.
    time_point deadline() const noexcept;

    // Events.
    void start(time_point now);
    void resolved(std::size_t host, const std::string& problem, addresses found);
    void shaking_hands();   ///< the server of the attempt accepted the connection; TLS begins
    void denied_by_tls();   ///< the attempt is about to fail, with a reason of TLS
    void denied_sasl();     ///< the same, as the server has no SASL
    void accepted();        ///< the server of the attempt accepted the connection
    void authenticating();  ///< the server of the attempt waits for this side's SASL
    void attempt_failed(const std::string& why);
    void established(std::chrono::milliseconds timeout, bool read_only, time_point now);
    void unverified(const std::string& why);                            ///< the chroot
    void verify_again() noexcept { chroot_ = chroot_type::ask_again; }  ///< the server was busy
    void verified(bool read_only, time_point now);
    void give_up_server();  ///< the current one is about to be lost; others are tried before it
    void connection_lost(time_point now);
    void found(const endpoint& server, time_point now);
    /// A candidate of the search would not take the client, or, without a reason, has not said so yet.
    void refused(const endpoint& server, const std::string& why);
    void left() noexcept { search_.stop(); }  ///< the server, for the one that was found
    void stop() noexcept;

    /// Replaces the host list. Look-ups in progress are abandoned, and so is an attempt, unless its
    /// server is in the new list. @return false if the list is the same: then nothing changes
    bool replace(host_list hosts, time_point now);

    /// Until when a call waits for a connection.
    void expect(time_point deadline) noexcept { connect_deadline_ = deadline; }

    phase_type phase() const noexcept { return phase_; }
    bool idle() const noexcept { return phase_ == phase_type::idle; }
    bool attempting() const noexcept { return phase_ == phase_type::attempting; }
    bool verifying() const noexcept { return phase_ == phase_type::verifying; }
    bool open() const noexcept { return phase_ == phase_type::open; }

    const known_servers& servers() const noexcept { return known_; }
    const host_list& hosts() const noexcept { return known_.hosts(); }
    const server_search& search() const noexcept { return search_; }
    std::chrono::milliseconds timeout() const noexcept { return timeout_; }  ///< of the session
    const std::vector<endpoint>& tried() const noexcept { return round_.tried; }

    /// Why connecting failed, by server or name. Attempts in progress count as failed.
    std::string problems();

    /// Whether to log what stands in the way: true once in an outage that has lasted for some time, and
    /// once per host list that the client cannot move to.
    bool take_explanation(time_point now) noexcept;

    /// Whether the server has to be asked for the chroot again.
    bool take_question() noexcept;

private:
    enum class chroot_type : std::uint8_t { unknown, ask_again, exists };

    struct round_type {
        std::vector<endpoint> untried;  ///< the last one is tried next
        std::vector<endpoint> tried;    ///< the last one is the current attempt
        std::optional<endpoint> last;   ///< to be tried after the others
        bool outdated = false;          ///< it is one of an earlier list
    };

    void begin_round(time_point now);
    void use(std::size_t host);
    void add(const endpoint& server);
    bool ready() const noexcept;
    bool use_known_addresses();
    action attempt(time_point now);
    void presume_no_answer();
    void limit_attempt();
    void end_attempt() noexcept;
    void wait_until(time_point when) noexcept;
    void pause(std::size_t failures, time_point now);

    const client_options& options_;
    known_servers known_;
    std::mt19937_64& random_;
    phase_type phase_ = phase_type::idle;
    time_point due_ = time_point::max();  ///< the end of the phase
    time_point connect_deadline_ = time_point::max();
    time_point attempt_started_{};
    std::chrono::milliseconds timeout_;
    round_type round_;
    std::optional<endpoint> given_up_;  ///< before the next round
    server_search search_;
    connect_problems problems_;
    std::size_t failed_rounds_ = 0;
    std::size_t short_connections_ = 0;  ///< in a row, including the current one
    chroot_type chroot_ = chroot_type::unknown;
    time_point explain_at_ = time_point::max();
};

}  // namespace corozk::detail
