// SPDX-License-Identifier: Apache-2.0
#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/discovery/followed_service.hpp"
#include "recipe/discovery/format.hpp"
#include "recipe/discovery/json_fields.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/kept_nodes.hpp"
#include "recipe/toolkit/read_children.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/update_node.hpp"
#include <corozk/recipe/service_discovery.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace corozk {

namespace detail {

class service_discovery_impl final : public recipe_core {
public:
    service_discovery_impl(port& p, std::string base, service_discovery_options options_)
        : recipe_core(p, "service discovery", std::move(base)), options(std::move(options_)) {}

    void stop() noexcept override {
        recipe_core::stop();
        kept.abandon();
    }

    /// A service has a node of its own: the root will do, as for those that follow one.
    bool path_is_good() const { return node_path_is_good(port_, "service discovery", path()); }

    const service_discovery_options options;
    kept_nodes kept;  ///< the dynamic instances
};

namespace {

/// What becomes of the node of a static or permanent instance.
auto replacing(const std::string& data, errc in_use) {
    return [&data, in_use](request& read, std::optional<std::string>& replacement) -> error_code {
        // It is deleted with its session, whose client keeps it.
        if (session_of(read.record) != 0)
            return in_use;
        if (read.answer != data)
            replacement = data;
        return {};
    };
}

task<error_code> register_static(service_discovery_impl& self,
                                 const interest& call,
                                 const std::string& path,
                                 const std::string& data) {
    auto decide = replacing(data, errc::already_exists);
    return write_node(self.get_port(), path, data, self.options.acl, call, decide);
}

task<error_code> update_static(service_discovery_impl& self,
                               const interest& call,
                               const std::string& path,
                               const std::string& data) {
    retry attempts(self.get_port());
    auto decide = replacing(data, errc::not_a_member);
    update_options how;
    how.call = &call;
    how.synced = true;
    how.blind = true;
    co_return co_await update_node(self.get_port(), path, attempts, how, decide);
}

task<error_code> resolve_service(service_discovery_impl& self,
                                 const std::string& service,
                                 const std::string& path,
                                 std::vector<service_instance>& instances) {
    port& p = self.get_port();
    std::map<std::string, node_view> found;
    const service_format format = self.options.format;
    std::function<bool(std::string_view)> wanted = [format](std::string_view node) {
        return is_instance_node(format, node);
    };
    error_code ec = co_await read_children(p, path, found, wanted);
    if (ec)
        co_return ec;
    for (const auto& [name, node] : found) {
        if (auto instance = read_instance(format, service, name, node.data, node.stat))
            instances.push_back(std::move(*instance));
        else
            report_malformed(p, join_path(path, name));
    }
    co_return error_code();
}

task<error_code> list_services(service_discovery_impl& self, std::vector<std::string>& names) {
    request listing(self.get_port(), op_code::children, self.path());
    error_code ec = co_await read_forward(self.get_port(), listing);
    if (ec == zk_errc::no_node)
        co_return error_code();
    for (std::size_t i = 0; !ec && i < listing.names.size(); ++i)
        names.emplace_back(listing.names[i]);
    std::sort(names.begin(), names.end());
    co_return ec;
}

/// Whether the object and the path, if there is one, can be used.
template <class... Values>
bool discovery_usable(const std::shared_ptr<service_discovery_impl>& impl,
                      const std::optional<std::string>& path,
                      handler_of<Values...>& handler) {
    if (!usable_at_path(impl, handler))
        return false;
    if (!path) {
        refuse(impl,
               std::move(handler),
               impl->reject(errc::bad_path, "the name or the id is not a valid node name"));
    }
    return path.has_value();
}

/// Same as above, for an instance that is to be written; then sets `data`.
bool can_write(const std::shared_ptr<service_discovery_impl>& impl,
               const service_instance& instance,
               const std::optional<std::string>& path,
               std::string& data,
               handler_of<>& handler) {
    if (!discovery_usable(impl, path, handler))
        return false;
    auto written = write_instance(impl->options.format, instance);
    if (!written || instance.type == service_type::dynamic_sequential) {
        refuse(impl,
               std::move(handler),
               impl->reject(errc::bad_option, "this instance cannot be represented in the format"));
        return false;
    }
    if (written->size() > largest_instance) {
        refuse(impl, std::move(handler), errc::too_large);
        return false;
    }
    data = std::move(*written);
    return true;
}

std::optional<std::string> path_of(const std::shared_ptr<service_discovery_impl>& impl,
                                   const service_instance& instance,
                                   const std::string& node) {
    return impl ? instance_path(impl->options.format, impl->path(), instance.name, node)
                : std::nullopt;
}

}  // namespace

}  // namespace detail

