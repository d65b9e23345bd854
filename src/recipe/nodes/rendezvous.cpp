// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "recipe/nodes/rule.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/kept_node.hpp"
#include <corozk/recipe/rendezvous.hpp>

namespace corozk {

namespace detail {

class rendezvous_impl final : public recipe_core {
public:
    rendezvous_impl(port& p, std::string path, rendezvous_options options_)
        : recipe_core(p, "rendezvous", path),
          options(std::move(options_)),
          own(std::make_shared<kept_node>(p, path, options.acl)),
          reports(p, path) {}

    void stop() noexcept override {
        recipe_core::stop();
        own->abandon();
        reports.forget();
    }

    static rendezvous_point describe(const node_view& view) { return describe_point(view); }
    bool is_news(const node_view& view) const { return view.differs(reports.last()); }

    const rendezvous_options options;
    const std::shared_ptr<kept_node> own;
    change_reports<followed_node, rendezvous_point> reports;
};

}  // namespace detail

rendezvous::rendezvous(const client& c, std::string path, rendezvous_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

bool rendezvous::published() const noexcept {
    return impl_ && impl_->own->present();
}

void rendezvous::start_publish(const impl_ptr& impl,
                               std::string data,
                               time_limit limit,
                               handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    impl->own->keep(std::move(data), impl->options.wait_for_predecessor, std::move(handler), limit);
}

void rendezvous::start_set_data(const impl_ptr& impl,
                                std::string data,
                                time_limit limit,
                                handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->own->change(std::move(data), std::move(handler), limit);
}

void rendezvous::start_withdraw(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->own->release(std::move(handler), limit);
}

void rendezvous::start_await(const impl_ptr& impl,
                             time_limit limit,
                             handler_of<rendezvous_point> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    impl->get_port().spawn(
        detail::await_node(impl, std::move(handler), impl->path(), limit, &detail::describe_point));
}

void rendezvous::start_next(const impl_ptr& impl, handler_of<rendezvous_point> handler) {
    if (detail::usable_at_path(impl, handler))
        detail::report_next(impl, std::move(handler));
}

}  // namespace corozk
