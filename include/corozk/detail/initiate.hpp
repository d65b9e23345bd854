// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/asio_settings.hpp>
#include <corozk/detail/call_site.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/traced_handler.hpp>
#include <corozk/token.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/system_executor.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace corozk::detail {

class session;

/// The executor of a session; where there is none the system executor.
COROZK_DECL boost::asio::any_io_executor executor_of(const session* s) noexcept;
inline boost::asio::any_io_executor executor_of(const std::shared_ptr<session>& s) noexcept {
    return executor_of(s.get());
}
inline boost::asio::any_io_executor executor_of(boost::asio::any_io_executor e) noexcept {
    return e;
}

template <class Signature>
using any_handler = boost::asio::any_completion_handler<Signature>;

/// Erases the completion handler and hands it to the compiled body of an operation.
template <class Signature, class Body>
class basic_initiation {
public:
    basic_initiation(call_site where, Body body)
        : where_(std::move(where)), body_(std::move(body)) {}

    /// For the message of an error; a tracer wants it as well.
    call_site take_call_site() { return current_tracer() ? where_ : std::move(where_); }

protected:
    Body& body() noexcept { return body_; }

    template <class Handler>
    any_handler<Signature> erased(Handler&& handler) {
        any_handler<Signature> result(std::forward<Handler>(handler));
        if (tracer* to = current_tracer())
            return traced<Signature>(std::move(result), where_, *to);
        return result;
    }

private:
    call_site where_;
    Body body_;
};

/// With the executor of the object, which adapters of completion tokens ask for: its own, or that of
/// its session, by a pointer. Thousands of coroutines that wait have this in their frames.
template <class Signature, class Body, class Source>
class initiation : public basic_initiation<Signature, Body> {
public:
    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    initiation(call_site where, Source source, Body body)
        : basic_initiation<Signature, Body>(std::move(where), std::move(body)),
          source_(std::move(source)) {}

    executor_type get_executor() const noexcept { return executor_of(source_); }

    template <class Handler>
    void operator()(Handler&& handler) {
        this->body()(this->erased(std::forward<Handler>(handler)));
    }

private:
    Source source_;
};

/// For a body that wants the handler's executor, because there is no other.
template <class Signature, class Body>
class executor_initiation : public basic_initiation<Signature, Body> {
public:
    using basic_initiation<Signature, Body>::basic_initiation;

    template <class Handler>
    void operator()(Handler&& handler) {
        auto executor = boost::asio::get_associated_executor(handler);
        static_assert(!std::is_same_v<decltype(executor), boost::asio::system_executor>,
                      "this completion token brings no executor: pass one as the first argument");
        this->body()(boost::asio::any_io_executor(std::move(executor)),
                     this->erased(std::forward<Handler>(handler)));
    }
};

/// Every public operation is this: a body taking an erased handler, started through a token.
template <class Signature, class Source, class Token, class Body>
auto initiate(call_site where, Source source, Token&& token, Body body) {
    return boost::asio::async_initiate<Token, Signature>(
        initiation<Signature, Body, Source>(std::move(where), std::move(source), std::move(body)),
        token);
}

template <class Signature, class Token, class Body>
auto initiate_with_executor(call_site where, Token&& token, Body body) {
    return boost::asio::async_initiate<Token, Signature>(
        executor_initiation<Signature, Body>(std::move(where), std::move(body)), token);
}

}  // namespace corozk::detail
