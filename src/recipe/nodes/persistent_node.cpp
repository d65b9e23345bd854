// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "recipe/toolkit/kept_node.hpp"
#include <corozk/recipe/persistent_node.hpp>

namespace corozk {

namespace detail {

class persistent_node_impl final : public recipe_core {
public:
    persistent_node_impl(port& p, std::string path, const persistent_node_options& options)
        : recipe_core(p, "persistent node", path),
          own(std::make_shared<kept_node>(p,
                                          path,
                                          options.acl,
                                          kept_node_kind{options.mode, options.ttl})),
          wait_for_predecessor(options.wait_for_predecessor),
          good_options(can_keep(options)) {}

    void stop() noexcept override {
        recipe_core::stop();
        own->abandon();
    }

    const std::shared_ptr<kept_node> own;
    const bool wait_for_predecessor;
    const bool good_options;

private:
    static bool can_keep(const persistent_node_options& options) noexcept {
        const bool with_ttl = options.mode == create_mode::persistent_with_ttl;
        const bool kind = with_ttl || options.mode == create_mode::persistent ||
                          options.mode == create_mode::ephemeral;
        return kind && with_ttl == (options.ttl.count() > 0);
    }
};

}  // namespace detail

persistent_node::persistent_node(const client& c, std::string path, persistent_node_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

bool persistent_node::present() const noexcept {
    return impl_ && impl_->own->present();
}

void persistent_node::start_keep(const impl_ptr& impl,
                                 std::string data,
                                 time_limit limit,
                                 handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (!impl->good_options)
        return detail::refuse(impl, std::move(handler), errc::bad_option);
    impl->own->keep(std::move(data),
                    impl->wait_for_predecessor,
                    std::move(handler),
                    limit.from(impl->get_port().now()));
}

void persistent_node::start_set_data(const impl_ptr& impl, std::string data, handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->own->change(std::move(data), std::move(handler));
}

void persistent_node::start_erase(const impl_ptr& impl, handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->own->release(std::move(handler));
}

}  // namespace corozk
