// SPDX-License-Identifier: Apache-2.0
#include "driver/pending_call.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/grant_request.hpp"
#include "recipe/contention/inspection.hpp"
#include "recipe/contention/limit.hpp"
#include "recipe/locks/semaphore_rule.hpp"
#include <corozk/recipe/semaphore.hpp>

#include <optional>

namespace corozk {

using namespace detail;

namespace {

contention_settings make_settings(const std::string& path,
                                  std::int32_t limit,
                                  const semaphore_options& options) {
    bool curators = options.compatibility == compatibility::curator;
    contention_settings settings = settings_in_format(known_recipe::semaphore,
                                                      the_semaphore_rule,
                                                      curators ? join_path(path, "leases") : path,
                                                      options);
    (curators ? settings.fixed_limit : settings.initial_limit) = limit;
    if (!curators)
        settings.parent_mode = create_mode::persistent;  // the limit remains while nobody uses it
    return settings;
}

/// The other library's lock, under which leases are acquired.
std::optional<contention_settings> make_gate(const std::string& path,
                                             const semaphore_options& options) {
    if (options.compatibility == compatibility::native)
        return std::nullopt;
    bool curators = options.compatibility == compatibility::curator;
    std::string parent = curators ? join_path(path, "locks") : path + "-__lock__";
    return settings_in_format(known_recipe::lock, the_exclusive_rule, std::move(parent), options);
}

class semaphore_object final : public contention_object,
                               public std::enable_shared_from_this<semaphore_object> {
public:
    semaphore_object(std::string path, std::int32_t limit, const semaphore_options& options)
        : contention_object(make_settings(path, limit, options), options.identity, {"lease"}, path),
          limit_(limit),
          gate_(make_gate(path, options)),
          // Curator does not store its limit.
          compared_(options.compatibility == compatibility::curator) {
        if (!problem() && limit_ < 1)
            refuse_all(errc::bad_option, "cannot be used: its limit is less than 1");
    }

    error_code refusal(detail::port& p, const acquire_request& request) const override {
        if (request.weight < 1)
            return p.reject(errc::bad_option, "semaphore ", path(), ": less than one permit");
        // Other libraries have single leases; acquiring them one by one would be hold-and-wait.
        if (gate_ && request.weight > 1) {
            return p.reject(errc::not_supported,
                            "semaphore ",
                            path(),
                            ": this format allows only one permit at a time");
        }
        return {};
    }

    void enter(detail::port& s,
               const acquire_request& request,
               handler_type handler) const override {
        user_call<ownership> call(s, std::move(handler));
        if (compared_)
            return queue(s, request, std::move(call));
        s.spawn(enter_compared(shared_from_this(), s, request, std::move(call)));
    }

    const contention_settings& settings_of(const std::string& contender_path) const override {
        bool at_gate = gate_ && parent_path(contender_path) == gate_->parent;
        return at_gate ? *gate_ : settings();
    }

    task<error_code> look(port& p, contention_survey& found) const override {
        error_code ec = co_await survey(p, settings(), kinds(), found);
        if (ec || !gate_)
            co_return ec;
        contention_survey queued;
        std::vector<std::string> kinds_at_gate{"queued"};
        ec = co_await survey(p, *gate_, kinds_at_gate, queued);
        for (contender_info& c : queued.contenders) {
            c.holds = false;
            found.contenders.push_back(std::move(c));
        }
        co_return ec;
    }

private:
    void queue(detail::port& s, const acquire_request& request, user_call<ownership> call) const {
        if (gate_)
            s.spawn(pass_gate(shared_from_this(), s, request, std::move(call)));
        else
            queue_of(s, settings()).enter(request, identity(), std::move(call));
    }

    /// As in the other libraries, a lease is acquired by the holder of their lock.
    static task<> pass_gate(std::shared_ptr<const semaphore_object> self,
                            detail::port& s,
                            acquire_request request,
                            user_call<ownership> user) {
        signal wake(s);
        user.set_deadline(request.deadline);
        auto call = cancellable(std::move(user), any_cancellation, &wake);
        grant_request gate(queue_of(s, *self->gate_), request, self->identity(), wake);
        while (!gate.done() && call->waiting())
            co_await wake.wait();
        if (!call->waiting())
            co_return;
        if (gate.error()) {
            call->fail(gate.error());
            co_return;
        }
        inner_call<error_code> gate_lost(s, wake);
        gate.granted().implementation()->wait_lost(user_call<error_code>(s, gate_lost.handler()));
        grant_request lease(queue_of(s, self->settings()), request, self->identity(), wake);
        while (!lease.done() && !gate_lost.done() && call->waiting())
            co_await wake.wait();
        if (!call->waiting())
            co_return;
        if (gate_lost.done()) {
            // Another client may be acquiring a lease now, without having seen this one.
            call->fail(gate_lost.value());
        } else if (lease.error()) {
            call->fail(lease.error());
        } else {
            call->complete(error_code(), std::move(lease.granted()));
        }
    }

    /// At the first use, compares the configured limit with the stored one.
    static task<> enter_compared(std::shared_ptr<const semaphore_object> self,
                                 detail::port& s,
                                 acquire_request request,
                                 user_call<ownership> user) {
        user.set_deadline(request.deadline);
        auto call = cancellable(std::move(user), any_cancellation);
        known_limit limit;
        error_code ec =
            co_await find_limit(s, self->settings(), nullptr, limit, &call->users_call());
        if (!ec && !self->compared_ && limit.value != self->limit_)
            ec = errc::limit_mismatch;
        if (!ec)
            self->compared_ = true;
        if (!ec && request.weight > limit.value)
            ec = s.reject(errc::bad_option,
                          "semaphore ",
                          self->path(),
                          ": more permits are requested than the limit allows");
        if (ec)
            call->fail(ec);
        if (call->waiting())
            self->queue(s, request, call->release());
    }

    std::int32_t limit_;
    std::optional<contention_settings> gate_;
    mutable bool compared_ = false;
};

task<> count_free(detail::port& p,
                  std::shared_ptr<const contention_object> impl,
                  user_call<std::int32_t> user) {
    auto call = cancellable(std::move(user), any_cancellation);
    contention_survey found;
    error_code ec = co_await survey(p, impl->settings(), impl->kinds(), found);
    call->complete(ec, ec ? 0 : free_permits(found.contenders, found.limit));
}

task<> read_holders(detail::port& p,
                    std::shared_ptr<const contention_object> impl,
                    user_call<std::vector<contender_info>> user) {
    auto call = cancellable(std::move(user), any_cancellation);
    contention_survey found;
    error_code ec = co_await survey(p, impl->settings(), impl->kinds(), found);
    std::erase_if(found.contenders, [](const contender_info& c) { return !c.holds; });
    call->complete(ec, std::move(found.contenders));
}

task<> write_limit(detail::port& p,
                   std::shared_ptr<const contention_object> impl,
                   std::int32_t limit,
                   user_call<> user) {
    error_code refused;
    if (limit < 1) {
        refused =
            p.reject(errc::bad_option, "semaphore ", impl->path(), ": the limit is less than 1");
    } else if (impl->settings().initial_limit == 0) {
        refused = p.reject(
            errc::not_supported, "semaphore ", impl->path(), ": this format stores no limit");
    }
    if (refused)
        co_return user.fail(refused);
    auto call = cancellable(std::move(user), stops_waiting);
    call->complete(co_await change_limit(p, impl->settings(), limit, call->users_call()));
}

}  // namespace

semaphore::semaphore(const client& c,
                     std::string path,
                     std::int32_t limit,
                     semaphore_options options)
    : contention_recipe(c,
                        std::make_shared<const semaphore_object>(std::move(path), limit, options),
                        COROZK_CONTENTION_NAMES("semaphore")) {}

void semaphore::start_count_available(const callee& of, handler_of<std::int32_t> handler) {
    run_driver(of, std::move(handler), &count_free);
}

void semaphore::start_list_holders(const callee& of,
                                   handler_of<std::vector<contender_info>> handler) {
    run_driver(of, std::move(handler), &read_holders);
}

void semaphore::start_set_limit(const callee& of,
                                std::int32_t permits,
                                time_limit limit,
                                handler_of<> handler) {
    run_driver(of, std::move(handler), limit, &write_limit, permits);
}

}  // namespace corozk
