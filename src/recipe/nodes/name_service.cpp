// SPDX-License-Identifier: Apache-2.0
#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "operation/step_path.hpp"
#include "recipe/nodes/rule.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/kept_nodes.hpp"
#include "recipe/toolkit/read_children.hpp"
#include "recipe/toolkit/update_node.hpp"
#include <corozk/recipe/name_service.hpp>

#include <map>

namespace corozk {

namespace detail {

class name_service_impl final : public recipe_core {
public:
    name_service_impl(port& p, std::string root, name_service_options options_)
        : recipe_core(p, "name service", std::move(root)), options(std::move(options_)) {}

    void stop() noexcept override {
        recipe_core::stop();
        kept.abandon();
    }

    const name_service_options options;
    kept_nodes kept;  ///< the session-bound names
};

class name_watch_impl final : public recipe_core {
public:
    name_watch_impl(port& p, std::string name_, std::string path, bool good_)
        : recipe_core(p, "name service", path),
          name(std::move(name_)),
          good(good_),
          reports(p, path) {}

    void stop() noexcept override {
        recipe_core::stop();
        reports.forget();
    }

    name_entry describe(const node_view& view) const { return describe_name(name, view); }
    /// Creation or deletion of a parent is not a change of the name.
    bool is_news(const node_view& view) const {
        const node_view& before = reports.last();
        return view.differs(before) && (describe(view).present || describe(before).present);
    }

