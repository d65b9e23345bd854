// SPDX-License-Identifier: Apache-2.0
// Who keeps data for others, and follows theirs.
#include "bounded_wait.hpp"
#include "scenarios.hpp"
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/name_service.hpp>
#include <corozk/recipe/partitioner.hpp>
#include <corozk/recipe/rendezvous.hpp>
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <chrono>

namespace corozk::wire {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

awaitable<void> caches(client& c, std::string folder) {
    co_await c.ensure_path(folder + "/a/b");
    tree_cache cache(c, folder);
    co_await for_a_second(cache.next());
    auto [ec, made] = co_await c.create(folder + "/a/c", "1", create_options(), as_tuple());
    co_await for_a_second(cache.next(cache.current()));
}

awaitable<void> single_configurations(client& c, std::string folder) {
    configuration mine(c, folder + "/c");
    co_await mine.publish("1");
    node_state first = co_await mine.next();
    co_await mine.publish("2");
    co_await for_a_second(mine.next(first));
}

template <class Layout>
awaitable<void> configurations(client& c, std::string folder) {
    Layout mine(c, folder + "/c");
    configuration_parts parts{{"one", "1"}, {"two", "2"}};
    co_await mine.publish(parts);
    configuration_version v = co_await mine.next();
    parts["one"] = "3";
    co_await mine.publish(parts);
    co_await for_a_second(mine.next(v));
}

awaitable<void> counters(client& c, std::string folder) {
    counter mine(c, folder + "/c");
    co_await mine.add(1);
    co_await mine.get();
    co_await mine.compare_and_set(1, 5);
    co_await mine.add(1);
}

awaitable<void> members(client& c, std::string folder) {
    membership group(c, folder);
    co_await group.join_for("a", "1", patience(2s));
    co_await group.list_members();
    co_await for_a_second(group.set_data("2"));
    co_await group.leave();
}

awaitable<void> partitioners(client& c, std::string folder) {
    partitioner_options at_once;
    at_once.settle = std::chrono::milliseconds(0);
    const std::vector<std::string> two{"x", "y"};
    partitioner mine(c, folder + "/shards", two, at_once);
    co_await mine.join_for("a", patience(2s));
    std::vector<partition_grant> held;
    while (held.size() < 2) {
        partition_change change = co_await mine.next_for(patience(1s));
        for (partition_grant& grant : change.gained)
            held.push_back(std::move(grant));
    }
    held.clear();
    co_await mine.leave();
}

awaitable<void> name_services(client& c, std::string folder) {
    name_service names(c, folder);
    co_await names.register_name("mail/smtp", "10.0.0.5:25");
    co_await names.resolve("mail/smtp");
    co_await names.await_for("mail/smtp", patience(1s));
    co_await names.list("mail");
    name_watch followed = names.follow("mail/smtp");
    co_await for_a_second(followed.next());
    co_await names.unregister("mail/smtp");
    co_await for_a_second(followed.next());
}

awaitable<void> services(client& c, std::string folder) {
    service_discovery discovery(c, folder);
    service_instance dynamic("web", "10.0.0.5", 80), lasting = dynamic;
    lasting.id = "lasting";
    lasting.type = service_type::permanent;
    co_await discovery.register_instance_for(dynamic, patience(2s));
    co_await discovery.register_instance_for(lasting, patience(2s));
    co_await for_a_second(discovery.update(lasting));
    co_await discovery.resolve("web");
    co_await discovery.list_names();
    service_cache cache(c, folder, "web");
    co_await for_a_second(cache.next());
    service_provider provider(c, folder, "web");
    co_await provider.choose_for(patience(1s));
    co_await provider.get_endpoints_for(patience(1s));
    co_await discovery.unregister(lasting);
    co_await discovery.unregister(dynamic);
}

awaitable<void> meetings(client& c, std::string folder) {
    rendezvous point(c, folder + "/point");
    co_await point.publish_for("host-1:5000", patience(2s));
    co_await point.await_for(patience(1s));
    co_await for_a_second(point.next());
    co_await for_a_second(point.set_data("host-2:5000"));
    co_await point.withdraw();
}

}  // namespace

const std::vector<scenario>& data_scenarios() {
    static const std::vector<scenario> all = {
        {"cache", caches},
        {"configuration", configurations<versioned_configuration>},
        {"ready_configuration", configurations<ready_configuration>},
        {"single_configuration", single_configurations},
        {"counter", counters},
        {"membership", members},
        {"name_service", name_services},
        {"partitioner", partitioners},
        {"rendezvous", meetings},
        {"service_discovery", services},
    };
    return all;
}

}  // namespace corozk::wire
