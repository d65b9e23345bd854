// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/error.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace corozk {

/** @brief The kind of a span. */
enum class trace_kind : std::uint8_t {
    operation,  ///< An operation started by the user, such as "lock.acquire" or "get".
    request,    ///< A request to the server on behalf of an operation, such as "create".
    /// The time during which a lock, permit or leadership is held. Not reported for `priority_lock`
    /// or queue claims; with `compatibility` a semaphore's acquisition has two.
    tenure,
};

/** @brief The name of a kind, such as "request". */
COROZK_DECL std::string_view to_string(trace_kind kind) noexcept;

/** @brief Describes a span that starts. The strings are valid only during the call. */
struct trace_point {
    trace_kind kind = trace_kind::operation;  ///< The kind of span.
    std::string_view name;                    ///< Such as "lock.acquire".
    std::string_view path;                    ///< Empty if there is none.
    std::int64_t session_id = 0;              ///< Set for requests and tenures.
};

/**
 * @brief Interface that receives the start and end of every operation, for instance to create
 *        OpenTelemetry spans.
 *
 * An operation starts within its initiating function (for an awaitable, when it is awaited),
 * on the caller's thread, so the current span of that thread is its parent. Its requests may start
 * later, and one request may serve many operations; the path relates them.
 *
 * Credentials and node data are never passed.
 *
 * @executor Called on every thread that uses a client. Must not throw, block, or call this library.
 */
class COROZK_DECL tracer {
public:
    virtual ~tracer();

    /** @brief A span starts. @return the value to pass to `finished`; 0 to ignore its end. */
    virtual std::uint64_t started(const trace_point& what) noexcept = 0;

    /** @brief A span has ended, with an error or without. Called exactly once per started span,
     *         unless the executor is destroyed first. */
    virtual void finished(std::uint64_t span, const error_code& ec) noexcept = 0;
};

namespace detail {
COROZK_DECL extern std::atomic<tracer*> installed_tracer;
}

/**
 * @brief Installs the tracer of the process; null disables tracing, which then costs one load of an
 *        atomic variable per operation.
 *
 * @par Lifetime
 * It must outlive all clients; install it before creating the first one.
 */
inline void set_tracer(tracer* t) noexcept {
    detail::installed_tracer.store(t, std::memory_order_release);
}

/** @brief The installed tracer, or null. */
inline tracer* current_tracer() noexcept {
    return detail::installed_tracer.load(std::memory_order_acquire);
}

}  // namespace corozk
