// SPDX-License-Identifier: Apache-2.0
#include "session/own_request.hpp"

#include "c_client/c_types.hpp"
#include "operation/path.hpp"
#include "operation/step_path.hpp"
#include "wire/jute.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace corozk::detail {

namespace {

using step_kind = transaction::step_kind;

// --- requests --------------------------------------------------------------------------------

void put_op(jute_writer& out, wire_op op) {
    out.int32(static_cast<std::int32_t>(op));
}

/// Before each step of a transaction, and after the last one.
void put_step_header(jute_writer& out, wire_op op, bool last) {
    put_op(out, op);
    out.boolean(last).int32(-1);
}

void put_acl(jute_writer& out, const acl& entries) {
    const acl open = entries.empty() ? open_acl() : acl();
    const acl& list = entries.empty() ? open : entries;
    out.int32(static_cast<std::int32_t>(list.size()));
    for (const acl_entry& entry : list) {
        out.int32(static_cast<std::int32_t>(entry.allowed));
        out.buffer(entry.scheme).buffer(entry.id);
    }
}

/// What the server makes of it: persistent znodes instead of containers, if it has none.
create_mode offered(create_mode mode, const server_abilities& server) noexcept {
    bool container = mode == create_mode::container;
    return container && !server.knows(wire_op::create_container) ? create_mode::persistent : mode;
}

/// What follows the path of a node to be created.
void put_creation(jute_writer& out, const std::string& data, const acl& entries, create_mode mode) {
    out.buffer(data);
    put_acl(out, entries);
    out.int32(to_c_mode(mode));
}

void put_step(jute_writer& out, const transaction::step& step, const server_abilities& server) {
    const create_mode mode = offered(step.mode, server);
    wire_op op = wire_op::check;
    if (step.kind == step_kind::erase)
        op = wire_op::remove;
    else if (step.kind == step_kind::set)
        op = wire_op::set_data;
    else if (step.kind == step_kind::create)
        op = has_ttl(mode)                    ? wire_op::create_ttl
             : mode == create_mode::container ? wire_op::create_container
                                              : wire_op::create;
    put_step_header(out, op, false);
    out.buffer(step.path);
    if (step.kind == step_kind::create) {
        put_creation(out, step.data, step.entries, mode);
        if (has_ttl(mode))
            out.int64(step.ttl.count());
        return;
    }
    if (step.kind == step_kind::set)
        out.buffer(step.data);
    out.int32(step.version);
}

wire_op wire_op_of(op_code code) noexcept {
    switch (code) {
        case op_code::create:
            return wire_op::create;
        case op_code::remove_watches:
            return wire_op::remove_watches;
        case op_code::reconfigure:
            return wire_op::reconfig;
        case op_code::read_all:
            return wire_op::multi_read;
        case op_code::ephemerals:
            return wire_op::get_ephemerals;
        case op_code::count_descendants:
            return wire_op::get_all_children_number;
        case op_code::who_am_i:
            return wire_op::who_am_i;
        case op_code::add_watch:
            return wire_op::add_watch;
        default:
            return wire_op::multi;
    }
}

// --- responses -------------------------------------------------------------------------------
// The conversation has checked that they are complete.

stat read_stat(jute_reader& in) noexcept {
    stat s;
    s.czxid = in.int64();
    s.mzxid = in.int64();
    s.ctime = in.int64();
    s.mtime = in.int64();
    s.version = in.int32();
    s.cversion = in.int32();
    s.aversion = in.int32();
    s.ephemeral_owner = in.int64();
    s.data_length = in.int32();
    s.num_children = in.int32();
    s.pzxid = in.int64();
    return s;
}

/// The stat of a node, if the server does not send it: the response has the zxid of the creation.
stat just_created(const operation& op, std::int64_t zxid, std::int64_t session_id) noexcept {
    stat s;
    s.czxid = s.mzxid = s.pzxid = zxid;
    s.data_length = static_cast<std::int32_t>(op.data.size());
    if (op.mode == create_mode::ephemeral || op.mode == create_mode::ephemeral_sequential)
        s.ephemeral_owner = session_id;
    return s;
}

struct step_header {
    explicit step_header(jute_reader& in)
        : op(static_cast<wire_op>(in.int32())), last(in.boolean()), error(in.int32()) {}
    wire_op op;
    bool last;
    std::int32_t error;
};

void read_transaction(operation& op, jute_reader in) {
    op.results.resize(op.steps.size());
    for (transaction_result& result : op.results) {
        step_header header(in);
        switch (header.op) {
            case wire_op::error:
                result.error = to_error(in.int32());
                if (!op.error)
                    op.error = result.error;
                break;
            case wire_op::create:
                result.path = std::string(in.string());
                break;
            case wire_op::create2:
                result.path = std::string(in.string());
                result.stat = read_stat(in);
                break;
            case wire_op::set_data:
                result.stat = read_stat(in);
                break;
            default:
                break;
        }
    }
}

void read_reads(operation& op, jute_reader in) {
    op.read_results.resize(op.reads.size());
    for (std::size_t i = 0; i < op.reads.size(); ++i) {
        read_result& result = op.read_results[i];
        step_header header(in);
        if (header.op == wire_op::error) {
            result.error = to_error(in.int32());
        } else if (header.error != 0) {
            result.error = to_error(header.error);  // Keeper's failed reads have no body
        } else if (op.reads[i].kind == read_set::read_kind::data) {
            result.data = in.buffer();
            result.stat = read_stat(in);
        } else {
            for (std::int32_t n = in.int32(); n > 0; --n)
                result.names.emplace_back(in.string());
        }
    }
}

}  // namespace

