// SPDX-License-Identifier: Apache-2.0
#include "session/wire_request.hpp"

#include "c_client/c_types.hpp"
#include "operation/path.hpp"
#include "operation/step_path.hpp"
#include "wire/jute.hpp"

#include <algorithm>
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
        put_creation(out, step.data, step.acl, mode);
        if (has_ttl(mode))
            out.int64(step.ttl.count());
        return;
    }
    if (step.kind == step_kind::set)
        out.buffer(step.data);
    out.int32(step.version);
}

wire_op creation(create_mode mode, const server_abilities& server) noexcept {
    if (has_ttl(mode))
        return wire_op::create_ttl;
    if (offered(mode, server) == create_mode::container)
        return wire_op::create_container;
    return server.knows(wire_op::create2) ? wire_op::create2 : wire_op::create;
}

wire_op wire_op_of(const request_fields& op, const server_abilities& server) noexcept {
    switch (op.code) {
        case op_code::create: return creation(op.mode, server);
        case op_code::erase: return wire_op::remove;
        case op_code::set: return wire_op::set_data;
        case op_code::get:
        case op_code::get_config: return wire_op::get_data;
        case op_code::exists: return wire_op::exists;
        case op_code::children: return wire_op::get_children2;
        case op_code::sync: return wire_op::sync;
        case op_code::get_acl: return wire_op::get_acl;
        case op_code::set_acl: return wire_op::set_acl;
        case op_code::multi: return wire_op::multi;
        case op_code::add_auth: return wire_op::auth;
        case op_code::reconfigure: return wire_op::reconfig;
        case op_code::remove_watches: return wire_op::remove_watches;
        case op_code::read_all: return wire_op::multi_read;
        case op_code::ephemerals: return wire_op::get_ephemerals;
        case op_code::count_descendants: return wire_op::get_all_children_number;
        case op_code::who_am_i: return wire_op::who_am_i;
        case op_code::add_watch: return wire_op::add_watch;
        case op_code::set_watches: return wire_op::set_watches;
    }
    return wire_op::error;
}

/// A member of a reconfiguration; the server takes null for none.
void put_optional(jute_writer& out, const std::string& text) {
    if (text.empty())
        out.null();
    else
        out.buffer(text);
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

acl read_acl(jute_reader& in) {
    acl entries;
    for (std::int32_t n = in.int32(); n > 0; --n) {
        const auto allowed = static_cast<permission>(in.int32());
        std::string scheme(in.string());
        entries.emplace_back(allowed, std::move(scheme), std::string(in.string()));
    }
    return entries;
}

name_list read_names(jute_reader& in) {
    jute_reader ahead = in;
    const std::int32_t count = ahead.int32();
    std::size_t bytes = 0;
    for (std::int32_t i = 0; i < count; ++i)
        bytes += ahead.string().size();
    name_list names;
    names.reserve(static_cast<std::size_t>(in.int32()), bytes);
    for (std::int32_t i = 0; i < count; ++i)
        names.push_back(in.string());
    return names;
}

/// The stat of a node, if the server does not send it: the response has the zxid of the creation.
stat just_created(const request_fields& op, std::int64_t zxid, std::int64_t session_id) noexcept {
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

/// The error of a transaction is that of the step that failed; those behind it were not tried.
void read_transaction(operation& op, jute_reader in) {
    for (transaction_result& result : op.results) {
        step_header header(in);
        switch (header.op) {
            case wire_op::error:
                result.error = to_error(in.int32());
                if (!op.error || op.error == zk_errc::runtime_inconsistency)
                    op.error = result.error;
                break;
            case wire_op::create: result.path = std::string(in.string()); break;
            case wire_op::create2:
                result.path = std::string(in.string());
                result.stat = read_stat(in);
                break;
            case wire_op::set_data: result.stat = read_stat(in); break;
            default: break;
        }
    }
}

void read_reads(operation& op, jute_reader in) {
    op.read_results.assign(op.reads.size(), {});
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
            std::int32_t n = in.int32();
            result.names.reserve(static_cast<std::size_t>(n));
            for (; n > 0; --n)
                result.names.emplace_back(in.string());
        }
    }
}

}  // namespace

bool can_be_asked(const request_fields& op, const server_abilities& server) noexcept {
    const wire_op asked = wire_op_of(op, server);
    return server.knows(asked) &&
           std::none_of(op.steps.begin(), op.steps.end(), [&](const transaction::step& s) {
               return s.kind == step_kind::create && has_ttl(s.mode) &&
                      !server.knows(wire_op::create_ttl);
           });
}

