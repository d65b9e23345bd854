// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/error.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace corozk {

/** @brief What began and will end. */
enum class trace_kind : std::uint8_t {
    operation,  ///< something that a user started, such as "lock.acquire" or "get"
    request,    ///< a step of it: a request to the server, such as "create"
    tenure,     ///< the time for which a lock, permit or leadership is held
};

/** @brief The name of a kind, such as "request". */
COROZK_DECL std::string_view to_string(trace_kind kind) noexcept;

/** @brief What a tracer is told when something begins. The texts live for the call alone. */
struct trace_point {
    trace_kind kind = trace_kind::operation;  ///< Of what.
    std::string_view name;                    ///< Such as "lock.acquire".
    std::string_view path;                    ///< empty where there is none
    std::int64_t session_id = 0;              ///< of requests and tenures
};

/**
 * @brief Hears of the start and the end of everything that this library does: for OpenTelemetry, for
 *        instance.
 *
 * An operation starts in the call that starts it (an awaitable: when it is awaited), on the caller's
 * thread: what is the current span there is its parent. Its requests may be made later, and one
 * request may serve many operations: whoever needs the connection has the path.
 *
 * Credentials and data are never told.
 *
 * @par Thread safety
 * Called on every thread that uses clients. Must not throw, block, or call this library.
 */
class COROZK_DECL tracer {
public:
    virtual ~tracer();

    /** @brief Something begins. @return what `finished` gets; 0 if its end is of no interest. */
    virtual std::uint64_t started(const trace_point& what) noexcept = 0;

    /** @brief It has ended, with this error or none. Called exactly once for each start, unless the
     *         executor is destroyed before. */
    virtual void finished(std::uint64_t span, const error_code& ec) noexcept = 0;
};

namespace detail {
COROZK_DECL extern std::atomic<tracer*> installed_tracer;
}

/**
 * @brief Tells a tracer of everything from now on, in the whole process; null: nobody.
 *
 * Without one this library looks at one variable for each operation, and that is all.
 *
 * @par Lifetime
 * It must live until all clients are destroyed; so install it before the first one.
 */
inline void set_tracer(tracer* t) noexcept {
    detail::installed_tracer.store(t, std::memory_order_release);
}

/** @brief The tracer that is told, or null. */
inline tracer* current_tracer() noexcept {
    return detail::installed_tracer.load(std::memory_order_acquire);
}

}  // namespace corozk
