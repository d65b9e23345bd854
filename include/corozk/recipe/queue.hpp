// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/recipe/queue_order.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/transaction.hpp>

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
 * @brief Options of a queue. All participants must use the same ones.
 *
 * The item formats of Curator's DistributedQueue and related classes and of Kazoo's LockingQueue,
 * and the claims of both libraries, are not supported.
 *
 * The parent node is persistent and remains while the queue is empty, because it numbers the items.
 * If it is deleted and created again, numbers restart; queue objects detect this before they take
 * items, but a take in flight at that moment may return the data of an old item with the same name.
 * The server deletes empty container nodes (such as Curator's parents): if other programs create
 * the queue, let them create a persistent parent.
 */
struct queue_options {
    queue_options() = default;

    /// The items' names. `native`: `queue-<sequence>` as on the recipes page, or
    /// `queue-<rank>-<sequence>`. `curator`: `qn-<sequence>` as SimpleDistributedQueue, without
    /// priorities. `kazoo`: `entry-<priority>-<sequence>` as Queue, with priorities from 0 to 999,
    /// by default 100. Only `native` supports due times. Unsupported combinations fail with
    /// `errc::bad_option`.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// The mode of the items. `ephemeral`: they are deleted at the end of their producer's session,
    /// as on the recipes page. They can be taken, but not claimed, as an ephemeral node cannot have
    /// children. An item of another session that is put back (see `take`) becomes persistent,
    /// because only its producer could create it again as ephemeral. With a mode other than
    /// `ephemeral` and `persistent`, puts fail with `errc::bad_option`.
    create_mode mode = create_mode::persistent;

    /// Producers wait while the parent node has this many children. 0: no bound. It is stored below
    /// `control_path`; puts fail with `errc::limit_mismatch` if another bound is stored there. It
    /// applies only to producers that set it.
    std::size_t bound = 0;

    /// A consumer picks at random among this many items at the head of the queue; 1 means strict
    /// order. Consumers in different sessions otherwise compete for the first item, and only one of
    /// them gets it; with a window they seldom compete. At most `window - 1` available items are
    /// passed over. Of several calls that are served at the same time, each gets the next item.
    /// Each consumer may use a different window; 0 fails with `errc::bad_option`.
    std::size_t window = 1;

    /// The parent of nodes that resolve unknown outcomes. Empty: the queue's path with "-control"
    /// appended. Must not be inside the queue, where other libraries would mistake them for items.
    /// Queues with a bound must not share it.
    /// Each object that puts, takes or acknowledges has nodes there, which are deleted with the
    /// object or, if its client was closed or its process died, by other objects after an hour.
    std::string control_path;

    /// ACL of items, parents and claims. Empty means open to everyone. Producers and consumers need
    /// all permissions but `admin`; otherwise operations fail with `zk_errc::no_auth`.
    corozk::acl acl;
};

/** @brief An item of a queue. */
struct queue_item {
    queue_item() = default;
    std::string name;                           ///< The name of its node.
    std::string data;                           ///< Its data.
    std::int32_t priority = 0;                  ///< Lower numbers first.
    std::chrono::system_clock::time_point due;  ///< The due time in a `delay_queue`.
};

/**
 * @brief An item that is claimed by a consumer; no other consumer gets it.
 *
 * Move-only. The claim ends with `acknowledge`, `release` or the session; after the latter two the
 * item is available again. The destructor releases it in the background. `path()` is the claim's
 * node.
 *
 * @executor As `client`, but when it is destroyed a pending `acknowledge` or `release` continues.
 * May outlive the queue object.
 */
class COROZK_DECL queue_claim : public detail::recipe_object<detail::claim_impl> {
public:
    queue_claim() noexcept = default;  ///< Nothing is claimed.
    queue_claim(std::shared_ptr<detail::session_view> session, impl_ptr impl);

    const queue_item& item() const noexcept;                            ///< The claimed item.
    const std::string& name() const noexcept { return item().name; }    ///< `item().name`
    const std::string& data() const noexcept { return item().data; }    ///< `item().data`
    std::int32_t priority() const noexcept { return item().priority; }  ///< `item().priority`

    /** @brief `item().due` */
    std::chrono::system_clock::time_point due() const noexcept { return item().due; }

    /** @brief Increases with every claim: the `czxid` of the claim's node. */
    std::int64_t fencing_token() const noexcept;

    /**
     * @brief Whether the claim is held, to the client's knowledge: false after `release`, true
     *        while an `acknowledge` is in flight.
     *
     * Session loss is always detected; deletion by another client only while `wait_lost` is
     * pending, and by `acknowledge`.
     */
    bool valid() const noexcept;

    /**
     * @brief Deletes the item and the claim, and applies further steps, all or nothing.
     *
     * Acknowledgements of an object that are pending at the same time share a transaction.
     *
     * @completes `void(error_code)`
     *
     * @errors
     * - `errc::ownership_lost`: the claim was lost, and another consumer gets the item; or nothing
     *   is claimed. Nothing was applied.
     * - the error of a further step, such as `zk_errc::bad_version`: nothing was applied, and the
     *   claim is still held.
     * - `errc::not_connected`: nothing was sent, and the claim is still held.
     * - `zk_errc::connection_loss`: the response was lost, and the client was closed before it
     *   could find out what was applied, or the node below `control_path` that shows it is gone.
     *   Outcome unknown; if it was not applied, others get the item.
     * - `errc::closed`: the client was closed before it was sent.
     * - `errc::too_large`, `errc::busy` (another `acknowledge` or `release` is pending).
     *
     * @cancellation All types: completes at once; what has begun may be applied.
     *
     * @origin CURATOR-605 (two consumers of one message).
     */
    template <class Token = default_token>
    auto acknowledge(transaction extra, Token&& token = Token{}) {
        return acknowledge_for(
            std::move(extra), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, without further steps. */
    template <detail::token_not<transaction> Token = default_token>
    auto acknowledge(Token&& token = Token{}) {
        return acknowledge(transaction(), std::forward<Token>(token));
    }

    /** @brief Same as `acknowledge`, with a time limit (`errc::deadline_exceeded`). */
    template <class Token = default_token>
    auto acknowledge_for(transaction extra, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_acknowledge>(
            "queue_claim.acknowledge", std::forward<Token>(token), std::move(extra), limit);
    }

    /** @brief Same as above, without further steps. */
    template <class Token = default_token>
    auto acknowledge_for(time_limit limit, Token&& token = Token{}) {
        return acknowledge_for(transaction(), limit, std::forward<Token>(token));
    }

    /** @brief Same as `acknowledge`, with a deadline. */
    template <class Token = default_token>
    auto acknowledge_until(transaction extra, time_point deadline, Token&& token = Token{}) {
        return acknowledge_for(std::move(extra), deadline, std::forward<Token>(token));
    }

    /** @brief Same as above, without further steps. */
    template <class Token = default_token>
    auto acknowledge_until(time_point deadline, Token&& token = Token{}) {
        return acknowledge_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Releases the claim: the item becomes available to all consumers.
     *
     * @completes `void(error_code)`; not an error if the claim had already ended.
     *
     * @errors `errc::busy`: an `acknowledge` or `release` is pending. `errc::ownership_lost`:
     * nothing is claimed. `zk_errc::no_auth`: the claim may not be deleted, and is still held.
     * `errc::closed`.
     *
     * @cancellation All types: completes at once; the item is released anyway.
     */
    template <class Token = default_token>
    auto release(Token&& token = Token{}) {
        return release_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto release_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_release>("queue_claim.release", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto release_until(time_point deadline, Token&& token = Token{}) {
        return release_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the claim is lost.
     *
     * @completes `void(error_code, error_code)`, with the reason: `zk_errc::session_expired`,
     * `errc::ownership_lost` (another client deleted the claim) or `errc::closed`.
     *
     * @errors `boost::asio::error::operation_aborted`: it ended by `acknowledge`, `release` or
     * destruction. `errc::busy`: another `wait_lost` is pending. `errc::ownership_lost`: nothing is
     * claimed.
     *
     * @cancellation All types: completes at once; the claim is kept.
     */
    template <class Token = default_token>
    auto wait_lost(Token&& token = Token{}) {
        return initiate<&start_wait_lost>("queue_claim.wait_lost", std::forward<Token>(token));
    }

private:
    static void start_acknowledge(const impl_ptr&, transaction, time_limit, handler_of<>);
    static void start_release(const impl_ptr&, time_limit, handler_of<>);
    static void start_wait_lost(const impl_ptr&, handler_of<error_code>);
};

/**
 * @brief Base of `queue`, `priority_queue` and `delay_queue`: the consumers' operations.
 *
 * Any number of `take` and `consume` may be pending. They share a listing and, while the queue is
 * empty, a watch. They may be mixed: neither gets a claimed item.
 *
 * @errors All operations can fail with `errc::closed` and the server's errors. Only the `try_`
 * forms, `peek`, `count_items` and puts can fail with `errc::not_connected` (nothing was sent); all others
 * wait for the connection. While it is unknown whether a put or a delete of the object was applied,
 * other calls of the same side (producers, consumers) wait for the connection, too.
 *
 * @cancellation All types: completes at once with `boost::asio::error::operation_aborted`.
 *
 * @executor As `client`.
 *
 * @origin "Queues" and "Priority Queues" on the recipes page.
 */
class COROZK_DECL basic_queue : public detail::recipe_object<detail::queue_impl> {
public:
    basic_queue() noexcept = default;

    /**
     * @brief Waits for an item and removes the first one.
     *
     * Exactly one `take` of all clients gets an item, even if responses are lost. Delivery is at
     * most once: if the process dies, the item is lost. Use `consume` to avoid that.
     *
     * @completes `void(error_code, queue_item)`
     *
     * @errors `zk_errc::connection_loss`: the client was closed while a delete was in flight. The
     * result contains the item (use `as_tuple`), which may or may not have been deleted.
     *
     * @cancellation All types: completes at once with `boost::asio::error::operation_aborted`. An
     * item whose delete is in flight is given to another pending `take` of this object, or put back
     * in its previous place. `client::close` waits for that.
     */
    template <class Token = default_token>
    auto take(Token&& token = Token{}) {
        return take_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto take_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_take>("queue.take", std::forward<Token>(token), limit, false);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto take_until(time_point deadline, Token&& token = Token{}) {
        return take_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `take`, but fails with `errc::would_block` if there is no unclaimed item. */
    template <class Token = default_token>
    auto try_take(Token&& token = Token{}) {
        return initiate<&start_take>(
            "queue.try_take", std::forward<Token>(token), time_limit::for_ever(), true);
    }

    /**
     * @brief Reads the first item that is not known to be claimed, without removing it.
     *
     * @completes `void(error_code, queue_item)`; `errc::would_block` if there is none.
     */
    template <class Token = default_token>
    auto peek(Token&& token = Token{}) {
        return initiate<&start_peek>("queue.peek", std::forward<Token>(token));
    }

    /**
     * @brief Waits for an item and claims the first unclaimed one.
     *
     * Delivery is at least once: an item is removed only by an acknowledgement, of which exactly
     * one succeeds.
     *
     * @completes `void(error_code, queue_claim)`
     *
     * @errors `errc::not_supported`: the items are ephemeral.
     *
     * @cancellation All types: completes at once; no claim remains.
     */
    template <class Token = default_token>
    auto consume(Token&& token = Token{}) {
        return consume_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto consume_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_consume>("queue.consume", std::forward<Token>(token), limit, false);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto consume_until(time_point deadline, Token&& token = Token{}) {
        return consume_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `consume`, but fails with `errc::would_block` if there is no unclaimed item. */
    template <class Token = default_token>
    auto try_consume(Token&& token = Token{}) {
        return initiate<&start_consume>(
            "queue.try_consume", std::forward<Token>(token), time_limit::for_ever(), true);
    }

    /**
     * @brief Counts the items with one small request, including claimed ones and foreign children.
     *
     * @completes `void(error_code, std::size_t)`
     */
    template <class Token = default_token>
    auto count_items(Token&& token = Token{}) {
        return initiate<&start_count_items>("queue.count_items", std::forward<Token>(token));
    }

protected:
    // `time` is the clock that due times are compared with.
    basic_queue(const client& c,
                std::string path,
                queue_options options,
                detail::queue_order order,
                std::function<std::chrono::system_clock::time_point()> time = {});

    static void start_put(const impl_ptr&,
                          std::vector<std::string> items,
                          std::int64_t rank,
                          time_limit limit,
                          bool no_wait,
                          handler_of<>);

    // Items are ordered by rank.
    std::int64_t rank_of() const noexcept { return 0; }
    std::int64_t rank_of(std::int32_t priority) const noexcept { return priority; }
    std::int64_t rank_of(due_time when) const;

private:
    static void start_take(const impl_ptr&, time_limit limit, bool no_wait, handler_of<queue_item>);
    static void start_peek(const impl_ptr&, handler_of<queue_item>);
    static void start_consume(const impl_ptr&,
                              time_limit limit,
                              bool no_wait,
                              handler_of<queue_claim>);
    static void start_count_items(const impl_ptr&, handler_of<std::size_t>);
};

/**
 * @brief Base of `queue`, `priority_queue` and `delay_queue`: the producers' operations.
 *
 * `Rank` is empty, the item's priority, or its due time.
 *
 * Puts that are started while another one is in flight share a request; those of one object keep
 * their order. Each is applied exactly once, even if the connection or the session is lost.
 *
 * @errors `errc::too_large` (for one request, or for the bound), `errc::limit_mismatch`,
 * `errc::bad_option` if the format does not support the rank, and `errc::sequence_exhausted` after
 * about 2^31 items until the queue is empty. A put that fails was not applied,
 * except with `zk_errc::connection_loss`: the client was closed (or the control node deleted)
 * before the outcome was known.
 *
 * @cancellation All types: completes at once with `boost::asio::error::operation_aborted`. A put in
 * flight may be applied. An item put after its deadline is deleted again, unless another client has
 * taken it (or the response was lost).
 */
template <class... Rank>
class producing_queue : public basic_queue {
public:
    /**
     * @brief Adds an item; waits while a bounded queue is full.
     *
     * @completes `void(error_code)`
     */
    template <class Token = default_token>
    auto put(std::string data, Rank... rank, Token&& token = Token{}) {
        return put_for(
            std::move(data), rank..., time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto put_for(std::string data, Rank... rank, time_limit limit, Token&& token = Token{}) {
        return initiate<&basic_queue::start_put>("queue.put",
                                                 std::forward<Token>(token),
                                                 one(std::move(data)),
                                                 rank_of(rank...),
                                                 limit,
                                                 false);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto put_until(std::string data, Rank... rank, time_point deadline, Token&& token = Token{}) {
        return put_for(std::move(data), rank..., deadline, std::forward<Token>(token));
    }

    /** @brief As `put`, but fails with `errc::would_block` if a bounded queue is full. */
    template <class Token = default_token>
    auto try_put(std::string data, Rank... rank, Token&& token = Token{}) {
        return initiate<&basic_queue::start_put>("queue.try_put",
                                                 std::forward<Token>(token),
                                                 one(std::move(data)),
                                                 rank_of(rank...),
                                                 time_limit::for_ever(),
                                                 true);
    }

    /** @brief As `put`, for several items in one transaction. */
    template <class Token = default_token>
    auto put_many(std::vector<std::string> data, Rank... rank, Token&& token = Token{}) {
        return put_many_for(
            std::move(data), rank..., time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto put_many_for(std::vector<std::string> data,
                      Rank... rank,
                      time_limit limit,
                      Token&& token = Token{}) {
        return initiate<&basic_queue::start_put>("queue.put_many",
                                                 std::forward<Token>(token),
                                                 std::move(data),
                                                 rank_of(rank...),
                                                 limit,
                                                 false);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto put_many_until(std::vector<std::string> data,
                        Rank... rank,
                        time_point deadline,
                        Token&& token = Token{}) {
        return put_many_for(std::move(data), rank..., deadline, std::forward<Token>(token));
    }

    /** @brief As `put_many`, but fails with `errc::would_block` if a bounded queue has no room for
     *         all of them. */
    template <class Token = default_token>
    auto try_put_many(std::vector<std::string> data, Rank... rank, Token&& token = Token{}) {
        return initiate<&basic_queue::start_put>("queue.try_put_many",
                                                 std::forward<Token>(token),
                                                 std::move(data),
                                                 rank_of(rank...),
                                                 time_limit::for_ever(),
                                                 true);
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
 * @brief A FIFO queue, in the order in which the server applied the puts.
 *
 * With several consuming processes, items are *handed out* in this order.
 */
class COROZK_DECL queue : public producing_queue<> {
public:
    queue() noexcept = default;

    /** @brief `path` is the parent node of the items. Nothing is sent. */
    queue(const client& c, std::string path, queue_options options = queue_options())
        : producing_queue(c, std::move(path), std::move(options), detail::queue_order::arrival) {}
};

/**
 * @brief A queue whose items are taken by priority, lower numbers first, and FIFO within a
 *        priority.
 *
 * A take uses a listing that was requested after it, so that it never misses an item of a higher
 * priority that this client has put before, nor one from another client that the session's server
 * already knows (see `client::sync`). Hence a take costs a listing, which concurrent takes share.
 */
class COROZK_DECL priority_queue : public producing_queue<std::int32_t> {
public:
    priority_queue() noexcept = default;

    /** @brief `path` is the parent node of the items. Nothing is sent. */
    priority_queue(const client& c, std::string path, queue_options options = queue_options())
        : producing_queue(c, std::move(path), std::move(options), detail::queue_order::priority) {}
};

}  // namespace corozk
