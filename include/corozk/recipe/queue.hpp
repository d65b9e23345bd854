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

namespace detail {
class queue_impl;
class claim_impl;

struct new_queue_item {
    new_queue_item() = default;
    new_queue_item(std::string data_, std::int64_t rank_) : data(std::move(data_)), rank(rank_) {}
    std::string data;
    std::int64_t rank = 0;  // its priority, or when it is due
};
}  // namespace detail

/**
 * @brief How a queue is stored. All participants should agree.
 *
 * Curator's DistributedQueue and its relatives wrap the items in a format of their own and are not
 * supported; neither are Kazoo's LockingQueue and the claims of both.
 *
 * The queue's folder is a persistent node, which stays while the queue is empty: it names the items,
 * and begins anew with their numbers where it is made anew. If somebody erases it, queue objects notice
 * that before they take from the next one; only a take that is on its way in this moment could get what
 * it has read of an old item for a new one of the same name. A container (Curator's folders are, and
 * those of earlier versions) is erased by the server when it is empty: where others make the queue,
 * have them make the folder persistent.
 */
struct queue_options {
    queue_options() = default;

    /// Whose items it works with. `native`: the recipes page's, `queue-<sequence>`, and with a rank
    /// `queue-<rank>-<sequence>`. `curator`: SimpleDistributedQueue's, `qn-<sequence>`; no
    /// priorities. `kazoo`: Queue's, `entry-<priority>-<sequence>`, priorities 0 to 999, default
    /// 100. Only `native` has due times. What it does not have gives `errc::bad_option`.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// Items go with their producer's session (the recipes page sets this flag). The default keeps
    /// them: a queue is there so that work survives its producer. Such items can be taken, but not
    /// claimed: an ephemeral node cannot have a child.
    bool ephemeral_items = false;

    /// Producers wait while this many items are in the queue; every child of its node takes a place.
    /// 0: no bound. It is stored in the control folder; another bound there gives
    /// `errc::limit_mismatch`. Holds among producers that use this option, whoever takes.
    std::size_t bound = 0;

    /// Where producers and consumers keep what decides lost answers. Empty: the queue's path with
    /// "-control" behind it. Not inside the queue, where other libraries would take it for items.
    /// Each object that put or took has a node there, which goes with the object. If the client is
    /// closed first (or the process dies), it is removed an hour later by the next object that
    /// makes one.
    std::string control_path;

    /// Of items, folders and claims. Empty: open. Who puts or takes needs all rights but `admin`; who may
    /// not write gets `zk_errc::no_auth`.
    corozk::acl acl;
};

/** @brief An item of a queue. */
struct queue_item {
    queue_item() = default;
    std::string name;                           ///< of its node in the queue's folder
    std::string data;                           ///< What was put.
    std::int32_t priority = 0;                  ///< Smaller comes first.
    std::chrono::system_clock::time_point due;  ///< Of a `delay_queue`: not taken before.
};

/**
 * @brief An item that this consumer works on; nobody else gets it meanwhile.
 *
 * Move-only. Ends with `acknowledge`, `release`, or the session: then the item is back in the
 * queue. Destroying it releases it in the background.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May outlive the queue object and the client object.
 */
class COROZK_DECL queue_claim : detail::recipe_object<detail::claim_impl> {
public:
    /// Empty: as after a move.
    queue_claim() noexcept;
    queue_claim(std::shared_ptr<detail::session> session,
                std::shared_ptr<detail::claim_impl> impl) noexcept;
    queue_claim(queue_claim&&) noexcept;
    queue_claim& operator=(queue_claim&&) noexcept;
    ~queue_claim();

    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    /** @brief The executor of the client that it was made with. */
    executor_type get_executor() const noexcept { return detail::executor_of(session_); }

    const std::string& name() const noexcept;  ///< Of the item's node.
    const std::string& data() const noexcept;  ///< What was put.
    std::int32_t priority() const noexcept;    ///< Of the item.

    /** @brief Of the item, in a `delay_queue`. */
    std::chrono::system_clock::time_point due() const noexcept;

    /** @brief The claim's node; a transaction can `check` it. */
    const std::string& path() const noexcept;

    /** @brief Grows with every claim on this server ensemble: the claim's czxid. */
    std::int64_t fencing_token() const noexcept;

    /**
     * @brief Whether the claim was not ended, as far as this client knows without asking: false from
     *        `release` on, true while an `acknowledge` is on its way.
     *
     * Notices a lost session by itself, and an administrator's deletion of the claim while
     * `wait_lost`
     * waits, also if another one stands in its place. Otherwise `acknowledge` asks the server.
     */
    bool valid() const noexcept;

