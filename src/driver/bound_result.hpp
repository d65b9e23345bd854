// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/initiate.hpp>
#include <corozk/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108200
#include <boost/asio/associated_immediate_executor.hpp>
#endif

#include <utility>

namespace corozk::detail {

/// Binds a handler to its result; the returned function dispatches it to its associated executor.
template <class... Values>
auto bound_result(const boost::asio::any_io_executor& executor,
                  any_handler<void(error_code, Values...)> handler,
                  error_code ec,
                  Values... values) {
    return [executor, handler = std::move(handler), ec, ... values = std::move(values)]() mutable {
        auto target = boost::asio::get_associated_executor(handler, executor);
        boost::asio::dispatch(
            target, [handler = std::move(handler), ec, ... values = std::move(values)]() mutable {
                std::move(handler)(ec, std::move(values)...);
            });
    };
}

/// Completes an operation from within its initiating function. A handler with an immediate executor
/// (Boost 1.82) may run before this returns: the caller must not touch anything afterwards. Others
/// are posted through the client's executor, because an erased handler's executor cannot post.
template <class... Values>
void immediate_result(const boost::asio::any_io_executor& executor,
                      any_handler<void(error_code, Values...)> handler,
                      error_code ec,
                      Values... values) {
#if BOOST_VERSION >= 108200
    auto at_once = boost::asio::get_associated_immediate_executor(handler, executor);
    boost::asio::dispatch(
        at_once, bound_result<Values...>(executor, std::move(handler), ec, std::move(values)...));
#else
    boost::asio::post(
        executor, bound_result<Values...>(executor, std::move(handler), ec, std::move(values)...));
#endif
}

/// For operations on an empty object: used unless the handler has an associated executor.
template <class Signature>
boost::asio::any_io_executor fallback_executor(const any_handler<Signature>&) {
    return boost::asio::system_executor();
}

}  // namespace corozk::detail
