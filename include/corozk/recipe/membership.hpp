// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/recipe/membership_types.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class membership_impl;
}

/** @brief How a group is kept. */
struct membership_options {
    membership_options() = default;

    /// What `join` does while the name belongs to another session: wait until that one is gone
    /// (true), or fail with `errc::already_exists` (false). An earlier session of this object is
    /// waited for in any case.
    bool wait_for_predecessor = true;

    /// Of the members' nodes and of folders that are made for them; empty means open.
    corozk::acl acl;
};

/**
 * @brief Who is there: a folder with an ephemeral node for each member, which holds the member's
 *        name and data.
 *
 * One object can be a member (`join` ... `leave`), an observer (`members`, `next_change`), or both.
 *
 * A member stays one until `leave`: when its session is lost it joins again with the next one by
 * itself, with the data that was wanted last; when its old node is still there it waits until the
 * server has removed it. The same holds for a process that restarts under its old name.
 *
 * An observer gets differences, not events: whatever happened in between, an outage or a new
 * session included, applying them all in order to an empty set gives the group as the server has
 * it. Children of the folder that are not ephemeral are no members.
 *
 * @par Cancellation
 * | operation | terminal, partial, total |
 * |---|---|
 * | `join` | completes at once; the node is erased in the background |
 * | `leave` | completes at once; leaving goes on in the background |
 * | `set_data` | completes at once; the data is still to be written |
 * | `members` | completes at once |
 * | `next_change` | completes at once; nothing is lost to the next call |
 *
 * A cancelled operation completes with `boost::asio::error::operation_aborted`.
 *
 * @par Executor and thread safety
 * As `client`: use it on the client's executor only. Handlers never run within the initiating
 * function.
 *
 * @par Lifetime
 * Destroying the object leaves the group (in the background); what waits completes with
 * `operation_aborted`. After `client::close` everything fails with `errc::closed`.
 *
 * @par Origin
 * "Group Membership" on ZooKeeper's recipes page. Nodes that never came back after an outage and
 * members that came back after they had left are CURATOR-53, CURATOR-97, CURATOR-154, CURATOR-164
 * and CURATOR-617.
 */
class COROZK_DECL membership : public detail::recipe_object<detail::membership_impl> {
public:
    /** @brief The group whose folder is `path`. Nothing is sent. */
    membership(const client& c,
               std::string path,
               membership_options options = membership_options());

    membership() noexcept = default;

    /** @brief The name under which it joined (or is joining); empty when it has not. */
    std::string name() const;

    /** @brief Whether the server has its node now, as far as is known. */
    bool joined() const noexcept;

    /**
     * @brief Becomes a member and stays one.
     *
     * @param name unique within the group; empty makes up a name of 32 digits
     *
     * @par Completion signature
     * `void(error_code)`: the node is there.
     *
     * @par Errors
     * - `errc::busy`: the object is a member already, or joining or leaving.
     * - `errc::already_exists`: the name is taken (only if the options say so).
     * - `errc::bad_path`: the name cannot be a node's.
     * - `zk_errc::no_auth`, `zk_errc::invalid_acl`, `errc::closed`.
     */
    template <class Token = default_token>
    auto join(std::string name, std::string data, Token&& token = Token{}) {
        return join_for(
            std::move(name), std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief The same, without data. */
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
                    time_limit::time_point deadline,
                    Token&& token = Token{}) {
        return join_for(std::move(name),
                        std::move(data),
                        time_limit::until(deadline),
                        std::forward<Token>(token));
    }

    /**
     * @brief Replaces the member's data, for this session and later ones.
     *
     * @par Completion signature
     * `void(error_code)`: the server has it.
     *
     * @par Errors
     * `errc::not_a_member`, `errc::closed`; why the server refuses the data, such as
     * `zk_errc::quota_exceeded`: then the data before it remain.
     */
    template <class Token = default_token>
    auto set_data(std::string data, Token&& token = Token{}) {
        return initiate<&start_set_data>(
            "membership.set_data", std::forward<Token>(token), std::move(data));
    }

    /**
     * @brief Stops being a member.
     *
     * @par Completion signature
     * `void(error_code)`: the node is gone, or its session is.
     *
     * @par Errors
     * `errc::not_a_member`, `errc::closed`.
     */
    template <class Token = default_token>
    auto leave(Token&& token = Token{}) {
        return initiate<&start_leave>("membership.leave", std::forward<Token>(token));
    }

    /**
     * @brief Reads who is there, ordered by name. A missing folder is an empty group.
     *
     * @par Completion signature
     * `void(error_code, std::vector<member_info>)`
     *
     * @par Errors
     * `zk_errc::no_auth`, `errc::bad_path`, `errc::closed`.
     */
    template <class Token = default_token>
    auto members(Token&& token = Token{}) {
        return initiate<&start_members>("membership.members", std::forward<Token>(token));
    }

    /**
     * @brief Waits until the group differs from what this object told last, and tells how.
     *
     * The first call tells all members as joined, and completes at once even if there are none.
     *
     * @par Completion signature
     * `void(error_code, membership_change)`
     *
     * @par Errors
     * `errc::busy` (another `next_change` of this object waits), `zk_errc::no_auth`,
     * `errc::bad_path`, `errc::closed`.
     */
    template <class Token = default_token>
    auto next_change(Token&& token = Token{}) {
        return initiate<&start_next_change>("membership.next_change", std::forward<Token>(token));
    }

private:
    static void start_join(const impl_ptr&,
                           std::string name,
                           std::string data,
                           time_limit limit,
                           handler_of<>);
    static void start_set_data(const impl_ptr&, std::string data, handler_of<>);
    static void start_leave(const impl_ptr&, handler_of<>);
    static void start_members(const impl_ptr&, handler_of<std::vector<member_info>>);
    static void start_next_change(const impl_ptr&, handler_of<membership_change>);
};

}  // namespace corozk
