// SPDX-License-Identifier: Apache-2.0
// A member of a ServerSet, which programs with Finagle find, and whom we find as they do.
//
//   server_set 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <iostream>

using boost::asio::awaitable;

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));

    corozk::service_discovery_options options;
    options.format = corozk::service_format::server_set;
    corozk::service_discovery services(zk, "/twitter/service/web/prod", options);
    corozk::service_instance self("job", "10.0.0.5", 8080);
    self.shard = 3;
    self.additional_endpoints.emplace("http-admin", corozk::additional_endpoint("10.0.0.5", 9990));
    co_await services.register_instance(self);
    std::cout << "registered as " << self.node_name(options.format) << '\n';

    corozk::service_provider_options wanted;
    wanted.format = corozk::service_format::server_set;
    wanted.endpoint = "http-admin";
    corozk::service_provider admin(zk, "/twitter/service/web/prod", "job", wanted);
    corozk::service_endpoints endpoints = co_await admin.get_endpoints();
    for (const auto& endpoint : endpoints)
        std::cout << "shard " << *endpoint.instance().shard << ": " << endpoint.host_name() << ':'
                  << endpoint.port() << '\n';

    co_await services.unregister(self);
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
