// SPDX-License-Identifier: Apache-2.0
// Instances of a service, as a program registers them and another one finds and follows them.
//
//   service_discovery 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/service_discovery.hpp>

#include <iostream>

using boost::asio::awaitable;

void print(const corozk::service_state& state) {
    for (const auto& instance : state.instances)
        std::cout << instance.id << (instance.enabled ? " at " : " (disabled) at ")
                  << instance.uri() << ": " << instance.text().value_or("") << '\n';
    if (state.instances.empty())
        std::cout << "nobody\n";
}

awaitable<void> work(std::string hosts) {
    auto here = co_await corozk::client::connect(corozk::client_options(hosts));
    auto there = co_await corozk::client::connect(corozk::client_options(hosts));

    // It may be followed before any instance is registered.
    corozk::service_cache web(here, "/app/services", "web");
    auto state = co_await web.next();
    print(state);

    corozk::service_discovery services(there, "/app/services");
    corozk::service_instance instance("web", "10.0.0.5", 8080);
    instance.id = "web-1";  // by default a UUID
    instance.uri_spec = "{scheme}://{address}:{port}/api";
    instance.set_text("version 7");
    co_await services.register_instance(instance);
    while (state.instances.empty())
        state = co_await web.next(state);
    print(state);

    instance.enabled = false;  // before a planned stop
    co_await services.update(instance);
    while (state.instances[0].enabled)
        state = co_await web.next(state);
    print(state);

    auto names = co_await services.list_names();
    for (const auto& name : names)
        std::cout << "there is a service " << name << '\n';

    co_await there.close();  // the session ends, and a dynamic instance with it
    while (!state.instances.empty())
        state = co_await web.next(state);
    print(state);
    co_await here.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
