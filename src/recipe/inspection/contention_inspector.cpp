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

/// Runs `driver(call)` for a cancellable call, or completes it with an error.
template <class... Values, class Driver>
void run(const std::shared_ptr<contention_inspector_impl>& impl,
         any_handler<void(error_code, Values...)> handler,
         Driver driver) {
    if (!impl || !impl->good) {
        error_code reason = impl ? errc::bad_path : errc::closed;
        auto executor = impl ? impl->owner.executor() : fallback_executor(handler);
        return immediate_result<Values...>(executor, std::move(handler), reason, Values()...);
    }
    auto call =
        cancellable(user_call<Values...>(impl->owner, std::move(handler)), any_cancellation);
    impl->owner.spawn(driver(std::move(call)));
}

task<> list(std::shared_ptr<contention_inspector_impl> impl, call_ptr<infos> call) {
    found_queue found;
    error_code ec = co_await recognise(impl->owner, impl->path, impl->recipes, found);
    if (ec)
        found.contenders.clear();
    call->complete(ec, std::move(found.contenders));
}

/// Runs an operation of the recipe of this contender: `begin(queue, inner call)`.
template <class... Values, class Begin>
task<> operate(std::shared_ptr<contention_inspector_impl> impl,
               call_ptr<Values...> call,
               std::string contender_path,
               Begin begin) {
    found_queue found;
    error_code ec = co_await recognise(impl->owner, impl->path, impl->recipes, found);
    bool stands = std::any_of(found.contenders.begin(),
                              found.contenders.end(),
                              [&](const contender_info& c) { return c.path == contender_path; });
    if (!ec && !stands)
        ec = zk_errc::no_node;
    signal wake(impl->owner);
    inner_call<Values...> inner(impl->owner, wake);
    if (!ec && call->waiting()) {
        begin(*found.recipe, inner);
        while (!inner.done())
            co_await wake.wait();
        ec = inner.error();
    }
    if constexpr (sizeof...(Values) == 0)
        call->complete(ec);
    else
        call->complete(ec, !ec && inner.value());
}

}  // namespace

}  // namespace detail

contention_inspector::contention_inspector(const client& c, std::string path)
    : recipe_object(c.implementation(), std::move(path), c) {}

void contention_inspector::start_contenders(const impl_ptr& impl,
                                            handler_of<std::vector<contender_info>> handler) {
    detail::run(impl, std::move(handler), [&impl](detail::call_ptr<detail::infos> call) {
        return detail::list(impl, std::move(call));
    });
}

void contention_inspector::start_break(const impl_ptr& impl,
                                       std::string contender_path,
                                       handler_of<> handler) {
    auto begin = [contender_path](detail::contention_recipe& queue, detail::inner_call<>& inner) {
        queue.break_contender(contender_path, inner.token());
    };
    detail::run(impl, std::move(handler), [&](detail::call_ptr<> call) {
        return detail::operate(impl, std::move(call), contender_path, begin);
    });
}

void contention_inspector::start_insist(const impl_ptr& impl,
                                        std::string contender_path,
                                        time_limit grace,
                                        handler_of<bool> handler) {
    auto begin = [=](detail::contention_recipe& queue, detail::inner_call<bool>& inner) {
        queue.insist_on_release(contender_path, grace, inner.token());
    };
    detail::run(impl, std::move(handler), [&](detail::call_ptr<bool> call) {
        return detail::operate(impl, std::move(call), contender_path, begin);
    });
}

}  // namespace corozk
