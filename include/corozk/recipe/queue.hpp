// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/queue_order.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

class due_time;

namespace detail {
class queue_impl;
class claim_impl;
}  // namespace detail

/**
 * @brief How a queue is stored. All participants should agree.
 *
 * Curator's DistributedQueue and its relatives wrap the items in a format of their own and are not
 * supported; neither are Kazoo's LockingQueue and the claims of both.
 *
 * The parent znode is persistent and stays while the queue is empty: it numbers the items, and a new
 * parent begins with the first number again. If it is deleted, queue objects notice that before they
 * take from the next one; only a take in flight at this moment could return what it has read of an old
 * item for a new one of the same name. The server deletes a container (such as Curator's parents) when
 * it is empty: if other programs create the queue, let them create a persistent parent.
 */
struct queue_options {
    queue_options() = default;

    /// The names of the items. `native`: the recipes page's, `queue-<sequence>`, and with a rank
    /// `queue-<rank>-<sequence>`. `curator`: SimpleDistributedQueue's, `qn-<sequence>`; no
    /// priorities. `kazoo`: Queue's, `entry-<priority>-<sequence>`, priorities 0 to 999, default
    /// 100. Only `native` has due times. Otherwise operations fail with `errc::bad_option`.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// Items are deleted at the end of their producer's session, as on the recipes page. By default
    /// work survives its producer. Ephemeral items can be taken, but not claimed: an ephemeral node
    /// cannot have a child.
    bool ephemeral_items = false;

    /// Producers wait while the queue's node has so many children. 0: no bound. It is stored below
    /// `control_path`; if another bound is stored there, puts fail with `errc::limit_mismatch`. It
    /// holds among the producers that use this option.
    std::size_t bound = 0;

    /// The parent of nodes that decide what a lost response said. Empty: the queue's path with
    /// "-control" appended. Not inside the queue, where other libraries would take them for items.
    /// Each object that puts or takes has a node there, which is deleted with the object. If the
    /// client is closed first (or the process dies), the next object that creates one deletes it after
    /// an hour.
    std::string control_path;

    /// Of items, parents and claims. Empty: open. Producers and consumers need all permissions but
    /// `admin`; without them operations fail with `zk_errc::no_auth`.
    corozk::acl acl;
};

/** @brief An item of a queue. */
struct queue_item {
    queue_item() = default;
    std::string name;                           ///< Of its node, without the path.
    std::string data;                           ///< What was put.
    std::int32_t priority = 0;                  ///< Smaller comes first.
    std::chrono::system_clock::time_point due;  ///< Of a `delay_queue`: not taken before.
};

/**
 * @brief An item that this consumer works on; no other consumer gets it meanwhile.
 *
 * Move-only. It ends by `acknowledge`, by `release`, or with the session; after the last two the item
 * is available again. The destructor releases it in the background.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May outlive the queue object and the client object.
 */
class COROZK_DECL queue_claim : public detail::recipe_object<detail::claim_impl> {
public:
    queue_claim() noexcept = default;
    queue_claim(std::shared_ptr<detail::session> session, impl_ptr impl);

    const queue_item& item() const noexcept;                            ///< What is claimed.
    const std::string& name() const noexcept { return item().name; }    ///< Of its node.
    const std::string& data() const noexcept { return item().data; }    ///< What was put.
    std::int32_t priority() const noexcept { return item().priority; }  ///< Of the item.

    /** @brief Of the item, in a `delay_queue`. */
    std::chrono::system_clock::time_point due() const noexcept { return item().due; }

    /** @brief Grows with every claim on this server ensemble: the claim's czxid. */
    std::int64_t fencing_token() const noexcept;

    /**
     * @brief Whether the claim exists, as far as this client knows without a request: false from
     *        `release` on, true while an `acknowledge` is in flight.
     *
     * A lost session is always noticed; that another client deleted the claim, while `wait_lost` waits
     * and by `acknowledge`.
     */
    bool valid() const noexcept;

