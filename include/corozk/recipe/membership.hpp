// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/membership_types.hpp>
#include <corozk/time_limit.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class membership_impl;
}

/** @brief Options of a group membership. */
struct membership_options {
    membership_options() = default;

    /// Whether `join` waits while the name belongs to another session. Otherwise it fails with
    /// `errc::already_exists`. It always waits for an earlier session of the same object.
    bool wait_for_predecessor = true;

    /// ACL of the members' nodes and of missing parents. Empty means open to everyone.
    corozk::acl acl;

    /// The format, see `membership`. `curator` is the same as `native`.
    corozk::compatibility compatibility = corozk::compatibility::native;
};

/**
 * @brief A group of processes: each member has an ephemeral node with its name and data.
 *
 * An object can be a member (`join` ... `leave`), an observer (`list_members`, `next`), or both.
 *
 * A member remains one until `leave`: after session loss it joins again in the next session with
 * its latest data, as soon as the server has deleted the node of the lost session. The same applies
 * to a process that is restarted under its old name.
 *
 * @par Names
 * `native`: a member's node has its name. So have those of Curator's GroupMember, and those of
 * Kazoo's ShallowParty. ShallowParty shows the part of the name after the first "-", and fails if
 * the parent is deleted; create the parent as a persistent node first. `kazoo`: "<name>__party__",
 * as Party, which shows the data of members only. A GroupMember does not wait for a name that is
 * taken, but uses the other's node: each name must have one owner.
 *
 * An observer gets differences, not events: applied in order to an empty set, they yield the group
 * as the server has it, across outages and sessions. Children that are not ephemeral are ignored.
 *
 * @par Preconditions
 * An observer may read all members' nodes; otherwise `list_members` and `next` fail with
 * `zk_errc::no_auth`.
 *
 * @cancellation
 * | operation | all types |
 * |---|---|
 * | `join` | completes at once; the node is deleted in the background |
 * | `leave` | completes at once; leaves in the background |
 * | `set_data` | completes at once; writes the data in the background |
 * | `list_members` | completes at once |
 * | `next` | completes at once; the next call still reports the change |
 *
 * @executor As `client`. The destructor leaves the group in the background.
 *
 * @origin "Group Membership" on ZooKeeper's recipes page. CURATOR-53, CURATOR-97, CURATOR-154,
 * CURATOR-164 and CURATOR-617: nodes that were missing after an outage, and members that reappeared
 * after they had left.
 */
class COROZK_DECL membership : public detail::recipe_object<detail::membership_impl> {
public:
    /** @brief `path` is the parent node of the members. Nothing is sent. */
    membership(const client& c,
               std::string path,
               membership_options options = membership_options());

    membership() noexcept = default;

    /** @brief The name under which it has joined or is joining; otherwise empty. */
    std::string name() const;

    /** @brief Whether the server has its node, to the client's knowledge. */
    bool joined() const noexcept;

    /**
     * @brief Becomes a member and remains one.
     *
     * @param name unique within the group; if empty, 32 random hexadecimal digits
     *
     * @completes `void(error_code)`, after the node was created.
     *
     * @errors
     * - `errc::busy`: the object is already a member or joining, or leaving under this name.
     * - `errc::already_exists`: the name is taken (without `wait_for_predecessor`), or that of a
     *   node that belongs to no session.
     * - `errc::bad_path`: not a valid node name.
     * - `zk_errc::no_auth`, `zk_errc::invalid_acl`, `errc::closed`.
     */
    template <class Token = default_token>
    auto join(std::string name, std::string data, Token&& token = Token{}) {
        return join_for(
            std::move(name), std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, without data. */
    template <detail::token_not<std::string> Token = default_token>
    auto join(std::string name, Token&& token = Token{}) {
        return join(std::move(name), std::string(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto join_for(std::string name, std::string data, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_join>(
            "membership.join", std::forward<Token>(token), std::move(name), std::move(data), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto join_until(std::string name,
                    std::string data,
                    time_point deadline,
                    Token&& token = Token{}) {
        return join_for(std::move(name), std::move(data), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the member's data, for this session and later ones.
     *
     * @completes `void(error_code)`, after it was written.
     *
     * @errors `errc::not_a_member`, `errc::closed`; the server's reason for rejecting the data,
     * such as `zk_errc::quota_exceeded`: the previous data is kept. Retries across outages and
     * session loss.
     */
    template <class Token = default_token>
    auto set_data(std::string data, Token&& token = Token{}) {
        return set_data_for(std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto set_data_for(std::string data, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_set_data>(
            "membership.set_data", std::forward<Token>(token), std::move(data), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto set_data_until(std::string data, time_point deadline, Token&& token = Token{}) {
        return set_data_for(std::move(data), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Leaves the group. A pending `join` or `set_data` ends with
     *        `boost::asio::error::operation_aborted`.
     *
     * @completes `void(error_code)`, after the node was deleted or its session has ended.
     *
     * @errors `errc::not_a_member`, `errc::closed`. Retries across outages.
     */
    template <class Token = default_token>
    auto leave(Token&& token = Token{}) {
        return leave_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto leave_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_leave>("membership.leave", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto leave_until(time_point deadline, Token&& token = Token{}) {
        return leave_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Gets the members, sorted by name; none if the parent node does not exist.
     *
     * @completes `void(error_code, std::vector<member_info>)`
     *
     * @errors `zk_errc::no_auth`, `errc::bad_path`, `errc::closed`. Retries across outages and
     * session loss.
     */
    template <class Token = default_token>
    auto list_members(Token&& token = Token{}) {
        return list_members_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto list_members_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_list_members>(
            "membership.list_members", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto list_members_until(time_point deadline, Token&& token = Token{}) {
        return list_members_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits for a change of the group since the last call, and returns the difference.
     *
     * The first call completes at once and reports all members, if any, as joined.
     *
     * @completes `void(error_code, membership_change)`
     *
     * @errors `errc::busy` (another `next` of this object is pending), `zk_errc::no_auth`,
     * `errc::bad_path`, `errc::closed`.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return initiate<&start_next>("membership.next", std::forward<Token>(token));
    }

private:
    static void start_join(const impl_ptr&, std::string, std::string, time_limit, handler_of<>);
    static void start_set_data(const impl_ptr&, std::string data, time_limit limit, handler_of<>);
    static void start_leave(const impl_ptr&, time_limit limit, handler_of<>);
    static void start_list_members(const impl_ptr&,
                                   time_limit limit,
                                   handler_of<std::vector<member_info>>);
    static void start_next(const impl_ptr&, handler_of<membership_change>);
};

}  // namespace corozk
