// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/nodes/rule.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/kept_nodes.hpp"
#include "recipe/toolkit/read_children.hpp"
#include "recipe/toolkit/watched_children.hpp"
#include <corozk/recipe/membership.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace corozk {

namespace detail {

namespace {

/// A member as known to an observer.
struct watched_member {
    explicit watched_member(signal& wake) : watch(wake) {}
    watch_signal watch;
    node_view node;
};

/// The ephemeral children of a node, updated while calls are pending.
class membership_observer {
public:
    using state = member_map;

    membership_observer(port& p, std::string parent, compatibility whose)
        : wake(p), port_(p), whose_(whose), children_(p, std::move(parent), wake) {}

    /// Reads everything that may have changed since the last call.
    /// @return a permanent error
    task<error_code> look() {
        for (;;) {
            error_code ec = co_await look_once();
            if (retry(port_).again(ec))
                continue;
            co_return ec;
        }
    }

    member_map view() const {
        member_map members;
        for (const auto& [node, m] : members_) {
            if (session_of(m.node.stat) == 0)
                continue;
            const std::string name(*member_of_node(whose_, node));
            members.emplace(name, describe_member(name, m.node));
        }
        return members;
    }

    /// Removes the watches from the server.
    void forget() {
        children_.forget();
        for (auto& [name, m] : members_)
            forget_watch(port_, m.watch, join_path(children_.parent(), name));
        members_.clear();
    }

    signal wake;

private:
    task<error_code> look_once() {
        if (!children_.current()) {
            name_list names;
            error_code ec = co_await children_.list(names);
            if (ec)
                co_return ec;
            note_names(names);
        }
        co_return co_await read_members();
    }

    void note_names(const name_list& names) {
        std::set<std::string_view> there;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (!member_of_node(whose_, names[i]))
                continue;
            there.insert(names[i]);
            members_.try_emplace(std::string(names[i]), wake);
        }
        std::erase_if(members_, [&there](const auto& m) { return !there.contains(m.first); });
    }

    /// Reads new members and those whose watch has fired, concurrently.
    task<error_code> read_members() {
        std::map<std::string, request> reads;
        for (auto& [name, m] : members_) {
            if (m.watch.armed())
                continue;
            std::string path = join_path(children_.parent(), name);
            request& read = reads.try_emplace(name, port_, op_code::get, path).first->second;
            read.attach(m.watch);
            read.send();
        }
        error_code result;
        for (auto& [name, read] : reads) {
            error_code ec = co_await read;
            auto at = members_.find(name);
            if (at == members_.end())
                continue;
            if (may_lag(port_, read)) {
                at->second.watch.disarm();
                children_.discard();  // listing them again lets the server catch up
                result = look_again;
                continue;
            }
            if (ec == zk_errc::no_node) {
                members_.erase(at);
            } else if (ec) {
                result = ec;
            } else {
                at->second.node = node_view(read.record, std::move(read.answer));
            }
        }
        co_return result;
    }

    port& port_;
    const compatibility whose_;
    watched_children children_;
    std::map<std::string, watched_member, std::less<>> members_;
};

}  // namespace

class membership_impl final : public recipe_core {
public:
    membership_impl(port& p, std::string path, membership_options options_)
        : recipe_core(p, "membership", path),
          options(std::move(options_)),
          reports(p, path, options.compatibility) {}

    void stop() noexcept override {
        recipe_core::stop();
        own = nullptr;
        kept.abandon();
        reports.forget();
    }

    membership_change describe(const member_map& now) const {
        return compute_change(reports.last(), now);
    }
    bool is_news(const member_map& now) const { return !describe(now).empty(); }

    const membership_options options;
    std::string name;
    kept_node* own = nullptr;  ///< under the name that was used last
    kept_nodes kept;           ///< also under other names, which may be leaving
    change_reports<membership_observer, membership_change> reports;
};

namespace {

task<error_code> list_members(membership_impl& self, std::vector<member_info>& members) {
    std::map<std::string, node_view> children;
    const compatibility whose = self.options.compatibility;
    std::function<bool(std::string_view)> wanted = [whose](std::string_view node) {
        return member_of_node(whose, node).has_value();
    };
    error_code ec = co_await read_children(self.get_port(), self.path(), children, wanted);
    for (const auto& [node, view] : children) {
        if (!ec && session_of(view.stat) != 0)
            members.push_back(describe_member(std::string(*member_of_node(whose, node)), view));
    }
    // The suffix may change the order.
    std::sort(members.begin(), members.end(), [](const member_info& a, const member_info& b) {
        return a.name < b.name;
    });
    co_return ec;
}

}  // namespace
}  // namespace detail

membership::membership(const client& c, std::string path, membership_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

std::string membership::name() const {
    return impl_ && impl_->own && impl_->own->wanted() ? impl_->name : std::string();
}

bool membership::joined() const noexcept {
    return impl_ && impl_->own && impl_->own->present();
}

void membership::start_join(const impl_ptr& impl,
                            std::string name,
                            std::string data,
                            time_limit limit,
                            handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    detail::port& p = impl->get_port();
    if (name.empty())
        name = p.new_guid();
    const compatibility whose = impl->options.compatibility;
    std::string node = detail::join_path(impl->path(), detail::member_node(whose, name));
    if (!detail::is_node_name(name)) {
        return detail::refuse(
            impl,
            std::move(handler),
            impl->reject(errc::bad_path, "\"", name, "\" is not a valid node name"));
    }
    // A membership that ends in the background does not block the next one under another name.
    bool idle = !impl->own || !impl->own->wanted();
    if (!impl->own || (idle && impl->own->path() != node)) {
        detail::kept_node_kind kind;
        // Kazoo does not expect a party's node to be deleted.
        if (whose == compatibility::kazoo)
            kind.parents = create_mode::persistent;
        impl->own = &impl->kept.at(p, node, impl->options.acl, kind);
    }
    if (idle)
        impl->name = std::move(name);
    impl->own->keep(std::move(data), impl->options.wait_for_predecessor, std::move(handler), limit);
}

void membership::start_set_data(const impl_ptr& impl,
                                std::string data,
                                time_limit limit,
                                handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (impl->own) {
        impl->own->change(std::move(data), std::move(handler), limit);
    } else {
        detail::refuse(impl, std::move(handler), errc::not_a_member);
    }
}

void membership::start_leave(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (impl->own) {
        impl->own->release(std::move(handler), limit);
    } else {
        detail::refuse(impl, std::move(handler), errc::not_a_member);
    }
}

void membership::start_list_members(const impl_ptr& impl,
                                    time_limit limit,
                                    handler_of<std::vector<member_info>> handler) {
    detail::serve_at_path(impl, std::move(handler), limit, &detail::list_members);
}

void membership::start_next(const impl_ptr& impl, handler_of<membership_change> handler) {
    if (detail::usable_at_path(impl, handler))
        detail::report_next(impl, std::move(handler));
}

}  // namespace corozk
