// SPDX-License-Identifier: Apache-2.0
#include "driver/cancellable.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/inspection/known_queues.hpp"
#include <corozk/recipe/contention_inspector.hpp>

#include <algorithm>
#include <utility>

namespace corozk {

namespace detail {

class contention_inspector_impl {
public:
    contention_inspector_impl(port& p, std::string path_, const client& c)
        : owner(p), path(std::move(path_)), good(!path_problem(path) && path != "/") {
        if (good)
            recipes = known_queues_at(c, path);
    }

    port& owner;
    std::string path;
    bool good;  ///< whether the path is valid
    std::vector<known_queue> recipes;
};

namespace {

using infos = std::vector<contender_info>;
template <class... Values>
using call_ptr = std::shared_ptr<user_call<Values...>>;

/// Runs a driver for a cancellable call, or completes it with an error.
template <class... Values, class... Parameters, class... Arguments>
void run(task<> (*driver)(std::shared_ptr<contention_inspector_impl>,
                          call_ptr<Values...>,
                          Parameters...),
         const std::shared_ptr<contention_inspector_impl>& impl,
         any_handler<void(error_code, Values...)> handler,
         Arguments&&... arguments) {
    if (!impl || !impl->good) {
        error_code reason = impl ? errc::bad_path : errc::closed;
        auto executor = impl ? impl->owner.executor() : fallback_executor(handler);
        return immediate_result<Values...>(executor, std::move(handler), reason, Values()...);
    }
    auto call =
        cancellable(user_call<Values...>(impl->owner, std::move(handler)), any_cancellation);
    impl->owner.spawn(driver(impl, std::move(call), std::forward<Arguments>(arguments)...));
}

/// The recipe of this contender.
task<error_code> recipe_of(const contention_inspector_impl& impl,
                           const std::string& contender_path,
                           const known_queue*& recipe) {
    found_queue found;
    error_code ec = co_await recognise(impl.owner, impl.path, impl.recipes, found);
    if (ec)
        co_return ec;
    bool stands = std::any_of(found.contenders.begin(),
                              found.contenders.end(),
                              [&](const contender_info& c) { return c.path == contender_path; });
    if (!stands)
        co_return make_error_code(zk_errc::no_node);
    recipe = found.recipe;
    co_return error_code();
}

task<> list(std::shared_ptr<contention_inspector_impl> impl, call_ptr<infos> call) {
    found_queue found;
    error_code ec = co_await recognise(impl->owner, impl->path, impl->recipes, found);
    if (ec)
        found.contenders.clear();
    call->complete(ec, std::move(found.contenders));
}

task<> break_one(std::shared_ptr<contention_inspector_impl> impl,
                 call_ptr<> call,
                 std::string contender_path) {
    const known_queue* recipe = nullptr;
    error_code ec = co_await recipe_of(*impl, contender_path, recipe);
    if (!ec && call->waiting()) {
        signal wake(impl->owner);
        inner_call<> inner(impl->owner, wake);
        recipe->break_one(std::move(contender_path), inner);
        while (!inner.done())
            co_await wake.wait();
        ec = inner.error();
    }
    call->complete(ec);
}

task<> insist(std::shared_ptr<contention_inspector_impl> impl,
              call_ptr<bool> call,
              std::string contender_path,
              time_limit grace) {
    const known_queue* recipe = nullptr;
    error_code ec = co_await recipe_of(*impl, contender_path, recipe);
    bool removed = false;
    if (!ec && call->waiting()) {
        signal wake(impl->owner);
        inner_call<bool> inner(impl->owner, wake);
        recipe->insist(std::move(contender_path), grace, inner);
        while (!inner.done()) {
            co_await wake.wait();
        }
        ec = inner.error();
        removed = !ec && inner.value();
    }
    call->complete(ec, removed);
}

}  // namespace

}  // namespace detail

contention_inspector::contention_inspector(const client& c, std::string path)
    : recipe_object(c.implementation(), std::move(path), c) {}

void contention_inspector::start_contenders(const impl_ptr& impl,
                                            handler_of<std::vector<contender_info>> handler) {
    detail::run(&detail::list, impl, std::move(handler));
}

void contention_inspector::start_break(const impl_ptr& impl,
                                       std::string contender_path,
                                       handler_of<> handler) {
    detail::run(&detail::break_one, impl, std::move(handler), std::move(contender_path));
}

void contention_inspector::start_insist(const impl_ptr& impl,
                                        std::string contender_path,
                                        time_limit grace,
                                        handler_of<bool> handler) {
    detail::run(&detail::insist, impl, std::move(handler), std::move(contender_path), grace);
}

}  // namespace corozk
