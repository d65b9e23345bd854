// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

using session_number = std::uint64_t;

/// Of one connection.
struct session_counts {
    std::int64_t received = 0;
    std::int64_t sent = 0;  ///< responses and notifications
    std::string last_operation;
};

/// A server's answers at one moment; what it refuses to tell is empty.
struct server_look {
    std::map<std::string, double, std::less<>> counters;                    ///< mntr
    std::map<std::string, std::set<session_number>, std::less<>> watchers;  ///< wchp
    std::map<session_number, session_counts> sessions;                      ///< cons
    bool knows_sessions = false;                                            ///< cons was answered
    std::string summary;                                                    ///< wchs
    std::size_t questions = 0;  ///< how many words it had been asked before `mntr`, and this one
    std::chrono::steady_clock::time_point asked;  ///< when `mntr` was sent

    double counter(std::string_view name) const;
};

/// The last of these looks at a server, with those who watched one of the paths at any of them: a crowd
/// that is woken again and again is on its way most of the time, and one look catches few of it.
server_look joined(const std::deque<server_look>& looks, const std::set<std::string_view>& paths);

/// Whether the server has begun anew in between, so that its counts have nothing to do with each other.
bool has_restarted(const server_look& before, const server_look& after);

/// Whether this is an answer to `wchs`.
bool is_summary(std::string_view wchs);

/// So many watches; 0 if the text does not say.
std::uint64_t total_watches(std::string_view wchs);

void parse_mntr(std::string_view text, server_look& l);
void parse_wchp(std::string_view text, server_look& l);
void parse_cons(std::string_view text, server_look& l);

}  // namespace corozk::bench
