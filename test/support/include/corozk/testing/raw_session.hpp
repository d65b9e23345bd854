// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/op_code.hpp"
#include "corozk/testing/zookeeper_error.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing {

/** @brief A node's metadata, as the server sends it. */
struct node_stat {
    std::int64_t czxid = 0;
    std::int64_t mzxid = 0;
    std::int64_t ctime = 0;
    std::int64_t mtime = 0;
    std::int32_t version = 0;
    std::int32_t cversion = 0;
    std::int32_t aversion = 0;
    std::int64_t ephemeral_owner = 0;  ///< the owning session's id; 0 for other nodes
    std::int32_t data_length = 0;
    std::int32_t num_children = 0;
    std::int64_t pzxid = 0;

    bool operator==(const node_stat&) const = default;
};

/** @brief The kinds of node, with their numbers on the wire. */
enum class node_kind : std::int32_t {
    persistent = 0,
    ephemeral = 1,
    persistent_sequential = 2,
    ephemeral_sequential = 3,
    container = 4,
    persistent_ttl = 5,  ///< needs a server with zookeeper.extendedTypesEnabled=true
    persistent_sequential_ttl = 6,
};

/** @brief One entry of an access control list. The default lets everybody do everything. */
struct acl_entry {
    std::int32_t permissions = 31;  ///< read 1, write 2, create 4, delete 8, admin 16
    std::string scheme = "world";
    std::string id = "anyone";

    bool operator==(const acl_entry&) const = default;
};

/** @brief Everybody may do everything. */
inline std::vector<acl_entry> open_acl() {
    return std::vector<acl_entry>(1);
}

/** @brief What a watch reports. */
struct watch_notification {
    std::int32_t type = 0;   ///< 1 created, 2 deleted, 3 changed, 4 child
    std::int32_t state = 0;  ///< 3 connected
    std::string path = {};
};

/** @brief How a raw_session connects. */
struct raw_session_options {
    /// Asked of the server, which keeps it within its own bounds.
    std::chrono::milliseconds session_timeout{60'000};
    /// Limit of each operation and of connecting.
    std::chrono::milliseconds operation_timeout{10'000};
    /// Continue this session instead of making a new one.
    std::int64_t session_id = 0;
    /// The 16 bytes that belong to `session_id`.
    std::string password = {};
};

/** @brief An answer as it came: the header's fields and the bytes behind it. */
struct raw_reply {
    std::int64_t zxid = 0;
    zk_code error = zk_code::ok;
    std::string body = {};
};

/**
 * @brief A ZooKeeper session over a blocking socket, without any client library.
 *
 * The independent observer of the tests. It encodes requests and decodes responses by itself; of the
 * code under test it shares numbers, strings and frames. It has no thread and sends no pings of its own: a session that is
 * left alone for longer than its timeout expires.
 *
 * Every operation blocks for at most the operation timeout. Errors: zookeeper_error with the
 * server's code, or zk_code::connection_loss when the connection broke; timeout_error when no
 * answer came in time (the session can still be used: an answer that comes later is skipped).
 *
 * Thread safety: distinct objects are safe, a shared one is not.
 */
class raw_session {
public:
    /**
     * @brief Connects to 127.0.0.1:port.
     * @throws zookeeper_error session_expired if the session to continue is gone; connection_loss
     * if the server does not answer.
     */
    explicit raw_session(std::uint16_t port, raw_session_options options = {});

    /** @brief Closes the session at the server (best effort, at most one second). */
    ~raw_session();

    raw_session(raw_session&&) noexcept;
    raw_session& operator=(raw_session&&) noexcept;

    std::int64_t session_id() const noexcept { return session_id_; }
    const std::string& password() const noexcept { return password_; }

    /** @brief The timeout that the server granted. */
    std::chrono::milliseconds negotiated_timeout() const noexcept { return negotiated_; }

    /** @brief Changes the limit of the following operations. */
    void set_operation_timeout(std::chrono::milliseconds limit) noexcept {
        options_.operation_timeout = limit;
    }

    /** @brief False once the connection is known to be broken or closed. */
    bool connected() const noexcept;

    /**
     * @brief Creates a node and returns its path (with the sequence number, if it has one).
     *
     * `ttl` counts for the two TTL kinds only.
     */
    std::string create(std::string_view path,
                       std::string_view data = {},
                       node_kind kind = node_kind::persistent,
                       const std::vector<acl_entry>& acl = open_acl(),
                       std::chrono::milliseconds ttl = {});

    /** @brief Deletes a node; version -1 means any. */
    void erase(std::string_view path, std::int32_t version = -1);

    /** @brief The node's metadata, or nothing if there is no such node. */
    std::optional<node_stat> exists(std::string_view path, bool watch = false);

    /** @brief The node's data and metadata. */
    std::pair<std::string, node_stat> get(std::string_view path, bool watch = false);

    /** @brief Writes the node's data; version -1 means any. */
    node_stat set(std::string_view path, std::string_view data, std::int32_t version = -1);

    /** @brief The names of the node's children, in the server's order. */
    std::vector<std::string> children(std::string_view path, bool watch = false);

    std::vector<acl_entry> get_acl(std::string_view path);
    void set_acl(std::string_view path,
                 const std::vector<acl_entry>& acl,
                 std::int32_t version = -1);

    /** @brief Adds an identity, for example ("digest", "user:password"). */
    void add_auth(std::string_view scheme, std::string_view credential);

    /** @brief Makes the following reads see everything that was written before. */
    void sync(std::string_view path = "/");

    /** @brief A ping with its answer: keeps the session alive. */
    void ping();

    /**
     * @brief The next event of a watch, in the order of arrival.
     * @throws timeout_error if none comes within the limit.
     */
    watch_notification next_notification(std::chrono::milliseconds limit);

    /** @brief Ends the session at the server: its ephemeral nodes are gone on return. */
    void close();

    /** @brief Drops the connection and leaves the session to expire. */
    void disconnect() noexcept;

    /**
     * @brief Sends a request without waiting, and returns its xid.
     *
     * With receive() for pipelining and for operations that have no member here. `body` is what
     * follows the request header.
     */
    std::int32_t send(op_code op, std::string_view body);

    /** @brief Waits for the answer to the request with this xid; an error code is not thrown. */
    raw_reply receive(std::int32_t xid);

    /** @brief Sends bytes as they are, without a length in front. */
    void send_raw(std::string_view bytes);

private:
    class connection;

    void connect(std::uint16_t port);
    std::string call(op_code op, std::string_view path, std::string_view body);
    raw_reply receive(std::int32_t xid, std::chrono::steady_clock::time_point until);
    std::optional<raw_reply> take_early(std::int32_t xid);
    void send(std::int32_t xid, op_code op, std::string_view body);

    raw_session_options options_;
    std::unique_ptr<connection> connection_;
    std::int64_t session_id_ = 0;
    std::string password_;
    std::chrono::milliseconds negotiated_{};
    std::int32_t last_xid_ = 0;
    std::deque<std::pair<std::int32_t, raw_reply>> early_;
    std::deque<watch_notification> notifications_;
};

/**
 * @brief Ends somebody else's session: continues it with its id and password, then closes it.
 *
 * Returns when the server has ended the session: its ephemeral nodes are gone. False if the server
 * did not know the session any more.
 *
 * The victim's own connection is not closed by the server: it learns of the expiry when it connects
 * again (which it does when its pings are not answered, or at once if the connection is cut).
 */
bool expire_session(std::uint16_t port, std::int64_t session_id, std::string_view password);

}  // namespace corozk::testing
