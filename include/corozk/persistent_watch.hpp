// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/error.hpp>
#include <corozk/watch_types.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class user_persistent_watch;
COROZK_DECL boost::asio::any_io_executor executor_of(
    const std::shared_ptr<user_persistent_watch>& w) noexcept;
}  // namespace detail

/**
 * @brief A watch that `client::add_watch` has set at the server, and that reports every change
 *        until it is destroyed.
 *
 * Events are queued in the order of the changes, and arrive before the response to any read that
 * shows the change. An event `watch_event_type::unknown` of the watched node means that others may
 * be missing, so that everything of interest must be read again: after each reconnect of the
 * session, and if the queued events would take more than 256 KiB, which it then replaces.
 *
 * Move-only. The destructor ends the watch, also at the server unless the client has others on the
 * node; a pending `next` completes with `operation_aborted`. The watch survives reconnects of the
 * session, not its loss.
 *
 * @executor As `client`.
 */
class COROZK_DECL persistent_watch {
public:
    /// An empty watch: `next` fails with `zk_errc::no_watcher`.
    persistent_watch() noexcept;
    /// Made by the client.
    explicit persistent_watch(std::shared_ptr<detail::user_persistent_watch> impl) noexcept;
    persistent_watch(persistent_watch&&) noexcept;
    persistent_watch& operator=(persistent_watch&&) noexcept;
    ~persistent_watch();

    using executor_type = boost::asio::any_io_executor;

    executor_type get_executor() const noexcept { return detail::executor_of(impl_); }

    /** @brief Whether events may still arrive, or have arrived and were not retrieved by `next`. */
    bool pending() const noexcept;

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
        return detail::initiate<&start_next>(
            detail::call_site("persistent_watch.next", path()), impl_, std::forward<Token>(token));
    }

    /** @brief The watched path. */
    std::string path() const;

private:
    static void start_next(const std::shared_ptr<detail::user_persistent_watch>&,
                           detail::any_handler<void(error_code, watch_event)>);

    std::shared_ptr<detail::user_persistent_watch> impl_;
};

}  // namespace corozk
