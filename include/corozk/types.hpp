// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace corozk {

/** @brief Matches every version of a node in a conditional update. */
inline constexpr std::int32_t any_version = -1;

/**
 * @brief What the server records of a node.
 *
 * Times are milliseconds since the epoch, by the server's clock. `ephemeral_owner` is the id of the
 * session that owns an ephemeral node, and 0 for other nodes.
 */
struct stat {
    std::int64_t czxid = 0;     ///< The transaction that created the node.
    std::int64_t mzxid = 0;     ///< The last one that wrote its data.
    std::int64_t pzxid = 0;     ///< The last one that changed its children.
    std::int64_t ctime = 0;     ///< When it was created, in ms since 1970 by the server's clock.
    std::int64_t mtime = 0;     ///< When its data was written last, likewise.
    std::int32_t version = 0;   ///< How often its data was written.
    std::int32_t cversion = 0;  ///< How often its children changed.
    std::int32_t aversion = 0;  ///< How often its access control list changed.
    std::int64_t ephemeral_owner = 0;  ///< The session whose end it goes with; 0 if none.
    std::int32_t data_length = 0;      ///< Bytes.
    std::int32_t num_children = 0;     ///< How many children.

    friend bool operator==(const stat&, const stat&) = default;
};

/** @brief The lifetime and naming of a node that is created. */
enum class create_mode : std::uint8_t {
    persistent,                      ///< stays until it is erased
    persistent_sequential,           ///< the server appends a 10-digit counter to the name
    ephemeral,                       ///< goes with the session that created it
    ephemeral_sequential,            ///< both
    container,                       ///< the server removes it some time after its last child went
    persistent_with_ttl,             ///< removed after `create_options::ttl` without a change
    persistent_sequential_with_ttl,  ///< the same, with a counter
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
 * @brief One entry of an access control list: who may do what.
 *
 * For the scheme "digest" the id is `user:base64(sha1(user:password))`.
 */
struct acl_entry {
    // A declared constructor: g++ 12.2 destroys aggregate temporaries twice beside co_await.
    acl_entry() = default;
    acl_entry(permission allowed_, std::string scheme_, std::string id_)
        : allowed(allowed_), scheme(std::move(scheme_)), id(std::move(id_)) {}

    permission allowed = permission::all;  ///< What may be done.
    std::string scheme = "world";          ///< Such as "world", "digest", "ip".
    std::string id = "anyone";             ///< Who, as the scheme writes it.

    friend bool operator==(const acl_entry&, const acl_entry&) = default;
};

/** @brief An access control list. */
using acl = std::vector<acl_entry>;

/** @brief Everybody may do everything. */
COROZK_DECL acl open_acl();

/** @brief Everybody may read, nobody may change. */
COROZK_DECL acl read_only_acl();

/** @brief Those who authenticated like the creator of the node may do everything. */
COROZK_DECL acl creator_acl();

/** @brief How a node is created. Trivially destructible, so `{.mode = ...}` is fine in co_await. */
struct create_options {
    create_mode mode = create_mode::persistent;  ///< Its kind.

    /// For the two modes with a TTL only; at least 1 ms. The server must allow it.
    std::chrono::milliseconds ttl{0};

    /// Borrowed: must outlive the call that starts the operation. Null means `open_acl()`.
    const corozk::acl* acl = nullptr;
};

// g++ 12.2 destroys other temporaries twice beside co_await.
static_assert(std::is_trivially_destructible_v<create_options>);

/** @brief The path of a node that was created (with its sequence) and its record. */
struct created_node {
    created_node() = default;
    std::string path;   ///< With its sequence number, if it has one.
    corozk::stat stat;  ///< Where the server tells it.
};

/** @brief The content of a node. */
struct node_data {
    node_data() = default;
    std::string data;   ///< The node's data.
    corozk::stat stat;  ///< The node's record.
};

/** @brief The names of a node's children (without the parent's path) and the parent's record. */
struct node_children {
    node_children() = default;
    std::vector<std::string> names;  ///< In no order.
    corozk::stat stat;               ///< The node's record.
};

/** @brief The access control list of a node and its record. */
struct node_acl {
    node_acl() = default;
    corozk::acl entries;  ///< Who may do what.
    corozk::stat stat;    ///< The node's record.
};

}  // namespace corozk
