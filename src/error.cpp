// SPDX-License-Identifier: Apache-2.0
#include <corozk/error.hpp>

#include <boost/asio/error.hpp>

#include <fmt/format.h>

namespace corozk {

namespace {

const char* text_of(zk_errc e) noexcept {
    switch (e) {
        case zk_errc::system_error:
            return "system error inside the C client";
        case zk_errc::runtime_inconsistency:
            return "runtime inconsistency";
        case zk_errc::data_inconsistency:
            return "data inconsistency";
        case zk_errc::connection_loss:
            return "connection lost after the request was sent: whether it was carried out is "
                   "unknown";
        case zk_errc::marshalling_error:
            return "the request could not be written";
        case zk_errc::unimplemented:
            return "the server does not offer this operation";
        case zk_errc::operation_timeout:
            return "timed out";
        case zk_errc::bad_arguments:
            return "bad arguments";
        case zk_errc::invalid_state:
            return "the session is over";
        case zk_errc::new_config_no_quorum:
            return "no quorum of the new configuration is up to date";
        case zk_errc::reconfig_in_progress:
            return "another reconfiguration is in progress";
        case zk_errc::tls_connection_error:
            return "TLS connection error";
        case zk_errc::api_error:
            return "API error";
        case zk_errc::no_node:
            return "no node: it, or the parent of a node to be created, is not "
                   "there";
        case zk_errc::no_auth:
            return "not allowed: the node's access control list forbids it; authenticate with "
                   "add_auth, or have the list changed";
        case zk_errc::bad_version:
            return "the version does not match: somebody else changed it";
        case zk_errc::no_children_for_ephemerals:
            return "an ephemeral node cannot have children";
        case zk_errc::node_exists:
            return "the node exists already";
        case zk_errc::not_empty:
            return "the node has children";
        case zk_errc::session_expired:
            return "the session was lost, and its ephemeral nodes with it; this was not carried "
                   "out";
        case zk_errc::invalid_callback:
            return "invalid callback";
        case zk_errc::invalid_acl:
            return "invalid access control list: it is empty, or names a scheme or an id that the "
                   "server does not know";
        case zk_errc::auth_failed:
            return "authentication failed: check the scheme and the credential";
        case zk_errc::closing:
            return "the client is closing";
        case zk_errc::session_moved:
            return "the session has moved to another server; try again";
        case zk_errc::not_read_only:
            return "the server is read-only: it has lost its quorum";
        case zk_errc::ephemeral_on_local_session:
            return "a local session cannot have ephemeral nodes: set "
                   "localSessionsUpgradingEnabled=true at the servers";
        case zk_errc::no_watcher:
            return "no watch is waiting for an event";
        case zk_errc::reconfig_disabled:
            return "reconfiguration is disabled: set reconfigEnabled=true at the servers";
        case zk_errc::session_closed_require_sasl_auth:
            return "the server serves nobody without credentials of a scheme that it demands: give "
                   "them in client_options::auth or sasl";
        case zk_errc::quota_exceeded:
            return "the quota of this node or of one above it is used up: erase nodes, or raise it "
                   "(setquota)";
        case zk_errc::throttled:
            return "throttled by the server; try again";
    }
    return "unknown ZooKeeper error";
}

const char* text_of(errc e) noexcept {
    switch (e) {
        case errc::closed:
            return "the client is closed (its status tells why), or was never connected";
        case errc::not_connected:
            return "no connection within the time allowed; nothing was sent";
        case errc::bad_path:
            return "bad path: begin with '/', and use no trailing slash, no empty component, no "
                   "'.' or '..', no control characters";
        case errc::bad_host_list:
            return "bad host list: write \"host:port,host:port/folder\" with ports from 1 to 65535";
        case errc::host_not_found:
            return "none of the host names could be resolved: check the spelling and the name "
                   "service";
        case errc::no_server:
            return "no server accepted a connection: is ZooKeeper running there, and is the port "
                   "right?";
        case errc::server_silent:
            return "a server accepted the connection, but gave no session in time: is it a "
                   "ZooKeeper server, and does it have a quorum?";
        case errc::chroot_missing:
            return "the folder named in the host list does not exist: create it first";
        case errc::bad_option:
            return "an option makes no sense; nothing was sent";
        case errc::not_supported:
            return "the ZooKeeper C client was built without this; use a build that has it";
        case errc::session_left_to_expire:
            return "closed without the server's word: the session's ephemeral nodes go when it "
                   "times out";
        case errc::ownership_lost:
            return "not ours any more: stop working on it";
        case errc::would_block:
            return "somebody else has it, or there is nothing";
        case errc::deadline_exceeded:
            return "the deadline passed first; what was begun is undone";
        case errc::would_deadlock:
            return "refused: it would wait for itself";
        case errc::limit_mismatch:
            return "other participants configured another limit: agree on one, or change it for "
                   "all";
        case errc::foreign_data:
            return "the node's data was not written by this recipe: is the path used for something "
                   "else?";
        case errc::overflow:
            return "the result does not fit";
        case errc::too_large:
            return "too large for one request: raise jute.maxbuffer at the servers and "
                   "max_request_size here, or split it";
        case errc::in_doubt:
            return "not decided yet, as far as we can know";
        case errc::aborted:
            return "decided: abort";
        case errc::already_exists:
            return "the name is taken";
        case errc::not_a_member:
            return "not entered or joined";
        case errc::broken:
            return "the others gave up or left half-way";
        case errc::busy:
            return "this object is already doing that";
    }
    return "unknown error";
}

template <class Enum>
class category final : public boost::system::error_category {
public:
    constexpr category(const char* name, std::uint64_t id) noexcept
        : error_category(id), name_(name) {}
    const char* name() const noexcept override { return name_; }
    std::string message(int value) const override { return text_of(static_cast<Enum>(value)); }

private:
    const char* name_;
};

// Fixed ids: the same category in two shared libraries compares equal.
constexpr category<zk_errc> zookeeper_category_instance("corozk.zookeeper", 0x8c1f2b6ad06f1e01);
constexpr category<errc> corozk_category_instance("corozk", 0x8c1f2b6ad06f1e02);

std::string describe(std::string_view operation, std::string_view path) {
    return path.empty() ? std::string(operation) : fmt::format("{} {}", operation, path);
}

}  // namespace

const boost::system::error_category& zookeeper_category() noexcept {
    return zookeeper_category_instance;
}

const boost::system::error_category& corozk_category() noexcept {
    return corozk_category_instance;
}

bool is_recoverable(const error_code& ec) noexcept {
    return ec == zk_errc::connection_loss || ec == zk_errc::operation_timeout ||
           ec == zk_errc::session_moved || ec == zk_errc::throttled;
}

bool is_session_lost(const error_code& ec) noexcept {
    return ec == zk_errc::session_expired || ec == zk_errc::auth_failed ||
           ec == zk_errc::invalid_state || ec == zk_errc::closing || ec == errc::closed ||
           ec == zk_errc::session_closed_require_sasl_auth;
}

bool is_outcome_unknown(const error_code& ec) noexcept {
    return ec == zk_errc::connection_loss || ec == zk_errc::operation_timeout;
}

error::error(const error_code& ec, std::string_view operation, std::string_view path)
    : system_error(ec, describe(operation, path)), operation_(operation), path_(path) {}

}  // namespace corozk
