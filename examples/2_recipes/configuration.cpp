// SPDX-License-Identifier: Apache-2.0
// Settings that belong together: readers see one complete version, never parts of two.
//
//   configuration 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/configuration.hpp>

#include <boost/asio/this_coro.hpp>

#include <iostream>

namespace asio = boost::asio;

void print(const corozk::configuration_version& version) {
    switch (version.status) {
        case corozk::configuration_status::absent: std::cout << "nothing published\n"; break;
        case corozk::configuration_status::broken:
            std::cout << "a writer died while publishing\n";
            break;
        case corozk::configuration_status::published:
            for (const auto& [name, value] : *version.parts) {
                std::cout << name << " = " << value << '\n';
            }
    }
}

asio::awaitable<void> run(std::string hosts) {
    auto executor = co_await asio::this_coro::executor;
    corozk::client_options options(hosts);
    corozk::client zk = co_await corozk::client::connect(executor, options);

    // Each version has a parent of its own; a pointer is switched in one transaction.
    corozk::versioned_configuration settings(zk, "/examples/settings");
    corozk::configuration_version version = co_await settings.next();
    print(version);

    for (const char* host : {"db1", "db2"}) {
        corozk::configuration_parts parts;
        parts["database.host"] = host;
        parts["database.port"] = "5432";
        co_await settings.publish(parts);
        // Readers of the stream get the latest version.
        version = co_await settings.next(version);
        print(version);
    }

    // Simpler: one value in one node.
    corozk::configuration banner(zk, "/examples/banner");
    co_await banner.publish("welcome");
    corozk::node_state value = co_await banner.next();
    std::cout << value.data << '\n';
}

int main(int argc, char** argv) {
    return run_program(argc, argv, run);
}
