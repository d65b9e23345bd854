// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace corozk {

using boost::system::error_code;

/**
 * @brief Errors of the ZooKeeper protocol. The values are ZooKeeper's own, as used in the server's
 *        documentation and logs.
 */
enum class zk_errc : int {
    system_error = -1,
    runtime_inconsistency = -2,
    data_inconsistency = -3,
    connection_loss = -4,
    marshalling_error = -5,
    unimplemented = -6,
    operation_timeout = -7,
    bad_arguments = -8,
    invalid_state = -9,
    new_config_no_quorum = -13,
    reconfig_in_progress = -14,
    tls_connection_error = -15,
    api_error = -100,
    no_node = -101,
    no_auth = -102,
    bad_version = -103,
    no_children_for_ephemerals = -108,
    node_exists = -110,
    not_empty = -111,
    session_expired = -112,
    invalid_callback = -113,
    invalid_acl = -114,
    auth_failed = -115,
    closing = -116,
    session_moved = -118,
    not_read_only = -119,
    ephemeral_on_local_session = -120,
    no_watcher = -121,
    reconfig_disabled = -123,
    session_closed_require_sasl_auth = -124,
    quota_exceeded = -125,
    throttled = -127,
};

/** @brief Errors of this library. Each message suggests a remedy where there is one. */
enum class errc : int {
    closed = 1,      ///< The client was closed or destroyed.
    not_connected,   ///< No connection in time; nothing was sent.
    bad_path,        ///< Not a path, or not a name, of a node that can be used here.
    bad_host_list,   ///< Empty, malformed, or a port out of range.
    host_not_found,  ///< None of the host names could be resolved.
    no_server,       ///< No server accepted a connection.
    server_silent,   ///< A server accepted, but did not establish a session in time.
    chroot_missing,  ///< The client's root (the path in the host list, or of `below`) is missing.
    bad_option,      ///< Invalid option or argument; the log says which.
    not_supported,   ///< By this build (TLS, SASL), recipe or format; the log says what.
    session_left_to_expire,  ///< Closed unconfirmed: ephemeral nodes exist until the timeout.
    ownership_lost,          ///< The lock, permit or leadership is no longer held.
    would_block,             ///< A `try_` operation would have to wait.
    deadline_exceeded,       ///< The deadline passed; effects are undone in the background.
    would_deadlock,          ///< The operation would wait forever.
    limit_mismatch,          ///< Another participant configured a different limit, size or bound.
    foreign_data,            ///< The node's data was not written by this recipe.
    overflow,                ///< The result is out of range.
    too_large,               ///< Exceeds the maximum size of a request, or of a response.
    in_doubt,                ///< The outcome is not known yet and must not be assumed.
    already_exists,          ///< The name is taken.
    not_a_member,            ///< The object has not entered or joined.
    busy,                    ///< Another operation or another writer is in progress.
    tls_failed,              ///< Servers accepted a connection, but no TLS handshake succeeded.
    sequence_exhausted,      ///< Sequence numbers exhausted; the parent is replaced once empty.
    lease_expired,           ///< A node's TTL has passed, and no renewal was confirmed in time.
};

/** @brief The category of `zk_errc`: "corozk.zookeeper". */
COROZK_DECL const boost::system::error_category& zookeeper_category() noexcept;

/** @brief The category of `errc`: "corozk". */
COROZK_DECL const boost::system::error_category& corozk_category() noexcept;

inline error_code make_error_code(zk_errc e) noexcept {
    return {static_cast<int>(e), zookeeper_category()};
}

inline error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), corozk_category()};
}

/**
 * @brief Whether a retry in the same session may succeed: connection lost, timed out, moved or
 *        throttled.
 */
COROZK_DECL bool is_recoverable(const error_code& ec) noexcept;

/**
 * @brief Whether the client no longer has the session: it expired at the server or by the local
 *        clock, the client was closed, or authentication failed. Its ephemeral nodes have been or
 *        will be deleted, unless another client continues the session.
 */
COROZK_DECL bool is_session_lost(const error_code& ec) noexcept;

/**
 * @brief Whether the operation may or may not have been applied, because the connection was lost
 *        after it had been sent.
 *
 * Do not retry a non-idempotent operation if this is true, even if `is_recoverable` is as well. It
 * is false for `errc::not_connected` and `zk_errc::session_expired`, the errors of operations that
 * were not sent.
 */
COROZK_DECL bool is_outcome_unknown(const error_code& ec) noexcept;

/**
 * @brief The exception of the default completion token: an error code with the operation and the
 *        path, as in "create /a/b: no node: ...".
 */
class COROZK_DECL error : public boost::system::system_error {
public:
    error(const error_code& ec, std::string_view operation, std::string_view path);

    /// The operation that failed, such as "create" or "lock.acquire".
    const std::string& operation() const noexcept { return operation_; }

    /// The path it was applied to; empty if there is none. In `what`, control characters and bytes
    /// that are not UTF-8 are replaced by '?'.
    const std::string& path() const noexcept { return path_; }

private:
    std::string operation_;
    std::string path_;
};

namespace detail {

/// The operation and the path that an error message mentions.
struct call_site {
    call_site() = default;
    call_site(const char* operation_, std::string path_)
        : operation(operation_), path(std::move(path_)) {}

    const char* operation = "";
    std::string path;
};

}  // namespace detail
}  // namespace corozk

namespace boost::system {
template <>
struct is_error_code_enum<corozk::zk_errc> : std::true_type {};
template <>
struct is_error_code_enum<corozk::errc> : std::true_type {};
}  // namespace boost::system