void write_request(jute_writer& out, const request_fields& op, const server_abilities& server) {
    out.int32(0);
    put_op(out, wire_op_of(op, server));
    switch (op.code) {
        case op_code::create:
            out.buffer(op.path);
            put_creation(out, op.data, op.entries, offered(op.mode, server));
            if (has_ttl(op.mode))
                out.int64(op.ttl.count());
            break;
        case op_code::erase: out.buffer(op.path).int32(op.version); break;
        case op_code::set: out.buffer(op.path).buffer(op.data).int32(op.version); break;
        case op_code::get:
        case op_code::get_config:
        case op_code::exists:
        case op_code::children: out.buffer(op.path).boolean(op.watch && !op.covered); break;
        case op_code::sync:
        case op_code::get_acl:
        case op_code::ephemerals:
        case op_code::count_descendants: out.buffer(op.path); break;
        case op_code::set_acl:
            out.buffer(op.path);
            put_acl(out, op.entries);
            out.int32(op.version);
            break;
        case op_code::multi:
            for (const transaction::step& step : op.steps)
                put_step(out, step, server);
            put_step_header(out, wire_op::error, true);
            break;
        case op_code::reconfigure:
            for (const std::string& member : op.arguments)
                put_optional(out, member);
            out.int64(op.config_version);
            break;
        case op_code::read_all:
            for (const read_set::item& read : op.reads) {
                bool data = read.kind == read_set::read_kind::data;
                put_step_header(out, data ? wire_op::get_data : wire_op::get_children, false);
                out.buffer(read.path).boolean(false);
            }
            put_step_header(out, wire_op::error, true);
            break;
        case op_code::add_watch:
            out.buffer(op.path).int32(static_cast<std::int32_t>(op.watching));
            break;
        case op_code::remove_watches: out.buffer(op.path).int32(op.version); break;
        case op_code::add_auth: out.int32(0).buffer(op.path).buffer(op.data); break;
        case op_code::set_watches: out.raw(op.data); break;
        case op_code::who_am_i: break;
    }
}

std::string set_watches_data(std::int64_t since,
                             const std::array<std::vector<std::string>, 3>& paths) {
    jute_writer out;
    out.int64(since);
    for (const std::vector<std::string>& of_kind : paths) {
        out.int32(static_cast<std::int32_t>(of_kind.size()));
        for (const std::string& path : of_kind)
            out.buffer(path);
    }
    return out.bytes();
}

arrival to_arrival(const reception& event) {
    return arrival(to_event_type(event.event_type), std::string(event.path));
}

void take_response(operation& op, const reception& response, std::int64_t session_id) {
    op.error = response.not_known ? zk_errc::unimplemented : to_answer_error(response.error);
    op.zxid = response.zxid;
    jute_reader in(response.body);
    if (op.error)
        return;
    switch (op.code) {
        case op_code::create:
            op.answer = std::string(in.string());
            op.record = response.op == wire_op::create ? just_created(op, response.zxid, session_id)
                                                       : read_stat(in);
            return;
        case op_code::get:
        case op_code::get_config:
        case op_code::reconfigure:
            op.answer = std::string(in.buffer());
            op.record = read_stat(in);
            return;
        case op_code::set:
        case op_code::exists: op.record = read_stat(in); return;
        case op_code::children:
            op.names = read_names(in);
            op.record = read_stat(in);
            return;
        case op_code::get_acl:
            op.entries = read_acl(in);
            op.record = read_stat(in);
            return;
        case op_code::multi: return read_transaction(op, in);
        case op_code::read_all: return read_reads(op, in);
        case op_code::ephemerals:
            // The server compares text: for "/a" it includes "/ab".
            for (std::int32_t n = in.int32(); n > 0; --n) {
                if (std::string path(in.string()); is_at_or_below(path, op.path))
                    op.names.push_back(path);
            }
            return;
        case op_code::count_descendants: op.record.num_children = in.int32(); return;
        case op_code::who_am_i:
            for (std::int32_t n = in.int32(); n > 0; --n) {
                std::string scheme(in.string());
                op.entries.emplace_back(
                    permission::none, std::move(scheme), std::string(in.buffer()));
            }
            return;
        case op_code::erase:
        case op_code::sync:
        case op_code::set_acl:
        case op_code::add_auth:
        case op_code::remove_watches:
        case op_code::add_watch:
        case op_code::set_watches: return;
    }
}

}  // namespace corozk::detail
