// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/time_limit.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class contention_inspector_impl;
}

/**
 * @brief Inspects the holders and waiters at a path, regardless of the recipe: for tools.
 *
 * Recognises the contenders of `lock`, `shared_lock`, `priority_lock`, `semaphore`, `election` and
 * `leader_latch` by their names, with any `compatibility`, except Kazoo's semaphores. All
 * leases of Curator's semaphores count as held, as it does not store the limit.
 *
 * @executor As `lock`.
 */
class COROZK_DECL contention_inspector
    : public detail::recipe_object<detail::contention_inspector_impl> {
public:
    /** @brief `path` is the path of the recipe. Nothing is sent. */
    contention_inspector(const client& c, std::string path);
    contention_inspector() noexcept = default;

    /**
     * @brief As `lock::list_contenders`, after a `sync` (`zk_errc::not_read_only`). Interprets the nodes
     *        as each recipe would, and uses the one that recognises most of them.
     */
    template <class Token = default_token>
    auto list_contenders(Token&& token = Token{}) {
        return initiate<&start_list_contenders>("contention_inspector.list_contenders",
                                                std::forward<Token>(token));
    }

    /**
     * @brief As `lock::break_contender`; `zk_errc::no_node` if `list_contenders` does not list it.
     */
    template <class Token = default_token>
    auto break_contender(std::string contender_path, Token&& token = Token{}) {
        return initiate_about<&start_break>("contention_inspector.break_contender",
                                            contender_path,
                                            std::forward<Token>(token),
                                            std::move(contender_path));
    }

    /**
     * @brief As `lock::request_release`; `zk_errc::no_node` if `list_contenders` does not list it.
     */
    template <class Token = default_token>
    auto request_release(std::string contender_path, Token&& token = Token{}) {
        return initiate_about<&start_request>("contention_inspector.request_release",
                                              contender_path,
                                              std::forward<Token>(token),
                                              std::move(contender_path));
    }

    /**
     * @brief As `lock::insist_on_release`; `zk_errc::no_node` if `list_contenders` does not list it.
     */
    template <class Token = default_token>
    auto insist_on_release(std::string contender_path, time_limit grace, Token&& token = Token{}) {
        return initiate_about<&start_insist>("contention_inspector.insist_on_release",
                                             contender_path,
                                             std::forward<Token>(token),
                                             std::move(contender_path),
                                             grace);
    }

private:
    static void start_list_contenders(const impl_ptr&, handler_of<std::vector<contender_info>>);
    static void start_break(const impl_ptr&, std::string contender_path, handler_of<>);
    static void start_request(const impl_ptr&, std::string contender_path, handler_of<>);
    static void start_insist(const impl_ptr&, std::string, time_limit, handler_of<bool>);
};

}  // namespace corozk
