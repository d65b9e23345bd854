// SPDX-License-Identifier: Apache-2.0
#include "wire/conversation.hpp"

#include <algorithm>
#include <limits>

namespace corozk::detail {

namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t xid_at = length_size;
constexpr std::size_t header_size = 16;
constexpr std::size_t password_size = 16;

// In milliseconds. The C client ends a connection after two thirds of it without a response: at once if
// twice the timeout is too large for it, or if that is hardly more than the 10 ms of the session's timer.
constexpr std::int32_t shortest_timeout = 30;
constexpr std::int32_t longest_timeout = std::numeric_limits<std::int32_t>::max() / 2;

// Xids of the protocol that stand for a kind of frame.
constexpr std::int32_t event_xid = -1;
constexpr std::int32_t ping_xid = -2;
constexpr std::int32_t auth_xid = -4;
constexpr std::int32_t set_watches_xid = -8;

// Errors by which a server says that it does not know what was asked.
constexpr std::int32_t marshalling_error = -5;
constexpr std::int32_t unimplemented = -6;

/// Whether a request failed as the server has no ensemble behind it, or no longer the session.
/// ZooKeeper then closes the connection and ClickHouse Keeper does not; who asked again at once would
/// ask without a pause.
constexpr bool gives_up(std::int32_t error) noexcept {
    constexpr std::int32_t connection_loss = -4;
    constexpr std::int32_t operation_timeout = -7;
    constexpr std::int32_t session_moved = -118;
    return error == connection_loss || error == operation_timeout || error == session_moved;
}

/// Whether a connection is of no use after this response to setting watches again: changes would go
/// unnoticed.
constexpr bool lacks_watches(wire_op op, std::int32_t error) noexcept {
    constexpr std::int32_t session_expired = -112;
    return op == wire_op::set_watches && error != 0 && error != session_expired;
}

/// The largest number is special too: ClickHouse Keeper takes it for the end of the session.
constexpr std::int32_t highest_xid = std::numeric_limits<std::int32_t>::max() - 1;

constexpr std::int32_t after(std::int32_t xid) noexcept {
    return xid == highest_xid ? 1 : xid + 1;
}

std::string_view payload_of(std::span<const unsigned char> frame) noexcept {
    std::string_view bytes{reinterpret_cast<const char*>(frame.data()), frame.size()};
    return bytes.substr(std::min(length_size, bytes.size()));
}

void put_xid(std::span<unsigned char> frame, std::int32_t xid) noexcept {
    store_big_endian(frame.data() + xid_at, static_cast<std::uint32_t>(xid));
}

wire_op read_op(jute_reader& in) noexcept {
    return static_cast<wire_op>(in.int32());
}

/// Whether a step of a transaction can have a result of this type. Which creations come with a stat
/// is up to the server.
bool can_result_in(wire_op step, wire_op result) noexcept {
    if (is_creation(step))
        return result == wire_op::create || result == wire_op::create2;
    return result == (step == wire_op::delete_container ? wire_op::remove : step);
}

reception& refuse(reception& result, std::string_view subject, std::string_view why) {
    result.what = reception::kind::refused;
    result.problem.append(subject).append(": ").append(why);
    return result;
}

reception& refuse_response(reception& result, std::string_view why) {
    return refuse(result, "response to " + std::string(to_string(result.op)), why);
}

}  // namespace

// --- requests ------------------------------------------------------------------------------------

void conversation::sent(std::span<unsigned char> frame) {
    if (phase_ == phase::new_)
        return connect(frame);
    jute_reader in{payload_of(frame)};
    in.int32();  // the xid
    const wire_op op = read_op(in);
    // SASL comes before the C client has read the connect response.
    asked_ = asked_ || op != wire_op::sasl;
    if (in.failed())
        return;
    // The server responds to these two at once, before earlier requests.
    if (op == wire_op::ping) {
        ++pings_;
        return put_xid(frame, ping_xid);
    }
    if (op == wire_op::auth) {
        ++auths_;
        return put_xid(frame, auth_xid);
    }
    std::int32_t xid = set_watches_xid;
    if (op != wire_op::set_watches) {
        xid = next_xid_;
        next_xid_ = after(next_xid_);
    }
    const bool transaction = op == wire_op::multi || op == wire_op::multi_read;
    requests_.push_back({xid, transaction ? note_steps(in) : 0, number_of(form_of(op))});
    put_xid(frame, xid);
}

