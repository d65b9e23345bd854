// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/detail/initiate.hpp>
#include <corozk/error.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108200
#include <boost/asio/associated_immediate_executor.hpp>
#endif

#include <memory>
#include <new>
#include <tuple>
#include <utility>

namespace corozk::detail {

/// A handler bound to its result. As Asio demands, its memory is free again when the handler is
/// called.
template <class... Values>
class bound_result final : public bound_handler {
public:
    using handler_type = handler_of<Values...>;

    static completion make(handler_type handler, error_code ec, Values... values) {
        bound_result* place = memory(handler).allocate(1);
        return completion(new (place) bound_result(std::move(handler), ec, std::move(values)...));
    }

    void call(const boost::asio::any_completion_executor& executor) override {
        auto result = std::move(result_);
        handler_type handler = free();
        auto target = boost::asio::get_associated_executor(handler, executor);
        boost::asio::dispatch(target,
                              [handler = std::move(handler), result = std::move(result)]() mutable {
                                  std::apply(std::move(handler), std::move(result));
                              });
    }

    void drop() noexcept override { handler_type last = free(); }

private:
    bound_result(handler_type handler, error_code ec, Values... values)
        : handler_(std::move(handler)), result_(ec, std::move(values)...) {}
    ~bound_result() = default;

    static auto memory(const handler_type& handler) noexcept {
        using traits = std::allocator_traits<typename handler_type::allocator_type>;
        return typename traits::template rebind_alloc<bound_result>(handler.get_allocator());
    }

    handler_type free() noexcept {
        handler_type handler = std::move(handler_);
        this->~bound_result();
        memory(handler).deallocate(this, 1);
        return handler;
    }

    handler_type handler_;
    std::tuple<error_code, Values...> result_;
};

/// The executor in the form that an erased handler asks for. Asio allocates it.
inline boost::asio::any_completion_executor for_handlers(
    const boost::asio::any_io_executor& executor) noexcept {
    return boost::asio::any_completion_executor(std::nothrow, executor);
}

/// Calls a handler soon, never from within the caller.
inline void post_handler(const boost::asio::any_io_executor& executor, completion handler) {
    boost::asio::post(executor, [executor, handler = std::move(handler)]() mutable {
        handler.release()->call(for_handlers(executor));
    });
}

/// Completes an operation from within its initiating function. A handler with an immediate executor
/// (Boost 1.82) may run before this returns: the caller must not touch anything afterwards. Others
/// are posted through the client's executor, because an erased handler's executor cannot post.
template <class... Values>
void immediate_result(const boost::asio::any_io_executor& executor,
                      handler_of<Values...> handler,
                      error_code ec,
                      Values... values) {
#if BOOST_VERSION >= 108200
    auto at_once = boost::asio::get_associated_immediate_executor(handler, executor);
#endif
    completion result = bound_result<Values...>::make(std::move(handler), ec, std::move(values)...);
#if BOOST_VERSION >= 108200
    boost::asio::dispatch(at_once, [executor, result = std::move(result)]() mutable {
        result.release()->call(for_handlers(executor));
    });
#else
    post_handler(executor, std::move(result));
#endif
}

/// Completes a call with an error before anything was started for it.
/// @param owner has the executor; may be empty
template <class Owner, class... Values>
void refuse(const Owner& owner, handler_of<Values...> handler, error_code reason) {
    immediate_result<Values...>(executor_of(owner), std::move(handler), reason, Values()...);
}

}  // namespace corozk::detail
