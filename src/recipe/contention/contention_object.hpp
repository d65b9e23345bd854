// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/user_call.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/contention/inspection.hpp"
#include <corozk/detail/recipe/contention_recipe.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

/// The implementation of a recipe object with a contention queue: path, settings and identity.
class contention_object {
public:
    /// `kinds` are the names of the naming's kinds. `path` is the user's path, if that is not the
    /// contenders' parent.
    contention_object(contention_settings settings,
                      std::string identity,
                      std::vector<std::string> kinds,
                      std::optional<std::string> path = std::nullopt);
    virtual ~contention_object() = default;

    const std::string& path() const noexcept { return path_; }
    const contender_data& identity() const noexcept { return identity_; }
    const contention_settings& settings() const noexcept { return settings_; }
    const std::vector<std::string>& kinds() const noexcept { return kinds_; }

    /// Why no operation can be started, or no error.
    error_code problem() const noexcept { return problem_; }

    /// The same in words, or null.
    const char* problem_text() const noexcept { return problem_text_; }

    /// Why such a request can never be granted, which is then logged, or no error.
    virtual error_code refusal(port&, const acquire_request&) const { return {}; }

    /// The settings of a contender's queue, if it belongs to this object.
    virtual const contention_settings& settings_of(const std::string&) const { return settings_; }

    /// Lists holders and waiters.
    virtual task<error_code> look(port& p, contention_survey& found) const {
        return survey(p, settings_, kinds_, found);
    }

    /// Queues.
    using handler_type = handler_of<ownership>;
    virtual void enter(port& p, const acquire_request& request, handler_type handler) const;

protected:
    void refuse_all(errc code, const char* text) noexcept {
        problem_ = code;
        problem_text_ = text;
    }

private:
    error_code problem_;
    const char* problem_text_ = nullptr;
    contention_settings settings_;
    contender_data identity_;
    std::vector<std::string> kinds_;
    std::string path_;
};

/// The implementation of a recipe without further options.
inline auto make_contention_object(known_recipe what,
                                   const contention_rule& rule,
                                   std::vector<std::string> kinds,
                                   std::string path,
                                   const contender_options& options) {
    return std::make_shared<const contention_object>(
        settings_in_format(what, rule, std::move(path), options),
        options.identity,
        std::move(kinds));
}

/// The names of a recipe, given as a literal, and of its operations.
#define COROZK_CONTENTION_NAMES(recipe)                                                          \
    contention_names {                                                                           \
        recipe, recipe ".list_contenders", recipe ".break_contender", recipe ".request_release", \
            recipe ".insist_on_release"                                                          \
    }

/// Why nothing can be started, or no error.
error_code problem_of(const std::shared_ptr<session_view>& s,
                      const std::shared_ptr<const contention_object>& impl) noexcept;

using contention_callee =
    callee<std::shared_ptr<session_view>, std::shared_ptr<const contention_object>>;

/// The contender of an ownership, if it is held at the path of this object.
error_code find_held(const contention_callee& of,
                     const std::shared_ptr<owned>& held,
                     std::shared_ptr<contender>& found);

/// Runs the driver of an operation, `driver(port, object, arguments..., call)`, or completes the
/// handler with an error.
template <class... Values, class Driver, class... Arguments>
void run_driver(const contention_callee& of,
                handler_of<Values...> handler,
                time_limit limit,
                Driver driver,
                Arguments&&... arguments) {
    if (error_code ec = problem_of(of.owner, of.impl))
        return refuse(of.owner, std::move(handler), ec);
    port& p = port_of(*of.owner);
    p.spawn(driver(p,
                   of.impl,
                   std::forward<Arguments>(arguments)...,
                   user_call<Values...>(p, std::move(handler), limit)));
}

/// Same as above, without a time limit.
template <class... Values, class Driver, class... Arguments>
void run_driver(const contention_callee& of,
                handler_of<Values...> handler,
                Driver driver,
                Arguments&&... arguments) {
    run_driver(of,
               std::move(handler),
               time_limit::for_ever(),
               std::move(driver),
               std::forward<Arguments>(arguments)...);
}

}  // namespace corozk::detail