service_discovery::service_discovery(const client& c,
                                     std::string path,
                                     service_discovery_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

void service_discovery::start_register(const impl_ptr& impl,
                                       service_instance instance,
                                       time_limit limit,
                                       handler_of<> handler) {
    auto path = detail::path_of(impl, instance, instance.id);
    std::string data;
    if (!detail::can_write(impl, instance, path, data, handler))
        return;
    detail::port& p = impl->get_port();
    if (instance.type != service_type::dynamic) {
        // Its node would displace the one that is kept, or be deleted instead of it.
        if (impl->kept.find(*path) || impl->kept.releasing(*path))
            return detail::refuse(impl, std::move(handler), errc::busy);
        p.spawn(detail::serve(impl,
                              std::move(handler),
                              limit,
                              &detail::register_static,
                              std::move(*path),
                              std::move(data)));
        return;
    }
    detail::kept_node_kind kind{.waits_for_any = true};
    // Finagle does not expect a ServerSet's node to be deleted.
    if (impl->options.format == service_format::server_set)
        kind.parents = create_mode::persistent;
    impl->kept.at(p, *path, impl->options.acl, kind)
        .keep(std::move(data), impl->options.wait_for_predecessor, std::move(handler), limit);
}

void service_discovery::start_update(const impl_ptr& impl,
                                     service_instance instance,
                                     time_limit limit,
                                     handler_of<> handler) {
    auto path =
        detail::path_of(impl, instance, instance.node.empty() ? instance.id : instance.node);
    std::string data;
    if (!detail::can_write(impl, instance, path, data, handler))
        return;
    detail::kept_node* ours = impl->kept.find(*path);
    const bool dynamic = instance.type == service_type::dynamic;
    if (ours && !dynamic) {
        detail::refuse(impl,
                       std::move(handler),
                       impl->reject(errc::bad_option, "it was registered with another type"));
    } else if (ours) {
        ours->change(std::move(data), std::move(handler), limit);
    } else if (dynamic) {
        detail::refuse(impl, std::move(handler), errc::not_a_member);
    } else {
        impl->get_port().spawn(detail::serve(impl,
                                             std::move(handler),
                                             limit,
                                             &detail::update_static,
                                             std::move(*path),
                                             std::move(data)));
    }
}

void service_discovery::start_unregister(const impl_ptr& impl,
                                         std::string service,
                                         std::string id,
                                         time_limit limit,
                                         handler_of<> handler) {
    std::optional<std::string> path;
    if (impl)
        path = detail::instance_path(impl->options.format, impl->path(), service, id);
    if (!detail::discovery_usable(impl, path, handler))
        return;
    if (detail::kept_node* ours = impl->kept.find(*path))
        return ours->release(std::move(handler), limit);
    impl->get_port().spawn(
        detail::serve(impl, std::move(handler), limit, &detail::erase_present, std::move(*path)));
}

void service_discovery::start_resolve(const impl_ptr& impl,
                                      std::string service,
                                      time_limit limit,
                                      handler_of<std::vector<service_instance>> handler) {
    std::optional<std::string> path;
    if (impl)
        path = detail::service_path(impl->path(), service);
    if (!detail::discovery_usable(impl, path, handler))
        return;
    impl->get_port().spawn(detail::serve(impl,
                                         std::move(handler),
                                         limit,
                                         &detail::resolve_service,
                                         std::move(service),
                                         std::move(*path)));
}

void service_discovery::start_list_names(const impl_ptr& impl,
                                         time_limit limit,
                                         handler_of<std::vector<std::string>> handler) {
    detail::serve_at_path(impl, std::move(handler), limit, &detail::list_services);
}

}  // namespace corozk