void conversation::connect(std::span<unsigned char> frame) noexcept {
    constexpr std::size_t zxid_at = length_size + 4;  // behind the protocol's version
    constexpr std::size_t timeout_at = zxid_at + 8;
    jute_reader in{payload_of(frame)};
    in.int32();
    const std::int64_t zxid = in.int64();
    in.int32();  // timeout
    session_ = in.int64();
    last_zxid_ = std::max(last_zxid_, zxid);
    const bool whole = !in.failed();
    in.buffer();  // the password
    allows_read_only_ = in.boolean();
    if (whole) {
        store_big_endian(frame.data() + zxid_at, static_cast<std::uint64_t>(last_zxid_));
        store_big_endian(frame.data() + timeout_at, static_cast<std::uint32_t>(timeout_));
    }
    phase_ = phase::connecting;
}

std::uint32_t conversation::note_steps(jute_reader& in) {
    for (std::uint32_t count = 0;; ++count) {
        const operation_form& form = form_of(read_op(in));
        const bool done = in.boolean();
        in.int32();  // error
        if (done || in.failed())
            return count;
        read_record(in, form.request, true);
        steps_.push_back(number_of(form));
    }
}

std::size_t conversation::awaited() const noexcept {
    return requests_.size() + pings_ + auths_ + (phase_ == phase::connecting);
}

/// @param place  of the request, from the oldest
operation_set conversation::operations_of(std::size_t place) const noexcept {
    std::size_t step = 0;
    for (std::size_t i = 0; i < place; ++i)
        step += requests_[i].steps;
    operation_set all = operation_set{1} << requests_[place].form;
    for (const std::size_t end = step + requests_[place].steps; step < end; ++step)
        all |= operation_set{1} << steps_[step];
    return all;
}

operation_set conversation::awaited_operations() const noexcept {
    operation_set all = 0;
    for (const request& asked : requests_)
        all |= operation_set{1} << asked.form;
    for (const std::uint8_t step : steps_)
        all |= operation_set{1} << step;
    return all;
}

// --- responses -----------------------------------------------------------------------------------

reception conversation::received(std::span<const unsigned char> frame) {
    reception result;
    jute_reader in{payload_of(frame)};
    if (frame.size() < length_size || load_big_endian<std::uint32_t>(reinterpret_cast<const char*>(
                                          frame.data())) != frame.size() - length_size)
        return refuse(result, "frame", "its length is wrong");
    if (phase_ == phase::new_)
        return refuse(result, "frame", "nothing was asked yet");
    if (phase_ == phase::connecting) {
        phase_ = phase::connected;
        connected(in, result);
        return result;
    }
    if (in.rest().size() < header_size)
        return refuse(result, "frame", "it is shorter than a header");
    const std::int32_t xid = in.int32();
    result.zxid = in.int64();
    result.error = in.int32();
    result.body = result.error == 0 || xid == event_xid ? in.rest() : std::string_view();
    if (result.zxid < -1)
        return refuse(result, "frame", "its zxid is negative");
    if (xid == event_xid && !asked_)
        refuse(result, "event", "nothing was asked yet");
    else if (xid == event_xid)
        event(in, result);
    else
        response(xid, in, result);
    return result;
}

void conversation::connected(jute_reader in, reception& result) {
    result.op = wire_op::create_session;
    result.what = reception::kind::session;
    result.body = in.rest();
    const std::int32_t version = in.int32();
    const std::int32_t timeout = in.int32();
    const std::int64_t session = in.int64();
    const std::string_view password = in.string();
    const std::string_view flag = in.rest();  // old servers and Keepers do not send it
    const bool read_only = !flag.empty() && flag.front() != 0;
    const bool malformed = flag.size() > 1 || (read_only && flag.front() != 1);
    const bool expired = session_ != 0 && session != session_;
    expired_ = expired;
    if (!in.failed() && version != 0) {
        // ClickHouse Keeper says so when it has no leader.
        refuse_response(result, "protocol version " + std::to_string(version));
    } else if (in.failed() || password.size() != password_size || malformed) {
        refuse_response(result, "it is malformed");
    } else if (read_only && !allows_read_only_) {
        refuse_response(result, "it is read-only, which was not allowed");
    } else if (expired && read_only) {
        // Nor can it know that the session has expired.
        result.what = reception::kind::refused;
        result.given_up = true;
        result.problem = "it has no quorum, and does not know the session";
    } else if (session == 0 && !expired) {
        refuse_response(result, "no session");
    } else if ((timeout < shortest_timeout || timeout > longest_timeout) && !expired) {
        refuse_response(result, "a timeout of " + std::to_string(timeout) + " ms");
    }
    accepted_ = result.what != reception::kind::refused;
}

void conversation::event(jute_reader in, reception& result) const {
    constexpr std::int32_t first_type = 1;  // created, deleted, changed, children changed
    constexpr std::int32_t last_type = 4;
    constexpr std::int32_t connected_state = 3;
    constexpr std::int32_t read_only_state = 5;
    result.what = reception::kind::event;
    result.event_type = in.int32();
    const std::int32_t state = in.int32();
    result.path = in.string();
    if (in.failed() || !in.empty())
        refuse(result, "event", "it is malformed");
    else if (result.event_type < first_type || result.event_type > last_type)
        refuse(result, "event", "type " + std::to_string(result.event_type));
    else if (state != connected_state && state != read_only_state)
        refuse(result, "event", "state " + std::to_string(state));
    else if (!is_wire_path(result.path))
        refuse(result, "event", "no path");
}

