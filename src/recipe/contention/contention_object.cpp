// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_object.hpp"

#include "driver/pending_call.hpp"
#include "operation/path.hpp"
#include "recipe/contention/breaking.hpp"
#include "recipe/contention/release_request.hpp"

namespace corozk::detail {

contention_object::contention_object(contention_settings settings,
                                     std::string identity,
                                     std::vector<std::string> kinds,
                                     std::optional<std::string> path)
    : settings_(std::move(settings)),
      identity_(std::make_shared<const std::string>(std::move(identity))),
      kinds_(std::move(kinds)),
      path_(path ? *std::move(path) : settings_.parent) {
    // The root cannot be used, as it contains the server's own nodes.
    if (const char* text = path_problem(path_))
        refuse_all(errc::bad_path, text);
    else if (path_ == "/")
        refuse_all(errc::bad_path, "is the root: name a parent");
    else if (settings_.names.infixes.empty() && !settings_.names.counts_everything)
        refuse_all(errc::bad_option,
                   "cannot be used: leader_selector needs compatibility::curator");
}

void contention_object::enter(port& p, const acquire_request& request, handler_type handler) const {
    queue_of(p, settings_).enter(request, identity_, user_call<ownership>(p, std::move(handler)));
}

namespace {

task<> read_contenders(port& p,
                       std::shared_ptr<const contention_object> impl,
                       user_call<std::vector<contender_info>> call) {
    auto shared = cancellable(std::move(call), any_cancellation);
    contention_survey found;
    error_code ec = co_await impl->look(p, found);
    if (ec)
        found.contenders.clear();
    shared->complete(ec, std::move(found.contenders));
}

}  // namespace

error_code problem_of(const std::shared_ptr<session_view>& s,
                      const std::shared_ptr<const contention_object>& impl) noexcept {
    return s && impl ? impl->problem() : make_error_code(errc::closed);
}

error_code find_held(const contention_callee& of,
                     const std::shared_ptr<owned>& held,
                     std::shared_ptr<contender>& found) {
    if (error_code ec = problem_of(of.owner, of.impl))
        return ec;
    if (!held)
        return errc::ownership_lost;
    found = std::dynamic_pointer_cast<contender>(held);
    port& p = port_of(*of.owner);
    if (!found || &found->owner_port() != &p)
        return p.reject(errc::bad_option,
                        of.impl->path(),
                        ": the ownership is of another kind, or another client's");
    if (found->stage() != contender::stage_type::granted)
        return errc::ownership_lost;
    const contention_settings& here = of.impl->settings();
    const contention_settings& there = found->current_queue()->settings();
    if (there.parent != here.parent)
        return p.reject(errc::bad_option, here.parent, ": the ownership is of ", there.parent);
    if (there.names != here.names || there.rule != here.rule)
        return p.reject(errc::bad_option, here.parent, ": the ownership is of another recipe");
    return {};
}

contention_recipe::contention_recipe(const client& c, impl_ptr impl, const contention_names& names)
    : recipe_object(c.implementation(), c.implementation() ? impl->path() : std::string(), impl),
      names_(names) {
    if (session_ && impl_->problem_text()) {
        port_of(*session_).report(
            log_level::warning, names.recipe, ": path \"", path(), "\" ", impl_->problem_text());
    }
}

acquisition contention_recipe::part_of(acquire_request what) const {
    return acquisition(
        session_, path(), [s = session_, impl = impl_, what](bool try_only, auto handler) {
            acquire_request now = what;
            now.try_only = try_only;
            start_acquire(callee(s, impl), now, std::move(handler));
        });
}

void contention_recipe::start_acquire(const callee& of,
                                      acquire_request what,
                                      handler_of<ownership> handler) {
    error_code ec = problem_of(of.owner, of.impl);
    if (!ec)
        ec = of.impl->refusal(port_of(*of.owner), what);
    if (ec)
        return refuse(of.owner, std::move(handler), ec);
    port& p = port_of(*of.owner);
    what.deadline = what.limit.from(p.now());
    of.impl->enter(p, what, std::move(handler));
}

void contention_recipe::start_list_contenders(const callee& of,
                                              handler_of<std::vector<contender_info>> handler) {
    run_driver(of, std::move(handler), &read_contenders);
}

void contention_recipe::start_break(const callee& of, std::string path, handler_of<> handler) {
    run_driver(of, std::move(handler), [&](port& p, const impl_ptr& impl, auto call) {
        return detail::break_contender(p, impl->settings_of(path), path, std::move(call));
    });
}

void contention_recipe::start_request(const callee& of, std::string path, handler_of<> handler) {
    run_driver(of, std::move(handler), [&](port& p, const impl_ptr& impl, auto call) {
        return ask_for_release(p, impl->settings_of(path), path, false, std::move(call));
    });
}

void contention_recipe::start_insist(const callee& of,
                                     std::string path,
                                     time_limit grace,
                                     handler_of<bool> handler) {
    run_driver(of, std::move(handler), [&](port& p, const impl_ptr& impl, auto call) {
        return detail::insist_on_release(p, impl->settings_of(path), path, grace, std::move(call));
    });
}

}  // namespace corozk::detail
