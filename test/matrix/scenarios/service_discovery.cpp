// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include "matrix/engine/stays_away.hpp"
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <algorithm>

namespace corozk::matrix {

namespace service_discovery_scenarios {

service_instance instance(std::string id, std::uint16_t port) {
    service_instance one("web", "127.0.0.1", port);
    one.id = std::move(id);
    return one;
}

service_discovery_options options_for(const stage& s, service_format format) {
    auto options = options_of<service_discovery_options>(s);
    options.format = format;
    return options;
}

/// Registers the same one, and takes it away.
template <service_type Type, service_format Format = service_format::curator>
awaitable<void> probe(client& c, stage& s) {
    service_discovery services(c, s.folder(), options_for(s, Format));
    service_instance last = instance("a", 9);
    last.type = Type;
    co_await services.register_instance_for(last, s.patience());
    std::vector<service_instance> all = co_await services.resolve("web");
    s.check(all.size() == 1 && all[0].port == 9, "the next one's instance is the only one");
    co_await services.unregister(last);
}

/// Another one.
template <service_format Format = service_format::curator>
awaitable<void> registers_too(client& c, stage& s) {
    service_discovery services(c, s.folder(), options_for(s, Format));
    service_instance other = instance("b", 1);
    co_await services.register_instance_for(other, s.patience());
    co_await services.unregister(other);
}

/// Registered, updated, unregistered.
template <service_format Format>
awaitable<void> dynamic_instance(stage& s) {
    object<service_discovery> services(s, s.ours(), s.folder(), options_for(s, Format));
    service_instance mine = instance("a", 1);
    std::string node = s.folder() + "/web/" + mine.node_name(Format);
    call<> registering(s, "register_instance");
    services->register_instance_for(mine, registering.limit(), registering.token());
    co_await registering.result();
    co_await s.state("registered");
    mine.port = 2;
    call<> updating(s, "update");
    services->update_for(mine, updating.limit(), updating.token());
    co_await updating.result();
    // Whatever has happened to the session or the node: it is there again, with the last data.
    co_await testing::eventually_async(
        [&] {
            if (s.disturbed())
                return true;
            auto record = s.stat(node);
            return record && record->ephemeral_owner == s.ours().session_id() &&
                   s.data(node).find("\"port\":2") != std::string::npos;
        },
        s.patience(),
        "the instance is there with its last data");
    co_await s.state("updated");
    call<> unregistering(s, "unregister");
    services->unregister(mine, unregistering.token());
    co_await unregistering.result();
    co_await stays_away(s, node, "unregistered");
}

awaitable<void> permanent_instance(stage& s) {
    object<service_discovery> services(
        s, s.ours(), s.folder(), options_of<service_discovery_options>(s));
    service_instance mine = instance("a", 1);
    mine.type = service_type::permanent;
    call<> registering(s, "register_instance");
    services->register_instance_for(mine, registering.limit(), registering.token());
    co_await registering.result();
    co_await s.state("registered");
    // It goes with its folder.
    if (s.which() == fault::parent_deleted && s.applied())
        throw scenario_over();
    mine.port = 2;
    call<> updating(s, "update");
    services->update_for(mine, updating.limit(), updating.token());
    co_await updating.result();
    call<std::vector<service_instance>> resolving(s, "resolve");
    services->resolve_for("web", resolving.limit(), resolving.token());
    std::vector<service_instance> all = co_await resolving.result();
    bool there = std::any_of(all.begin(), all.end(), [](const service_instance& one) {
        return one.id == "a" && one.port == 2;
    });
    s.check(there, "the instance has its last data");
    call<> unregistering(s, "unregister");
    services->unregister(mine, unregistering.token());
    co_await unregistering.result();
    s.check(!s.exists(s.folder() + "/web/a"), "the instance is gone");
}

/// Waits for an instance of a service that nobody has yet, and for its end.
awaitable<void> choose(stage& s) {
    service_discovery theirs(s.theirs(), s.folder(), options_of<service_discovery_options>(s));
    object<service_provider> provider(s, s.ours(), s.folder(), "web");
    object<service_cache> cache(s, s.ours(), s.folder(), "web");
    service_instance a = instance("a", 1);
    call<service_instance> choosing(s, "choose");
    provider->choose_for(choosing.limit(), choosing.token());
    co_await s.state("nobody");
    co_await theirs.register_instance(a);
    // The server tells nobody of changes of what he may not read.
    if (s.forbidden())
        co_return;
    service_instance chosen = co_await choosing.result();
    s.check(chosen.id == "a" && chosen.port == 1, "it is chosen");
    co_await s.state("one is there");
    co_await theirs.unregister(a, as_tuple());
    service_state state;
    while (state.revision == 0 || !state.instances.empty()) {
        call<service_state> following(s, "next");
        cache->next(state, following.token());
        state = co_await following.result();
    }
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "service_discovery";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe<service_type::dynamic>;
    s.companion = registers_too<>;
    s.foreign_in = "/web";
    s.outlives_session = true;
    s.may_stay = [](stage&, const std::string& below) { return below == "web"; };
    return s;
}

const registered all[] = {
    registered(make("dynamic", dynamic_instance<service_format::curator>)),
    registered([] {
        scenario s = make("server set", dynamic_instance<service_format::server_set>);
        s.probe = probe<service_type::dynamic, service_format::server_set>;
        s.companion = registers_too<service_format::server_set>;
        return s;
    }()),
    registered([] {
        scenario s = make("permanent", permanent_instance);
        s.probe = probe<service_type::permanent>;  // what was left is replaced
        s.without[fault::own_node_deleted] = "a permanent instance is nobody's node";
        s.may_stay = [](stage&, const std::string& below) {
            return below == "web" || below == "web/a";
        };
        return s;
    }()),
    registered([] {
        scenario s = make("choose", choose);
        s.without[fault::own_node_deleted] = "who chooses has no node";
        s.without[fault::second_object] = "another instance could be chosen";
        s.needs_no_permission = true;  // to ask for a service that is not there
        return s;
    }()),
};

}  // namespace service_discovery_scenarios

}  // namespace corozk::matrix
