// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "operation/step_path.hpp"
#include "recipe/toolkit/kept_node.hpp"
#include "recipe/toolkit/waiting_calls.hpp"
#include <corozk/recipe/persistent_node.hpp>

namespace corozk {

namespace detail {

class persistent_node_impl final : public recipe_core, private hold_follower {
public:
    persistent_node_impl(port& p, std::string path, const persistent_node_options& options)
        : recipe_core(p, "persistent node", path),
          own(std::make_shared<kept_node>(
              p,
              path,
              options.acl,
              kept_node_kind{.mode = options.mode, .ttl = options.ttl, .waits_for_any = true})),
          wait_for_predecessor(options.wait_for_predecessor),
          option_problem(problem_of(options)),
          wake_(p) {
        own->follow(*this);
    }

    void stop() noexcept override {
        recipe_core::stop();
        own->abandon();
    }

    bool valid() const noexcept { return get_port().now() < own->held_until(); }

    persistent_node_status status() const {
        persistent_node_status now;
        now.held = own->hold().held;
        now.revision = own->hold().revision;
        now.reason = own->hold().reason;
        return now;
    }

    void wait_changed(std::uint64_t seen, handler_of<persistent_node_status> handler) {
        if (own->hold().revision != seen)
            return immediate_result<persistent_node_status>(
                executor(), std::move(handler), error_code(), status());
        changed_calls_.add(*this, std::move(handler), wake_).ahead_of_copies();
    }

    const std::shared_ptr<kept_node> own;
    const bool wait_for_predecessor;
    const char* const option_problem;  ///< null: none

private:
    void hold_changed() noexcept override { changed_calls_.complete(error_code(), status()); }

    static const char* problem_of(const persistent_node_options& options) noexcept {
        const bool kind = options.mode == create_mode::persistent_with_ttl ||
                          options.mode == create_mode::persistent ||
                          options.mode == create_mode::ephemeral;
        return kind ? ttl_problem(options.mode, options.ttl)
                    : "the mode must be ephemeral, persistent, or persistent with a TTL";
    }

    signal wake_;  ///< of calls that no driver waits for
    waiting_calls<persistent_node_status> changed_calls_;
};

}  // namespace detail

persistent_node::persistent_node(const client& c, std::string path, persistent_node_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

bool persistent_node::present() const noexcept {
    return impl_ && impl_->own->present();
}

bool persistent_node::valid() const noexcept {
    return impl_ && impl_->valid();
}

std::chrono::steady_clock::time_point persistent_node::valid_until() const noexcept {
    return impl_ ? impl_->own->held_until() : detail::time_point::min();
}

persistent_node_status persistent_node::status() const {
    return impl_ ? impl_->status() : persistent_node_status();
}

void persistent_node::start_next_status(const impl_ptr& impl,
                                        std::uint64_t revision,
                                        handler_of<persistent_node_status> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->wait_changed(revision, std::move(handler));
}

void persistent_node::start_keep(const impl_ptr& impl,
                                 std::string data,
                                 time_limit limit,
                                 handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (impl->option_problem) {
        return detail::refuse(
            impl, std::move(handler), impl->reject(errc::bad_option, impl->option_problem));
    }
    impl->own->keep(std::move(data), impl->wait_for_predecessor, std::move(handler), limit);
}

void persistent_node::start_set_data(const impl_ptr& impl,
                                     std::string data,
                                     time_limit limit,
                                     handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->own->change(std::move(data), std::move(handler), limit);
}

void persistent_node::start_erase(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->own->release(std::move(handler), limit);
}

}  // namespace corozk
