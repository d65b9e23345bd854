// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/ownership.hpp>
#include <corozk/time_limit.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk {

/** @brief A part of a `multi_ownership`. */
struct multi_part {
    multi_part() = default;
    multi_part(std::string path_, ownership held_)
        : path(std::move(path_)), held(std::move(held_)) {}

    std::string path;  ///< The path of the recipe object.
    ownership held;    ///< Its ownership.
};

/**
 * @brief The result of a `multi_lock`: several ownerships held together.
 *
 * Move-only. The destructor releases all parts in the background; `release` does the same and can
 * be awaited. For guarantees, thread safety and lifetime see `ownership`.
 */
class COROZK_DECL multi_ownership {
public:
    /// Owns nothing.
    multi_ownership() noexcept = default;
    /// Made by `multi_lock`.
    explicit multi_ownership(std::vector<multi_part> parts) noexcept;

    multi_ownership(multi_ownership&&) noexcept = default;
    multi_ownership& operator=(multi_ownership&&) noexcept = default;

    using executor_type = boost::asio::any_io_executor;
    using time_point = time_limit::time_point;  ///< The type of deadlines.

    /** @brief The client's executor, even after release; see `ownership::get_executor`. */
    executor_type get_executor() const noexcept {
        return executor_ ? executor_ : detail::executor_of(nullptr);
    }

    /** @brief Whether it has parts. They may be lost; see `valid`. */
    explicit operator bool() const noexcept { return !parts_.empty(); }

    /** @brief Whether all parts are valid; see `ownership::valid`. */
    bool valid() const noexcept;

    /**
     * @brief The parts, by path.
     *
     * Releasing or moving from a single part makes `valid` false.
     */
    std::vector<multi_part>& parts() noexcept { return parts_; }
    const std::vector<multi_part>& parts() const noexcept { return parts_; }  ///< Same as above.

    /** @brief The part with the given path, or null. */
    ownership* find(std::string_view path) noexcept;

    /** @brief The fencing token of the part with the given path, or 0. Tokens of different paths
     *         are not comparable. */
    std::int64_t fencing_token(std::string_view path) const noexcept;

    /**
     * @brief Waits until one of the parts is lost.
     *
     * @completes `void(error_code, error_code, std::string)`, with the reason, as for
     * `ownership::wait_lost`, and the path of the part; the smallest path if several are lost at
     * once.
     *
     * @errors `boost::asio::error::operation_aborted`: it was released. `errc::ownership_lost`:
     * nothing is owned.
     *
     * @cancellation All types: completes at once; a later `wait_lost` still reports
     * the loss.
     */
    template <class Token = default_token>
    auto wait_lost(Token&& token = Token{}) {
        return detail::initiate<&start_wait_lost>(
            site_of("multi_ownership.wait_lost"), references(), std::forward<Token>(token));
    }

    /**
     * @brief Releases all parts, as `ownership::release`.
     *
     * @completes `void(error_code)`, with the first error of a part; the others are released
     * anyway.
     *
     * @cancellation As `ownership::release`.
     */
    template <class Token = default_token>
    auto release(Token&& token = Token{}) {
        return release_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto release_for(time_limit limit, Token&& token = Token{}) {
        auto where = site_of("multi_ownership.release");
        auto executor = get_executor();
        // Shared, because `deferred` requires a copyable initiation.
        detail::callee held(executor, std::make_shared<multi_ownership>(std::move(*this)));
        executor_ = std::move(executor);
        return detail::initiate<&start_release>(
            std::move(where), std::move(held), std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto release_until(time_point deadline, Token&& token = Token{}) {
        return release_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Applies a transaction only if all parts are still held, as `ownership::commit`.
     *
     * @completes `void(error_code, std::vector<transaction_result>)`, as `client::commit`.
     *
     * @errors `errc::ownership_lost`: a part is lost, its node was deleted, or the session has
     * ended; nothing was written. `errc::busy`: a downgrade of a part is in progress. Otherwise as
     * `client::commit`.
     *
     * @cancellation As `client::commit`.
     */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return detail::initiate<&start_commit>(site_of("multi_ownership.commit"),
                                               references(),
                                               std::forward<Token>(token),
                                               std::move(steps));
    }

private:
    /// Keeps a part usable for an operation that has not started yet.
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

    using callee = detail::callee<boost::asio::any_io_executor, part_references>;

    callee references() const {
        return {get_executor(), part_references(parts_.begin(), parts_.end())};
    }
    detail::call_site site_of(const char* operation) const {
        return detail::call_site(operation, parts_.empty() ? std::string() : parts_.front().path);
    }

    static void start_wait_lost(const callee& of, detail::handler_of<error_code, std::string>);
    static void start_release(const std::shared_ptr<multi_ownership>& held,
                              time_limit limit,
                              detail::handler_of<>);
    static void start_commit(const callee& of,
                             transaction steps,
                             detail::handler_of<std::vector<transaction_result>>);

    boost::asio::any_io_executor executor_;
    std::vector<multi_part> parts_;
};

}  // namespace corozk
