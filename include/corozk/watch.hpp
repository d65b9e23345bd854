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
class user_watch;
COROZK_DECL boost::asio::any_io_executor executor_of(const std::shared_ptr<user_watch>& w) noexcept;
}  // namespace detail

/**
 * @brief A watch that a reading operation has set at the server. It fires once.
 *
 * Move-only. The destructor cancels the watch, also at the server unless the client has others on
 * the node; a pending `next` completes with `operation_aborted`. The watch survives reconnects of
 * the session, and reports what has changed meanwhile before any later operation shows it.
 *
 * @executor As `client`.
 */
class COROZK_DECL watch {
public:
    /// An empty watch: `next` fails with `zk_errc::no_watcher`.
    watch() noexcept;
    explicit watch(std::shared_ptr<detail::user_watch> impl) noexcept;  ///< Made by the client.
    watch(watch&&) noexcept;
    watch& operator=(watch&&) noexcept;
    ~watch();

    using executor_type = boost::asio::any_io_executor;

    executor_type get_executor() const noexcept { return detail::executor_of(impl_); }

    /** @brief Whether an event may still arrive, or has arrived and was not retrieved by `next`. */
    bool pending() const noexcept;

    /**
     * @brief Waits for the event.
     *
     * @completes `void(error_code, watch_event)`
     *
     * @errors `zk_errc::session_expired`: the session was lost. `errc::closed`: the client was
     * closed. `zk_errc::no_watcher`: the event was already retrieved. `errc::busy`: another `next`
     * is pending.
     *
     * @cancellation All types: completes at once; a later `next` gets the event.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return detail::initiate<&start_next>(
            detail::call_site("watch.next", path()), impl_, std::forward<Token>(token));
    }

    /** @brief The watched path. */
    std::string path() const;

private:
    static void start_next(const std::shared_ptr<detail::user_watch>&,
                           detail::any_handler<void(error_code, watch_event)>);

    std::shared_ptr<detail::user_watch> impl_;
};

}  // namespace corozk
