// SPDX-License-Identifier: Apache-2.0
#include "driver/pending_call.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/inspection/known_queues.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/recipe/contention_inspector.hpp>

#include <algorithm>
#include <utility>

namespace corozk {

namespace detail {

class contention_inspector_impl final : public recipe_core {
public:
    contention_inspector_impl(port& p, std::string path, const client& c)
        : recipe_core(p, "contention inspector", path) {
        if (path_is_good())
            recipes = known_queues_at(c, path);
    }

    /// Lists the contenders, and finds their recipe.
    task<error_code> look(found_queue& found) const {
        return recognise(get_port(), path(), recipes, found);
    }

    std::vector<known_queue> recipes;
};

namespace {

using impl_ptr = std::shared_ptr<contention_inspector_impl>;

task<> list(impl_ptr impl, handler_of<std::vector<contender_info>> handler) {
    user_call<std::vector<contender_info>> user(impl->get_port(), std::move(handler));
    auto call = cancellable(std::move(user), any_cancellation);
    found_queue found;
    error_code ec = co_await impl->look(found);
    if (ec)
        found.contenders.clear();
    call->complete(ec, std::move(found.contenders));
}

/// Runs an operation of the recipe of this contender: `begin(queue, token)`.
template <class... Values, class Begin>
task<> operate(impl_ptr impl,
               handler_of<Values...> handler,
               std::string contender_path,
               Begin begin) {
    port& p = impl->get_port();
    signal wake(p);
    user_call<Values...> user(p, std::move(handler));
    auto call = cancellable(std::move(user), any_cancellation, &wake);
    found_queue found;
    error_code ec = co_await impl->look(found);
    bool stands = std::any_of(found.contenders.begin(),
                              found.contenders.end(),
                              [&](const contender_info& c) { return c.path == contender_path; });
    if (!ec && !stands)
        ec = zk_errc::no_node;
    inner_call<Values...> inner(p, wake);
    if (!ec && call->waiting()) {
        begin(*found.recipe, inner.token());
        while (!inner.done()) {
            if (!call->waiting())
                inner.cancel();
            co_await wake.wait();
        }
        ec = inner.error();
    }
    if constexpr (sizeof...(Values) == 0)
        call->complete(ec);
    else
        call->complete(ec, !ec && inner.value());
}

template <class... Values, class Begin>
void run_operation(const impl_ptr& impl,
                   handler_of<Values...> handler,
                   std::string contender_path,
                   Begin begin) {
    if (usable_at_path(impl, handler))
        impl->get_port().spawn(operate(impl, std::move(handler), std::move(contender_path), begin));
}

}  // namespace

}  // namespace detail

contention_inspector::contention_inspector(const client& c, std::string path)
    : recipe_object(c.implementation(), std::move(path), c) {}

void contention_inspector::start_list_contenders(const impl_ptr& impl,
                                                 handler_of<std::vector<contender_info>> handler) {
    detail::run_at_path(impl, std::move(handler), &detail::list);
}

void contention_inspector::start_break(const impl_ptr& impl,
                                       std::string contender_path,
                                       handler_of<> handler) {
    auto begin = [contender_path](detail::contention_recipe& queue, auto token) {
        queue.break_contender(contender_path, std::move(token));
    };
    detail::run_operation(impl, std::move(handler), std::move(contender_path), begin);
}

void contention_inspector::start_request(const impl_ptr& impl,
                                         std::string contender_path,
                                         handler_of<> handler) {
    auto begin = [contender_path](detail::contention_recipe& queue, auto token) {
        queue.request_release(contender_path, std::move(token));
    };
    detail::run_operation(impl, std::move(handler), std::move(contender_path), begin);
}

void contention_inspector::start_insist(const impl_ptr& impl,
                                        std::string contender_path,
                                        time_limit grace,
                                        handler_of<bool> handler) {
    auto begin = [contender_path, grace](detail::contention_recipe& queue, auto token) {
        queue.insist_on_release(contender_path, grace, std::move(token));
    };
    detail::run_operation(impl, std::move(handler), std::move(contender_path), begin);
}

}  // namespace corozk
