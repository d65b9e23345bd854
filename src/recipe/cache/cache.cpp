// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "recipe/cache/cache_core.hpp"
#include <corozk/recipe/cache.hpp>

namespace corozk {

basic_cache::basic_cache(const client& c,
                         std::string path,
                         std::size_t depth,
                         bool names,
                         cache_options options)
    : recipe_object(c.implementation(), std::move(path), depth, names, std::move(options)) {
    if (impl_)
        impl_->start();
}

void basic_cache::start_next(const impl_ptr& impl,
                             std::uint64_t seen,
                             handler_of<tree_state> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    auto pending = detail::make_call(impl->get_port(), impl->wake(), std::move(handler));
    pending->ahead_of_copies();
    detail::cache_core::call_type call;
    call.result = std::move(pending);
    call.seen = seen;
    impl->next(std::move(call));
}

void basic_cache::start_next_node(const impl_ptr& impl,
                                  std::uint64_t seen,
                                  handler_of<node_state> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    auto pending = detail::make_call(impl->get_port(), impl->wake(), std::move(handler));
    pending->ahead_of_copies();
    detail::cache_core::call_type call;
    call.result = std::move(pending);
    call.seen = seen;
    impl->next(std::move(call));
}

tree_state basic_cache::current_tree() const {
    return impl_ ? impl_->current() : tree_state();
}

node_state node_cache::current() const {
    return impl_ ? detail::cache_core::to_node(impl_->current()) : node_state();
}

tree_state children_cache::current() const {
    return current_tree();
}

}  // namespace corozk
