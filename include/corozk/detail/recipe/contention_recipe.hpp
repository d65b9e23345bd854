// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/detail/recipe/acquisition.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/ownership.hpp>
#include <corozk/time_limit.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

class contention_object;

/// The names of a recipe and of the operations that all these recipes have, for errors and tracers.
struct contention_names {
    const char* recipe = "";
    const char* contenders = "contenders";
    const char* break_contender = "break_contender";
    const char* request_release = "request_release";
    const char* insist_on_release = "insist_on_release";
};

/** @brief Base of recipes with a contention queue: a parent with a node per contender. */
class COROZK_DECL contention_recipe : public recipe_object<const contention_object> {
public:
    /**
     * @brief Lists holders and waiters, in order, with the nodes that each waits for.
     *
     * @completes `void(error_code, std::vector<contender_info>)`
     *
     * @errors `zk_errc::no_auth`, `zk_errc::connection_loss`, `errc::not_connected`,
     * `errc::closed`, `errc::bad_path`, `errc::foreign_data` (if the recipe stores something in the
     * parent's data: it contains something else). The list is empty if the parent does not exist.
     *
     * @cancellation All types: completes at once.
     */
    template <class Token = default_token>
    auto list_contenders(Token&& token = Token{}) {
        return initiate<&start_list_contenders>(names_.contenders, std::forward<Token>(token));
    }

    /**
     * @brief Deletes a contender's node, as found by `list_contenders`. Its owner gets
     *        `errc::ownership_lost`; a contender waiting behind others of its own client gets it
     *        when its turn comes at the latest.
     *
     * @completes `void(error_code)`
     *
     * @errors `zk_errc::no_node`: it does not exist. `errc::bad_path`: not a contender of this
     * recipe. `zk_errc::no_auth`, `zk_errc::not_read_only`, `zk_errc::connection_loss`,
     * `errc::not_connected`, `errc::closed`.
     *
     * @cancellation All types: completes at once; the node may be deleted anyway.
     */
    template <class Token = default_token>
    auto break_contender(std::string contender_path, Token&& token = Token{}) {
        return initiate_about<&start_break>(
            names_.break_contender, contender_path, std::forward<Token>(token), contender_path);
    }

    /**
     * @brief Asks the owner of a contender's node, as found by `list_contenders`, to release:
     *        `ownership::wait_release_requested` completes there, once it holds. The owner decides.
     *
     * The request is appended to the data of the node or, with `compatibility::curator`, replaces
     * it.
     *
     * @completes `void(error_code)`, after the request was written.
     *
     * @errors As `break_contender`. `errc::not_supported`: the format has no such requests (see
     * `contender_options::release_request`).
     *
     * @cancellation All types: completes at once; the request may be written anyway.
     *
     * @see Recipes page, "Revocable Shared Locks".
     */
    template <class Token = default_token>
    auto request_release(std::string contender_path, Token&& token = Token{}) {
        return initiate_about<&start_request>(
            names_.request_release, contender_path, std::forward<Token>(token), contender_path);
    }

    /**
     * @brief As `request_release`, then waits until the node has been deleted, and deletes it after
     *        the grace period, as `break_contender`. Beware: the owner may still be working.
     *
     * The grace period begins when the request was written.
     *
     * @completes `void(error_code, bool)`: true if the node had to be deleted, even if the response
     * to the delete was lost and the node no longer exists.
     *
     * @errors As `request_release`; a node that is gone after the request was written is not an
     * error.
     *
     * @cancellation All types: completes at once; requests and deletions are not
     * undone.
     */
    template <class Token = default_token>
    auto insist_on_release(std::string contender_path, time_limit grace, Token&& token = Token{}) {
        return initiate_about<&start_insist>(names_.insist_on_release,
                                             contender_path,
                                             std::forward<Token>(token),
                                             contender_path,
                                             grace);
    }

protected:
    using session_ptr = std::shared_ptr<session_view>;
    using callee = detail::callee<session_ptr, impl_ptr>;
    using claim = acquire_request;

    contention_recipe(const client& c, impl_ptr impl, const contention_names& names);
    contention_recipe() noexcept = default;
    contention_recipe(contention_recipe&&) noexcept = default;
    contention_recipe& operator=(contention_recipe&&) noexcept = default;
    ~contention_recipe() = default;

    template <class Token>
    auto begin(const char* operation, claim what, Token&& token) {
        return initiate<&start_acquire>(operation, std::forward<Token>(token), what);
    }

    /// For a `multi_lock`.
    acquisition part_of(claim what) const;

    static void start_acquire(const callee& of, claim what, handler_of<ownership> handler);
    static void start_list_contenders(const callee& of,
                                      handler_of<std::vector<contender_info>> handler);
    static void start_break(const callee& of, std::string contender_path, handler_of<> handler);
    static void start_request(const callee& of, std::string contender_path, handler_of<> handler);
    static void start_insist(const callee& of,
                             std::string contender_path,
                             time_limit grace,
                             handler_of<bool> handler);

private:
    contention_names names_;
};

}  // namespace corozk::detail
