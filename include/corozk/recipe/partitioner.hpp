// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/ownership.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class partitioner_impl;
}

/** @brief Options of a partitioner. */
struct partitioner_options {
    partitioner_options() = default;

    /// How long the deciding member waits after a membership change before it reassigns resources,
    /// so that changes in quick succession are handled together: processes that start together, or
    /// a process that is restarted under its name, which then gets back what it had before.
    std::chrono::milliseconds settle = std::chrono::seconds(1);

    /// ACL of all nodes. Empty means open to everyone.
    corozk::acl acl;
};

/** @brief A resource that a member has been given. */
struct partition_grant {
    partition_grant() = default;
    partition_grant(std::string resource_, ownership held_)
        : resource(std::move(resource_)), held(std::move(held_)) {}

    std::string resource;  ///< Its name.
    ownership held;        ///< Held until it is released or destroyed.
};

/** @brief What has changed for a member since the previous `next`; to be applied in this order.
 *         Each gained resource is reported exactly once more, in `lost` or `to_release`, unless the
 *         user releases it first. */
struct partition_change {
    partition_change() = default;
    std::vector<std::string> lost;        ///< No longer held: the session or the node is gone.
    std::vector<std::string> to_release;  ///< Still held; other members wait for their release.
    std::vector<partition_grant> gained;  ///< Granted to this member, if both others are empty.
    /// Whether nothing has changed.
    bool empty() const noexcept { return lost.empty() && to_release.empty() && gained.empty(); }
};

/**
 * @brief Divides a fixed set of resources, such as shards or topics, among the members of a group:
 *        each resource has at most one member at any time, and each member an equal share.
 *
 * @code
 * corozk::partitioner shards(zk, "/app/shards", {"0", "1", "2", "3"});
 * co_await shards.join("host-1");
 * for (;;) {
 *     corozk::partition_change change = co_await shards.next();
 *     for (const auto& resource : change.lost) workers.erase(resource);
 *     for (const auto& resource : change.to_release) workers.erase(resource);
 *     for (auto& grant : change.gained)
 *         workers.emplace(grant.resource, worker(std::move(grant.held)));
 * }
 * @endcode
 *
 * Shares differ by one resource at most. A join or leave moves as few resources as possible. A
 * moved resource is granted to its new member only after the old one has released it or its session
 * has ended.
 *
 * Each resource is held through an `ownership`, which has a fencing token and reports its loss
 * (`ownership::wait_lost`) and requests to release it (`ownership::wait_release_requested`). A
 * resource that is released without such a request is granted again. A resource that `next` has not
 * delivered yet is withdrawn without a request.
 *
 * A member remains one until `leave`: after session loss it joins again in the next session. During
 * an outage it keeps what it has until the session's deadline.
 *
 * @par Preconditions
 * All members have the same resources. Otherwise those of the deciding member (the one that joined
 * first) are divided, and each member takes only the resources that it knows.
 *
 * @par Nodes
 * "members/<name>", as of a `membership`, which may observe them; "locks/<resource>", as of a
 * `lock`; "decider", as of a `lock`. The path's data is the decision; it must be empty or written
 * by a partitioner.
 *
 * @cancellation
 * | operation | all types |
 * |---|---|
 * | `join` | completes at once; the node is deleted in the background |
 * | `next` | completes at once; the next call still reports the change |
 * | `leave` | completes at once; leaves in the background |
 *
 * @executor As `client`. The destructor leaves in the background. What the user holds may outlive
 * the object, and should be released soon.
 *
 * @origin Kazoo's SetPartitioner, whose members release everything at each change, and are not
 * notified if a lock is lost.
 */
class COROZK_DECL partitioner : public detail::recipe_object<detail::partitioner_impl> {
public:
    /** @brief `path` is the node of the group. Nothing is sent. Resources are names of nodes. */
    partitioner(const client& c,
                std::string path,
                std::vector<std::string> resources,
                partitioner_options options = partitioner_options());

    partitioner() noexcept = default;

    /** @brief The name under which it has joined or is joining; otherwise empty. */
    std::string name() const;

    /** @brief Whether the server has its member's node, to the client's knowledge. */
    bool joined() const noexcept;

    /**
     * @brief Becomes a member and remains one. Waits while the name belongs to another session, or
     *        nodes of an earlier `join`, which was cancelled or has failed, remain.
     *
     * @param name unique within the group
     *
     * @completes `void(error_code)`, after the node was created.
     *
     * @errors
     * - `errc::busy`: the object is already a member, or a `join` or `leave` is pending.
     * - `errc::already_exists`: the name is that of a node that belongs to no session.
     * - `errc::bad_path`: not a valid path, or the name or a resource is not a valid node name.
     * - `zk_errc::no_auth`, `zk_errc::invalid_acl`, `errc::closed`.
     */
    template <class Token = default_token>
    auto join(std::string name, Token&& token = Token{}) {
        return join_for(std::move(name), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with 32 random hexadecimal digits as its name. */
    template <detail::token_not<std::string> Token = default_token>
    auto join(Token&& token = Token{}) {
        return join(std::string(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto join_for(std::string name, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_join>(
            "partitioner.join", std::forward<Token>(token), std::move(name), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto join_until(std::string name, time_point deadline, Token&& token = Token{}) {
        return join_for(std::move(name), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits for a change of what this member holds or is to release, and returns it.
     *
     * After `leave` or an error it still reports what is to be released.
     *
     * @completes `void(error_code, partition_change)`
     *
     * @errors `errc::busy`: another `next` of this object is pending. `errc::not_a_member`: it has
     * not joined, or has left and has nothing to release. The reason if it cannot remain a member:
     * `zk_errc::no_auth`, `errc::foreign_data` (the path's data is not a decision),
     * `errc::too_large` (the decision does not fit into a node), `errc::closed`.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return next_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto next_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_next>("partitioner.next", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto next_until(time_point deadline, Token&& token = Token{}) {
        return next_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Leaves the group: the others share its resources as soon as it has released them. A
     *        pending `join` ends with `boost::asio::error::operation_aborted`.
     *
     * The user keeps what it holds until it releases it: `next` reports it in `to_release`. All
     * other resources are released.
     *
     * @completes `void(error_code)`, after the member's node was deleted or its session has ended.
     *
     * @errors `errc::not_a_member`, `errc::closed`.
     */
    template <class Token = default_token>
    auto leave(Token&& token = Token{}) {
        return leave_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto leave_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_leave>("partitioner.leave", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto leave_until(time_point deadline, Token&& token = Token{}) {
        return leave_for(deadline, std::forward<Token>(token));
    }

private:
    static void start_join(const impl_ptr&, std::string name, time_limit limit, handler_of<>);
    static void start_next(const impl_ptr&, time_limit limit, handler_of<partition_change>);
    static void start_leave(const impl_ptr&, time_limit limit, handler_of<>);
};

}  // namespace corozk
