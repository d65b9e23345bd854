// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/tracer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/system_executor.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace corozk::detail {

/// The executor of a handler, which tracks outstanding work: its context does not run out of work
/// before the handler was called.
/// @param own  that of the operation's object, which has work as long as operations are pending
template <class Executor>
auto tracking(const Executor& executor, const boost::asio::any_io_executor& own) {
    namespace asio = boost::asio;
    constexpr auto tracked = asio::execution::outstanding_work.tracked;
    if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
        // A coroutine's, nearly always the same: that should cost nothing in its waiting handlers.
        return executor == own
                   ? nullptr
                   : std::make_unique<asio::any_io_executor>(asio::prefer(executor, tracked));
    } else {
        return asio::prefer(executor, tracked);
    }
}
inline boost::asio::system_executor tracking(const boost::asio::system_executor& executor,
                                             const boost::asio::any_io_executor&) {
    return executor;
}

/// A completion handler that reports the end to a tracer first, if there is one. Otherwise
/// equivalent to `inner`.
template <class Handler>
struct traced_handler {
    using work_type =
        decltype(tracking(boost::asio::get_associated_executor(std::declval<Handler>()),
                          boost::asio::any_io_executor()));

    Handler inner;
    tracer* to;
    std::uint64_t span;  ///< 0 if it is not traced
    [[no_unique_address]] work_type work;

    template <class... Values>
    void operator()(error_code ec, Values... values) {
        if (span != 0)
            to->finished(span, ec);
        std::move(inner)(ec, std::move(values)...);
    }
};

inline std::uint64_t start_span(tracer& to, const call_site& where) noexcept {
    trace_point what;
    what.name = where.operation;
    what.path = where.path;
    return to.started(what);
}

}  // namespace corozk::detail

namespace boost::asio {

template <template <class, class> class Associator, class Handler, class DefaultCandidate>
struct associator<Associator, corozk::detail::traced_handler<Handler>, DefaultCandidate>
    : Associator<Handler, DefaultCandidate> {
    static auto get(const corozk::detail::traced_handler<Handler>& h) noexcept {
        return Associator<Handler, DefaultCandidate>::get(h.inner);
    }
    static auto get(const corozk::detail::traced_handler<Handler>& h,
                    const DefaultCandidate& c) noexcept {
        return Associator<Handler, DefaultCandidate>::get(h.inner, c);
    }
};

}  // namespace boost::asio
