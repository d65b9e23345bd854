// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <string>
#include <tuple>
#include <utility>

namespace corozk {

/**
 * @brief The default completion token: `co_await` the operation in a `boost::asio::awaitable<>`.
 *
 * Like `boost::asio::use_awaitable`, including the operators `||` and `&&`, but throws a
 * `corozk::error`, which contains the operation and the path. Any other Asio completion token can
 * be passed instead.
 */
struct default_token {};

namespace detail {

template <class... Values>
struct awaited {
    using type = std::tuple<Values...>;
};
template <>
struct awaited<> {
    using type = void;
};
template <class Value>
struct awaited<Value> {
    using type = Value;
};

using tuple_token = boost::asio::as_tuple_t<boost::asio::use_awaitable_t<>>;

}  // namespace detail
}  // namespace corozk

namespace boost::asio {

template <class... Values>
class async_result<corozk::default_token, void(boost::system::error_code, Values...)> {
public:
    using value_type = typename corozk::detail::awaited<Values...>::type;
    using return_type = awaitable<value_type>;

    template <class Initiation, class... Arguments>
    static return_type initiate(Initiation initiation,
                                corozk::default_token,
                                Arguments... arguments) {
        // By reference: this frame has them already.
        auto start = [&](auto handler) {
            std::move(initiation)(std::move(handler), std::move(arguments)...);
        };
        corozk::detail::tuple_token token{use_awaitable_t<>{}};
        auto outcome =
            co_await async_initiate<corozk::detail::tuple_token,
                                    void(boost::system::error_code, Values...)>(start, token);
        if (const auto& ec = std::get<0>(outcome)) {
            if constexpr (requires { initiation.where(); })
                throw corozk::error(ec, initiation.where().operation, initiation.where().path);
            throw corozk::error(ec, "", std::string());
        }
        if constexpr (sizeof...(Values) == 1) {
            co_return std::move(std::get<1>(outcome));
        } else if constexpr (sizeof...(Values) > 1) {
            co_return std::apply(
                [](auto&, auto&... values) { return value_type{std::move(values)...}; }, outcome);
        }
    }
};

}  // namespace boost::asio
