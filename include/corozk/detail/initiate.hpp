// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/asio_settings.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/traced_handler.hpp>
#include <corozk/error.hpp>
#include <corozk/token.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace corozk::detail {

class session_view;

/// The executor of a session; without a session, the system executor.
COROZK_DECL boost::asio::any_io_executor executor_of(const session_view* s) noexcept;
template <class Owner>
boost::asio::any_io_executor executor_of(const std::shared_ptr<Owner>& s) noexcept {
    return executor_of(s.get());
}
inline boost::asio::any_io_executor executor_of(boost::asio::any_io_executor e) noexcept {
    return e;
}

/// A type-erased completion handler.
template <class... Values>
using handler_of = boost::asio::any_completion_handler<void(error_code, Values...)>;

/// The completion signature of an operation: that of the handler, its start function's last
/// parameter.
template <class... Parameters>
struct last_signature;
template <class Signature>
struct last_signature<boost::asio::any_completion_handler<Signature>> {
    using type = Signature;
};
template <class First, class... Others>
struct last_signature<First, Others...> : last_signature<Others...> {};
template <class... Parameters>
auto signature_of(void (*)(Parameters...)) -> last_signature<Parameters...>;

/// Erases the type of a handler, traces the operation and keeps work for the handler's executor, if
/// it is another than `own`. Erased once only: an erased handler's allocator must not be used after
/// the handler's destruction, which another erasure around it does.
template <class Signature, class Handler>
boost::asio::any_completion_handler<Signature> erased(Handler&& handler,
                                                      const call_site& where,
                                                      const boost::asio::any_io_executor& own) {
    tracer* to = current_tracer();
    std::uint64_t span = to ? start_span(*to, where) : 0;
    auto work = tracking(boost::asio::get_associated_executor(handler), own);
    return traced_handler<std::decay_t<Handler>>{
        std::forward<Handler>(handler), to, span, std::move(work)};
}

/// The object of an operation: its implementation, and the owner that keeps this usable and has the
/// executor.
template <class Owner, class Impl>
struct callee {
    callee(Owner owner_, Impl impl_) : owner(std::move(owner_)), impl(std::move(impl_)) {}
    operator const Impl&() const noexcept { return impl; }

    Owner owner;
    Impl impl;
};

template <class Owner, class Impl>
boost::asio::any_io_executor executor_of(const callee<Owner, Impl>& c) noexcept {
    return executor_of(c.owner);
}

/// A completion token in the position of an optional `Argument`.
template <class Token, class Argument>
concept token_not = (std::is_arithmetic_v<Argument> &&
                     !std::is_arithmetic_v<std::decay_t<Token>>) ||
                    (!std::is_arithmetic_v<Argument> && !std::is_convertible_v<Token, Argument>);

/// An initiation for `async_initiate` that calls `Start(callee, arguments..., handler)`. Adapters
/// of completion tokens query its executor. It is stored in the frames of waiting coroutines.
template <auto Start, class Callee>
class initiation {
public:
    using signature = typename decltype(signature_of(Start))::type;
    using executor_type = boost::asio::any_io_executor;

    initiation(call_site where, Callee callee)
        : where_(std::move(where)), callee_(std::move(callee)) {}

    const call_site& where() const noexcept { return where_; }  ///< For the message of an error.
    executor_type get_executor() const noexcept { return executor_of(callee_); }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) {
        Start(callee_,
              std::forward<Arguments>(arguments)...,
              erased<signature>(std::forward<Handler>(handler), where_, get_executor()));
    }

private:
    call_site where_;
    Callee callee_;
};

/// The executors of handlers that were given none: they run on Asio's system executor, whose threads
/// would use a client at the same time.
template <class Executor>
inline constexpr bool has_no_executor_of_its_own =
    std::is_same_v<Executor, boost::asio::system_executor>;
template <class Value, class Blocking>
inline constexpr bool
    has_no_executor_of_its_own<boost::asio::detail::promise_executor<Value, Blocking>> = true;

/// An initiation without an object that calls `Start(executor, arguments..., handler)` with the
/// handler's executor.
template <auto Start>
class executor_initiation {
public:
    using signature = typename decltype(signature_of(Start))::type;

    explicit executor_initiation(call_site where) : where_(std::move(where)) {}

    const call_site& where() const noexcept { return where_; }  ///< For the message of an error.

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) {
        auto executor = boost::asio::get_associated_executor(handler);
        static_assert(!has_no_executor_of_its_own<decltype(executor)>,
                      "this completion token has no executor: pass one as the first argument");
        const boost::asio::any_io_executor own(std::move(executor));
        Start(own,
              std::forward<Arguments>(arguments)...,
              erased<signature>(std::forward<Handler>(handler), where_, own));
    }

private:
    call_site where_;
};

/// The body of every public operation. The arguments are passed through the token.
template <auto Start, class Callee, class Token, class... Arguments>
auto initiate(call_site where, Callee of, Token&& token, Arguments&&... arguments) {
    return boost::asio::async_initiate<Token, typename initiation<Start, Callee>::signature>(
        initiation<Start, Callee>(std::move(where), std::move(of)),
        token,
        std::forward<Arguments>(arguments)...);
}

template <auto Start, class Token, class... Arguments>
auto initiate_on_handlers_executor(call_site where, Token&& token, Arguments&&... arguments) {
    return boost::asio::async_initiate<Token, typename executor_initiation<Start>::signature>(
        executor_initiation<Start>(std::move(where)), token, std::forward<Arguments>(arguments)...);
}

}  // namespace corozk::detail
