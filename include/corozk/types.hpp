// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace corozk {

/** @brief Why operations reject a path, such as "ends with a slash: remove it"; null if it is
 *        valid. */
COROZK_DECL const char* invalid_path_reason(std::string_view path) noexcept;

/** @brief Matches every version of a node in a conditional update. */
inline constexpr std::int32_t any_version = -1;

/** @brief A node's metadata. Times are milliseconds since the epoch, by the server's clock. */
struct stat {
    std::int64_t czxid = 0;            ///< Transaction id of the node's creation.
    std::int64_t mzxid = 0;            ///< Transaction id of the last change of its data.
    std::int64_t pzxid = 0;            ///< Transaction id of the last change of its children.
    std::int64_t ctime = 0;            ///< Creation time.
    std::int64_t mtime = 0;            ///< Time of the last change of its data.
    std::int32_t version = 0;          ///< Number of changes of its data.
    std::int32_t cversion = 0;         ///< Number of changes of its children.
    std::int32_t aversion = 0;         ///< Number of changes of its access control list.
    std::int64_t ephemeral_owner = 0;  ///< The session that owns an ephemeral node; otherwise 0.
    std::int32_t data_length = 0;      ///< Bytes.
    std::int32_t num_children = 0;     ///< Number of children.

    friend bool operator==(const stat&, const stat&) = default;
};

/** @brief The lifetime and naming of a created node. */
enum class create_mode : std::uint8_t {
    persistent,                      ///< Exists until it is deleted.
    persistent_sequential,           ///< The server appends a 10-digit counter to the name.
    ephemeral,                       ///< Deleted when the session that created it ends.
    ephemeral_sequential,            ///< Ephemeral, with a counter.
    container,                       ///< Deleted by the server some time after its last child.
    persistent_with_ttl,             ///< Deleted after `create_options::ttl` without changes.
    persistent_sequential_with_ttl,  ///< With a TTL and a counter.
};

/** @brief Permission bits of an access control entry; combine them with `|`. */
enum class permission : std::uint8_t {
    none = 0,
    read = 1,
    write = 2,
    create = 4,
    erase = 8,
    admin = 16,
    all = 31,
};

constexpr permission operator|(permission a, permission b) noexcept {
    return static_cast<permission>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

constexpr permission operator&(permission a, permission b) noexcept {
    return static_cast<permission>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

/**
 * @brief An entry of an access control list: grants permissions to an identity.
 *
 * For the scheme "digest" the id is `user:base64(sha1(user:password))`.
 */
struct acl_entry {
    // A declared constructor: g++ 12.2 destroys aggregate temporaries twice beside co_await.
    acl_entry() = default;
    acl_entry(permission allowed_, std::string scheme_, std::string id_)
        : allowed(allowed_), scheme(std::move(scheme_)), id(std::move(id_)) {}

    permission allowed = permission::all;  ///< The permissions granted.
    std::string scheme = "world";          ///< Such as "world", "digest", "ip".
    std::string id = "anyone";             ///< The identity, in the format of the scheme.

    friend bool operator==(const acl_entry&, const acl_entry&) = default;
};

/** @brief An access control list. */
using acl = std::vector<acl_entry>;

/** @brief Grants all permissions to everyone. */
COROZK_DECL acl open_acl();

/** @brief Grants only read permission, to everyone. */
COROZK_DECL acl read_only_acl();

/** @brief Grants all permissions to the authenticated identities of the node's creator. */
COROZK_DECL acl creator_acl();

/** @brief An identity under which a server knows a client; see `client::who_am_i`. */
struct identity {
    identity() = default;
    identity(std::string scheme_, std::string id_)
        : scheme(std::move(scheme_)), id(std::move(id_)) {}

    std::string scheme;  ///< Such as "ip", "digest", "x509", "sasl".
    std::string id;      ///< Such as an address or a user's name; never a password.
};

/** @brief Options of `create`. Trivially destructible, so `{.mode = ...}` is safe with co_await. */
struct create_options {
    create_mode mode = create_mode::persistent;  ///< Lifetime and naming.

    /// For the two modes with a TTL only; 1 ms to 2^40 - 1 ms. Must be enabled at the server.
    std::chrono::milliseconds ttl{0};

    /// Not owned: must outlive the call of the initiating function. Null means `open_acl()`; an
    /// empty list is rejected with `zk_errc::invalid_acl` by `create` and `ensure_path`, and means
    /// `open_acl()` in a transaction.
    const corozk::acl* acl = nullptr;
};

// g++ 12.2 destroys other temporaries twice beside co_await.
static_assert(std::is_trivially_destructible_v<create_options>);

/** @brief The result of `client::create`. */
struct created_node {
    created_node() = default;
    std::string path;   ///< Including the sequence number, if any.
    corozk::stat stat;  ///< The node's metadata; see `client_options::dialect`.
};

/** @brief A node's data and metadata. */
struct node_data {
    node_data() = default;
    std::string data;   ///< The node's data.
    corozk::stat stat;  ///< The node's metadata.
};

/** @brief The names of a node's children, and the node's metadata. */
struct node_children {
    node_children() = default;
    std::vector<std::string> names;  ///< Without the parent's path; in no particular order.
    corozk::stat stat;               ///< The node's metadata.
};

/** @brief A node's access control list and metadata. */
struct node_acl {
    node_acl() = default;
    corozk::acl acl;    ///< The access control list.
    corozk::stat stat;  ///< The node's metadata.
};

}  // namespace corozk