bool can_be_asked(const operation& op, const server_abilities& server) noexcept {
    auto ttl = [](const transaction::step& s) {
        return s.kind == step_kind::create && has_ttl(s.mode);
    };
    bool timed = op.code == op_code::create ? has_ttl(op.mode)
                                            : std::any_of(op.steps.begin(), op.steps.end(), ttl);
    return server.knows(timed ? wire_op::create_ttl : wire_op_of(op.code));
}

bool is_own(const operation& op, const server_abilities& server) noexcept {
    switch (op.code) {
        case op_code::create: {
            bool container = op.mode == create_mode::container;
            return !server.knows(container ? wire_op::create_container : wire_op::create2);
        }
        case op_code::read_all:
        case op_code::ephemerals:
        case op_code::count_descendants:
        case op_code::who_am_i:
        case op_code::add_watch:
            return true;
        case op_code::remove_watches:
            return op.version == all_watches;
        case op_code::multi:
            // It has no step for a TTL, and cannot read the response to a container.
            return std::any_of(op.steps.begin(), op.steps.end(), [](const transaction::step& s) {
                return s.kind == step_kind::create &&
                       (has_ttl(s.mode) || s.mode == create_mode::container);
            });
        default:
            return false;
    }
}

std::string to_frame(const operation& op, const server_abilities& server) {
    jute_writer out;
    out.int32(0);
    put_op(out, wire_op_of(op.code));
    switch (op.code) {
        case op_code::create:
            out.buffer(op.path);
            put_creation(out, op.data, op.entries, offered(op.mode, server));
            break;
        case op_code::multi:
            for (const transaction::step& step : op.steps)
                put_step(out, step, server);
            put_step_header(out, wire_op::error, true);
            break;
        case op_code::read_all:
            for (const read_set::item& read : op.reads) {
                bool data = read.kind == read_set::read_kind::data;
                put_step_header(out, data ? wire_op::get_data : wire_op::get_children, false);
                out.buffer(read.path).boolean(false);
            }
            put_step_header(out, wire_op::error, true);
            break;
        case op_code::ephemerals:
        case op_code::count_descendants:
            out.buffer(op.path);
            break;
        case op_code::add_watch:
            out.buffer(op.path).int32(static_cast<std::int32_t>(op.watching));
            break;
        case op_code::remove_watches:
            out.buffer(op.path).int32(op.version);
            break;
        default:
            break;
    }
    return framed(out.bytes());
}

bool replaces_watches(const operation& answered) noexcept {
    return !answered.error &&
           (answered.code == op_code::add_watch || answered.code == op_code::remove_watches);
}

arrival to_arrival(const reception& event) {
    return arrival(
        to_event_type(event.event_type), std::string(event.path), arrival::kind_type::any_event);
}

void take_response(operation& op, const reception& response, std::int64_t session_id) {
    op.error = response.not_known ? zk_errc::unimplemented : to_answer_error(response.error);
    jute_reader in(response.body);
    if (op.error)
        return;
    switch (op.code) {
        case op_code::create:
            op.answer = std::string(in.string());
            op.record = just_created(op, response.zxid, session_id);
            return;
        case op_code::multi:
            return read_transaction(op, in);
        case op_code::read_all:
            return read_reads(op, in);
        case op_code::ephemerals:
            // The server compares text: for "/a" it includes "/ab".
            for (std::int32_t n = in.int32(); n > 0; --n) {
                if (std::string path(in.string()); is_at_or_below(path, op.path))
                    op.names.push_back(path);
            }
            return;
        case op_code::count_descendants:
            op.record.num_children = in.int32();
            return;
        case op_code::who_am_i:
            for (std::int32_t n = in.int32(); n > 0; --n) {
                std::string scheme(in.string());
                op.entries.emplace_back(
                    permission::none, std::move(scheme), std::string(in.buffer()));
            }
            return;
        default:
            return;
    }
}

}  // namespace corozk::detail
