// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstdint>
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
    /// outlives the session and this process. `persistent_with_ttl`: outlives them by `ttl`; must
    /// be enabled at the server. Others give `errc::bad_option`.
    create_mode mode = create_mode::ephemeral;

    /// With a TTL: how long the server keeps the node without this process, which writes it again
    /// at half of that time. At least 1 ms; servers accept up to 2^40 - 1 ms.
    std::chrono::milliseconds ttl{0};

    /// Whether `keep` waits while a node of another kind, or of another session, is in its place,
    /// or another object of this client keeps it. Otherwise it fails with `errc::already_exists`.
    /// It always waits for an earlier session of the same object.
    bool wait_for_predecessor = true;

    /// ACL of the node and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/** @brief A snapshot of a persistent node: whether it exists. */
struct persistent_node_status {
    persistent_node_status() = default;

    bool held = false;           ///< Whether the owner may rely on the node; see `valid`.
    std::uint64_t revision = 0;  ///< Incremented by each loss, and when it exists again.
    error_code reason;           ///< Why it was last lost; none if on request.
};

/**
 * @brief Keeps a node in existence: if another client deletes it, or the session ends, the node is
 *        re-created with its latest data.
 *
 * An ephemeral node belongs to one process: others wait until it is gone. Nodes of the other kinds
 * have no owner: one that is found is adopted, gets this object's data, and is deleted by `erase`
 * and the destructor as if this object had created it. (Servers do not report whether a
 * node has a TTL, or which: do not let an object adopt a node with a different one.) Within a
 * client only one object keeps a path.
 *
 * Data that other clients write to the node is kept, even in later sessions, until `set_data`. A
 * node that is re-created, or adopted, gets this object's data.
 *
 * @par A lease
 * A node with a TTL is a lease: it does not depend on the session, and expires unless this process
 * renews it. The owner learns of the loss before the server may delete the node: at `valid_until`,
 * the TTL after the last confirmed write was sent, by this process's steady clock. A lost node is
 * created again as soon as possible; call `erase` to remove it. To stop working while it is lost:
 * @code
 * auto seen = node.status();
 * co_await (work() || node.next_status(seen));  // any change from `held` is a loss
 * while (!seen.held)
 *     seen = co_await node.next_status(seen);   // there again
 * @endcode
 *
 * It outlives a change of servers if the TTL is longer than the session timeout. Servers measure
 * the TTL by the leader's wall clock. If that clock jumps forward, they delete the node early,
 * which `next_status` reports as `errc::ownership_lost`; it reports the same if the server deletes
 * the node because an earlier node at its path had expired. A lease does not exclude others: where
 * only one process may work, use a `lock`.
 *
 * With Curator's PersistentNode, use different paths, or never run both at the same time.
 * PersistentNode does not wait until another session's node is gone: it treats that node as its
 * own.
 *
 * @cancellation
 * | operation | all types |
 * |---|---|
 * | `keep` | completes at once; the node is deleted in the background, unless it was found and is not written yet |
 * | `set_data` | completes at once; writes the data in the background |
 * | `erase` | completes at once; deletes the node in the background |
 *
 * @executor As `client`. The destructor deletes the node in the background, whatever its kind, even
 * if it was adopted, and also if the client is closed directly afterwards; to leave it to the
 * server, close the client first.
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

    /** @brief Whether the owner may rely on the node: it was created or adopted, and is not lost to
     *         the client's knowledge. Remains true in an outage, until `valid_until`. */
    bool valid() const noexcept;

    /**
     * @brief The time until which the node stays valid without another response; in the past if it
     *        is not valid.
     *
     * With a TTL as above; ephemeral: the session's deadline; persistent: `time_point::max()`.
     */
    std::chrono::steady_clock::time_point valid_until() const noexcept;

    /** @brief The current status. */
    persistent_node_status status() const;

    /**
     * @brief Creates the node, with missing parents, and keeps it until `erase`.
     *
     * @completes `void(error_code)`, after the node was created or adopted.
     *
     * @errors
     * - `errc::busy`: it is already kept by this object, or being deleted.
     * - `errc::already_exists`: see the options.
     * - `boost::asio::error::operation_aborted`: `erase` was called meanwhile.
     * - `zk_errc::unimplemented`: the server has no TTLs.
     * - `errc::bad_option`: another mode, a mode with a TTL without one, or one above 2^40 - 1 ms.
     * - `errc::bad_path`, `zk_errc::no_auth`, `zk_errc::invalid_acl`, `errc::closed`.
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
    auto keep_until(std::string data, time_point deadline, Token&& token = Token{}) {
        return keep_for(std::move(data), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the data, for this session and later ones.
     *
     * @completes `void(error_code)`, after it was written.
     *
     * @errors `errc::not_a_member`: it is not kept. `boost::asio::error::operation_aborted`:
     * `erase` was called meanwhile. `errc::closed`; the server's reason for rejecting the data,
     * such as `zk_errc::quota_exceeded`: the previous data is kept.
     */
    template <class Token = default_token>
    auto set_data(std::string data, Token&& token = Token{}) {
        return set_data_for(std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto set_data_for(std::string data, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_set_data>(
            "persistent_node.set_data", std::forward<Token>(token), std::move(data), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto set_data_until(std::string data, time_point deadline, Token&& token = Token{}) {
        return set_data_for(std::move(data), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Deletes the node and stops maintaining it. Ends a pending `keep` or `set_data`.
     *
     * If `keep` is still waiting for another client's node, that node is left alone; this is not an
     * error.
     *
     * @completes `void(error_code)`, after it was deleted or, if it is ephemeral, its session has
     * ended.
     *
     * @errors `errc::not_a_member`: it is not kept. `zk_errc::not_empty`: it has children.
     * `errc::closed`.
     */
    template <class Token = default_token>
    auto erase(Token&& token = Token{}) {
        return erase_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto erase_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_erase>("persistent_node.erase", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto erase_until(time_point deadline, Token&& token = Token{}) {
        return erase_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the status differs from the one passed:
     *        `s = co_await node.next_status(s)`.
     *
     * Reasons for a loss: `errc::lease_expired`: the TTL passed without a confirmed renewal.
     * `zk_errc::session_expired`, for an ephemeral node. `errc::ownership_lost`: another client
     * deleted or replaced it. The server's error if it rejected the node, which is then no longer
     * maintained. No reason: `erase`, or a cancelled `keep`.
     *
     * Intermediate states may be skipped, but a loss always shows in the revision.
     *
     * @completes `void(error_code, persistent_node_status)`
     *
     * @errors `errc::closed`: the client was closed. `errc::bad_path`.
     *
     * @cancellation All types: completes at once; a later call still reports the
     * change.
     */
    template <class Token = default_token>
    auto next_status(const persistent_node_status& seen, Token&& token = Token{}) {
        return initiate<&start_next_status>(
            "persistent_node.next_status", std::forward<Token>(token), seen.revision);
    }

private:
    static void start_next_status(const impl_ptr&,
                                  std::uint64_t revision,
                                  handler_of<persistent_node_status>);
    static void start_keep(const impl_ptr&, std::string data, time_limit limit, handler_of<>);
    static void start_set_data(const impl_ptr&, std::string data, time_limit limit, handler_of<>);
    static void start_erase(const impl_ptr&, time_limit limit, handler_of<>);
};

}  // namespace corozk
