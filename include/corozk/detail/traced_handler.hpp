// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/tracer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associator.hpp>

#include <cstdint>
#include <utility>

namespace corozk::detail {

/// A completion handler that reports the end to a tracer first. Otherwise equivalent to `inner`.
template <class Handler>
struct traced_handler {
    Handler inner;
    tracer* to;
    std::uint64_t span;

    template <class... Values>
    void operator()(error_code ec, Values... values) {
        to->finished(span, ec);
        std::move(inner)(ec, std::move(values)...);
    }
};

/// Reports the start to the tracer, and the end when the handler is called.
template <class Signature>
boost::asio::any_completion_handler<Signature>
traced(boost::asio::any_completion_handler<Signature> handler, const call_site& where, tracer& to) {
    trace_point what;
    what.name = where.operation;
    what.path = where.path;
    std::uint64_t span = to.started(what);
    if (span == 0)
        return handler;
    return traced_handler<boost::asio::any_completion_handler<Signature>>{
        std::move(handler), &to, span};
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
