// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "recipe/cache/cache_core.hpp"
#include <corozk/recipe/cache.hpp>

namespace corozk {

namespace {

template <class State>
void start(const std::shared_ptr<detail::cache_core>& impl,
           std::uint64_t seen,
           detail::handler_of<State> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    std::unique_ptr<detail::pending_call<State>> pending =
        std::make_unique<detail::waiting_call<State>>(*impl, std::move(handler), impl->wake());
    pending->ahead_of_copies();
    detail::cache_states::call_type call;
    call.result = std::move(pending);
    call.seen = seen;
    impl->next(std::move(call));
}

}  // namespace

basic_cache::basic_cache(
    const client& c, std::string path, std::size_t depth, bool names, cache_options options)
    : recipe_object(c.implementation(), std::move(path), depth, names, std::move(options)) {
    if (impl_)
        impl_->start();
}

void basic_cache::start_next(const impl_ptr& impl,
                             std::uint64_t seen,
                             handler_of<tree_state> handler) {
    start(impl, seen, std::move(handler));
}

void basic_cache::start_next(const impl_ptr& impl,
                             std::uint64_t seen,
                             handler_of<node_state> handler) {
    start(impl, seen, std::move(handler));
}

void basic_cache::read(tree_state& latest) const {
    if (impl_)
        latest = impl_->current();
}

void basic_cache::read(node_state& latest) const {
    if (impl_)
        latest = detail::to_node(impl_->current());
}

}  // namespace corozk
