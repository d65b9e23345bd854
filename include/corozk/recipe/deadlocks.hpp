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
                                       handler_of<wait_graph> handler);

}  // namespace detail

/**
 * @brief Determines the wait-for graph of a list of paths, and its deadlocks:
 *        `co_await find_deadlocks(zk, paths)`.
 *
 * Recognises the contenders of `lock`, `shared_lock`, `priority_lock`, `semaphore`, `election` and
 * `leader_latch` by their names, with any `compatibility`, except Kazoo's semaphores. A path that
 * does not exist has no contenders.
 *
 * A participant is a session or, if its contenders have different `identity` options, each of
 * these. Sessions whose contenders have the same identity are one participant, too: the processes
 * of one job, say (an identity that is an IP address does not count, since Curator writes that of
 * the host where none is set). A participant is assumed to keep what it holds until it gets what it
 * waits for: independent tasks need different identities. A participant that waits for
 * itself within a session is not reported as a deadlock, because it may have several contenders at
 * a path. A participant that waits for permits is stuck only if all holders of permits and all
 * waiters ahead of it are.
 *
 * Everything is read after a `sync`, and once more if there seems to be a deadlock. A deadlock is
 * reported if all its edges exist both times, so edges observed at different times never produce a
 * false deadlock, and real ones are always found.
 *
 * @completes `void(error_code, wait_graph)`
 *
 * @errors `errc::bad_path`, `zk_errc::no_auth`, `zk_errc::connection_loss`, `errc::not_connected`,
 * `zk_errc::not_read_only`, `errc::closed`.
 *
 * @cancellation All types: completes at once.
 *
 * @executor As for operations of `client`.
 */
template <class Token = default_token>
auto find_deadlocks(const client& c, std::vector<std::string> paths, Token&& token = Token{}) {
    detail::call_site where("find_deadlocks", paths.empty() ? std::string() : paths.front());
    detail::callee search(c.implementation(), detail::make_deadlock_search(c, std::move(paths)));
    return detail::initiate<&detail::start_deadlock_search>(
        std::move(where), std::move(search), std::forward<Token>(token));
}

}  // namespace corozk
