// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/recipe/deadlocks_types.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {

class deadlock_search;

COROZK_DECL std::shared_ptr<deadlock_search> make_deadlock_search(const client& c,
                                                                  std::vector<std::string> paths);
COROZK_DECL void start_deadlock_search(const std::shared_ptr<deadlock_search>& search,
                                       any_handler<void(error_code, wait_graph)> handler);

}  // namespace detail

/**
 * @brief Looks who waits for whom on a list of paths, for all recipes that queue, and finds
 * deadlocks: `co_await find_deadlocks(zk, paths)`.
 *
 * Recognises by their names the contenders of `lock`, `shared_lock`, `priority_lock`, `semaphore`,
 * `election` and `leader_latch`, in all namings that these have. A path that does not exist has no
 * contenders.
 *
 * A participant is a session, or, where one says different things of itself (`identity`), each of
 * these. It is taken to keep what it holds until it has got what it waits for: a participant that
 * does several things independently of each other needs several identities. That one waits for
 * itself is no deadlock here: it may have several contenders in one line. Who waits for some of
 * several permits is only stuck if all who hold or want them are.
 *
 * Everything is read twice, after a `sync`; a deadlock is reported if all of its edges were there
 * both times. So what was seen at different moments adds up to none, and a real one is always
 * found.
 *
 * @par Completion signature
 * `void(error_code, wait_graph)`
 *
 * @par Errors
 * `errc::bad_path`, `zk_errc::no_auth`, `zk_errc::connection_loss`, `errc::not_connected`,
 * `errc::closed`.
 *
 * @par Cancellation
 * Terminal, partial, total: completes at once.
 *
 * @par Executor, threads, lifetime
 * As for operations of the client.
 */
template <class Token = default_token>
auto find_deadlocks(const client& c, std::vector<std::string> paths, Token&& token = Token{}) {
    detail::call_site where("find_deadlocks", paths.empty() ? std::string() : paths.front());
    detail::callee search(c.implementation(), detail::make_deadlock_search(c, std::move(paths)));
    return detail::initiate<&detail::start_deadlock_search>(
        std::move(where), std::move(search), std::forward<Token>(token));
}

}  // namespace corozk
