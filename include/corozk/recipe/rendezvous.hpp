// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/rendezvous_types.hpp>
#include <corozk/time_limit.hpp>

#include <string>
#include <utility>

namespace corozk {

namespace detail {
class rendezvous_impl;
}

/** @brief Options of a rendezvous. */
struct rendezvous_options {
    rendezvous_options() = default;

    /// Whether `publish` waits while another publisher's node exists. Otherwise, and if the node
    /// belongs to no session, it fails with `errc::already_exists`.
    bool wait_for_predecessor = true;

    /// ACL of the node and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/**
 * @brief Lets processes that start in any order find each other: a master publishes its address,
 *        and workers wait for it.
 *
 * The node is ephemeral. Until `withdraw`, it is re-created in each session, and if another client
 * deletes it. With `next`, workers follow a master that moves.
 *
 * @cancellation
 * | operation | all types |
 * |---|---|
 * | `publish` | completes at once; the node is deleted in the background |
 * | `set_data` | completes at once; writes the data in the background |
 * | `withdraw` | completes at once; withdraws in the background |
 * | `await`, `next` | completes at once; the next call still reports the change |
 *
 * @executor As `client`. The destructor withdraws in the background.
 *
 * @origin "Rendezvous" in the ZooKeeper paper (section 2.4).
 */
class COROZK_DECL rendezvous : public detail::recipe_object<detail::rendezvous_impl> {
public:
    /** @brief `path` is the node to publish. Nothing is sent. */
    rendezvous(const client& c,
               std::string path,
               rendezvous_options options = rendezvous_options());

    rendezvous() noexcept = default;

    /** @brief Whether the server has the node of this object, to the client's knowledge. */
    bool published() const noexcept;

    /**
     * @brief Publishes data until `withdraw`.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::busy` (already published by this object), `errc::already_exists` (see the
     * options), `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
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
    auto publish_until(std::string data, time_point deadline, Token&& token = Token{}) {
        return publish_for(std::move(data), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the published data, for this session and later ones.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::not_a_member`: nothing is published. `errc::closed`. The server's reason for
     * rejecting the data: the previous data is kept. `boost::asio::error::operation_aborted`:
     * `withdraw` was called meanwhile. Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto set_data(std::string data, Token&& token = Token{}) {
        return set_data_for(std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto set_data_for(std::string data, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_set_data>(
            "rendezvous.set_data", std::forward<Token>(token), std::move(data), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto set_data_until(std::string data, time_point deadline, Token&& token = Token{}) {
        return set_data_for(std::move(data), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Deletes the node. A pending `publish` or `set_data` ends with
     *        `boost::asio::error::operation_aborted`.
     *
     * @completes `void(error_code)`, after the node was deleted or its session has ended.
     *
     * @errors `errc::not_a_member`: nothing is published. `errc::closed`. Retries across outages.
     */
    template <class Token = default_token>
    auto withdraw(Token&& token = Token{}) {
        return withdraw_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto withdraw_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_withdraw>("rendezvous.withdraw", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto withdraw_until(time_point deadline, Token&& token = Token{}) {
        return withdraw_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the data is published.
     *
     * @completes `void(error_code, rendezvous_point)`
     *
     * @errors `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
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
    auto await_until(time_point deadline, Token&& token = Token{}) {
        return await_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the data, the publisher or its presence differs from the state returned
     *        last. The first call completes at once. Intermediate states may be skipped.
     *
     * @completes `void(error_code, rendezvous_point)`
     *
     * @errors `errc::busy` (another `next` of this object is pending), `errc::bad_path`,
     * `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return initiate<&start_next>("rendezvous.next", std::forward<Token>(token));
    }

private:
    static void start_publish(const impl_ptr&, std::string data, time_limit limit, handler_of<>);
    static void start_set_data(const impl_ptr&, std::string data, time_limit limit, handler_of<>);
    static void start_withdraw(const impl_ptr&, time_limit limit, handler_of<>);
    static void start_await(const impl_ptr&, time_limit limit, handler_of<rendezvous_point>);
    static void start_next(const impl_ptr&, handler_of<rendezvous_point>);
};

}  // namespace corozk
