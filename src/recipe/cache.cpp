// SPDX-License-Identifier: Apache-2.0
#include "block/cache_core.hpp"
#include "session/session.hpp"
#include <corozk/recipe/cache.hpp>

namespace corozk {

basic_cache::basic_cache(const client& c, std::string path, std::size_t depth, bool names)
    : path_(std::move(path)), session_(c.implementation()) {
    if (!session_)
        return;
    core_ = std::make_shared<detail::cache_core>(*session_, path_, depth, names);
    core_->start();
}

basic_cache::basic_cache(basic_cache&&) noexcept = default;

basic_cache& basic_cache::operator=(basic_cache&& other) noexcept {
    if (this != &other) {
        basic_cache old(std::move(*this));
        path_ = std::move(other.path_);
        session_ = std::move(other.session_);
        core_ = std::move(other.core_);
    }
    return *this;
}

basic_cache::~basic_cache() {
    if (core_)
        core_->stop();
}

void basic_cache::start_next(const session_ptr& session,
                             const core_ptr& core,
                             std::uint64_t seen,
                             handler_of<tree_state> handler) {
    if (!detail::ready_at_path(session, core, handler))
        return;
    detail::cache_core::call_type call;
    call.tree = detail::make_call(core->owner(), core->wake(), std::move(handler));
    core->next(seen, std::move(call));
}

void basic_cache::start_next_node(const session_ptr& session,
                                  const core_ptr& core,
                                  std::uint64_t seen,
                                  handler_of<node_state> handler) {
    if (!detail::ready_at_path(session, core, handler))
        return;
    detail::cache_core::call_type call;
    call.node = detail::make_call(core->owner(), core->wake(), std::move(handler));
    core->next(seen, std::move(call));
}

tree_state basic_cache::current_tree() const {
    return core_ ? core_->current() : tree_state();
}

node_state node_cache::current() const {
    return core_ ? detail::cache_core::to_node(core_->current()) : node_state();
}

tree_state children_cache::current() const {
    return current_tree();
}

}  // namespace corozk
