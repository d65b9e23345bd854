// SPDX-License-Identifier: Apache-2.0
#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/nodes/rule.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/kept_node.hpp"
#include "recipe/toolkit/read_children.hpp"
#include <corozk/recipe/name_service.hpp>

#include <map>

namespace corozk {

namespace detail {

class name_service_impl final : public recipe_core {
public:
    name_service_impl(port& p, std::string root_, name_service_options options_)
        : recipe_core(p), root(std::move(root_)), options(std::move(options_)) {}

    void stop() noexcept override {
        recipe_core::stop();
        for (auto& [path, node] : kept)
            node->abandon();
        kept.clear();
    }

    const std::string root;
    const name_service_options options;
    std::map<std::string, std::shared_ptr<kept_node>> kept;  ///< the session-bound names
};

class name_watch_impl final : public recipe_core {
public:
    name_watch_impl(port& p, std::string name_, std::string path_, bool good_)
        : recipe_core(p),
          name(std::move(name_)),
          path(std::move(path_)),
          good(good_),
          node(p, path) {}

    void stop() noexcept override {
        recipe_core::stop();
        node.forget();
    }

    name_entry describe(const node_view& view) const { return describe_name(name, view); }
    /// Creation or deletion of a parent is not a change of the name.
    bool is_news(const node_view& view) const {
        return describe(view).present || describe(node.told()).present;
    }

