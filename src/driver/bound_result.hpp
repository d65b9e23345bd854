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

/// A completion with its result, bound for the handler's associated executor.
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

/// Hands a result that is known while the operation is being started to its handler: never from inside
/// the caller, but for a handler with an immediate executor (from Boost 1.82 on), which may call it
/// before the starting function returns: the caller touches nothing afterwards. Otherwise by way of
/// the client's executor, as an erased handler's executor can dispatch, but not post.
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

/// Where a handler runs that is refused by an empty object: its own executor, if it has one.
template <class Signature>
boost::asio::any_io_executor fallback_executor(const any_handler<Signature>&) {
    return boost::asio::system_executor();
}

}  // namespace corozk::detail