    /**
     * @brief Removes the item, the claim, and carries out further operations, all or nothing.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * - `errc::ownership_lost`: the claim had ended; nothing was done. Somebody else gets the item.
     * - an error of one of the further operations, such as `zk_errc::bad_version`: nothing was
     * done, and the claim is still held.
     * - `errc::not_connected`: nothing was sent, and the claim is still held.
     * - `zk_errc::connection_loss`: the answer was lost, and the session with it: unknown.
     * - `errc::too_large`, `errc::busy` (another acknowledge or release is on its way).
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; what was sent may be carried out.
     *
     * Where it comes from: CURATOR-605 (two consumers of one message); bug catalogue Q3, Q8.
     */
    template <class Token = default_token>
    auto acknowledge(transaction extra = transaction(), Token&& token = Token{}) {
        return detail::initiate<void(error_code)>(
            detail::call_site("queue_claim.acknowledge", path()),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_, extra = std::move(extra)](auto handler) mutable {
                start_acknowledge(session, impl, std::move(extra), std::move(handler));
            });
    }

    /**
     * @brief Gives the item back.
     *
     * @par Completion signature
     * `void(error_code)`; no error if the claim had ended already.
     *
     * @par Cancellation
     * All types: stops waiting; the item is given back all the same.
     */
    template <class Token = default_token>
    auto release(Token&& token = Token{}) {
        return detail::initiate<void(error_code)>(detail::call_site("queue_claim.release", path()),
                                                  session_.get(),
                                                  std::forward<Token>(token),
                                                  [session = session_, impl = impl_](auto handler) {
                                                      start_release(
                                                          session, impl, std::move(handler));
                                                  });
    }

    /**
     * @brief Waits until the claim is lost: session lost, or its node deleted by somebody.
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
        return detail::initiate<void(error_code)>(
            detail::call_site("queue_claim.wait_lost", path()),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_](auto handler) {
                start_wait_lost(session, impl, std::move(handler));
            });
    }

private:
    using session_ptr = std::shared_ptr<detail::session>;
    using impl_ptr = std::shared_ptr<detail::claim_impl>;
    using plain_handler = detail::any_handler<void(error_code)>;

    static void start_acknowledge(const session_ptr& session,
                                  const impl_ptr& impl,
                                  transaction extra,
                                  plain_handler handler);
    static void start_release(const session_ptr& session,
                              const impl_ptr& impl,
                              plain_handler handler);
    static void start_wait_lost(const session_ptr& session,
                                const impl_ptr& impl,
                                plain_handler handler);
};

/**
 * @brief What `queue`, `priority_queue` and `delay_queue` have in common: the consumer's side.
 *
 * Any number of takes and consumes may wait in one object. They share one listing and, while the
 * queue is empty, one watch; those that wait are served together. `take` and `consume` may be
 * mixed: neither gets an item that somebody has claimed.
 *
 * @par Errors of all operations
 * `errc::not_connected` (nothing was sent; only the `try_` forms, `peek`, `size` and puts: the
 * others wait for the connection), `errc::closed`, and what the server answers.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed in any state, before or after the client: what waits completes with
 * `operation_aborted`.
 *
 * Where it comes from: "Queues" and "Priority Queues" of the recipes page; bug catalogue Q1 to Q13.
 */
class COROZK_DECL basic_queue : protected detail::recipe_object<detail::queue_impl> {
public:
    using clock = std::chrono::steady_clock;  ///< Of deadlines.

    basic_queue() noexcept;
    basic_queue(basic_queue&&) noexcept;
    basic_queue& operator=(basic_queue&&) noexcept;
    ~basic_queue();

    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    /** @brief The executor of the client that it was made with. */
    executor_type get_executor() const noexcept { return detail::executor_of(session_); }

    const std::string& path() const noexcept { return path_; }  ///< Of the queue's folder.

    /**
     * @brief Waits for an item, and removes the first one.
     *
     * Exactly one take in the world gets an item, and a lost answer changes nothing: whether the
     * removal was carried out is found out afterwards. At most once: if this process dies with the
     * item, it is gone. Where that matters use `consume`.
     *
     * @par Completion signature
     * `void(error_code, queue_item)`
     *
     * @par Errors
     * `zk_errc::connection_loss`: the client was closed before the outcome of a removal that had
     * been sent was known. The item is handed over with this error (use `as_tuple`): it may or may
     * not have been removed.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`. An item whose removal had been sent
     * goes to another waiting take of this object, or back to its old place in the queue.
     */
    template <class Token = default_token>
    auto take(Token&& token = Token{}) {
        return detail::initiate<void(error_code, queue_item)>(
            detail::call_site("queue.take", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_](auto handler) {
                start_take(session, impl, clock::time_point::max(), false, std::move(handler));
            });
    }

