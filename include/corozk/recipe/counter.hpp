// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class counter_impl;
enum class counter_operation : std::uint8_t;
}  // namespace detail

/** @brief How a counter is stored. */
struct counter_options {
    counter_options() = default;

    /// What a counter that does not exist counts as. Participants should agree on it. The first change
    /// makes the node and settles it, also one to the value that it has (`add(0)`).
    std::int64_t initial = 0;

    /// How the number is written. `native`: text, with what it takes to decide every lost answer.
    /// `curator`: DistributedAtomicLong's 8 bytes, big endian. `kazoo`: Counter's decimal text.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// 32: the 4 bytes of Curator's SharedCount and DistributedAtomicInteger. All but `curator`
    /// have 64 only; anything else gives `errc::bad_option`.
    unsigned bits = 64;

    /// `native` only: how many writers' last updates are kept in the node (about 30 bytes each). An
    /// update whose answer was lost has an unknown outcome only if as many other writers wrote
    /// before we could look.
    std::size_t remembered_writers = 64;

    /// Of the node and of parents that are missing. Empty: open.
    corozk::acl acl;
};

/** @brief What `counter::compare_and_set` gives. */
struct counter_exchange {
    bool exchanged = false;  ///< Whether it was as expected.
    std::int64_t value = 0;  ///< the counter's value afterwards
};

/**
 * @brief A number that many processes change, by conditional updates.
 *
 * Each update is applied exactly once: when its answer was lost with the connection, the node
 * itself tells afterwards whether it was applied, even if others have written since. Updates that
 * are asked for while another is on its way are combined into one request; each still gets its own
 * result.
 *
 * In the formats of Curator and Kazoo the node has no room for that record. Updates are still never
 * applied twice, but one whose answer was lost is reported as `zk_errc::connection_loss` (outcome
 * unknown) when somebody else may have written meanwhile, or the new value is the one we wrote.
 *
 * @par Deleting the node
 * Resets the counter, also while others add to it: they make it anew. But a new node's versions begin
 * at 0 again, and the server compares nothing else. So an update that is on its way in that moment
 * may take the new node for the one that it has read, where others have written as often to it as
 * they had to that one, and go on from the old value. Where this matters, set it to 0 in place of
 * deleting it.
 *
 * @par Errors of all operations
 * - `errc::foreign_data`: the node's data is not in the configured format.
 * - `errc::overflow`: the result does not fit (64 bits; or 32: `bits`); nothing changed.
 * - `zk_errc::connection_loss`: only when the outcome could not be found out (see above; or the
 *   client was closed, or the node deleted, before it could).
 * - `errc::not_connected`: nothing was sent.
 * - `errc::closed`, and what the server answers, such as `zk_errc::no_auth`.
 *
 * @par Cancellation of all operations
 * Terminal, partial and total: completes at once with `operation_aborted`. An update that had been
 * sent may have been applied.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed in any state, before or after the client: outstanding operations complete with
 * `operation_aborted`, and what was sent may have been applied.
 *
 * Where it comes from: the counter in the notes on the ZooKeeper paper (conditional update of a
 * znode); CURATOR-584 and bug catalogue C1 for what goes wrong when such an update is just
 * repeated.
 */
class COROZK_DECL counter : public detail::recipe_object<detail::counter_impl> {
public:
    /** @brief A counter at this path. Touches nothing until it is used. */
    counter(const client& c, std::string path, counter_options options = counter_options());
    counter() noexcept = default;

    /**
     * @brief Reads the value; a missing node counts as `counter_options::initial`.
     *
     * As fresh as this session's server (see `client::sync`), and never older than the results of
     * this client's own updates.
     *
     * @par Completion signature
     * `void(error_code, std::int64_t)`
     */
    template <class Token = default_token>
    auto get(Token&& token = Token{}) {
        return initiate<&start_get>("counter.get", std::forward<Token>(token));
    }

    /**
     * @brief Adds to the value (a negative number subtracts), and creates the node if it is
     * missing.
     *
     * @par Completion signature
     * `void(error_code, std::int64_t)`: the value after this very addition.
     */
    template <class Token = default_token>
    auto add(std::int64_t delta, Token&& token = Token{}) {
        return initiate<&start_add>("counter.add", std::forward<Token>(token), delta);
    }

    /**
     * @brief Replaces the value whatever it is, and creates the node if it is missing.
     *
     * @par Completion signature
     * `void(error_code, std::int64_t)`: the value before.
     */
    template <class Token = default_token>
    auto exchange(std::int64_t value, Token&& token = Token{}) {
        return initiate<&start_exchange>("counter.exchange", std::forward<Token>(token), value);
    }

    /**
     * @brief Replaces the value if it is the expected one, and creates the node then if it is missing.
     * Another value is no error, and no change.
     *
     * @par Completion signature
     * `void(error_code, counter_exchange)`
     */
    template <class Token = default_token>
    auto compare_and_set(std::int64_t expected, std::int64_t desired, Token&& token = Token{}) {
        return initiate<&start_compare_and_set>(
            "counter.compare_and_set", std::forward<Token>(token), expected, desired);
    }

private:
    using value_handler = detail::any_handler<void(error_code, std::int64_t)>;
    using exchange_handler = detail::any_handler<void(error_code, counter_exchange)>;

    static void start_get(const impl_ptr&, value_handler);
    static void start_add(const impl_ptr&, std::int64_t delta, value_handler);
    static void start_exchange(const impl_ptr&, std::int64_t value, value_handler);
    static void start_compare_and_set(const impl_ptr&,
                                      std::int64_t expected,
                                      std::int64_t desired,
                                      exchange_handler);
};

}  // namespace corozk
