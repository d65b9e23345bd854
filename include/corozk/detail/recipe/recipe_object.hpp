// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/initiate.hpp>
#include <corozk/time_limit.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

class port;
class session_view;

port& port_of(session_view& s) noexcept;

/// Base of recipe objects: session, path and implementation. Destruction and move assignment call
/// `Impl::stop()`, if there is one, which ends pending operations and cleans up. `Impl` must be
/// complete where the object is constructed: in the recipe's source file.
template <class Impl>
class recipe_object {
public:
    using executor_type = boost::asio::any_io_executor;
    using time_point = time_limit::time_point;  ///< The type of deadlines.

    executor_type get_executor() const noexcept { return executor_of(session_); }

    /** @brief The path that it was created with; empty without a client or after a move. */
    std::string path() const { return path_; }

protected:
    using impl_ptr = std::shared_ptr<Impl>;
    template <class... Values>
    using handler_of = detail::handler_of<Values...>;

    recipe_object() noexcept = default;
    explicit recipe_object(std::shared_ptr<session_view> s, impl_ptr impl = nullptr) noexcept
        : session_(std::move(s)), impl_(std::move(impl)), stop_(&stop_it) {}
    recipe_object(std::shared_ptr<session_view> s, std::string path, impl_ptr impl) noexcept
        : session_(std::move(s)), impl_(std::move(impl)), stop_(&stop_it), path_(std::move(path)) {}
    /// Creates `Impl(port, path, arguments...)`.
    template <class... Arguments>
    recipe_object(std::shared_ptr<session_view> s, std::string path, Arguments&&... arguments)
        : session_(std::move(s)), stop_(&stop_it) {
        if (!session_)
            return;
        path_ = std::move(path);
        impl_ = std::make_shared<Impl>(
            port_of(*session_), path_, std::forward<Arguments>(arguments)...);
    }
    recipe_object(recipe_object&& other) noexcept = default;
    recipe_object& operator=(recipe_object&& other) noexcept {
        if (this != &other) {
            stop();
            stop_ = other.stop_;
            path_ = std::exchange(other.path_, std::string());
            impl_ = std::move(other.impl_);  // first: it refers to the session
            session_ = std::move(other.session_);
        }
        return *this;
    }
    ~recipe_object() { stop(); }

    /// The body of every public operation: calls `Start(impl, arguments..., handler)`.
    template <auto Start, class Token, class... Arguments>
    auto initiate(const char* operation, Token&& token, Arguments&&... arguments) const {
        return initiate_about<Start>(
            operation, path_, std::forward<Token>(token), std::forward<Arguments>(arguments)...);
    }

    /// Same as above, for operations whose errors mention `what` instead of the object's path.
    template <auto Start, class Token, class... Arguments>
    auto initiate_about(const char* operation,
                        std::string what,
                        Token&& token,
                        Arguments&&... arguments) const {
        return detail::initiate<Start>(call_site(operation, std::move(what)),
                                       callee(session_, impl_),
                                       std::forward<Token>(token),
                                       std::forward<Arguments>(arguments)...);
    }

    std::shared_ptr<session_view> session_;
    impl_ptr impl_;  ///< null if the client was moved from

private:
    static void stop_it(Impl& impl) noexcept {
        if constexpr (requires { impl.stop(); })
            impl.stop();
    }

    void stop() noexcept {
        if (impl_)
            stop_(*impl_);
    }

    void (*stop_)(Impl&) noexcept = nullptr;
    std::string path_;
};

}  // namespace corozk::detail
