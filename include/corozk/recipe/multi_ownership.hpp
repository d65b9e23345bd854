// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/ownership.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk {

/** @brief One of the things that are owned together. */
struct multi_part {
    multi_part() = default;
    multi_part(std::string path_, ownership held_)
        : path(std::move(path_)), held(std::move(held_)) {}

    std::string path;  ///< of the lock, as it was named
    ownership held;    ///< with its node, its fencing token, its requests for release
};

/**
 * @brief Several things that are ours together: what a `multi_lock` gives.
 *
 * Move-only. Its destructor gives all of them back in the background; `release` does the same and
 * can be awaited. What `ownership` says of its promises, threads and lifetime holds here, too.
 */
class COROZK_DECL multi_ownership {
public:
    /// Owns nothing.
    multi_ownership() noexcept;
    explicit multi_ownership(std::vector<multi_part> parts) noexcept;  ///< Made by `multi_lock`.
    multi_ownership(multi_ownership&&) noexcept;
    multi_ownership& operator=(multi_ownership&&) noexcept;
    ~multi_ownership();

    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    /** @brief The executor of the client that it was made with. */
    executor_type get_executor() const noexcept;

    /** @brief Whether there is something to release. Some of it may have been lost; see `valid`. */
    explicit operator bool() const noexcept { return !parts_.empty(); }

    /** @brief Whether all parts are still ours as far as anybody can know here. */
    bool valid() const noexcept;

    /**
     * @brief The parts, by path.
     *
     * Each can be used like any ownership. A part that is released or moved away alone makes the
     * whole invalid. While `wait_lost` of the whole waits, `wait_lost` of a part fails with `errc::busy`.
     */
    std::vector<multi_part>& parts() noexcept { return parts_; }
    const std::vector<multi_part>& parts() const noexcept { return parts_; }  ///< Same.

    /** @brief The part of that path; null if there is none. */
    ownership* find(std::string_view path) noexcept;

    /** @brief The part's fencing token; 0 if there is no part of that path. Tokens of different
     * paths are not to be compared. */
    std::int64_t fencing_token(std::string_view path) const noexcept;

    /**
     * @brief Waits until one of the parts is lost.
     *
     * @par Completion signature
     * `void(error_code, error_code, std::string)`: why, as for `ownership::wait_lost`, and the path of
     * the lock; the smallest one if several go at once.
     *
     * @par Errors
     * `operation_aborted` when it was released, or on cancellation; `errc::busy` when another
     * `wait_lost` waits. `errc::ownership_lost` when nothing is owned.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; nothing is lost to a later `wait_lost`.
     */
    template <class Token = default_token>
    auto wait_lost(Token&& token = Token{}) {
        return detail::initiate<&start_wait_lost>(
            site_of("wait_lost"), references(), std::forward<Token>(token));
    }

    /**
     * @brief Gives all parts back, and waits until the server has confirmed it.
     *
     * Afterwards the object owns nothing. The nodes go for certain, even if the connection is lost
     * meanwhile or the wait is cancelled, or if what this returns is never awaited.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * As `ownership::release`, of the first part that has one; the others are given back all the
     * same.
     *
     * @par Cancellation
     * Terminal and partial: stops waiting; the nodes are erased all the same. Total: ignored.
     */
    template <class Token = default_token>
    auto release(Token&& token = Token{}) {
        auto where = site_of("release");
        auto executor = get_executor();
        // Shared, because `deferred` wants what it starts to be copyable.
        detail::callee held(std::move(executor),
                            std::make_shared<multi_ownership>(std::move(*this)));
        return detail::initiate<&start_release>(
            std::move(where), std::move(held), std::forward<Token>(token));
    }

    /**
     * @brief Carries out a transaction only if all parts are still ours, as `ownership::commit`.
     *
     * @par Completion signature
     * `void(error_code, std::vector<transaction_result>)`, as `client::commit`.
     *
     * @par Errors
     * `errc::ownership_lost`: a part is lost, its node is gone, or the session; nothing was written.
     * Otherwise as `client::commit`.
     */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return detail::initiate<&start_commit>(
            site_of("commit"), references(), std::forward<Token>(token), std::move(steps));
    }

private:
    /// What an operation needs of a part that has not been started yet.
    struct part_reference {
        part_reference(const multi_part& part)
            : path(part.path),
              keep_alive(part.held.keep_alive()),
              impl(part.held.implementation()) {}

        std::string path;
        std::shared_ptr<void> keep_alive;
        std::shared_ptr<detail::owned> impl;
    };
    using part_references = std::vector<part_reference>;

    auto references() const {
        return detail::callee(get_executor(), part_references(parts_.begin(), parts_.end()));
    }
    detail::call_site site_of(const char* operation) const {
        return detail::call_site(operation, parts_.empty() ? std::string() : parts_.front().path);
    }

    static void start_wait_lost(
        const part_references& parts,
        detail::any_handler<void(error_code, error_code, std::string)> handler);
    static void start_release(const std::shared_ptr<multi_ownership>& held,
                              detail::any_handler<void(error_code)> handler);
    static void start_commit(
        const part_references& parts,
        transaction steps,
        detail::any_handler<void(error_code, std::vector<transaction_result>)> handler);

    std::vector<multi_part> parts_;
};

}  // namespace corozk
