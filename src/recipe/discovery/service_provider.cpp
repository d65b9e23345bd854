// SPDX-License-Identifier: Apache-2.0
#include "network/name_lookup.hpp"
#include "operation/path.hpp"
#include "recipe/discovery/followed_service.hpp"
#include "recipe/discovery/selection.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include <corozk/recipe/service_provider.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

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
        : followed_service(p, std::move(path), c, base, service, options_.format),
          options(options_),
          down(options.failure_threshold, options.set_aside_for),
          order(options.strategy, std::random_device()()) {}

    /// Nothing if the instance has no such endpoint.
    std::optional<additional_endpoint> endpoint_of(const service_instance& instance) const {
        if (!options.endpoint.empty()) {
            auto found = instance.additional_endpoints.find(options.endpoint);
            if (found == instance.additional_endpoints.end())
                return std::nullopt;
            return found->second;
        }
        const auto& number = options.ssl ? instance.ssl_port : instance.port;
        if (!number || instance.address.empty())
            return std::nullopt;
        return additional_endpoint(instance.address, *number);
    }

    /// The available instances, in the order in which to try them.
    std::vector<candidate> arrange(const tree_state& state, bool reachable) {
        auto found = available_instances(read(state), down, get_port().now());
        if (reachable) {
            std::erase_if(found, [this](const candidate& c) { return !endpoint_of(*c.instance); });
        }
        return order.arrange(std::move(found));
    }

    void report_failure(const service_instance& instance) {
        down.report(instance, read(nodes.current()), get_port().now());
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
        self.nodes.next(state, change.token());
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
                       handler_of<service_instance> handler,
                       time_limit limit,
                       bool try_only) {
    signal wake(self->get_port());
    waiting_call<service_instance> call(*self, std::move(handler), wake, limit);
    call.ahead_of_copies();
    std::vector<candidate> found;
    error_code ec = co_await find_available(*self, call, wake, try_only, false, found);
    if (ec || found.empty())
        call.fail(ec);
    else
        call.complete(ec, *found.front().instance);
}

/// The look-ups of the host names of instances: each name once, so many at a time.
class host_lookups {
public:
    struct answer {
        std::vector<boost::asio::ip::address> addresses;
        std::string problem;
        bool name = true;  ///< not an address in text form
        bool started = true;
    };

    host_lookups(const boost::asio::any_io_executor& executor, signal& wake)
        : executor_(executor), wake_(wake) {}

    void add(const std::string& host) {
        auto [at, added] = lookups_.try_emplace(host);
        if (!added)
            return;
        error_code ec;
        auto address = boost::asio::ip::make_address(host, ec);
        if (ec) {
            waiting_.push_back(host);
        } else {
            at->second.result.addresses.push_back(address);
            at->second.result.name = false;
        }
    }

    /// Starts those for which there is room.
    /// @return whether all have ended
    bool advance() {
        while (!waiting_.empty() && under_way_ < most_) {
            start(waiting_.front());
            waiting_.pop_front();
        }
        return under_way_ == 0;
    }

    const answer& of(const std::string& host) const { return lookups_.find(host)->second.result; }

    /// Whether no name at all has an address: then the name service is down, not the instances.
    bool all_in_vain() const {
        return std::none_of(lookups_.begin(), lookups_.end(), [](const auto& one) {
            return one.second.result.name && !one.second.result.addresses.empty();
        });
    }

private:
    struct lookup {
        answer result;
        std::optional<name_lookup> run;
    };

    void start(const std::string& host) {
        lookup& one = lookups_.find(host)->second;
        ++under_way_;
        auto then = [this, &one](std::string why, std::vector<boost::asio::ip::address> found) {
            one.result.problem = std::move(why);
            one.result.addresses = std::move(found);
            --under_way_;
            wake_.set();
        };
        one.run.emplace(host, executor_, then);
        one.result.started = one.run->started();
    }

    static constexpr std::size_t most_ = 8;  ///< each one has a thread

    const boost::asio::any_io_executor executor_;
    signal& wake_;
    std::map<std::string, lookup> lookups_;
    std::deque<std::string> waiting_;
    std::size_t under_way_ = 0;
};

task<> find_endpoints(std::shared_ptr<service_provider_impl> self,
                      handler_of<service_endpoints> handler,
                      time_limit limit) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<service_endpoints> call(*self, std::move(handler), wake, limit);
    call.ahead_of_copies();
    std::vector<candidate> found;
    error_code ec = co_await find_available(*self, call, wake, false, true, found);
    if (ec || call.over()) {
        call.fail(ec);
        co_return;
    }
    host_lookups lookups(self->executor(), wake);
    for (const candidate& c : found)
        lookups.add(self->endpoint_of(*c.instance)->host);
    while (!lookups.advance() && !call.over())
        co_await wake.wait();
    if (call.over())
        co_return;
    const bool in_vain = lookups.all_in_vain();
    std::vector<service_endpoint> endpoints;
    for (const candidate& c : found) {
        const service_instance& instance = *c.instance;
        const additional_endpoint where = *self->endpoint_of(instance);
        const host_lookups::answer& host = lookups.of(where.host);
        for (const auto& address : host.addresses)
            endpoints.emplace_back(address, where.port, where.host, c.instance);
        if (!host.addresses.empty())
            continue;
        if (host.started && !in_vain)
            self->report_failure(instance);
        p.report(log_level::warning,
                 "service discovery: the host ",
                 where.host,
                 " of ",
                 join_path(self->path(), c.node),
                 " was not found: ",
                 host.problem);
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
    : recipe_object(
          c.implementation(), detail::join_path(path, service), c, path, service, options) {}

void service_provider::report_failure(const service_instance& instance) {
    if (impl_)
        impl_->report_failure(instance);
}

void service_provider::start_choose(const impl_ptr& impl,
                                    time_limit limit,
                                    bool try_only,
                                    handler_of<service_instance> handler) {
    detail::run_at_path(impl, std::move(handler), &detail::choose_instance, limit, try_only);
}

void service_provider::start_endpoints(const impl_ptr& impl,
                                       time_limit limit,
                                       handler_of<service_endpoints> handler) {
    detail::run_at_path(impl, std::move(handler), &detail::find_endpoints, limit);
}

}  // namespace corozk
