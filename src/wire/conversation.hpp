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

/// Whose request it is: the C client's, or our own on the same session.
enum class origin : std::uint8_t { c_client, own };

/// What a frame from the server is.
struct reception {
    enum class kind : std::uint8_t {
        forward,  ///< for the C client, which finds its own xid in it
        own,      ///< the response to a request of our own
        event,    ///< of a watch; the C client can read it
        refused,  ///< nothing that can be passed on; the connection is of no more use
    };

    kind what = kind::refused;
    wire_op op = wire_op::notification;  ///< that of the request
    std::int32_t error = 0;              ///< ZooKeeper's error number
    operation_set asked = 0;             ///< that of the request, with the steps of a transaction
    bool not_known = false;              ///< the server says that it does not know one of these
    std::int64_t zxid = 0;
    std::uint64_t tag = 0;       ///< as given to `sent`; own responses only
    std::string_view body = {};  ///< within the frame, behind the header; empty with an error
    std::int32_t event_type = 0;
    std::string_view path = {};  ///< of an event
    bool given_up = false;       ///< refused, as it is the connection that failed at the server
    std::string problem = {};    ///< why it was refused, in words
};

/// What is said on one connection, from the connect request on: which requests have been sent and
/// which responses are awaited. Checks that each frame from the server is one of these, and decodes
/// all of it before the C client sees it: what has passed, the C client can read. No I/O.
///
/// Requests get consecutive xids of the connection's own, written into the frames; responses to the
/// C client get back the xid that it chose. So those of both origins cannot be confused.
///
/// Every frame is whole and has its length in front.
class conversation {
public:
    /// @param last_zxid what the session has seen before: a connect request claims no less.
    explicit conversation(std::int64_t last_zxid = 0) noexcept : last_zxid_{last_zxid} {}

    /// A frame is about to be sent; changes it in place. The first one is the connect request.
    /// Requests of our own may have any xid, and must not be pings or credentials (`auth`), whose
    /// responses do not come in order.
    void sent(std::span<unsigned char> frame,
              origin from = origin::c_client,
              std::uint64_t tag = 0);

    /// A frame has arrived; puts the C client's xid into it if it is for the C client. To be called
    /// no more once a frame was refused.
    reception received(std::span<unsigned char> frame);

    /// The number of responses that are awaited.
    std::size_t awaited() const noexcept;

    /// What was asked and has no response yet.
    operation_set awaited_operations() const noexcept;

    /// The last transaction that a response has told of, whoever asked. Events do not count: others
    /// of the same transaction may not have arrived yet.
    std::int64_t last_zxid() const noexcept { return last_zxid_; }

    /// Whether the server has responded to the connect request.
    bool established() const noexcept { return phase_ == phase::connected; }

    /// Whether that was a proper one: the server has accepted the session, or says that it has expired.
    bool accepted() const noexcept { return accepted_; }

    /// Whether the server says that the session has expired.
    bool expired() const noexcept { return expired_; }

private:
    struct request {
        std::uint64_t tag;    // the C client's xid, or the tag of our own
        std::uint32_t steps;  // of a transaction
        std::uint8_t form;
        origin from;
    };

    void connect(std::span<unsigned char> frame) noexcept;
    std::uint32_t note_steps(jute_reader& in);
    std::uint32_t* awaited_by_kind(std::int32_t xid) noexcept;
    operation_set operations_of(std::size_t place) const noexcept;
    void out_of_order(std::int32_t xid, reception& result) const;
    void connected(jute_reader in, reception& result);
    void event(jute_reader in, reception& result) const;
    void response(std::int32_t xid, std::span<unsigned char> frame, jute_reader in, reception&);
    const char* read_results(jute_reader& in, const request& asked, bool& given_up) const noexcept;

    enum class phase : std::uint8_t { new_, connecting, connected };

    std::deque<request> requests_;
    std::deque<std::uint8_t> steps_;  // of all awaited transactions, as numbers of forms
    std::int64_t last_zxid_;
    std::int64_t session_ = 0;  // that the connect request asks for
    std::int32_t next_xid_ = 1;
    std::int32_t head_xid_ = 1;  // of the oldest in `requests_`
    std::uint32_t pings_ = 0;
    std::uint32_t auths_ = 0;
    std::uint32_t set_watches_ = 0;
    phase phase_ = phase::new_;
    bool asked_ = false;  ///< a request: the C client has read the connect response
    bool accepted_ = false;
    bool expired_ = false;
};

}  // namespace corozk::detail
