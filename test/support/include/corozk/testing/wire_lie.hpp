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
    // A response, corrupted in flight.
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
    // An answer whose form is right and whose content is not.
    child_without_name,  ///< as the first of the children
    child_named_dot,
    child_below_a_child,          ///< with a slash in its name
    child_twice,                  ///< two of the same name
    children_with_one_long_name,  ///< of 500 KB, in front of very many short ones
    too_many_children,            ///< more than two million, with names of one byte
    created_elsewhere,            ///< not at the path that was asked for
    created_nowhere,              ///< at an empty path
    created_at_short_path,        ///< too short for a sequence number
    owned_by_another_session,     ///< in a node's record, as all that follow
    created_by_no_transaction,    ///< of number 0
    created_before_all,           ///< by a transaction of a negative number
    version_minus_one,            ///< which stands for any version
    negative_number_of_children,
    // An event, corrupted in flight.
    event_lost,
    event_doubled,
    event_for_another_path,
    event_of_another_type,
    event_cut_short,     ///< inside its path, as a frame of its own
    event_stops_inside,  ///< half of it, then what follows
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

/** @brief What has to come for a lie to be told. */
enum class wire_occasion : std::uint8_t {
    answer,      ///< to any request but a ping
    list,        ///< an answer with the names of children
    creation,    ///< an answer with the path of a node that was made
    record,      ///< an answer with the record of a node
    event,       ///< of a watch
    connecting,  ///< the answer to a connect request
};

/** @brief All of them. */
const std::vector<wire_occasion>& all_wire_occasions();

std::string_view to_string(wire_occasion occasion) noexcept;
std::optional<wire_occasion> wire_occasion_named(std::string_view name);

wire_occasion occasion_of(wire_lie lie) noexcept;

/** @brief Whether this frame to the client is one; to be asked while its payload is valid. */
bool is_occasion(wire_occasion occasion, const frame_info& frame);

/** @brief How often a liar lies. */
enum class lie_span : std::uint8_t {
    once,       ///< at one frame
    from_then,  ///< at this frame, and at each that it suits from then on
};

/**
 * @brief Applies a lie to the n-th frame that it fits; for fault_proxy::edit().
 *
 * With the same seed and the same traffic always the same bytes. Copies count together.
 *
 * @code
 * liar lies(wire_lie::another_xid, 3, seed);
 * proxy.edit(direction::to_client, lies);
 * @endcode
 *
 * Thread safety: the members may be called while a proxy uses a copy.
 */
class liar {
public:
    /** @brief `at`: from 1; 0 tells nothing and only counts. */
    liar(wire_lie lie, std::uint64_t at, std::uint64_t seed, lie_span span = lie_span::once);

    std::string operator()(const frame_info& frame, std::string bytes);

    /** @brief How many frames it would have suited. */
    std::uint64_t chances() const noexcept { return shared_->chances; }
    /** @brief How often it has lied. */
    std::uint64_t lies() const noexcept { return shared_->lies; }
    bool told() const noexcept { return lies() != 0; }

private:
    struct state {
        std::atomic<std::uint64_t> chances{0};
        std::atomic<std::uint64_t> lies{0};
        std::string kept;  // until the next answer
    };

    bool lies_at(std::uint64_t chance) const noexcept;

    wire_lie lie_;
    std::uint64_t at_;
    std::uint64_t seed_;
    lie_span span_;
    std::shared_ptr<state> shared_ = std::make_shared<state>();
};

}  // namespace corozk::testing
