// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/tracer.hpp>

#include <boost/asio/associator.hpp>

#include <cstdint>
#include <utility>

namespace corozk::detail {

/// A completion handler that reports the end to a tracer first, if there is one. Otherwise
/// equivalent to `inner`.
template <class Handler>
struct traced_handler {
    Handler inner;
    tracer* to;
    std::uint64_t span;  ///< 0 if it is not traced

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
