// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/op_code.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing {

/** @brief A rule of a fault_proxy. */
enum class rule_id : std::uint64_t {};

/** @brief The way in which a frame travels through a fault_proxy. */
enum class direction : std::uint8_t { to_server, to_client };

/** @brief What kind of frame a fault_proxy has recognised. */
enum class frame_kind : std::uint8_t {
    connect,       ///< the first frame each way: the connect request and its answer
    request,       ///< to the server
    reply,         ///< to the client, an answer to a request
    notification,  ///< to the client, an event of a watch
    raw,           ///< bytes that are no frames, such as a four-letter word
};

/** @brief What became of a frame. */
enum class frame_fate : std::uint8_t {
    forwarded,
    held,       ///< kept back; a further record follows when it moves on
    dropped,    ///< a request that was not delivered
    swallowed,  ///< an answer or event that was not delivered
};

std::string_view to_string(direction way) noexcept;
std::string_view to_string(frame_kind kind) noexcept;
std::string_view to_string(frame_fate fate) noexcept;

/** @brief A frame as a fault_proxy sees it. */
struct frame_info {
    direction way = direction::to_server;
    frame_kind kind = frame_kind::raw;
    /// Which connection of the proxy's life, from 1.
    std::uint64_t connection = 0;
    /// The request's number over the proxy's life, from 1; 0 for frames that are not numbered. A
    /// reply has the number of its request.
    std::uint64_t number = 0;
    std::int32_t xid = 0;
    /// A reply has its request's. The connect request and its answer are op_code::create_session.
    op_code op = op_code::notification;
    /// The path concerned, if the operation has one; the first one for a transaction. A reply has
    /// its request's.
    std::string path = {};
    std::int64_t zxid = 0;   ///< replies only
    std::int32_t error = 0;  ///< replies only: ZooKeeper's error number
    std::int32_t event = 0;  ///< notifications only: 1 created, 2 deleted, 3 changed, 4 child
    std::size_t size = 0;    ///< in bytes, with the length in front
    /// The frame without the length in front. Valid only during a call of the proxy's.
    std::string_view payload = {};
};

/** @brief A request's operation and path, and those of each step if it is a transaction. */
std::vector<std::pair<op_code, std::string>> operations_in(const frame_info& request);

/** @brief An entry of a fault_proxy's log; `frame.payload` is empty here. */
struct frame_record {
    std::chrono::steady_clock::time_point when;
    frame_info frame;
    frame_fate fate = frame_fate::forwarded;
};

/** @brief One line for people: direction, operation, xid, path, fate. */
std::string describe(const frame_record& record);

/**
 * @brief Changes a frame in flight.
 *
 * Gets the frame's description and its bytes with the length in front; returns the bytes to send
 * instead, which may be anything: garbage, part of a frame, several frames, nothing. Runs on the
 * proxy's thread.
 */
using frame_editor = std::function<std::string(const frame_info& frame, std::string bytes)>;

/** @brief A session that was made or continued through a fault_proxy. */
struct session_record {
    std::uint64_t connection = 0;
    std::int64_t session_id = 0;
    std::string password = {};
    std::chrono::milliseconds timeout{};
};

/** @brief Counters of a fault_proxy, over its life. */
struct proxy_statistics {
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_refused = 0;  ///< accepted and closed at once
    std::uint64_t connections_open = 0;
    /// The number of the last numbered request.
    std::uint64_t requests = 0;
    /// Requests seen, whatever became of them (those of a connection that is already to be cut or
    /// that are stuck in a black hole are not seen).
    std::map<op_code, std::uint64_t> requests_by_op = {};
    /// Replies seen from the server, whatever became of them.
    std::map<op_code, std::uint64_t> replies_by_op = {};
    std::uint64_t notifications = 0;
    /// Bytes sent on.
    std::uint64_t bytes_to_server = 0;
    std::uint64_t bytes_to_client = 0;
    /// Frames held at this moment.
    std::uint64_t held = 0;
    /// How often each rule has fired.
    std::map<rule_id, std::uint64_t> fired_by_rule = {};

    std::uint64_t requests_of(op_code op) const;
    std::uint64_t replies_of(op_code op) const;
    std::uint64_t fired(rule_id rule) const;
};

}  // namespace corozk::testing
