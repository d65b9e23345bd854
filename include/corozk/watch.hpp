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

/// Base of `watch` and `persistent_watch`.
class COROZK_DECL any_watch {
public:
    using executor_type = boost::asio::any_io_executor;

    executor_type get_executor() const noexcept;

    /** @brief Whether events may still arrive, or have arrived and were not retrieved by `next`. */
    bool pending() const noexcept;

    /** @brief The watched path. */
    std::string path() const;

protected:
    any_watch() noexcept = default;
    explicit any_watch(std::shared_ptr<user_watch> impl) noexcept : impl_(std::move(impl)) {}
    any_watch(any_watch&&) noexcept = default;
    any_watch& operator=(any_watch&& other) noexcept;
    ~any_watch();

    template <class Token>
    auto next_event(const char* operation, Token&& token) {
        return initiate<&start_next>(call_site(operation, path()),
                                     callee(get_executor(), impl_),
                                     std::forward<Token>(token));
    }

private:
    static void start_next(const std::shared_ptr<user_watch>&, handler_of<watch_event>);

    std::shared_ptr<user_watch> impl_;
};

}  // namespace detail

/**
 * @brief A watch that a reading operation has set at the server. It fires once.
 *
 * Move-only. The destructor cancels the watch, at the server as well unless the client has others
 * on the node; a pending `next` completes with `boost::asio::error::operation_aborted`. The watch
 * survives reconnects of the session, and reports what has changed meanwhile before any later
 * operation shows it.
 *
 * @executor As `client`.
 */
class COROZK_DECL watch : public detail::any_watch {
public:
    watch() noexcept = default;  ///< An empty watch: `next` fails with `zk_errc::no_watcher`.
    explicit watch(std::shared_ptr<detail::user_watch> impl) noexcept  ///< Made by the client.
        : any_watch(std::move(impl)) {}

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
        return next_event("watch.next", std::forward<Token>(token));
    }
};

}  // namespace corozk