    /**
     * @brief Deletes the item and the claim and carries out further operations, all or nothing.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * - `errc::ownership_lost`: the claim had ended; nothing was done. Another consumer gets the item.
     * - an error of one of the further operations, such as `zk_errc::bad_version`: nothing was
     * done, and the claim is still held.
     * - `errc::not_connected`: nothing was sent, and the claim is still held.
     * - `zk_errc::connection_loss`: the response was lost, and so was the session: unknown.
     * - `errc::too_large`, `errc::busy` (another acknowledge or release is in flight).
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; what was sent may be carried out.
     *
     * @par Origin
     * CURATOR-605 (two consumers of one message).
     */
    template <class Token = default_token>
    auto acknowledge(transaction extra, Token&& token = Token{}) {
        return initiate<&start_acknowledge>(
            "queue_claim.acknowledge", std::forward<Token>(token), std::move(extra));
    }

    /** @brief The same, without further operations. */
    template <detail::token_not<transaction> Token = default_token>
    auto acknowledge(Token&& token = Token{}) {
        return acknowledge(transaction(), std::forward<Token>(token));
    }

    /**
     * @brief Gives the item back: it is available to all consumers.
     *
     * @par Completion signature
     * `void(error_code)`; no error if the claim had ended already.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; the item is given back anyway.
     */
    template <class Token = default_token>
    auto release(Token&& token = Token{}) {
        return initiate<&start_release>("queue_claim.release", std::forward<Token>(token));
    }

    /**
     * @brief Waits until the claim is lost: the session is, or another client has deleted its node.
     *
     * @par Completion signature
     * `void(error_code)`: no error when it is lost; `operation_aborted` when it ended by
     * `acknowledge`, `release` or destruction.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; the claim stays.
     */
    template <class Token = default_token>
    auto wait_lost(Token&& token = Token{}) {
        return initiate<&start_wait_lost>("queue_claim.wait_lost", std::forward<Token>(token));
    }

private:
    static void start_acknowledge(const impl_ptr& impl, transaction extra, handler_of<> handler);
    static void start_release(const impl_ptr& impl, handler_of<> handler);
    static void start_wait_lost(const impl_ptr& impl, handler_of<> handler);
};

/**
 * @brief What `queue`, `priority_queue` and `delay_queue` have in common: the consumer's side.
 *
 * Any number of takes and consumes may wait in one object. They share one listing and, while the
 * queue is empty, one watch, and are served together. `take` and `consume` may be mixed: neither gets a
 * claimed item.
 *
 * @par Errors of all operations
 * `errc::not_connected` (nothing was sent; only the `try_` forms, `peek`, `size` and puts: the
 * others wait for the connection), `errc::closed`, and the server's errors.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed in any state, before or after the client: waiting operations complete with
 * `operation_aborted`.
 *
 * @par Origin
 * "Queues" and "Priority Queues" of the recipes page.
 */
class COROZK_DECL basic_queue : public detail::recipe_object<detail::queue_impl> {
public:
    using clock = std::chrono::steady_clock;  ///< Of deadlines.

    basic_queue() noexcept = default;

    /**
     * @brief Waits for an item, and removes the first one.
     *
     * Exactly one take of all clients gets an item, even if responses are lost: whether the item was
     * deleted is found out afterwards. At most once: if this process dies with the item, it is gone.
     * Where that matters use `consume`.
     *
     * @par Completion signature
     * `void(error_code, queue_item)`
     *
     * @par Errors
     * `zk_errc::connection_loss`: the client was closed before the outcome of a delete that had been
     * sent was known. The item comes with this error (use `as_tuple`): it may or may not have been
     * deleted.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`. An item whose delete had been sent is
     * given to another waiting take of this object, or put back into its old place in the queue.
     */
    template <class Token = default_token>
    auto take(Token&& token = Token{}) {
        return take_until(clock::time_point::max(), std::forward<Token>(token));
    }