    const std::string name;
    const bool good;
    change_reports<followed_node, name_entry> reports;
};

namespace {

task<error_code> register_persistent(name_service_impl& self,
                                     const interest& call,
                                     const std::string& path,
                                     const std::string& value) {
    auto decide = [&](request& read, std::optional<std::string>& data) {
        const node_view found(read.record, std::move(read.answer));
        const register_step step = decide_register(found, value, self.options.replace);
        if (step == register_step::replace)
            data = value;
        return step == register_step::taken ? make_error_code(errc::already_exists) : error_code();
    };
    return write_node(self.get_port(), path, value, self.options.acl, call, decide);
}

task<error_code> resolve_once(name_service_impl& self,
                              const std::string& name,
                              const std::string& path,
                              name_entry& entry) {
    request read(self.get_port(), op_code::get, path);
    error_code ec = co_await read_forward(self.get_port(), read);
    node_view view(read.record, std::move(read.answer));
    view.present = !ec;
    entry = describe_name(name, view);
    co_return ec || entry.present ? ec : make_error_code(zk_errc::no_node);
}

task<error_code> list_once(name_service_impl& self,
                           const std::string& parent,
                           std::vector<name_entry>& entries) {
    std::map<std::string, node_view> found;
    error_code ec = co_await read_children(self.get_port(), parent, found);
    for (const auto& [name, view] : found) {
        if (name_entry entry = describe_name(name, view); entry.present)
            entries.push_back(std::move(entry));
    }
    co_return ec;
}

/// Whether the object and the name can be used; then sets `path` to the name's node.
template <class... Values>
bool can_start(const std::shared_ptr<name_service_impl>& impl,
               const std::string& name,
               std::string& path,
               handler_of<Values...>& handler) {
    if (!usable(impl, handler))
        return false;
    auto found = name_path(impl->path(), name);
    if (!found) {
        path_is_good(impl->get_port(), "name service", join_path(impl->path(), name));
        refuse(impl, std::move(handler), errc::bad_path);
        return false;
    }
    path = std::move(*found);
    return true;
}

}  // namespace
}  // namespace detail

name_watch::name_watch(std::shared_ptr<detail::session_view> session,
                       std::shared_ptr<detail::name_watch_impl> impl) noexcept
    : recipe_object(std::move(session), impl->path(), impl) {}

void name_watch::start_next(const std::shared_ptr<detail::name_watch_impl>& impl,
                            detail::handler_of<name_entry> handler) {
    if (!detail::usable(impl, handler))
        return;
    if (!impl->good)
        return detail::refuse(impl, std::move(handler), errc::bad_path);
    detail::report_next(impl, std::move(handler));
}

name_service::name_service(const client& c, std::string root, name_service_options options)
    : recipe_object(c.implementation(), std::move(root), std::move(options)) {}

name_watch name_service::follow(std::string name) const {
    if (!impl_ || impl_->stopped())
        return name_watch();
    auto path = detail::name_path(impl_->path(), name);
    std::string node = path.value_or(std::string());
    return name_watch(
        session_,
        std::make_shared<detail::name_watch_impl>(
            detail::port_of(*session_), std::move(name), std::move(node), path.has_value()));
}

void name_service::start_register(const impl_ptr& impl,
                                  std::string name,
                                  std::string value,
                                  create_mode mode,
                                  time_limit limit,
                                  handler_of<> handler) {
    std::string path;
    if (!detail::can_start(impl, name, path, handler))
        return;
    const char* problem = detail::plain_mode_problem(mode);
    if (value.empty())
        problem = "the value is empty";
    if (problem)
        return detail::refuse(impl, std::move(handler), impl->reject(errc::bad_option, problem));
    detail::port& p = impl->get_port();
    detail::kept_node* ours = impl->kept.find(path);
    if (mode == create_mode::persistent) {
        if (ours)
            return detail::refuse(impl, std::move(handler), errc::already_exists);
        if (impl->kept.releasing(path))
            return detail::refuse(impl, std::move(handler), errc::busy);
        return p.spawn(detail::serve(impl,
                                     std::move(handler),
                                     limit,
                                     &detail::register_persistent,
                                     std::move(path),
                                     std::move(value)));
    }
    if (ours) {
        if (impl->options.replace || ours->data() == value) {
            ours->join(std::move(value), std::move(handler), limit);
        } else {
            detail::refuse(impl, std::move(handler), errc::already_exists);
        }
        return;
    }
    impl->kept.at(p, path, impl->options.acl)
        .keep(std::move(value), impl->options.replace, std::move(handler), limit);
}

void name_service::start_unregister(const impl_ptr& impl,
                                    std::string name,
                                    time_limit limit,
                                    handler_of<> handler) {
    std::string path;
    if (!detail::can_start(impl, name, path, handler))
        return;
    if (detail::kept_node* ours = impl->kept.find(path))
        return ours->release(std::move(handler), limit);
    impl->get_port().spawn(
        detail::serve(impl, std::move(handler), limit, &detail::erase_present, std::move(path)));
}

void name_service::start_resolve(const impl_ptr& impl,
                                 std::string name,
                                 time_limit limit,
                                 bool wait,
                                 handler_of<name_entry> handler) {
    std::string path;
    if (!detail::can_start(impl, name, path, handler))
        return;
    detail::port& p = impl->get_port();
    if (!wait) {
        p.spawn(detail::serve(impl,
                              std::move(handler),
                              limit,
                              &detail::resolve_once,
                              std::move(name),
                              std::move(path)));
    } else {
        auto describe = [name](const detail::node_view& view) {
            return detail::describe_name(name, view);
        };
        p.spawn(detail::await_node(impl, std::move(handler), std::move(path), limit, describe));
    }
}

void name_service::start_list(const impl_ptr& impl,
                              std::string parent,
                              time_limit limit,
                              handler_of<std::vector<name_entry>> handler) {
    if (!detail::usable(impl, handler))
        return;
    auto path = parent.empty() ? impl->path() : detail::name_path(impl->path(), parent);
    if (!path || detail::path_problem(*path)) {
        return detail::refuse(impl, std::move(handler), errc::bad_path);
    }
    impl->get_port().spawn(
        detail::serve(impl, std::move(handler), limit, &detail::list_once, std::move(*path)));
}

}  // namespace corozk
