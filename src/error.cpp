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
            return "connection lost after the request was sent: whether it was applied is unknown";
        case zk_errc::marshalling_error:
            return "the request could not be serialized";
        case zk_errc::unimplemented:
            return "the server does not offer this operation";
        case zk_errc::operation_timeout:
            return "timed out";
        case zk_errc::bad_arguments:
            return "bad arguments";
        case zk_errc::invalid_state:
            return "the session has ended";
        case zk_errc::new_config_no_quorum:
            return "no quorum of the new configuration is up to date";
        case zk_errc::reconfig_in_progress:
            return "another reconfiguration is in progress";
        case zk_errc::tls_connection_error:
            return "TLS connection error";
        case zk_errc::api_error:
            return "API error";
        case zk_errc::no_node:
            return "no node: the node, or the parent of a node to create, does not exist";
        case zk_errc::no_auth:
            return "not permitted by the node's access control list: authenticate with add_auth, "
                   "or have the list changed";
        case zk_errc::bad_version:
            return "the version does not match: the node has been changed by another client";
        case zk_errc::no_children_for_ephemerals:
            return "an ephemeral node cannot have children";
        case zk_errc::node_exists:
            return "the node already exists";
        case zk_errc::not_empty:
            return "the node has children";
        case zk_errc::session_expired:
            return "the session expired and its ephemeral nodes were deleted; the request was not "
                   "applied";
        case zk_errc::invalid_callback:
            return "invalid callback";
        case zk_errc::invalid_acl:
            return "invalid access control list: empty, or with a scheme or id that is unknown to "
                   "the server";
        case zk_errc::auth_failed:
            return "authentication failed: check the scheme and the credential";
        case zk_errc::closing:
            return "the client is closing";
        case zk_errc::session_moved:
            return "the session has moved to another server: try again";
        case zk_errc::not_read_only:
            return "the server is read-only: it has lost its quorum";
        case zk_errc::ephemeral_on_local_session:
            return "a local session cannot have ephemeral nodes: set "
                   "localSessionsUpgradingEnabled=true at the servers";
        case zk_errc::no_watcher:
            return "no such watch";
        case zk_errc::reconfig_disabled:
            return "reconfiguration is disabled: set reconfigEnabled=true at the servers";
        case zk_errc::session_closed_require_sasl_auth:
            return "the server requires authentication: configure client_options::auth or sasl";
        case zk_errc::quota_exceeded:
            return "the quota of the node or of an ancestor is exceeded: delete nodes, or raise it "
                   "(setquota)";
        case zk_errc::throttled:
            return "throttled by the server: try again";
    }
    return "unknown ZooKeeper error";
}

const char* text_of(errc e) noexcept {
    switch (e) {
        case errc::closed:
            return "the client was closed (see its status for the reason) or never connected";
        case errc::not_connected:
            return "no connection within the time allowed; nothing was sent";
        case errc::bad_path:
            return "bad path: it must begin with '/' and must not contain empty components, a "
                   "trailing slash, '.', '..' or control characters";
        case errc::bad_host_list:
            return "bad host list: write \"host:port,host:port/path\" with ports from 1 to 65535";
        case errc::host_not_found:
            return "none of the host names could be resolved: check their spelling and DNS";
        case errc::no_server:
            return "no server accepted a connection: is ZooKeeper running there, and is the port "
                   "correct?";
        case errc::server_silent:
            return "a server accepted the connection, but established no session in time: is it a "
                   "ZooKeeper server, and does it have a quorum?";
        case errc::tls_failed:
            return "the TLS handshake failed with each server that accepted a connection: the log "
                   "says why";
        case errc::chroot_missing:
            return "the path in the host list does not exist: create it first";
        case errc::bad_option:
            return "invalid option; nothing was sent";
        case errc::not_supported:
            return "corozk was built without this feature: use a build that has it";
        case errc::session_left_to_expire:
            return "closed without confirmation by the server: the session's ephemeral nodes exist "
                   "until it times out";
        case errc::ownership_lost:
            return "ownership was lost: stop using the resource";
        case errc::would_block:
            return "not available without waiting";
        case errc::deadline_exceeded:
            return "the deadline passed; the operation is undone";
        case errc::would_deadlock:
            return "refused: the operation would deadlock with itself";
        case errc::limit_mismatch:
            return "another participant configured a different limit: all must use the same one";
        case errc::foreign_data:
            return "the node's data was not written by this recipe: is the path used for another "
                   "purpose?";
        case errc::overflow:
            return "the result is out of range";
        case errc::too_large:
            return "too large for one request: split it, or raise the servers' jute.maxbuffer and "
                   "the client's max_request_size";
        case errc::in_doubt:
            return "the outcome is not known yet";
        case errc::aborted:
            return "the transaction was aborted";
        case errc::already_exists:
            return "the name is taken";
        case errc::not_a_member:
            return "this object has not entered or joined";
        case errc::broken:
            return "other participants gave up or left early";
        case errc::busy:
            return "this object is already performing this operation";
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

// Fixed ids, so that instances of the category in several shared libraries compare equal.
constexpr category<zk_errc> zookeeper_category_instance("corozk.zookeeper", 0x8c1f2b6ad06f1e01);
constexpr category<errc> corozk_category_instance("corozk", 0x8c1f2b6ad06f1e02);

/// Compares the category only once.
template <class... Codes>
bool is_any_of(const error_code& ec, Codes... codes) noexcept {
    return ((ec.value() == static_cast<int>(codes)) || ...) &&
           ec.category() == zookeeper_category();
}

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
    using enum zk_errc;
    return is_any_of(ec, connection_loss, operation_timeout, session_moved, throttled);
}

bool is_session_lost(const error_code& ec) noexcept {
    using enum zk_errc;
    constexpr zk_errc sasl_auth = session_closed_require_sasl_auth;
    return ec == errc::closed ||
           is_any_of(ec, session_expired, auth_failed, invalid_state, closing, sasl_auth);
}

bool is_outcome_unknown(const error_code& ec) noexcept {
    return is_any_of(ec, zk_errc::connection_loss, zk_errc::operation_timeout);
}

error::error(const error_code& ec, std::string_view operation, std::string_view path)
    : system_error(ec, describe(operation, path)), operation_(operation), path_(path) {}

}  // namespace corozk
