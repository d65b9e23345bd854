// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class persistent_node_impl;
}

/** @brief Options of a persistent node. */
struct persistent_node_options {
    persistent_node_options() = default;

    /// `ephemeral`: deleted with the session, and created again in the next one. `persistent`:
    /// outlives the session and this process. `persistent_with_ttl`: outlives them by `ttl`; must be
    /// enabled at the server. Others give `errc::bad_option`.
    create_mode mode = create_mode::ephemeral;

    /// With a TTL: how long the server keeps the node without this process, which writes it again at
    /// half of that time. At least 1 ms; servers accept up to 2^40 - 1 ms.
    std::chrono::milliseconds ttl{0};

    /// Whether `keep` waits while a node of another kind, or of another session, is in its place, or
    /// another object of this client keeps it. Otherwise it fails with `errc::already_exists`. It
    /// always waits for an earlier session of the same object.
    bool wait_for_predecessor = true;

    /// ACL of the node and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/**
 * @brief A node that is kept: whoever deletes it, and whatever happens to connections and sessions,
 *        it is created again, with its latest data.
 *
 * An ephemeral node belongs to one process: others wait until it is gone. Nodes of the other kinds
 * have no owner: one that is found is adopted, gets this object's data, and is deleted by `erase`
 * and the destructor as if this object had created it. (Servers do not say whether a node has a
 * TTL: adopt none without.) Within a client only one object keeps a path.
 *
 * Data that others write to the node stays, also in later sessions, until `set_data`. A node that
 * is created again, or adopted, gets this object's data.
 *
 * With Curator's PersistentNode: use different paths, or let one follow the other. PersistentNode
 * does not wait for the end of another session, but takes its node for its own, until that is gone.
 *
 * @cancellation
 * | operation | terminal, partial, total |
 * |---|---|
 * | `keep` | completes at once; the node is deleted in the background, unless it was found and is not written yet |
 * | `set_data` | completes at once; writes the data in the background |
 * | `erase` | completes at once; deletes the node in the background |
 *
 * @executor As `client`. The destructor deletes the node in the background, of any kind, also one that
 * was adopted; closing the client first leaves it to the server.
 *
 * @origin Curator's PersistentNode and PersistentTtlNode; see `membership` for their defects.
 */
class COROZK_DECL persistent_node : public detail::recipe_object<detail::persistent_node_impl> {
public:
    /** @brief `path` is the node. Nothing is sent. */
    persistent_node(const client& c,
                    std::string path,
                    persistent_node_options options = persistent_node_options());

    persistent_node() noexcept = default;

    /** @brief Whether the server has the node, to the client's knowledge. */
    bool present() const noexcept;

    /**
     * @brief Creates the node, with missing parents, and keeps it until `erase`.
     *
     * @completes `void(error_code)`, after the node was created or adopted.
     *
     * @errors
     * - `errc::busy`: it is already kept by this object, or being deleted.
     * - `errc::already_exists`: see the options.
     * - `boost::asio::error::operation_aborted`: `erase` was called meanwhile.
     * - `zk_errc::unimplemented`: the server has no TTLs. `zk_errc::bad_arguments`: the TTL is too long.
     * - `errc::bad_option`, `errc::bad_path`, `zk_errc::no_auth`, `zk_errc::invalid_acl`,
     *   `errc::closed`.
     */
    template <class Token = default_token>
    auto keep(std::string data, Token&& token = Token{}) {
        return keep_for(std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto keep_for(std::string data, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_keep>(
            "persistent_node.keep", std::forward<Token>(token), std::move(data), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto keep_until(std::string data, time_limit::time_point deadline, Token&& token = Token{}) {
        return keep_for(std::move(data), time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Replaces the data, for this session and later ones.
     *
     * @completes `void(error_code)`, after it was written.
     *
     * @errors `errc::not_a_member`: it is not kept. `boost::asio::error::operation_aborted`: `erase`
     * was called meanwhile. `errc::closed`; the server's reason for rejecting the data, such as
     * `zk_errc::quota_exceeded`: the previous data is kept.
     */
    template <class Token = default_token>
    auto set_data(std::string data, Token&& token = Token{}) {
        return initiate<&start_set_data>(
            "persistent_node.set_data", std::forward<Token>(token), std::move(data));
    }

    /**
     * @brief Deletes the node, and keeps it no longer. Ends a pending `keep` or `set_data`.
     *
     * If `keep` still waits for the node of another, that one stays, and this is no error.
     *
     * @completes `void(error_code)`, after it was deleted or, if it is ephemeral, its session has
     * ended.
     *
     * @errors `errc::not_a_member`: it is not kept. `zk_errc::not_empty`: it has children.
     * `errc::closed`.
     */
    template <class Token = default_token>
    auto erase(Token&& token = Token{}) {
        return initiate<&start_erase>("persistent_node.erase", std::forward<Token>(token));
    }

private:
    static void start_keep(const impl_ptr&, std::string data, time_limit limit, handler_of<>);
    static void start_set_data(const impl_ptr&, std::string data, handler_of<>);
    static void start_erase(const impl_ptr&, handler_of<>);
};

}  // namespace corozk
