// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_object.hpp"

#include "driver/cancellable.hpp"
#include "driver/port.hpp"
#include "operation/path.hpp"
#include "recipe/contention/inspection.hpp"
#include "recipe/contention/release_request.hpp"

namespace corozk::detail {

contention_object::contention_object(contention_settings settings,
                                     std::string identity,
                                     std::vector<std::string> kinds,
                                     std::string path)
    : settings_(std::move(settings)),
      identity_(std::move(identity)),
      kinds_(std::move(kinds)),
      path_(path.empty() ? settings_.directory : std::move(path)) {
    // The root itself cannot be used: the server keeps nodes of its own there.
    if (path_problem(path_) || path_ == "/")
        problem_ = errc::bad_path;
    else if (settings_.names.infixes.empty() && !settings_.names.counts_everything)
        problem_ = errc::bad_option;  // no such format
}

void contention_object::enter(port& p,
                              const acquire_request& request,
                              user_call<ownership> call) const {
    p.use_service<contention_queues>().get(settings_).enter(request, identity_, std::move(call));
}

namespace {

task<> list_contenders(port& p,
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

error_code problem_of(const std::shared_ptr<session>& s,
                      const std::shared_ptr<const contention_object>& impl) noexcept {
    return s && impl ? impl->problem() : make_error_code(errc::closed);
}

contention_recipe::contention_recipe(const client& c, impl_ptr impl, const char* recipe)
    : session_(c.implementation()), impl_(std::move(impl)) {
    if (problem_of(session_, impl_) == errc::bad_path &&
        detail::port_of(*session_).logs(log_level::warning)) {
        const char* problem = path_problem(impl_->path());
        detail::port_of(*session_).log(log_level::warning,
                                       std::string(recipe) + ": path \"" + impl_->path() + "\" " +
                                           (problem ? problem : "is the root: name a folder"));
    }
}

contention_recipe::contention_recipe() noexcept = default;
contention_recipe::contention_recipe(contention_recipe&&) noexcept = default;
contention_recipe& contention_recipe::operator=(contention_recipe&&) noexcept = default;
contention_recipe::~contention_recipe() = default;

const std::string& contention_recipe::path() const noexcept {
    static const std::string none;
    return impl_ ? impl_->path() : none;
}

acquisition contention_recipe::part_of(acquire_request what) const {
    return acquisition(
        session_, path(), [s = session_, impl = impl_, what](bool try_only, auto handler) {
            acquire_request now = what;
            now.try_only = try_only;
            start_acquire(s, impl, now, std::move(handler));
        });
}

void contention_recipe::start_acquire(const session_ptr& s,
                                      const impl_ptr& impl,
                                      acquire_request what,
                                      any_handler<void(error_code, ownership)> handler) {
    if (error_code ec = problem_of(s, impl))
        return refuse<ownership>(s, ec, std::move(handler));
    if (error_code ec = impl->refusal(what)) {
        return refuse<ownership>(s, ec, std::move(handler));
    }
    impl->enter(
        detail::port_of(*s), what, user_call<ownership>(detail::port_of(*s), std::move(handler)));
}

void contention_recipe::start_contenders(
    const session_ptr& s,
    const impl_ptr& impl,
    any_handler<void(error_code, std::vector<contender_info>)> handler) {
    using infos = std::vector<contender_info>;
    if (error_code ec = problem_of(s, impl))
        return refuse<infos>(s, ec, std::move(handler));
    port_of(*s).spawn(list_contenders(
        detail::port_of(*s), impl, user_call<infos>(detail::port_of(*s), std::move(handler))));
}

void contention_recipe::start_break(const session_ptr& s,
                                    const impl_ptr& impl,
                                    std::string contender_path,
                                    any_handler<void(error_code)> handler) {
    if (error_code ec = problem_of(s, impl))
        return refuse<>(s, ec, std::move(handler));
    port_of(*s).spawn(
        detail::break_contender(detail::port_of(*s),
                                impl->settings_of(contender_path),
                                contender_path,
                                user_call<>(detail::port_of(*s), std::move(handler))));
}

void contention_recipe::start_request(const session_ptr& s,
                                      const impl_ptr& impl,
                                      std::string contender_path,
                                      any_handler<void(error_code)> handler) {
    if (error_code ec = problem_of(s, impl))
        return refuse<>(s, ec, std::move(handler));
    port_of(*s).spawn(ask_for_release(detail::port_of(*s),
                                      impl->settings_of(contender_path),
                                      contender_path,
                                      user_call<>(detail::port_of(*s), std::move(handler))));
}

void contention_recipe::start_insist(const session_ptr& s,
                                     const impl_ptr& impl,
                                     std::string contender_path,
                                     time_limit grace,
                                     any_handler<void(error_code, bool)> handler) {
    if (error_code ec = problem_of(s, impl))
        return refuse<bool>(s, ec, std::move(handler));
    port_of(*s).spawn(
        detail::insist_on_release(detail::port_of(*s),
                                  impl->settings_of(contender_path),
                                  contender_path,
                                  grace,
                                  user_call<bool>(detail::port_of(*s), std::move(handler))));
}

}  // namespace corozk::detail
