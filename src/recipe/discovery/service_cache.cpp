// SPDX-License-Identifier: Apache-2.0
#include "operation/path.hpp"
#include "recipe/discovery/followed_service.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include <corozk/recipe/service_discovery.hpp>

namespace corozk {

namespace detail {

class service_cache_impl final : public followed_service {
public:
    using followed_service::followed_service;

    service_state describe(const tree_state& state) {
        service_state result;
        result.revision = state.revision;
        for (const auto& [node, one] : read(state)) {
            if (one.instance)
                result.instances.push_back(*one.instance);
            else
                result.malformed.push_back(node);
        }
        return result;
    }
};

namespace {

task<> next_service_state(std::shared_ptr<service_cache_impl> self,
                          handler_of<service_state> handler,
                          std::uint64_t seen) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<service_state> call(*self, std::move(handler), wake);
    call.ahead_of_copies();
    inner_call<tree_state> change(p, wake);
    tree_state shown;
    shown.revision = seen;
    self->nodes.next(shown, change.token());
    while (!change.done() && !call.over())
        co_await wake.wait();
    if (call.over())
        change.cancel();
    else if (change.error())
        call.fail(change.error());
    else
        call.complete(error_code(), self->describe(self->nodes.current()));
}

}  // namespace
}  // namespace detail

service_cache::service_cache(const client& c,
                             const std::string& path,
                             const std::string& service,
                             service_format format)
    : recipe_object(
          c.implementation(), detail::join_path(path, service), c, path, service, format) {}

service_state service_cache::current() const {
    return impl_ ? impl_->describe(impl_->nodes.current()) : service_state();
}

void service_cache::start_next(const impl_ptr& impl,
                               std::uint64_t seen,
                               handler_of<service_state> handler) {
    detail::run_at_path(impl, std::move(handler), &detail::next_service_state, seen);
}

}  // namespace corozk
