// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class counter_impl;
enum class counter_operation : std::uint8_t;
}  // namespace detail

/** @brief Options of a counter. */
struct counter_options {
    counter_options() = default;

    /// The value of a counter that does not exist; participants should use the same one. The first
    /// update creates the node, even one that does not change the value (`add(0)`).
    std::int64_t initial = 0;

    /// The format. `native`: text, with a record that resolves unknown outcomes. `curator`:
    /// DistributedAtomicLong's 8 bytes, big endian. `kazoo`: Counter's decimal text.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// 32, with `curator` only: the 4 bytes of SharedCount and DistributedAtomicInteger. Values
    /// other than 32 and 64 give `errc::bad_option`.
    unsigned bits = 64;

    /// `native` only: the number of writers whose last updates are recorded in the node (about 30
    /// bytes each). The outcome of an update whose response was lost remains unknown only if that
    /// many other writers have written before the client could read the node.
    std::size_t remembered_writers = 64;

    /// ACL of the node and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/** @brief The result of `counter::compare_and_set`. */
struct counter_exchange {
    bool exchanged = false;  ///< Whether the value was the expected one.
    std::int64_t value = 0;  ///< The counter's value afterwards.
};

/**
 * @brief A number that many processes change, by conditional updates.
 *
 * Each update is applied exactly once: if its response is lost, the node's data shows whether it
 * was applied, even if others have written since. Updates that are started while another is in
 * flight are combined into one request; each gets its own result.
 *
 * Competing objects take turns (native format): each makes up to 16 updates in a row, of one
 * request each, then yields to the others, longest-waiting first.
 *
 * The formats of Curator and Kazoo have no room for such a record. Updates are still never applied
 * twice, but an update whose response was lost is reported as `zk_errc::connection_loss` (outcome
 * unknown) if another client may have written since, or if the new value equals the one written.
 *
 * @par Deleting the node
 * Resets the counter, even while other clients update it: they re-create the node. As the versions
 * of the new node restart at 0 and the server compares nothing else, an update in flight may
 * mistake the new node for the one that it has read, if both have been written equally often, and
 * continue from the old value. If this matters, set the counter to 0 instead of deleting the node.
 *
 * @errors All operations can fail with:
 * - `errc::foreign_data`: the node's data is not in the configured format.
 * - `errc::overflow`: the result exceeds 64 bits (or 32: `bits`); nothing was changed.
 * - `zk_errc::connection_loss`: the outcome could not be determined (see above; likewise if an
 *   older text was written to the node), or not before the client was closed or the node deleted.
 * - `errc::not_connected`: nothing was sent.
 * - `errc::closed`, and errors reported by the server, such as `zk_errc::no_auth`.
 *
 * @cancellation All types: complete at once with `boost::asio::error::operation_aborted`. An update
 * in flight may be applied, also at a deadline; one that has not been sent is not sent later.
 *
 * @executor As `client`. When it is destroyed, updates in flight may be applied.
 *
 * @origin The conditional updates of the ZooKeeper paper; CURATOR-584: such an update is simply
 * repeated.
 */
class COROZK_DECL counter : public detail::recipe_object<detail::counter_impl> {
public:
    /** @brief `path` is the counter's node. Nothing is sent. */
    counter(const client& c, std::string path, counter_options options = counter_options());
    counter() noexcept = default;

    /**
     * @brief Reads the value; `counter_options::initial` if the node does not exist.
     *
     * As recent as this session's server (see `client::sync`), and never older than the results of
     * this client's updates.
     *
     * @completes `void(error_code, std::int64_t)`
     */
    template <class Token = default_token>
    auto get(Token&& token = Token{}) {
        return get_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto get_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_get>("counter.get", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto get_until(time_point deadline, Token&& token = Token{}) {
        return get_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Adds a number, which may be negative, and creates the node if it does not exist.
     *
     * @completes `void(error_code, std::int64_t)`, with the value after this addition.
     */
    template <class Token = default_token>
    auto add(std::int64_t delta, Token&& token = Token{}) {
        return add_for(delta, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto add_for(std::int64_t delta, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_add>("counter.add", std::forward<Token>(token), delta, limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto add_until(std::int64_t delta, time_point deadline, Token&& token = Token{}) {
        return add_for(delta, deadline, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the value, and creates the node if it does not exist.
     *
     * @completes `void(error_code, std::int64_t)`, with the previous value.
     */
    template <class Token = default_token>
    auto exchange(std::int64_t value, Token&& token = Token{}) {
        return exchange_for(value, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto exchange_for(std::int64_t value, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_exchange>(
            "counter.exchange", std::forward<Token>(token), value, limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto exchange_until(std::int64_t value, time_point deadline, Token&& token = Token{}) {
        return exchange_for(value, deadline, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the value if it is the expected one, creating the node if it does not exist.
     *        A different value is not an error.
     *
     * @completes `void(error_code, counter_exchange)`
     */
    template <class Token = default_token>
    auto compare_and_set(std::int64_t expected, std::int64_t desired, Token&& token = Token{}) {
        return compare_and_set_for(
            expected, desired, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto compare_and_set_for(std::int64_t expected,
                             std::int64_t desired,
                             time_limit limit,
                             Token&& token = Token{}) {
        return initiate<&start_compare_and_set>(
            "counter.compare_and_set", std::forward<Token>(token), expected, desired, limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto compare_and_set_until(std::int64_t expected,
                               std::int64_t desired,
                               time_point deadline,
                               Token&& token = Token{}) {
        return compare_and_set_for(expected, desired, deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the value differs from the one that `next` returned last. The first call
     *        completes at once. Intermediate values may be skipped.
     *
     * A node that is deleted has the value `counter_options::initial`. Survives reconnects and new
     * sessions, and never reverts to an older value.
     *
     * @completes `void(error_code, std::int64_t)`
     *
     * @errors `errc::busy`: another `next` of this object is pending. `errc::foreign_data`,
     * `zk_errc::no_auth`, `errc::bad_option`, `errc::closed`.
     *
     * @cancellation All types: completes at once; the next call still reports the
     * change.
     *
     * @see Curator's SharedCountListener.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return initiate<&start_next>("counter.next", std::forward<Token>(token));
    }

private:
    static void start_get(const impl_ptr&, time_limit, handler_of<std::int64_t>);
    static void start_add(const impl_ptr&,
                          std::int64_t delta,
                          time_limit,
                          handler_of<std::int64_t>);
    static void start_exchange(const impl_ptr&,
                               std::int64_t value,
                               time_limit,
                               handler_of<std::int64_t>);
    static void start_compare_and_set(const impl_ptr&,
                                      std::int64_t expected,
                                      std::int64_t desired,
                                      time_limit,
                                      handler_of<counter_exchange>);
    static void start_next(const impl_ptr&, handler_of<std::int64_t>);
};

}  // namespace corozk
