// SPDX-License-Identifier: Apache-2.0
#include "corozk/recipe/rendezvous.hpp"

#include "driver/port.hpp"
#include "recipe/nodes/rendezvous_rule.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/kept_node.hpp"
#include <corozk/recipe/rendezvous.hpp>

namespace corozk {

namespace detail {

class rendezvous_impl final : public recipe_core {
public:
    rendezvous_impl(port& p, std::string path_, rendezvous_options options_)
        : recipe_core(p),
          path(std::move(path_)),
          options(std::move(options_)),
          own(std::make_shared<kept_node>(p, path, options.acl)),
          follower(p, path) {}

    void stop() noexcept override {
        recipe_core::stop();
        own->abandon();
        if (!following)
            follower.forget();
    }

    bool path_is_good() const { return detail::path_is_good(get_port(), "rendezvous", path); }

    const std::string path;
    const rendezvous_options options;
    const std::shared_ptr<kept_node> own;
    followed_node follower;
    node_view told;
    bool told_anything = false;
    bool following = false;
};

namespace {

using point_handler = any_handler<void(error_code, rendezvous_point)>;

task<> await_driver(std::shared_ptr<rendezvous_impl> self,
                    point_handler handler,
                    time_point deadline) {
    port& p = self->get_port();
    followed_node node(p, self->path);
    waiting_call<rendezvous_point> call(*self, std::move(handler), node.wake, deadline);
    session_signal session(p, node.wake);
    while (!call.over()) {
        error_code ec = co_await node.look();
        if (ec || node.view().present) {
            call.complete(ec, describe_point(node.view()));
        } else if (!call.over()) {
            co_await node.wake.wait();
        }
    }
    node.forget();
}

task<> next_driver(std::shared_ptr<rendezvous_impl> self, point_handler handler) {
    port& p = self->get_port();
    followed_node& node = self->follower;
    self->following = true;
    waiting_call<rendezvous_point> call(*self, std::move(handler), node.wake);
    session_signal session(p, node.wake);
    while (!call.over()) {
        error_code ec = co_await node.look();
        if (ec) {
            call.fail(ec);
        } else if (call.over()) {
            break;
        } else if (!self->told_anything || node.view().differs(self->told)) {
            self->told_anything = true;
            self->told = node.view();
            call.complete(error_code(), describe_point(self->told));
        } else {
            co_await node.wake.wait();
        }
    }
    self->following = false;
    if (self->stopped())
        node.forget();
}

}  // namespace
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
    impl->own->keep(std::move(data),
                    impl->options.wait_for_predecessor,
                    std::move(handler),
                    limit.from(impl->get_port().now()));
}

void rendezvous::start_update(const impl_ptr& impl, std::string data, handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    impl->own->change(std::move(data), std::move(handler));
}

void rendezvous::start_withdraw(const impl_ptr& impl, handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    impl->own->release(std::move(handler));
}

void rendezvous::start_await(const impl_ptr& impl,
                             time_limit limit,
                             handler_of<rendezvous_point> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    detail::port& p = impl->get_port();
    p.spawn(detail::await_driver(impl, std::move(handler), limit.from(p.now())));
}

void rendezvous::start_next(const impl_ptr& impl, handler_of<rendezvous_point> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (impl->following) {
        detail::immediate_result<rendezvous_point>(
            impl->executor(), std::move(handler), errc::busy, rendezvous_point());
        return;
    }
    impl->get_port().spawn(detail::next_driver(impl, std::move(handler)));
}

}  // namespace corozk
