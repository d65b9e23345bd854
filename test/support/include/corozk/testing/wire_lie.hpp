// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/fault_proxy.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::testing {

/** @brief What a broken or hostile server may send instead of what it should, or besides. */
enum class wire_lie : std::uint8_t {
    none,
    // An answer, spoilt on its way.
    stops_inside,      ///< half of the frame, then what follows
    ends_early,        ///< half of it, as a frame of its own
    header_only,       ///< success, and nothing behind it
    no_bytes,          ///< a frame of length 0
    three_bytes,       ///< less than a header
    length_of_64_mib,  ///< that never come
    length_of_2_gib,   ///< the largest number
    length_minus_one,  ///< a negative length
    length_minimum,    ///< the smallest number
    another_xid,       ///< the answer to another request
    answered_twice,    ///< the second time to no request
    answer_to_nobody,  ///< a foreign answer in front
    swapped,           ///< behind the next answer
    left_out,          ///< the next answer comes instead
    unknown_error,     ///< an error that does not exist
    positive_error,    ///< a number that is no error
    not_there,         ///< ZooKeeper's own errors, where nothing was wrong: no node
    there_already,
    not_allowed,
    connection_lost,  ///< which no server ever says
    session_over,     ///< expired, but the connection stays
    session_elsewhere,
    credentials_wrong,
    credentials_missing,
    overloaded,
    negative_zxid,      ///< a transaction before all others
    huge_inner_length,  ///< the first length inside says 2 GiB
    large_inner_count,  ///< ... 256 Mi
    negative_inner_length,
    garbage_body,   ///< random bytes behind the header
    garbage_frame,  ///< random bytes, well framed
    flipped_bit,
    // What nobody has asked for, in front of an answer.
    ping_answer,
    auth_answer,
    watches_answer,  ///< to a SetWatches that was not sent
    event_of_unknown_type,
    event_of_unknown_state,
    event_with_garbage_path,
    event_with_empty_path,
    event_with_huge_path,
    event_with_zero_bytes,
    event_that_ends_early,
    event_for_nobody,
    spurious_events,  ///< of every kind, for the path of the answer
    session_event,    ///< that the session has expired, as an event
    // The answer to a connect request.
    no_timeout,
    negative_timeout,
    huge_timeout,
    no_session,
    long_password,
    negative_password,
    connect_ends_early,
    connect_garbage,
};

/** @brief All of them but `none`. */
const std::vector<wire_lie>& all_wire_lies();

std::string_view to_string(wire_lie lie) noexcept;
std::optional<wire_lie> wire_lie_named(std::string_view name);

/** @brief Whether it is told in the answer to a connect request. */
bool concerns_connecting(wire_lie lie) noexcept;

/**
 * @brief Tells one lie, at the n-th frame to the client that it suits; for fault_proxy::edit().
 *
 * With the same seed and the same traffic always the same bytes. Copies tell it once together.
 *
 * @code
 * liar tells(wire_lie::another_xid, 3, seed);
 * proxy.edit(direction::to_client, tells);
 * @endcode
 *
 * Thread safety: the members may be called while a proxy uses a copy.
 */
class liar {
public:
    /** @brief `at`: from 1; 0 tells nothing and only counts. */
    liar(wire_lie lie, std::uint64_t at, std::uint64_t seed);

    std::string operator()(const frame_info& frame, std::string bytes);

    /** @brief How many frames it would have suited. */
    std::uint64_t chances() const noexcept { return shared_->chances; }
    bool told() const noexcept { return shared_->told; }

private:
    struct state {
        std::atomic<std::uint64_t> chances{0};
        std::atomic<bool> told{false};
        std::string kept;  // until the next answer
    };

    wire_lie lie_;
    std::uint64_t at_;
    std::uint64_t seed_;
    std::shared_ptr<state> shared_ = std::make_shared<state>();
};

}  // namespace corozk::testing
