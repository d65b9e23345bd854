// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/recipe/rendezvous_types.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class rendezvous_impl;
}

/** @brief How a meeting point is kept. */
struct rendezvous_options {
    rendezvous_options() = default;

    /// What `publish` does while somebody else's data is there: wait until that one is gone (true),
    /// or fail with `errc::already_exists` (false).
    bool wait_for_predecessor = true;

    /// Of the node and of folders that are made for it; empty means open.
    corozk::acl acl;
};

/**
 * @brief A place where processes meet whose start has no order: a master publishes where it is, its
 *        workers wait for that, whoever comes first.
 *
 * The node belongs to the publisher's session. It is published again by itself with the next
 * session, and when somebody erased it, until `withdraw`. A worker follows a master that restarts
 * elsewhere with `next`.
 *
 * @par Cancellation
 * | operation | terminal, partial, total |
 * |---|---|
 * | `publish` | completes at once; the node is erased in the background |
 * | `update` | completes at once; the data is still to be written |
 * | `withdraw` | completes at once; withdrawing goes on in the background |
 * | `await`, `next` | complete at once; `next` loses nothing to the next call |
 *
 * A cancelled operation completes with `boost::asio::error::operation_aborted`.
 *
 * @par Executor and thread safety
 * As `client`: use it on the client's executor only. Handlers never run within the initiating
 * function.
 *
 * @par Lifetime
 * Destroying the object withdraws (in the background); what waits completes with
 * `operation_aborted`. After `client::close` everything fails with `errc::closed`.
 *
 * @par Origin
 * "Rendezvous" in the ZooKeeper paper (section 2.4).
 */
class COROZK_DECL rendezvous : public detail::recipe_object<detail::rendezvous_impl> {
public:
    /** @brief The meeting point whose node is `path`. Nothing is sent. */
    rendezvous(const client& c,
               std::string path,
               rendezvous_options options = rendezvous_options());

    rendezvous() noexcept = default;

    /** @brief Whether the server has our node now, as far as is known. */
    bool published() const noexcept;

    /**
     * @brief Publishes, and keeps it published.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::busy` (published by this object already), `errc::already_exists` (see the options),
     * `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto publish(std::string data, Token&& token = Token{}) {
        return publish_for(std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto publish_for(std::string data, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_publish>(
            "rendezvous.publish", std::forward<Token>(token), std::move(data), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto publish_until(std::string data, time_limit::time_point deadline, Token&& token = Token{}) {
        return publish_for(
            std::move(data), time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Replaces what is published, for this session and later ones.
     *
     * @par Completion signature
     * `void(error_code)`; `errc::not_a_member` if nothing is published.
     */
    template <class Token = default_token>
    auto update(std::string data, Token&& token = Token{}) {
        return initiate<&start_update>(
            "rendezvous.update", std::forward<Token>(token), std::move(data));
    }

    /**
     * @brief Takes it away.
     *
     * @par Completion signature
     * `void(error_code)`: the node is gone, or its session is; `errc::not_a_member` if nothing was
     * published.
     */
    template <class Token = default_token>
    auto withdraw(Token&& token = Token{}) {
        return initiate<&start_withdraw>("rendezvous.withdraw", std::forward<Token>(token));
    }

    /**
     * @brief Waits until somebody is there.
     *
     * @par Completion signature
     * `void(error_code, rendezvous_point)`
     *
     * @par Errors
     * `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto await(Token&& token = Token{}) {
        return await_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto await_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_await>("rendezvous.await", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto await_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return await_for(time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Waits until it is different from what this object told last: other data, another
     *        publisher, nobody. The first call tells at once how things are. The latest state wins.
     *
     * @par Completion signature
     * `void(error_code, rendezvous_point)`
     *
     * @par Errors
     * `errc::busy` (another `next` of this object waits), `errc::bad_path`, `zk_errc::no_auth`,
     * `errc::closed`.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return initiate<&start_next>("rendezvous.next", std::forward<Token>(token));
    }

private:
    static void start_publish(const impl_ptr&, std::string data, time_limit limit, handler_of<>);
    static void start_update(const impl_ptr&, std::string data, handler_of<>);
    static void start_withdraw(const impl_ptr&, handler_of<>);
    static void start_await(const impl_ptr&, time_limit limit, handler_of<rendezvous_point>);
    static void start_next(const impl_ptr&, handler_of<rendezvous_point>);
};

}  // namespace corozk