void conversation::response(std::int32_t xid, jute_reader in, reception& result) {
    if (xid == ping_xid) {
        result.op = wire_op::ping;
        result.what = reception::kind::session;
        return out_of_turn(pings_, in, result);
    }
    if (xid == auth_xid) {
        result.op = wire_op::auth;
        result.what = reception::kind::response;
        return out_of_turn(auths_, in, result);
    }
    if (requests_.empty()) {
        refuse(result, "response", "none is awaited");
        return;
    }
    const request asked = requests_.front();
    const operation_form& form = form_at(asked.form);
    result.op = form.op;
    // An old ZooKeeper cannot read a transaction with steps that it does not know.
    result.not_known = result.error == unimplemented ||
                       (result.error == marshalling_error && form.op == wire_op::multi);
    if (xid != asked.xid)
        return out_of_order(xid, result);
    result.asked = operations_of(0);
    const bool useless = lacks_watches(form.op, result.error);
    result.given_up = useless || gives_up(result.error);
    const char* problem = nullptr;
    entry_budget budget;
    if (useless) {
        problem = "the server does not set them again";
    } else if (result.given_up) {
        problem = "the server gives up the connection";
    } else if (result.error == 0) {
        if (asked.form == 0)
            problem = "its form is not known";
        else if (form.op == wire_op::multi || form.op == wire_op::multi_read)
            problem = read_results(in, asked, budget, result.given_up);
        else
            read_record(in, form.response, false, budget);
        result.too_long = budget.exceeded();
        if (result.too_long)
            problem = "it lists more than 2,000,000 names";
        else if (in.failed())
            problem = "it is malformed";
        else if (!problem && !in.empty())
            problem = "it is longer than it should be";
    }
    if (problem) {
        refuse_response(result, problem);
        return;
    }
    requests_.pop_front();
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(asked.steps));
    last_zxid_ = std::max(last_zxid_, result.zxid);
    result.what = reception::kind::response;
}

/// The response to a request of a kind whose responses do not come in order.
void conversation::out_of_turn(std::uint32_t& awaited, jute_reader in, reception& result) {
    if (awaited == 0)
        refuse_response(result, "none is awaited");
    else if (!in.empty())
        refuse_response(result, "it is longer than it should be");
    else
        --awaited;
}

/// Only to what it does not know a server responds before it responds to earlier requests: ZooKeeper,
/// which then closes the connection.
void conversation::out_of_order(std::int32_t xid, reception& result) const {
    const auto early = std::find_if(
        requests_.begin(), requests_.end(), [xid](const request& r) { return r.xid == xid; });
    if (result.not_known && early != requests_.end()) {
        result.asked = operations_of(static_cast<std::size_t>(early - requests_.begin()));
        result.op = form_at(early->form).op;
    }
    refuse_response(result,
                    "its xid is " + std::to_string(xid) + " instead of " +
                        std::to_string(requests_.front().xid));
}

/// The results of a transaction: as many as steps, then the mark of the end.
const char* conversation::read_results(jute_reader& in,
                                       const request& asked,
                                       entry_budget& budget,
                                       bool& given_up) const noexcept {
    const bool reads = form_at(asked.form).op == wire_op::multi_read;
    bool failed = false;
    bool stopped = false;  // steps that another one has kept from being applied
    for (std::uint32_t i = 0; i <= asked.steps; ++i) {
        const wire_op type = read_op(in);
        const bool done = in.boolean();
        const std::int32_t error = in.int32();
        if (done && i == asked.steps && stopped && !failed)
            return "no step of it has failed, and some have no result";
        if (in.failed() || (done && i == asked.steps))
            return nullptr;
        if (done)
            return "it has too few results";
        if (i == asked.steps)
            return "it has too many results";
        const operation_form& step = form_at(steps_[i]);
        const std::int32_t why = type == wire_op::error ? in.int32() : error;
        given_up = gives_up(why);
        if (given_up)
            return "a step of it gives up the connection";
        failed = failed || (why != 0 && !reads);
        if (type == wire_op::error) {
            stopped = stopped || why == 0;
            continue;
        }
        if (!can_result_in(step.op, type))
            return "it has a result of another type";
        // Keeper's failed reads have their own type, and no body.
        if (error == 0 || !reads)
            read_record(in, form_of(type).response, true, budget);
    }
    return nullptr;
}

}  // namespace corozk::detail
