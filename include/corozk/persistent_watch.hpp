// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/watch.hpp>

namespace corozk {

/**
 * @brief A watch that `client::add_watch` has set at the server, and that reports every change
 *        until it is destroyed.
 *
 * Events are queued in the order of the changes, and arrive before the response to any read that
 * shows the change. An event `watch_event_type::unknown` of the watched node means that others may
 * be missing, so that everything of interest must be read again: it is reported after each
 * reconnect of the session, and in place of the queued events if these would take more than 256
 * KiB.
 *
 * Move-only. The destructor ends the watch, at the server as well unless the client has others on
 * the node; a pending `next` completes with `boost::asio::error::operation_aborted`. The watch
 * survives reconnects of the session, not its loss.
 *
 * @executor As `client`.
 */
class COROZK_DECL persistent_watch : public detail::any_watch {
public:
    persistent_watch() noexcept = default;  ///< Empty: `next` fails with `zk_errc::no_watcher`.
    explicit persistent_watch(
        std::shared_ptr<detail::user_watch> impl) noexcept  ///< Made by the client.
        : any_watch(std::move(impl)) {}

    /**
     * @brief Waits for the next event.
     *
     * @completes `void(error_code, watch_event)`
     *
     * @errors After the last event: `zk_errc::session_expired`: the session was lost.
     * `errc::closed`: the client was closed. `zk_errc::unimplemented`: the client has reconnected
     * to a server without persistent watches. At once: `zk_errc::no_watcher`: the object is empty.
     * `errc::busy`: another `next` is pending.
     *
     * @cancellation All types: completes at once; a later `next` gets the event.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return next_event("persistent_watch.next", std::forward<Token>(token));
    }
};

}  // namespace corozk
