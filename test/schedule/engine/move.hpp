// SPDX-License-Identifier: Apache-2.0
// What may happen next.
#pragma once

#include <cstdint>
#include <string>

namespace corozk::schedule {

enum class move_kind : std::uint8_t {
    accept,   ///< a server answers a client that asked for a session
    execute,  ///< a server carries out a connection's next request
    deliver,  ///< a connection's next answer or event reaches the client
    follow,   ///< a server that lags takes over one more change
    go_on,    ///< an actor leaves the place where it waits
    time,     ///< the clock goes on to the next timer

    // Faults.
    cut,          ///< a connection breaks: what is in flight is lost, both ways
    cut_late,     ///< the same, but what the client has sent may still arrive
    lose_answer,  ///< the next request is carried out, and then the connection breaks
    expire,       ///< the server ends a session
    refuse,       ///< a connection breaks, and the server that the client asks next refuses it
    silence,      ///< no server reaches the client until it has given up its session
    cancel,       ///< the user cancels an operation
    early_time,   ///< the clock goes on although something is in flight
    erase_node,   ///< somebody erases a node
    reap,         ///< the server erases an empty container
};

constexpr bool is_fault(move_kind k) {
    return k >= move_kind::cut;
}

const char* name_of(move_kind k);

/// Of a fault, as words that may stand in a schedule's name: "lose-answer".
std::string word_of(move_kind fault);
/// @throws std::invalid_argument
move_kind fault_named(const std::string& word);

struct move {
    bool operator==(const move&) const = default;

    move_kind kind = move_kind::time;
    int who = 0;         ///< connection, session, server or actor
    std::string path{};  ///< of erase_node and reap
};

}  // namespace corozk::schedule
