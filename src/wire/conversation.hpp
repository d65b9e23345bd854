// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/operation_form.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace corozk::detail {

/// What a frame from the server is.
struct reception {
    enum class kind : std::uint8_t {
        session,   ///< for the C client: the response to its connect request or to a ping
        response,  ///< to a request
        event,     ///< of a watch
        refused,   ///< what cannot be used; the connection is of no more use
    };

    kind what = kind::refused;
    wire_op op = wire_op::notification;  ///< that of the request
    std::int32_t error = 0;              ///< ZooKeeper's error number
    operation_set asked = 0;             ///< that of the request, with the steps of a transaction
    bool not_known = false;              ///< the server says that it does not know one of these
    std::int64_t zxid = 0;
    std::string_view body = {};  ///< within the frame, behind the header; empty with an error
    std::int32_t event_type = 0;
    std::string_view path = {};  ///< of an event
    bool given_up = false;  ///< refused, though a server may send it: it cannot serve this session
    bool too_long = false;  ///< refused, though a server may send it: it has too many entries
    std::string problem = {};  ///< why it was refused, in words
};

/// What is said on one connection, from the connect request on: which requests have been sent and
/// which responses are awaited. Checks that each frame from the server is one of these, and decodes
/// all of it: what has passed can be read without further checks. No I/O.
///
/// The C client's frames are the connect request, which comes first, and pings. All other requests get
/// their xids here: consecutive ones, or those of their kinds.
///
/// Every frame is whole and has its length in front.
class conversation {
public:
    /// @param last_zxid what the session has seen before: a connect request claims no less.
    /// @param timeout of the session, in milliseconds, that a connect request asks for
    explicit conversation(std::int64_t last_zxid = 0, std::int32_t timeout = 10'000) noexcept
        : last_zxid_{last_zxid}, timeout_{timeout} {}

    /// A frame is about to be sent: fills in its xid or, in the connect request, the last zxid seen and
    /// the timeout, where the C client has what an earlier server has granted.
    void sent(std::span<unsigned char> frame);

    /// A frame has arrived. To be called no more once one was refused.
    reception received(std::span<const unsigned char> frame);

    /// The number of responses that are awaited.
    std::size_t awaited() const noexcept;

    /// What was asked and has no response yet.
    operation_set awaited_operations() const noexcept;

    /// The last transaction that a response has reported. Events do not count: others of the same
    /// transaction may not have arrived yet.
    std::int64_t last_zxid() const noexcept { return last_zxid_; }

    /// Whether the connect request was sent.
    bool started() const noexcept { return phase_ != phase::new_; }

    /// Whether the server has responded to the connect request.
    bool established() const noexcept { return phase_ == phase::connected; }

    /// Whether that was a proper one: the server has accepted the session, or says that it has expired.
    bool accepted() const noexcept { return accepted_; }

    /// Whether the server says that the session has expired.
    bool expired() const noexcept { return expired_; }

private:
    struct request {
        std::int32_t xid;
        std::uint32_t steps;  // of a transaction
        std::uint8_t form;
    };

    void connect(std::span<unsigned char> frame) noexcept;
    std::uint32_t note_steps(jute_reader& in);
    static void out_of_turn(std::uint32_t& awaited, jute_reader in, reception& result);
    operation_set operations_of(std::size_t place) const noexcept;
    void out_of_order(std::int32_t xid, reception& result) const;
    void connected(jute_reader in, reception& result);
    void event(jute_reader in, reception& result) const;
    void response(std::int32_t xid, jute_reader in, reception& result);
    const char* read_results(jute_reader& in,
                             const request& asked,
                             entry_budget& budget,
                             bool& given_up) const noexcept;

    enum class phase : std::uint8_t { new_, connecting, connected };

    std::deque<request> requests_;
    std::deque<std::uint8_t> steps_;  // of all awaited transactions, as numbers of forms
    std::int64_t last_zxid_;
    std::int32_t timeout_;
    std::int64_t session_ = 0;  // that the connect request asks for
    std::int32_t next_xid_ = 1;
    std::uint32_t pings_ = 0;
    std::uint32_t auths_ = 0;
    phase phase_ = phase::new_;
    bool asked_ = false;             ///< a request: the C client has read the connect response
    bool allows_read_only_ = false;  ///< the connect request
    bool accepted_ = false;
    bool expired_ = false;
};

}  // namespace corozk::detail
