// SPDX-License-Identifier: Apache-2.0
#include "driver/cancellable.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/inspection/known_queues.hpp"
#include <corozk/recipe/any_line.hpp>

#include <algorithm>
#include <utility>

namespace corozk {

namespace detail {

class any_line_impl {
public:
    any_line_impl(const client& c, std::string path_)
        : owner(c.implementation()), path(std::move(path_)) {
        if (!owner)
            problem = errc::closed;
        else if (path_problem(path) || path == "/")
            problem = errc::bad_path;
        else
            recipes = known_queues_at(c, path);
    }

    std::shared_ptr<session> owner;
    std::string path;
    error_code problem;
    std::vector<known_queue> recipes;
};

namespace {

using infos = std::vector<contender_info>;
template <class... Values>
using call_ptr = std::shared_ptr<user_call<Values...>>;

/// The call, which the user may cancel; or null, and the handler is told why nothing can be done.
template <class... Values>
call_ptr<Values...> begin(const std::shared_ptr<any_line_impl>& impl,
                          any_handler<void(error_code, Values...)> handler) {
    if (impl->problem) {
        refuse<Values...>(impl->owner, impl->problem, std::move(handler));
        return nullptr;
    }
    return cancellable(user_call<Values...>(detail::port_of(*impl->owner), std::move(handler)),
                       any_cancellation);
}

/// The recipe in whose line this contender stands.
task<error_code> recipe_of(port& p,
                           const any_line_impl& impl,
                           const std::string& contender_path,
                           const known_queue*& recipe) {
    found_queue found;
    error_code ec = co_await recognise(p, impl.path, impl.recipes, found);
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

task<> list(port& p, std::shared_ptr<any_line_impl> impl, call_ptr<infos> call) {
    found_queue found;
    error_code ec = co_await recognise(p, impl->path, impl->recipes, found);
    if (ec)
        found.contenders.clear();
    call->complete(ec, std::move(found.contenders));
}

task<> break_one(port& p,
                 std::shared_ptr<any_line_impl> impl,
                 std::string contender_path,
                 call_ptr<> call) {
    const known_queue* recipe = nullptr;
    error_code ec = co_await recipe_of(p, *impl, contender_path, recipe);
    if (!ec && call->waiting()) {
        signal wake(p);
        inner_call<> inner(p, wake);
        recipe->break_one(std::move(contender_path), inner);
        while (!inner.done())
            co_await wake.wait();
        ec = inner.error();
    }
    call->complete(ec);
}

task<> insist(port& p,
              std::shared_ptr<any_line_impl> impl,
              std::string contender_path,
              time_limit grace,
              call_ptr<bool> call) {
    const known_queue* recipe = nullptr;
    error_code ec = co_await recipe_of(p, *impl, contender_path, recipe);
    bool removed = false;
    if (!ec && call->waiting()) {
        signal wake(p);
        inner_call<bool> inner(p, wake);
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

any_line::any_line(const client& c, std::string path)
    : path_(std::move(path)),
      session_(c.implementation()),
      impl_(std::make_shared<detail::any_line_impl>(c, path_)) {}

any_line::any_line() noexcept = default;
any_line::any_line(any_line&&) noexcept = default;
any_line& any_line::operator=(any_line&&) noexcept = default;
any_line::~any_line() = default;

void any_line::start_contenders(
    const impl_ptr& impl,
    detail::any_handler<void(error_code, std::vector<contender_info>)> handler) {
    if (!impl)
        return detail::refuse<std::vector<contender_info>>(
            nullptr, errc::closed, std::move(handler));
    if (auto call = detail::begin<std::vector<contender_info>>(impl, std::move(handler)))
        detail::port_of(*impl->owner)
            .spawn(detail::list(detail::port_of(*impl->owner), impl, std::move(call)));
}

void any_line::start_break(const impl_ptr& impl,
                           std::string contender_path,
                           detail::any_handler<void(error_code)> handler) {
    if (!impl)
        return detail::refuse<>(nullptr, errc::closed, std::move(handler));
    if (auto call = detail::begin<>(impl, std::move(handler)))
        detail::port_of(*impl->owner)
            .spawn(detail::break_one(
                detail::port_of(*impl->owner), impl, std::move(contender_path), std::move(call)));
}

void any_line::start_insist(const impl_ptr& impl,
                            std::string contender_path,
                            time_limit grace,
                            detail::any_handler<void(error_code, bool)> handler) {
    if (!impl)
        return detail::refuse<bool>(nullptr, errc::closed, std::move(handler));
    if (auto call = detail::begin<bool>(impl, std::move(handler)))
        detail::port_of(*impl->owner)
            .spawn(detail::insist(detail::port_of(*impl->owner),
                                  impl,
                                  std::move(contender_path),
                                  grace,
                                  std::move(call)));
}

}  // namespace corozk