    const std::string name;
    const std::string path;
    const bool good;
    told_node node;
};

namespace {

using entry_handler = any_handler<void(error_code, name_entry)>;

/// One attempt to register a persistent name.
task<error_code> register_once(port& p,
                               std::shared_ptr<name_service_impl> self,
                               std::string path,
                               std::string value) {
    request create(p, op_code::create, path);
    create.data = value;
    create.entries = self->options.acl;
    error_code ec = co_await create;
    if (ec == zk_errc::no_node) {
        ec = co_await ensure_path(p, std::string(parent_path(path)), self->options.acl);
        if (!ec)
            ec = zk_errc::connection_loss;  // try again
        co_return ec;
    }
    if (ec != zk_errc::node_exists)
        co_return ec;
    request read(p, op_code::get, path);
    ec = co_await read;
    if (ec == zk_errc::no_node)
        co_return zk_errc::connection_loss;
    if (ec)
        co_return ec;
    node_view found(read.record, std::move(read.answer));
    register_step step = decide_register(found, value, self->options.replace);
    if (step == register_step::done)
        co_return error_code();
    if (step == register_step::taken)
        co_return errc::already_exists;
    request set(p, op_code::set, path);
    set.data = value;
    set.version = found.stat.version;
    ec = co_await set;
    bool again = ec == zk_errc::bad_version || ec == zk_errc::no_node;
    co_return again ? make_error_code(zk_errc::connection_loss) : ec;
}

task<> register_driver(std::shared_ptr<name_service_impl> self,
                       std::string path,
                       std::string value,
                       any_handler<void(error_code)> handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<> call(*self, std::move(handler), wake);
    while (!call.over()) {
        error_code ec = co_await register_once(p, self, path, value);
        if (!retry(p).again(ec))
            call.complete(ec);
    }
}

task<> unregister_driver(std::shared_ptr<name_service_impl> self,
                         std::string path,
                         any_handler<void(error_code)> handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<> call(*self, std::move(handler), wake);
    bool erased = false;
    error_code ec = co_await erase_one(p, path, erased);
    if (!ec && !erased)
        ec = zk_errc::no_node;
    call.complete(ec);
}

task<> resolve_driver(std::shared_ptr<name_service_impl> self,
                      std::string name,
                      std::string path,
                      entry_handler handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<name_entry> call(*self, std::move(handler), wake);
    while (!call.over()) {
        request read(p, op_code::get, path);
        error_code ec = co_await read;
        if (retry(p).again(ec))
            continue;
        node_view view(read.record, std::move(read.answer));
        view.present = !ec;
        name_entry entry = describe_name(name, view);
        if (!ec && !entry.present)
            ec = zk_errc::no_node;
        call.complete(ec, std::move(entry));
    }
}

task<> list_driver(std::shared_ptr<name_service_impl> self,
                   std::string parent,
                   any_handler<void(error_code, std::vector<name_entry>)> handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<std::vector<name_entry>> call(*self, std::move(handler), wake);
    while (!call.over()) {
        std::map<std::string, node_view> found;
        error_code ec = co_await read_children(p, parent, found);
        if (retry(p).again(ec))
            continue;
        std::vector<name_entry> entries;
        for (const auto& [name, view] : found) {
            if (name_entry entry = describe_name(name, view); entry.present)
                entries.push_back(std::move(entry));
        }
        call.complete(ec, std::move(entries));
    }
}

/// Whether the object and the name can be used; then sets `path` to the name's node.
template <class... Values>
bool can_start(const std::shared_ptr<name_service_impl>& impl,
               const std::string& name,
               std::string& path,
               any_handler<void(error_code, Values...)>& handler) {
    if (!usable(impl, handler))
        return false;
    auto found = name_path(impl->root, name);
    if (!found) {
        path_is_good(impl->get_port(), "name service", join_path(impl->root, name));
        refuse(impl, std::move(handler), errc::bad_path);
        return false;
    }
    path = std::move(*found);
    return true;
}

}  // namespace
}  // namespace detail

name_watch::name_watch(std::shared_ptr<detail::session> session,
                       std::shared_ptr<detail::name_watch_impl> impl) noexcept
    : recipe_object(std::move(session), impl->path, impl) {}

void name_watch::start_next(const std::shared_ptr<detail::name_watch_impl>& impl,
                            detail::any_handler<void(error_code, name_entry)> handler) {
    if (!detail::usable(impl, handler))
        return;
    if (!impl->good || impl->node.following()) {
        return detail::refuse(impl, std::move(handler), impl->good ? errc::busy : errc::bad_path);
    }
    impl->get_port().spawn(detail::tell_next(impl, std::move(handler)));
}

name_service::name_service(const client& c, std::string root, name_service_options options)
    : recipe_object(c.implementation(), std::move(root), std::move(options)) {}

name_watch name_service::follow(std::string name) const {
    if (!impl_ || impl_->stopped())
        return name_watch();
    auto path = detail::name_path(impl_->root, name);
    std::string node = path.value_or(std::string());
    return name_watch(
        session_,
        std::make_shared<detail::name_watch_impl>(
            detail::port_of(*session_), std::move(name), std::move(node), path.has_value()));
}

void name_service::start_register(const impl_ptr& impl,
                                  std::string name,
                                  std::string value,
                                  name_lifetime lifetime,
                                  handler_of<> handler) {
    std::string path;
    if (!detail::can_start(impl, name, path, handler))
        return;
    if (value.empty()) {
        return detail::refuse(impl, std::move(handler), errc::bad_option);
    }
    detail::port& p = impl->get_port();
    auto at = impl->kept.find(path);
    bool ours = at != impl->kept.end() && at->second->wanted();
    if (lifetime == name_lifetime::persistent) {
        if (ours) {
            return detail::refuse(impl, std::move(handler), errc::already_exists);
        }
        p.spawn(
            detail::register_driver(impl, std::move(path), std::move(value), std::move(handler)));
        return;
    }
    if (ours) {
        if (impl->options.replace || at->second->data() == value) {
            at->second->change(std::move(value), std::move(handler));
        } else {
            detail::refuse(impl, std::move(handler), errc::already_exists);
        }
        return;
    }
    if (at == impl->kept.end()) {
        auto node = std::make_shared<detail::kept_node>(p, path, impl->options.acl);
        at = impl->kept.emplace(path, std::move(node)).first;
    }
    at->second->keep(
        std::move(value), impl->options.replace, std::move(handler), detail::no_deadline);
}

void name_service::start_unregister(const impl_ptr& impl, std::string name, handler_of<> handler) {
    std::string path;
    if (!detail::can_start(impl, name, path, handler))
        return;
    auto at = impl->kept.find(path);
    if (at != impl->kept.end() && at->second->wanted()) {
        at->second->release(std::move(handler));
        impl->kept.erase(at);  // its driver keeps it alive until it has finished
        return;
    }
    impl->get_port().spawn(detail::unregister_driver(impl, std::move(path), std::move(handler)));
}

void name_service::start_resolve(const impl_ptr& impl,
                                 std::string name,
                                 std::optional<time_limit> wait,
                                 handler_of<name_entry> handler) {
    std::string path;
    if (!detail::can_start(impl, name, path, handler))
        return;
    detail::port& p = impl->get_port();
    if (!wait) {
        p.spawn(detail::resolve_driver(impl, std::move(name), std::move(path), std::move(handler)));
    } else {
        auto describe = [name](const detail::node_view& view) {
            return detail::describe_name(name, view);
        };
        p.spawn(detail::await_node(impl, std::move(handler), std::move(path), *wait, describe));
    }
}

void name_service::start_list(const impl_ptr& impl,
                              std::string parent,
                              handler_of<std::vector<name_entry>> handler) {
    if (!detail::usable(impl, handler))
        return;
    auto path = parent.empty() ? impl->root : detail::name_path(impl->root, parent);
    if (!path || detail::path_problem(*path)) {
        return detail::refuse(impl, std::move(handler), errc::bad_path);
    }
    impl->get_port().spawn(detail::list_driver(impl, std::move(*path), std::move(handler)));
}

}  // namespace corozk
