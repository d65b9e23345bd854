// SPDX-License-Identifier: Apache-2.0
#include "corozk/recipe/name_service.hpp"

#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/nodes/name_service_rule.hpp"
#include "recipe/toolkit/delete_exact.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/kept_node.hpp"
#include <corozk/recipe/name_service.hpp>

#include <deque>
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
          follower(p, path) {}

    void stop() noexcept override {
        recipe_core::stop();
        if (!following)
            follower.forget();
    }

    const std::string name;
    const std::string path;
    const bool good;
    followed_node follower;
    name_entry told;
    node_view told_view;
    bool told_anything = false;
    bool following = false;
};

namespace {

using entry_handler = any_handler<void(error_code, name_entry)>;

/// One attempt to give a persistent name a value.
task<error_code> register_once(port& p,
                               std::shared_ptr<name_service_impl> self,
                               std::string path,
                               std::string value) {
    request create(p, op_code::create, path);
    create.data = value;
    create.entries = self->options.acl;
    error_code ec = co_await create;
    if (ec == zk_errc::no_node) {
        ec = co_await ensure_folder(p, std::string(parent_path(path)), self->options.acl);
        if (!ec)
            ec = zk_errc::connection_loss;  // once more
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
    node_view found;
    found.present = true;
    found.stat = read.record;
    found.data = std::move(read.answer);
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
        if (!worth_asking_again(p, ec))
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
        if (worth_asking_again(p, ec))
            continue;
        node_view view;
        view.present = !ec;
        view.stat = read.record;
        view.data = std::move(read.answer);
        name_entry entry = describe_name(name, view);
        if (!ec && !entry.present)
            ec = zk_errc::no_node;
        call.complete(ec, std::move(entry));
    }
}

task<> await_driver(std::shared_ptr<name_service_impl> self,
                    std::string name,
                    std::string path,
                    entry_handler handler,
                    time_point deadline) {
    port& p = self->get_port();
    followed_node node(p, path);
    waiting_call<name_entry> call(*self, std::move(handler), node.wake, deadline);
    session_signal session(p, node.wake);
    while (!call.over()) {
        error_code ec = co_await node.look();
        name_entry entry = describe_name(name, node.view());
        if (ec || entry.present) {
            call.complete(ec, std::move(entry));
        } else if (!call.over()) {
            co_await node.wake.wait();
        }
    }
    node.forget();
}

/// One attempt to read a folder.
task<error_code> list_once(port& p, std::string folder, std::map<std::string, name_entry>& found) {
    found.clear();
    request listing(p, op_code::children, folder);
    error_code ec = co_await listing;
    if (ec == zk_errc::no_node)
        co_return error_code();
    if (ec)
        co_return ec;
    std::deque<request> reads;
    for (std::size_t i = 0; i < listing.names.size(); ++i) {
        reads.emplace_back(p, op_code::get, join_path(folder, listing.names[i]));
        reads.back().send();
    }
    error_code problem;
    for (request& read : reads) {
        ec = co_await read;
        if (ec == zk_errc::no_node)
            continue;
        if (ec) {
            problem = ec;
            continue;
        }
        node_view view;
        view.present = true;
        view.stat = read.record;
        view.data = std::move(read.answer);
        std::string name(base_name(read.path));
        name_entry entry = describe_name(name, view);
        if (entry.present)
            found.emplace(std::move(name), std::move(entry));
    }
    co_return problem;
}

task<> list_driver(std::shared_ptr<name_service_impl> self,
                   std::string folder,
                   any_handler<void(error_code, std::vector<name_entry>)> handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<std::vector<name_entry>> call(*self, std::move(handler), wake);
    while (!call.over()) {
        std::map<std::string, name_entry> found;
        error_code ec = co_await list_once(p, folder, found);
        if (worth_asking_again(p, ec))
            continue;
        std::vector<name_entry> entries;
        for (auto& [name, entry] : found)
            entries.push_back(std::move(entry));
        call.complete(ec, std::move(entries));
    }
}

task<> next_driver(std::shared_ptr<name_watch_impl> self, entry_handler handler) {
    port& p = self->get_port();
    followed_node& node = self->follower;
    self->following = true;
    waiting_call<name_entry> call(*self, std::move(handler), node.wake);
    session_signal session(p, node.wake);
    while (!call.over()) {
        error_code ec = co_await node.look();
        name_entry entry = describe_name(self->name, node.view());
        bool news = !self->told_anything || node.view().differs(self->told_view);
        // A folder that comes or goes is no news of the name.
        bool told = self->told_anything && !entry.present && !self->told.present;
        if (ec) {
            call.fail(ec);
        } else if (call.over()) {
            break;
        } else if (news && !told) {
            self->told_anything = true;
            self->told_view = node.view();
            self->told = entry;
            call.complete(error_code(), std::move(entry));
        } else {
            co_await node.wake.wait();
        }
    }
    self->following = false;
    if (self->stopped())
        node.forget();
}

template <class... Values>
bool fail_with(const std::shared_ptr<name_service_impl>& impl,
               any_handler<void(error_code, Values...)>& handler,
               error_code ec) {
    immediate_result<Values...>(impl->executor(), std::move(handler), ec, Values()...);
    return false;
}

/// Whether it can work on this name; then `path` is its node's.
template <class... Values>
bool can_start(const std::shared_ptr<name_service_impl>& impl,
               const std::string& name,
               std::string& path,
               any_handler<void(error_code, Values...)>& handler) {
    if (!usable(impl, handler))
        return false;
    auto found = path_problem(impl->root) ? std::nullopt : name_path(impl->root, name);
    if (!found) {
        path_is_good(impl->get_port(), "name service", join_path(impl->root, name));
        return fail_with(impl, handler, errc::bad_path);
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
    if (!impl->good || impl->following) {
        detail::immediate_result<name_entry>(impl->executor(),
                                             std::move(handler),
                                             impl->good ? errc::busy : errc::bad_path,
                                             name_entry());
        return;
    }
    impl->get_port().spawn(detail::next_driver(impl, std::move(handler)));
}

name_service::name_service(const client& c, std::string root, name_service_options options)
    : recipe_object(c.implementation(), std::move(root), std::move(options)) {}

name_watch name_service::follow(std::string name) const {
    if (!impl_ || impl_->stopped())
        return name_watch();
    auto path =
        detail::path_problem(impl_->root) ? std::nullopt : detail::name_path(impl_->root, name);
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
        detail::fail_with(impl, handler, errc::bad_option);
        return;
    }
    detail::port& p = impl->get_port();
    auto at = impl->kept.find(path);
    bool ours = at != impl->kept.end() && at->second->wanted();
    if (lifetime == name_lifetime::persistent) {
        if (ours) {
            detail::fail_with(impl, handler, errc::already_exists);
            return;
        }
        p.spawn(
            detail::register_driver(impl, std::move(path), std::move(value), std::move(handler)));
        return;
    }
    if (ours) {
        if (impl->options.replace || at->second->data() == value) {
            at->second->change(std::move(value), std::move(handler));
        } else {
            detail::fail_with(impl, handler, errc::already_exists);
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
        impl->kept.erase(at);  // its driver keeps it until it is done
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
        p.spawn(detail::await_driver(
            impl, std::move(name), std::move(path), std::move(handler), wait->from(p.now())));
    }
}

void name_service::start_list(const impl_ptr& impl,
                              std::string folder,
                              handler_of<std::vector<name_entry>> handler) {
    if (!detail::usable(impl, handler))
        return;
    std::optional<std::string> path;
    if (!detail::path_problem(impl->root)) {
        path = folder.empty() ? impl->root : detail::name_path(impl->root, folder);
    }
    if (!path) {
        detail::fail_with(impl, handler, errc::bad_path);
        return;
    }
    impl->get_port().spawn(detail::list_driver(impl, std::move(*path), std::move(handler)));
}

}  // namespace corozk
