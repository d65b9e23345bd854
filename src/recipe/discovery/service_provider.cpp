// SPDX-License-Identifier: Apache-2.0
#include "network/name_lookup.hpp"
#include "operation/path.hpp"
#include "recipe/discovery/followed_service.hpp"
#include "recipe/discovery/selection.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include <corozk/recipe/service_provider.hpp>

#include <list>
#include <optional>
#include <random>

namespace corozk {

namespace detail {

class service_provider_impl final : public followed_service {
public:
    service_provider_impl(port& p,
                          std::string path,
                          const client& c,
                          const std::string& base,
                          const std::string& service,
                          const service_provider_options& options_)
        : followed_service(p, std::move(path), c, base, service),
          options(options_),
          down(options.failure_threshold, options.set_aside_for),
          order(options.strategy, std::random_device()()) {}

    std::optional<std::uint16_t> endpoint_port(const service_instance& instance) const {
        return options.ssl ? instance.ssl_port : instance.port;
    }

    /// The available instances, in the order in which to try them.
    std::vector<candidate> arrange(const tree_state& state, bool reachable) {
        auto found = available_instances(read(state), down, get_port().now());
        if (reachable) {
            std::erase_if(found, [this](const candidate& c) {
                return !endpoint_port(*c.instance) || c.instance->address.empty();
            });
        }
        return order.arrange(std::move(found));
    }

    void report_failure(const service_instance& instance) {
        const auto now = get_port().now();
        down.retain(read(nodes.current()), now);
        down.report(instance, now);
    }

    const service_provider_options options;
    down_instances down;
    instance_order order;
};

namespace {

/// Waits until instances are available, or the call is over.
/// @param reachable only those that have an address and a port
template <class Call>
task<error_code> find_available(service_provider_impl& self,
                                Call& call,
                                signal& wake,
                                bool try_only,
                                bool reachable,
                                std::vector<candidate>& found) {
    port& p = self.get_port();
    tree_state state = self.nodes.current();
    for (;;) {
        if (state.revision != 0) {
            found = self.arrange(state, reachable);
            if (!found.empty())
                co_return error_code();
            if (try_only)
                co_return errc::would_block;
        }
        alarm back(p, wake);
        if (auto at = self.down.next_return(p.now()))
            back.set(*at);
        inner_call<tree_state> change(p, wake);
        self.nodes.next(state.revision, change.token());
        while (!change.done() && !call.over() && !back.rang())
            co_await wake.wait();
        if (!change.done())
            change.cancel();
        else if (change.error())
            co_return change.error();
        if (call.over())
            co_return error_code();
        state = self.nodes.current();
    }
}

task<> choose_instance(std::shared_ptr<service_provider_impl> self,
                       any_handler<void(error_code, service_instance)> handler,
                       time_point deadline,
                       bool try_only) {
    signal wake(self->get_port());
    waiting_call<service_instance> call(*self, std::move(handler), wake, deadline);
    call.ahead_of_copies();
    std::vector<candidate> found;
    error_code ec = co_await find_available(*self, call, wake, try_only, false, found);
    if (ec || found.empty())
        call.fail(ec);
    else
        call.complete(ec, *found.front().instance);
}

/// The look-up of an instance's host name.
struct host_lookup {
    host_lookup(const candidate& of_, const boost::asio::any_io_executor& executor, signal& wake)
        : of(of_) {
        error_code ec;
        auto address = boost::asio::ip::make_address(of.instance->address, ec);
        if (!ec) {
            addresses.push_back(address);
            done = true;
            return;
        }
        auto then = [this, &wake](std::string why, std::vector<boost::asio::ip::address> found) {
            problem = std::move(why);
            addresses = std::move(found);
            done = true;
            wake.set();
        };
        lookup.emplace(of.instance->address, executor, then);
    }

    candidate of;
    std::vector<boost::asio::ip::address> addresses;
    std::string problem;
    bool done = false;
    std::optional<name_lookup> lookup;
};

task<> find_endpoints(std::shared_ptr<service_provider_impl> self,
                      any_handler<void(error_code, service_endpoints)> handler,
                      time_point deadline) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<service_endpoints> call(*self, std::move(handler), wake, deadline);
    call.ahead_of_copies();
    std::vector<candidate> found;
    error_code ec = co_await find_available(*self, call, wake, false, true, found);
    if (ec || call.over()) {
        call.fail(ec);
        co_return;
    }
    std::list<host_lookup> lookups;
    for (const candidate& c : found)
        lookups.emplace_back(c, self->executor(), wake);
    std::vector<service_endpoint> endpoints;
    for (host_lookup& one : lookups) {
        while (!one.done && !call.over())
            co_await wake.wait();
        if (call.over())
            co_return;
        const service_instance& instance = *one.of.instance;
        if (one.addresses.empty()) {
            self->down.report(instance, p.now());
            p.report(log_level::warning,
                     "service discovery: the host ",
                     instance.address,
                     " of ",
                     join_path(self->path(), one.of.node),
                     " was not found: ",
                     one.problem);
        }
        for (const auto& address : one.addresses)
            endpoints.emplace_back(address, *self->endpoint_port(instance), one.of.instance);
    }
    if (endpoints.empty())
        call.fail(errc::host_not_found);
    else
        call.complete(error_code(), service_endpoints(std::move(endpoints)));
}

}  // namespace
}  // namespace detail

service_provider::service_provider(const client& c,
                                   const std::string& path,
                                   const std::string& service,
                                   service_provider_options options)
    : recipe_object(c.implementation(),
                    detail::join_path(path, service),
                    c,
                    path,
                    service,
                    options) {}

void service_provider::report_failure(const service_instance& instance) {
    if (impl_)
        impl_->report_failure(instance);
}

void service_provider::start_choose(const impl_ptr& impl,
                                    time_limit limit,
                                    bool try_only,
                                    handler_of<service_instance> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    detail::port& p = impl->get_port();
    p.spawn(detail::choose_instance(impl, std::move(handler), limit.from(p.now()), try_only));
}

void service_provider::start_endpoints(const impl_ptr& impl,
                                       time_limit limit,
                                       handler_of<service_endpoints> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    detail::port& p = impl->get_port();
    p.spawn(detail::find_endpoints(impl, std::move(handler), limit.from(p.now())));
}

}  // namespace corozk