    /** @brief As `take`, but at most until then: `errc::deadline_exceeded` (see
     *  `time_limit`). */
    template <class Token = default_token>
    auto take_until(clock::time_point deadline, Token&& token = Token{}) {
        return initiate<&start_take>("queue.take", std::forward<Token>(token), deadline, false);
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto take_for(time_limit budget, Token&& token = Token{}) {
        return take_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `take`, but `errc::would_block` if there is no unclaimed item. */
    template <class Token = default_token>
    auto try_take(Token&& token = Token{}) {
        return initiate<&start_take>(
            "queue.try_take", std::forward<Token>(token), clock::time_point::max(), true);
    }

    /**
     * @brief Reads the first item that is not known to be claimed, and leaves it.
     *
     * @par Completion signature
     * `void(error_code, queue_item)`; `errc::would_block` if there is none.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`.
     */
    template <class Token = default_token>
    auto peek(Token&& token = Token{}) {
        return initiate<&start_peek>("queue.peek", std::forward<Token>(token));
    }

    /**
     * @brief Waits for an item, and claims the first unclaimed one.
     *
     * At least once: an item is gone only when a consumer has acknowledged it, and exactly one
     * acknowledgement succeeds.
     *
     * @par Completion signature
     * `void(error_code, queue_claim)`
     *
     * @par Errors
     * `errc::not_supported`: the items are ephemeral.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; no claim is left behind.
     */
    template <class Token = default_token>
    auto consume(Token&& token = Token{}) {
        return consume_until(clock::time_point::max(), std::forward<Token>(token));
    }

    /** @brief As `consume`, but at most until then: `errc::deadline_exceeded` (see
     *  `time_limit`). */
    template <class Token = default_token>
    auto consume_until(clock::time_point deadline, Token&& token = Token{}) {
        return initiate<&start_consume>(
            "queue.consume", std::forward<Token>(token), deadline, false);
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto consume_for(time_limit budget, Token&& token = Token{}) {
        return consume_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `consume`, but `errc::would_block` if there is no unclaimed item. */
    template <class Token = default_token>
    auto try_consume(Token&& token = Token{}) {
        return initiate<&start_consume>(
            "queue.try_consume", std::forward<Token>(token), clock::time_point::max(), true);
    }

    /**
     * @brief Counts the items, claimed ones included, at the price of one small request.
     *
     * Children that are no items count as well.
     *
     * @par Completion signature
     * `void(error_code, std::size_t)`
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`.
     */
    template <class Token = default_token>
    auto size(Token&& token = Token{}) {
        return initiate<&start_size>("queue.size", std::forward<Token>(token));
    }

protected:
    // The time says what is due.
    basic_queue(const client& c,
                std::string path,
                queue_options options,
                detail::queue_order order,
                std::function<std::chrono::system_clock::time_point()> time = {});

    static void start_put(const impl_ptr& impl,
                          std::vector<std::string> items,
                          std::int64_t rank,
                          clock::time_point deadline,
                          bool no_wait,
                          handler_of<> handler);

    // What the order of the items depends on.
    std::int64_t rank_of() const noexcept { return 0; }
    std::int64_t rank_of(std::int32_t priority) const noexcept { return priority; }
    std::int64_t rank_of(due_time when) const;

private:
    static void start_take(const impl_ptr& impl,
                           clock::time_point deadline,
                           bool no_wait,
                           handler_of<queue_item> handler);
    static void start_peek(const impl_ptr& impl, handler_of<queue_item> handler);
    static void start_consume(const impl_ptr& impl,
                              clock::time_point deadline,
                              bool no_wait,
                              handler_of<queue_claim> handler);
    static void start_size(const impl_ptr& impl, handler_of<std::size_t> handler);
};

/**
 * @brief What `queue`, `priority_queue` and `delay_queue` have in common: the producer's side.
 *
 * `Rank`: what is said of an item besides its data: nothing, its priority, or when it is due.
 *
 * Several puts that are called while another one is in flight share a request; those of one object
 * keep their order. Each is applied exactly once, whatever happens to connection and session.
 *
 * @par Errors
 * `errc::too_large` (for one request, or the bound), `errc::limit_mismatch`, and `errc::bad_option` if
 * the format cannot name the rank. A put that fails was not applied, except with
 * `zk_errc::connection_loss`: the client was closed (or the control node deleted) before the outcome
 * was known.
 *
 * @par Cancellation
 * All types: completes at once with `operation_aborted`. A put that had been sent may be applied. An
 * item that was put too late for its deadline is deleted again, unless another client has it already
 * (or the response was lost, too).
 */
template <class... Rank>
class producing_queue : public basic_queue {
public:
    /**
     * @brief Adds an item; waits while a bounded queue is full.
     *
     * @par Completion signature
     * `void(error_code)`
     */
    template <class Token = default_token>
    auto put(std::string data, Rank... rank, Token&& token = Token{}) {
        return put_until(
            std::move(data), rank..., clock::time_point::max(), std::forward<Token>(token));
    }

    /** @brief As `put`, but at most until then: `errc::deadline_exceeded` (see `time_limit`). */
    template <class Token = default_token>
    auto put_until(std::string data,
                   Rank... rank,
                   clock::time_point deadline,
                   Token&& token = Token{}) {
        return initiate<&basic_queue::start_put>("queue.put",
                                                 std::forward<Token>(token),
                                                 one(std::move(data)),
                                                 rank_of(rank...),
                                                 deadline,
                                                 false);
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto put_for(std::string data, Rank... rank, time_limit budget, Token&& token = Token{}) {
        return put_until(std::move(data), rank..., budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `put`, but `errc::would_block` if a bounded queue is full. */
    template <class Token = default_token>
    auto try_put(std::string data, Rank... rank, Token&& token = Token{}) {
        return initiate<&basic_queue::start_put>("queue.try_put",
                                                 std::forward<Token>(token),
                                                 one(std::move(data)),
                                                 rank_of(rank...),
                                                 clock::time_point::max(),
                                                 true);
    }

    /** @brief As `put`, for all of them in one transaction: all or none. */
    template <class Token = default_token>
    auto put_many(std::vector<std::string> data, Rank... rank, Token&& token = Token{}) {
        return initiate<&basic_queue::start_put>("queue.put_many",
                                                 std::forward<Token>(token),
                                                 std::move(data),
                                                 rank_of(rank...),
                                                 clock::time_point::max(),
                                                 false);
    }

protected:
    using basic_queue::basic_queue;

private:
    static std::vector<std::string> one(std::string data) {
        std::vector<std::string> items;
        items.push_back(std::move(data));
        return items;
    }
};

/**
 * @brief A queue: first in, first out, by the server's order of the puts.
 *
 * With several consuming processes the items are *given out* in this order.
 */
class COROZK_DECL queue : public producing_queue<> {
public:
    queue() noexcept = default;

    /** @brief A queue at this path. Touches nothing until it is used. */
    queue(const client& c, std::string path, queue_options options = queue_options())
        : producing_queue(c, std::move(path), std::move(options), detail::queue_order::arrival) {}
};

/**
 * @brief A queue whose items come out by priority, lower numbers first (like UNIX), and within a
 *        priority first in, first out.
 *
 * Each round of takes has a listing that was requested after the takes: an item of higher priority that
 * was put before is never overtaken by what an older listing showed. Therefore a take costs a listing,
 * which those that wait together share.
 */
class COROZK_DECL priority_queue : public producing_queue<std::int32_t> {
public:
    priority_queue() noexcept = default;

    /** @brief A queue at this path. Touches nothing until it is used. */
    priority_queue(const client& c, std::string path, queue_options options = queue_options())
        : producing_queue(c, std::move(path), std::move(options), detail::queue_order::priority) {}
};

}  // namespace corozk