    /** @brief As `take`, but at most until then: `errc::deadline_exceeded` (see
     *  `time_limit`). */
    template <class Token = default_token>
    auto take_until(clock::time_point deadline, Token&& token = Token{}) {
        return detail::initiate<void(error_code, queue_item)>(
            detail::call_site("queue.take", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_, deadline](auto handler) {
                start_take(session, impl, deadline, false, std::move(handler));
            });
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto take_for(time_limit budget, Token&& token = Token{}) {
        return take_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `take`, but `errc::would_block` if there is no item that nobody has claimed. */
    template <class Token = default_token>
    auto try_take(Token&& token = Token{}) {
        return detail::initiate<void(error_code, queue_item)>(
            detail::call_site("queue.try_take", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_](auto handler) {
                start_take(session, impl, clock::time_point::max(), true, std::move(handler));
            });
    }

    /**
     * @brief Reads the first item that nobody is known to have claimed, and leaves it.
     *
     * @par Completion signature
     * `void(error_code, queue_item)`; `errc::would_block` if there is none.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`.
     */
    template <class Token = default_token>
    auto peek(Token&& token = Token{}) {
        return detail::initiate<void(error_code, queue_item)>(
            detail::call_site("queue.peek", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_](auto handler) {
                start_peek(session, impl, std::move(handler));
            });
    }

    /**
     * @brief Waits for an item, and claims the first one that nobody else has claimed.
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
        return detail::initiate<void(error_code, queue_claim)>(
            detail::call_site("queue.consume", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_](auto handler) {
                start_consume(session, impl, clock::time_point::max(), false, std::move(handler));
            });
    }

    /** @brief As `consume`, but at most until then: `errc::deadline_exceeded` (see
     *  `time_limit`). */
    template <class Token = default_token>
    auto consume_until(clock::time_point deadline, Token&& token = Token{}) {
        return detail::initiate<void(error_code, queue_claim)>(
            detail::call_site("queue.consume", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_, deadline](auto handler) {
                start_consume(session, impl, deadline, false, std::move(handler));
            });
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto consume_for(time_limit budget, Token&& token = Token{}) {
        return consume_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `consume`, but `errc::would_block` if there is no item that nobody has claimed. */
    template <class Token = default_token>
    auto try_consume(Token&& token = Token{}) {
        return detail::initiate<void(error_code, queue_claim)>(
            detail::call_site("queue.try_consume", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_](auto handler) {
                start_consume(session, impl, clock::time_point::max(), true, std::move(handler));
            });
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
        return detail::initiate<void(error_code, std::size_t)>(
            detail::call_site("queue.size", path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_](auto handler) {
                start_size(session, impl, std::move(handler));
            });
    }

protected:
    using session_ptr = std::shared_ptr<detail::session>;
    using impl_ptr = std::shared_ptr<detail::queue_impl>;
    template <class... Values>
    using handler_of = detail::any_handler<void(error_code, Values...)>;

    using new_item = detail::new_queue_item;

    // The time says what is due.
    basic_queue(const client& c,
                std::string path,
                queue_options options,
                detail::queue_order order,
                std::function<std::chrono::system_clock::time_point()> time = {});

    static void start_put(const session_ptr& session,
                          const impl_ptr& impl,
                          std::vector<new_item> items,
                          clock::time_point deadline,
                          bool no_wait,
                          handler_of<> handler);

    template <class Token>
    auto put_items(const char* operation,
                   std::vector<new_item> items,
                   clock::time_point deadline,
                   bool no_wait,
                   Token&& token) {
        return detail::initiate<void(error_code)>(
            detail::call_site(operation, path_),
            session_.get(),
            std::forward<Token>(token),
            [session = session_, impl = impl_, items = std::move(items), deadline, no_wait](
                auto handler) mutable {
                start_put(session, impl, std::move(items), deadline, no_wait, std::move(handler));
            });
    }

    static std::vector<new_item> one_item(std::string data, std::int64_t rank) {
        std::vector<new_item> items;
        items.emplace_back(std::move(data), rank);
        return items;
    }

    static std::vector<new_item> many_items(std::vector<std::string> data, std::int64_t rank) {
        std::vector<new_item> items;
        items.reserve(data.size());
        for (std::string& d : data)
            items.emplace_back(std::move(d), rank);
        return items;
    }

private:
    static void start_take(const session_ptr& session,
                           const impl_ptr& impl,
                           clock::time_point deadline,
                           bool no_wait,
                           handler_of<queue_item> handler);
    static void start_peek(const session_ptr& session,
                           const impl_ptr& impl,
                           handler_of<queue_item> handler);
    static void start_consume(const session_ptr& session,
                              const impl_ptr& impl,
                              clock::time_point deadline,
                              bool no_wait,
                              handler_of<queue_claim> handler);
    static void start_size(const session_ptr& session,
                           const impl_ptr& impl,
                           handler_of<std::size_t> handler);

    std::string path_;
};

/**
 * @brief A queue: first in, first out, by the server's order of the puts.
 *
 * With several consuming processes the items are *given out* in this order.
 *
 * @par Puts
 * Several puts that are asked for while another is on its way share a request; those of one object
 * keep their order. Each is applied exactly once, whatever happens to connection and session.
 * A put that fails was not applied, except with `zk_errc::connection_loss`: the client was closed
 * (or the control node deleted) before the outcome was known.
 *
 * @par Cancellation of puts
 * All types: completes at once with `operation_aborted`. A put that had been sent may be applied. An
 * item that was put too late for its deadline is taken out again, unless somebody has it already
 * (or the answer was lost, too).
 */
class COROZK_DECL queue : public basic_queue {
public:
    queue() noexcept = default;

    /** @brief A queue at this path. Touches nothing until it is used. */
    queue(const client& c, std::string path, queue_options options = queue_options())
        : basic_queue(c, std::move(path), std::move(options), detail::queue_order::arrival) {}

    /**
     * @brief Appends an item; waits for room in a bounded queue.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::too_large` (for one request, or the bound), `errc::limit_mismatch`.
     */
    template <class Token = default_token>
    auto put(std::string data, Token&& token = Token{}) {
        return put_items("queue.put",
                         one_item(std::move(data), 0),
                         clock::time_point::max(),
                         false,
                         std::forward<Token>(token));
    }

    /** @brief As `put`, but at most until then: `errc::deadline_exceeded` (see
     *  `time_limit`). */
    template <class Token = default_token>
    auto put_until(std::string data, clock::time_point deadline, Token&& token = Token{}) {
        return put_items(
            "queue.put", one_item(std::move(data), 0), deadline, false, std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto put_for(std::string data, time_limit budget, Token&& token = Token{}) {
        return put_until(std::move(data), budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `put`, but `errc::would_block` if a bounded queue is full. */
    template <class Token = default_token>
    auto try_put(std::string data, Token&& token = Token{}) {
        return put_items("queue.try_put",
                         one_item(std::move(data), 0),
                         clock::time_point::max(),
                         true,
                         std::forward<Token>(token));
    }

    /** @brief Appends all of them in one transaction, or none. As `put` otherwise. */
    template <class Token = default_token>
    auto put_many(std::vector<std::string> data, Token&& token = Token{}) {
        return put_items("queue.put_many",
                         many_items(std::move(data), 0),
                         clock::time_point::max(),
                         false,
                         std::forward<Token>(token));
    }
};

/**
 * @brief A queue whose items come out by priority, lower numbers first (like UNIX), and within a
 *        priority first in, first out.
 *
 * Each round of takes has a listing that was asked for after the takes: an item of higher priority
 * that was put before is never overtaken by what an older listing knew (bug catalogue Q6).
 * Therefore a take costs a listing, which those that wait together share.
 *
 * Puts: as in `queue`, and `errc::bad_option` if the format cannot name the priority.
 */
class COROZK_DECL priority_queue : public basic_queue {
public:
    priority_queue() noexcept = default;

    /** @brief A queue at this path. Touches nothing until it is used. */
    priority_queue(const client& c, std::string path, queue_options options = queue_options())
        : basic_queue(c, std::move(path), std::move(options), detail::queue_order::priority) {}

    /** @brief Adds an item, as `queue::put` does. */
    template <class Token = default_token>
    auto put(std::string data, std::int32_t priority, Token&& token = Token{}) {
        return put_items("priority_queue.put",
                         one_item(std::move(data), priority),
                         clock::time_point::max(),
                         false,
                         std::forward<Token>(token));
    }

    /** @brief As `put`, but at most until then: `errc::deadline_exceeded` (see
     *  `time_limit`). */
    template <class Token = default_token>
    auto put_until(std::string data,
                   std::int32_t priority,
                   clock::time_point deadline,
                   Token&& token = Token{}) {
        return put_items("priority_queue.put",
                         one_item(std::move(data), priority),
                         deadline,
                         false,
                         std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto put_for(std::string data,
                 std::int32_t priority,
                 time_limit budget,
                 Token&& token = Token{}) {
        return put_until(std::move(data), priority, budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `put`, but `errc::would_block` if a bounded queue is full. */
    template <class Token = default_token>
    auto try_put(std::string data, std::int32_t priority, Token&& token = Token{}) {
        return put_items("priority_queue.try_put",
                         one_item(std::move(data), priority),
                         clock::time_point::max(),
                         true,
                         std::forward<Token>(token));
    }

    /** @brief As `queue::put_many`: all or none. */
    template <class Token = default_token>
    auto put_many(std::vector<std::string> data, std::int32_t priority, Token&& token = Token{}) {
        return put_items("priority_queue.put_many",
                         many_items(std::move(data), priority),
                         clock::time_point::max(),
                         false,
                         std::forward<Token>(token));
    }
};

}  // namespace corozk
