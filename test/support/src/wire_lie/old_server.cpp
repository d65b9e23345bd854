// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/old_server.hpp"

#include "answer_layout.hpp"
#include "frame_bytes.hpp"
#include "jute.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing {
namespace {

using detail::framed;
using detail::jute_reader;
using detail::jute_writer;
using detail::length_size;
using detail::put32;
using detail::put64;

constexpr std::int32_t marshalling_error = -5;
constexpr std::int32_t unimplemented = -6;

std::string parent_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string{slash == 0 ? "/" : path.substr(0, slash)};
}

/** What stands in the place of the server's answer. */
class imitation {
public:
    explicit imitation(old_server what) : what_{std::move(what)} {}

    const old_server& what() const { return what_; }

    bool unknown(const frame_info& request) const {
        for (const auto& [op, path] : operations_in(request)) {
            if (what_.unknown.contains(op)) {
                return true;
            }
        }
        return false;
    }

    std::string to_server(const frame_info& frame, std::string bytes) {
        if (frame.kind == frame_kind::connect && what_.forgets_sessions) {
            constexpr std::size_t session_at = length_size + 4 + 8 + 4;
            put64(bytes, session_at, 0);
        }
        if (frame.kind != frame_kind::request) {
            return bytes;
        }
        if (what_.how == ignorance::answers && unknown(frame)) {
            rejected_.insert(key(frame));
            constexpr auto harmless = static_cast<std::int32_t>(op_code::exists);
            jute_writer instead;
            return framed(
                instead.int32(frame.xid).int32(harmless).buffer("/").boolean(false).bytes());
        }
        if (what_.keeper_stats) {
            asked_[key(frame)] = operations_in(frame);
        }
        return bytes;
    }

    std::string to_client(const frame_info& frame, std::string bytes) {
        if (frame.kind != frame_kind::reply) {
            return bytes;
        }
        if (rejected_.erase(key(frame)) > 0) {
            const auto error = frame.op == op_code::multi ? marshalling_error : unimplemented;
            jute_writer instead;
            return framed(instead.int32(frame.xid).int64(frame.zxid).int32(error).bytes());
        }
        if (what_.keeper_stats) {
            count(frame);
            rewrite(frame, bytes);
        }
        return bytes;
    }

private:
    using request_key = std::pair<std::uint64_t, std::int32_t>;

    static request_key key(const frame_info& frame) { return {frame.connection, frame.xid}; }

    void count(const frame_info& reply) {
        const auto asked = asked_.extract(key(reply));
        if (!asked || reply.error != 0) {
            return;
        }
        for (const auto& [op, path] : asked.mapped()) {
            if (is_create(op)) {
                children_[parent_of(path)].pzxid = reply.zxid;
            } else if (op == op_code::set_data) {
                ++children_[parent_of(path)].sets;
            }
        }
    }

    void rewrite(const frame_info& reply, std::string& bytes) const {
        const auto records = detail::layout_of(reply).records;
        if (records.size() != 1 || is_create(reply.op) || reply.op == op_code::multi) {
            return;
        }
        constexpr std::size_t cversion_at = 36;
        constexpr std::size_t pzxid_at = 60;
        const auto known = children_.find(reply.path);
        const auto stat = reply.payload.substr(records[0]);
        const auto czxid = jute_reader{stat}.int64();
        const auto cversion = jute_reader{stat.substr(cversion_at)}.int32();
        const bool some = known != children_.end();
        const std::size_t at = length_size + records[0];
        put64(bytes,
              at + pzxid_at,
              some && known->second.pzxid > czxid ? known->second.pzxid : czxid);
        put32(bytes, at + cversion_at, cversion + (some ? known->second.sets : 0));
    }

    struct counts {
        std::int64_t pzxid = 0;
        std::int32_t sets = 0;
    };

    old_server what_;
    std::set<request_key> rejected_;
    std::map<request_key, std::vector<std::pair<op_code, std::string>>> asked_;
    std::map<std::string, counts> children_;
};

}  // namespace

std::set<op_code> later_operations() {
    return {op_code::create2,
            op_code::reconfig,
            op_code::check_watches,
            op_code::remove_watches,
            op_code::create_container,
            op_code::delete_container,
            op_code::create_ttl,
            op_code::multi_read,
            op_code::get_ephemerals,
            op_code::get_all_children_number,
            op_code::set_watches2,
            op_code::add_watch,
            op_code::who_am_i};
}

void play(const old_server& what, fault_proxy& proxy) {
    auto server = std::make_shared<imitation>(what);
    proxy.edit(direction::to_server, [server](const frame_info& frame, std::string bytes) {
        return server->to_server(frame, std::move(bytes));
    });
    proxy.edit(direction::to_client, [server](const frame_info& frame, std::string bytes) {
        return server->to_client(frame, std::move(bytes));
    });
    const auto asks = [server](const frame_info& frame) { return server->unknown(frame); };
    const auto asks_inside = [server](const frame_info& frame) {
        return frame.op == op_code::multi && server->unknown(frame);
    };
    if (what.how == ignorance::hangs_up) {
        proxy.arm(at_frame(asks).times(0), drop_request_and_cut().at_once());
    } else if (what.how == ignorance::refuses) {
        proxy.arm(at_frame(asks_inside).times(0), reject_and_cut(marshalling_error));
        proxy.arm(at_frame(asks).times(0), reject_and_cut(unimplemented));
    }
}

}  // namespace corozk::testing
