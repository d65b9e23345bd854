// SPDX-License-Identifier: Apache-2.0
#include "operation/path.hpp"
#include <corozk/error.hpp>

#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace corozk {

namespace {

constexpr std::pair<zk_errc, const char*> zk_errc_texts[] = {
    {zk_errc::system_error, "system error"},
    {zk_errc::runtime_inconsistency, "runtime inconsistency"},
    {zk_errc::data_inconsistency, "data inconsistency"},
    {zk_errc::connection_loss,
     "connection lost after the request was sent: whether it was applied is unknown"},
    {zk_errc::marshalling_error, "the request could not be serialized"},
    {zk_errc::unimplemented, "the server does not support this operation"},
    {zk_errc::operation_timeout, "timed out"},
    {zk_errc::bad_arguments, "bad arguments"},
    {zk_errc::invalid_state, "the session has ended"},
    {zk_errc::new_config_no_quorum, "no quorum of the new configuration is up to date"},
    {zk_errc::reconfig_in_progress, "another reconfiguration is in progress"},
    {zk_errc::tls_connection_error, "TLS connection error"},
    {zk_errc::api_error, "API error"},
    {zk_errc::no_node, "no node: the node, or the parent of a node to create, does not exist"},
    {zk_errc::no_auth,
     "not permitted by the node's access control list: authenticate with add_auth, or have the "
     "list changed"},
    {zk_errc::bad_version,
     "the version does not match: the node has been changed by another client"},
    {zk_errc::no_children_for_ephemerals, "an ephemeral node cannot have children"},
    {zk_errc::node_exists, "the node already exists"},
    {zk_errc::not_empty, "the node has children"},
    {zk_errc::session_expired,
     "the session expired: its ephemeral nodes have been or will be deleted; the request was not "
     "applied"},
    {zk_errc::invalid_callback, "invalid callback"},
    {zk_errc::invalid_acl,
     "invalid access control list: empty, or with a scheme or id that is unknown to the server"},
    {zk_errc::auth_failed, "authentication failed: check the scheme and the credential"},
    {zk_errc::closing, "the client is closing"},
    {zk_errc::session_moved, "the session has moved to another server: try again"},
    {zk_errc::not_read_only, "the server is read-only: it has lost its quorum"},
    {zk_errc::ephemeral_on_local_session,
     "a local session cannot have ephemeral nodes: set localSessionsUpgradingEnabled=true at the "
     "servers"},
    {zk_errc::no_watcher, "no such watch"},
    {zk_errc::reconfig_disabled,
     "reconfiguration is disabled: set reconfigEnabled=true at the servers"},
    {zk_errc::session_closed_require_sasl_auth,
     "the server requires authentication: configure client_options::auth or sasl"},
    {zk_errc::quota_exceeded,
     "the quota of the node or of an ancestor is exceeded: delete nodes, or raise it (setquota)"},
    {zk_errc::throttled, "throttled by the server: try again"},
};

constexpr std::pair<errc, const char*> errc_texts[] = {
    {errc::closed, "the client was closed (see its status for the reason) or never connected"},
    {errc::not_connected, "no connection within the time allowed; nothing was sent"},
    {errc::bad_path,
     "bad path or name: a path begins with '/' and has no empty components, no trailing slash, no "
     "'.' or '..', and no characters that ZooKeeper does not allow; recipes need a node below the "
     "root (the log says what is wrong)"},
    {errc::bad_host_list,
     "bad host list: write \"host:port,host:port/path\" with ports from 1 to 65535"},
    {errc::host_not_found,
     "none of the host names could be resolved: check their spelling and DNS"},
    {errc::no_server,
     "no server accepted a connection: is ZooKeeper running there, and is the port correct?"},
    {errc::server_silent,
     "a server accepted the connection, but established no session in time: is it a ZooKeeper "
     "server, and does it have a quorum?"},
    {errc::tls_failed,
     "the TLS handshake failed with each server that accepted a connection: the log says why"},
    {errc::lease_expired,
     "the lease was not renewed in time, and the server may have deleted its node"},
    {errc::chroot_missing, "the client's root does not exist: create it first"},
    {errc::bad_option, "invalid option or argument: the log says which"},
    {errc::not_supported,
     "not supported by this build, or by this recipe or format: the log says what"},
    {errc::session_left_to_expire,
     "closed without confirmation by the server: the session's ephemeral nodes exist until it "
     "times out"},
    {errc::ownership_lost, "ownership was lost: stop using the resource"},
    {errc::would_block, "not available without waiting"},
    {errc::deadline_exceeded,
     "the deadline passed; what the operation began is undone in the background"},
    {errc::would_deadlock,
     "rejected, as it would wait forever: the same lock was added twice, or a writer waits "
     "for this reader"},
    {errc::limit_mismatch,
     "another participant configured a different limit, size or bound: all must use the same one"},
    {errc::foreign_data,
     "the node's data was not written by this recipe: is the path used for another purpose?"},
    {errc::overflow, "the result is out of range"},
    {errc::sequence_exhausted,
     "the parent's 2^31 sequence numbers are exhausted; retry once the parent is empty "
     "and has been replaced"},
    {errc::too_large,
     "too large for one request: split it, or raise the servers' jute.maxbuffer and the client's "
     "max_request_size; or for one response, of at most 64 MiB and 2,000,000 names"},
    {errc::in_doubt, "the outcome is not known yet"},
    {errc::already_exists, "the name is taken"},
    {errc::not_a_member, "this object has not entered or joined"},
    {errc::busy, "another operation or another writer is in progress: try again later"},
};

template <auto& Texts>
class category final : public boost::system::error_category {
public:
    constexpr category(const char* name, const char* unknown, std::uint64_t id) noexcept
        : error_category(id), name_(name), unknown_(unknown) {}
    const char* name() const noexcept override { return name_; }
    std::string message(int value) const override {
        for (const auto& [error, text] : Texts) {
            if (static_cast<int>(error) == value)
                return text;
        }
        return unknown_;
    }

private:
    const char* name_;
    const char* unknown_;
};

// Fixed ids, so that instances of the category in several shared libraries compare equal.
constexpr category<zk_errc_texts> zookeeper_category_instance("corozk.zookeeper",
                                                              "unknown ZooKeeper error",
                                                              0x8c1f2b6ad06f1e01);
constexpr category<errc_texts> corozk_category_instance("corozk",
                                                        "unknown error",
                                                        0x8c1f2b6ad06f1e02);

/// Compares the category only once.
template <class... Codes>
bool is_any_of(const error_code& ec, Codes... codes) noexcept {
    return ((ec.value() == static_cast<int>(codes)) || ...) &&
           ec.category() == zookeeper_category();
}

/// What is wrong with the path, or null. These recipes mention a name, which is relative.
const char* fault_of(std::string_view operation, std::string_view path) {
    const bool is_name =
        operation.starts_with("name_service.") || operation.starts_with("service_discovery.");
    return detail::path_problem(is_name ? detail::join_path("/", path) : path);
}

/// What is wrong besides what the code says, or null.
const char* detail_of(const error_code& ec, std::string_view operation, std::string_view path) {
    if (ec == errc::bad_path && !path.empty())
        return fault_of(operation, path);
    // All servers know these otherwise.
    const bool creates = operation == "create" || operation.ends_with("commit") ||
                         operation.starts_with("persistent_node.");
    return ec == zk_errc::unimplemented && creates
               ? "a TTL needs zookeeper.extendedTypesEnabled=true at the server, and "
                 "server_dialect::automatic"
               : nullptr;
}

std::string describe(const error_code& ec, std::string_view operation, std::string_view path) {
    std::string text(operation);
    // `what` ends at a NUL, and is written to logs.
    if (!path.empty())
        text.append(" ").append(detail::printable(path));
    const char* more = detail_of(ec, operation, path);
    return more ? fmt::format("{} ({})", text, more) : text;
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
    : system_error(ec, describe(ec, operation, path)), operation_(operation), path_(path) {}

}  // namespace corozk
