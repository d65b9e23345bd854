// SPDX-License-Identifier: Apache-2.0
// A connection over TLS, with the certificates of a folder; without a folder, one in clear text.
//
//   9_tls zk1.example:2281,zk2.example:2281 /etc/myservice
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;

asio::awaitable<void> work(std::string hosts, std::string folder) {
    corozk::client_options options(hosts);
    if (!folder.empty()) {
        corozk::tls_options tls;
        tls.ca_file = folder + "/ca.pem";
        tls.certificate_file = folder + "/client.pem";  // if the servers ask for one
        tls.key_file = folder + "/client.key";
        options.tls = tls;
    }
    auto zk = co_await corozk::client::connect(options);
    auto identities = co_await zk.who_am_i();
    for (const corozk::identity& who : identities)
        std::cout << who.scheme << ": " << who.id << "\n";
    co_await zk.close();
}

int main(int argc, char** argv) try {
    asio::io_context context;
    std::string hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    auto done = asio::co_spawn(context, work(hosts, argc > 2 ? argv[2] : ""), asio::use_future);
    context.run();
    done.get();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
