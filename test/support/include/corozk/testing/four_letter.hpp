// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

/**
 * @file
 * The server's administration words ("four-letter words"), for looking at a server's state.
 *
 * All functions talk to 127.0.0.1 and block, for at most the limit; do not call them against a
 * stopped server on a thread that something else needs. They throw std::system_error when the
 * connection fails and timeout_error when the limit passes. A server that runs but does not serve
 * (no quorum) answers with a sentence: the parsing functions then throw std::runtime_error with it.
 *
 * Thread safety: all functions may be called from any thread.
 */

namespace corozk::testing {

/** @brief The limit of all functions below. */
inline constexpr std::chrono::milliseconds four_letter_limit{5'000};

/** @brief Sends the word ("ruok", "srvr", "mntr", "dump", "cons", ...) and returns the answer. */
std::string four_letter(std::uint16_t port,
                        std::string_view word,
                        std::chrono::milliseconds limit = four_letter_limit);

/** @brief The answer to `mntr`: name to value, for example "zk_watch_count" to "3". */
std::map<std::string, std::string> mntr(std::uint16_t port,
                                        std::chrono::milliseconds limit = four_letter_limit);

/**
 * @brief One number out of `mntr`.
 * @throws std::runtime_error if there is no such name or it is no number.
 */
std::int64_t mntr_value(std::uint16_t port,
                        const std::string& name,
                        std::chrono::milliseconds limit = four_letter_limit);

/** @brief The number of watches that the server holds, over all its clients. */
std::int64_t watch_count(std::uint16_t port);

/** @brief The number of nodes, ZooKeeper's own (an empty server has 5) included. */
std::int64_t znode_count(std::uint16_t port);

/** @brief The number of client connections; the one that asks is not among them. */
std::int64_t connection_count(std::uint16_t port);

/**
 * @brief The number of packets received by the server.
 *
 * Each four-letter word counts as a packet too, the one that asks included.
 */
std::int64_t packets_received(std::uint16_t port);

/** @brief The number of packets sent by the server, notifications included. */
std::int64_t packets_sent(std::uint16_t port);

/** @brief Every ephemeral node with the id of the session that owns it (from `dump`). */
std::map<std::string, std::int64_t> ephemerals(std::uint16_t port);

/** @brief Every watched path with the ids of the sessions that watch it (from `wchp`). */
std::map<std::string, std::set<std::int64_t>> watches_by_path(std::uint16_t port);

/** @brief Every watching session's id with the paths that it watches (from `wchc`). */
std::map<std::int64_t, std::set<std::string>> watches_by_session(std::uint16_t port);

/** @brief How many watches there are on a path and on those below it (from `wchp`). */
std::size_t watches_below(std::uint16_t port, const std::string& path);

/** @brief What the server says it is: "standalone", "leader", "follower", ...; "" if not serving.
 */
std::string server_mode(std::uint16_t port, std::chrono::milliseconds limit = four_letter_limit);

}  // namespace corozk::testing
