// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace corozk {

using boost::system::error_code;

/**
 * @brief Errors of the ZooKeeper protocol, with ZooKeeper's own numbers, so that they can be looked
 *        up in the server's documentation and logs.
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

/** @brief Errors of this library. The message of each says what to do about it. */
enum class errc : int {
    closed = 1,              ///< the client was closed or destroyed
    not_connected,           ///< nothing was sent: no connection within the time allowed
    bad_path,                ///< relative, empty, trailing slash, `.` or `..`, control character
    bad_host_list,           ///< empty, malformed, or a port out of range
    host_not_found,          ///< no name of the host list could be resolved
    no_server,               ///< nothing accepted the connection
    server_silent,           ///< something accepted, but no session was established in time
    chroot_missing,          ///< the folder named in the host list does not exist
    bad_option,              ///< an option that makes no sense; nothing was sent
    not_supported,           ///< the C client was built without it (TLS, SASL)
    session_left_to_expire,  ///< closed without the server's word: ephemerals go by timeout
    ownership_lost,          ///< the lock, permit or leadership is not ours any more
    would_block,             ///< a `try_` form: somebody else has it, or there is nothing
    deadline_exceeded,       ///< the deadline passed first; what was begun is undone
    would_deadlock,          ///< refused: waiting here could never end
    limit_mismatch,          ///< another participant configured another limit
    foreign_data,            ///< the node's data was not written by this recipe
    overflow,                ///< the result does not fit
    too_large,               ///< does not fit into one request of the server
    in_doubt,                ///< the outcome is not known yet, and must not be guessed
    aborted,                 ///< the transaction was decided: abort
    already_exists,          ///< the name is taken
    not_a_member,            ///< the object has not entered or joined
    broken,                  ///< the participants gave up or left half-way
    busy,                    ///< this object is already doing that
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
 * @brief Whether the same session may succeed when it tries again: connection lost, timed out,
 *        moved, throttled.
 */
COROZK_DECL bool is_recoverable(const error_code& ec) noexcept;

/**
 * @brief Whether the session is gone, and with it all its ephemeral nodes and watches: expired by
 *        the server or by the local clock, closed, or authentication failed.
 */
COROZK_DECL bool is_session_lost(const error_code& ec) noexcept;

/**
 * @brief Whether the operation may or may not have been carried out: it had been sent when the
 *        connection was lost.
 *
 * An error for which both `is_recoverable` and this are true must not be answered by repeating an
 * operation that is not idempotent. An operation that had not been sent fails with
 * `errc::not_connected` or `zk_errc::session_expired`, for which this is false.
 */
COROZK_DECL bool is_outcome_unknown(const error_code& ec) noexcept;

/**
 * @brief What the default completion token throws: an error code together with the operation and
 *        the path, as in "create /a/b: no node: ...".
 */
class COROZK_DECL error : public boost::system::system_error {
public:
    error(const error_code& ec, std::string_view operation, std::string_view path);

    /// The operation that failed, such as "create" or "lock.acquire".
    const std::string& operation() const noexcept { return operation_; }

    /// The path it was about; empty where there is none.
    const std::string& path() const noexcept { return path_; }

private:
    std::string operation_;
    std::string path_;
};

}  // namespace corozk

namespace boost::system {
template <>
struct is_error_code_enum<corozk::zk_errc> : std::true_type {};
template <>
struct is_error_code_enum<corozk::errc> : std::true_type {};
}  // namespace boost::system
