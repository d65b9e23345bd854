// SPDX-License-Identifier: Apache-2.0
// TLS against a real server; built where the C client has it. The certificates are made by openssl and
// keytool.
#include "recipe_fixture.hpp"
#include <corozk.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <csignal>
#include <cstdlib>
#include <string>

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// An authority, what it has signed for server and client, and another authority.
struct certificates {
    certificates() {
        std::string script = "set -e; cd '" + folder.path().string() + "'\n" + R"(
            for ca in ca other; do
                openssl req -x509 -newkey rsa:2048 -nodes -keyout $ca.key -out $ca.pem -days 2 \
                    -subj /CN=corozk-test
            done
            printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' >names
            for who in server client; do
                openssl req -newkey rsa:2048 -nodes -keyout $who.key -out $who.csr -subj /CN=localhost
                openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial \
                    -out $who.pem -days 2 -extfile names
            done
            openssl pkcs12 -export -in server.pem -inkey server.key -out server.p12 \
                -passout pass:secret
            keytool -importcert -noprompt -alias ca -file ca.pem -keystore trust.p12 \
                -storetype PKCS12 -storepass secret
        )";
        script = "{ " + script + "} >/dev/null 2>&1";
        REQUIRE(std::system(script.c_str()) == 0);
    }

    std::string file(const std::string& name) const { return (folder.path() / name).string(); }

    tls_options client(const std::string& authority = "ca.pem") const {
        tls_options tls;
        tls.ca_file = file(authority);
        tls.certificate_file = file("client.pem");
        tls.key_file = file("client.key");
        return tls;
    }

    temporary_directory folder;
};

struct secure_server {
    std::string hosts() const { return "127.0.0.1:" + std::to_string(port.port()); }

    server_options settings() const {
        server_options options = recipe_server_options();
        auto line = [&](std::string name, std::string value) {
            options.config_lines.push_back(name + "=" + value);
        };
        line("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
        line("secureClientPort", std::to_string(port.port()));
        line("ssl.keyStore.location", made.file("server.p12"));
        line("ssl.keyStore.password", "secret");
        line("ssl.keyStore.type", "PKCS12");
        line("ssl.trustStore.location", made.file("trust.p12"));
        line("ssl.trustStore.password", "secret");
        line("ssl.trustStore.type", "PKCS12");
        return options;
    }

    certificates made;
    port_reservation port;
    server instance{settings()};
};

// OpenSSL writes to connections that the server has closed.
[[maybe_unused]] const auto ignored = std::signal(SIGPIPE, SIG_IGN);

}  // namespace

TEST_CASE("tls: operations, watches and recipes, over a restart of the server") {
    secure_server secure;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = options_for(secure.hosts());
            options.session_timeout = 30s;
            options.tls = secure.made.client();
            client zk =
                co_await client::connect(co_await boost::asio::this_coro::executor, options);
            std::string large(900'000, 'x');
            co_await zk.create("/large", large);
            node_data back = co_await zk.get("/large");
            CHECK(back.data == large);
            watched_data watched = co_await zk.watch_data("/large");
            co_await zk.set("/large", "small");
            watch_event event = co_await watched.changed.next();
            CHECK(event.type == watch_event_type::data_changed);
            counter number(zk, "/number");
            for (int i = 0; i < 200; ++i)
                co_await number.add(1);

            lock mutex(zk, "/lock");
            ownership held = co_await mutex.acquire();
            secure.instance.restart();
            std::int64_t value = co_await number.add(1);
            CHECK(value == 201);
            CHECK(held.valid());
            co_await held.release();
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

TEST_CASE("tls: a server that the wrong authority has signed is refused") {
    secure_server secure;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = options_for(secure.hosts());
            options.connect_timeout = 3s;
            options.tls = secure.made.client("other.pem");
            client zk(co_await boost::asio::this_coro::executor, options);
            auto [ec] = co_await zk.connect(as_tuple());
            CHECK(ec);
            options.tls = secure.made.client("missing.pem");
            client none(co_await boost::asio::this_coro::executor, options);
            auto [problem] = co_await none.connect(as_tuple());
            CHECK(problem);
        },
        60s);
    run_to_idle(context);
}

TEST_CASE("tls: settings that the C client could not take are refused") {
    certificates made;
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        for (int which = 0; which < 4; ++which) {
            client_options options = options_for("127.0.0.1:1");
            options.tls = made.client();
            if (which == 0)
                options.tls->ca_file.clear();
            if (which == 1)
                options.tls->certificate_file.clear();
            if (which == 2)
                options.tls->key_file = "a,b";
            if (which == 3)
                options.tls->key_password = "a,b";
            client zk(co_await boost::asio::this_coro::executor, options);
            auto [ec] = co_await zk.connect(as_tuple());
            CHECK(ec == errc::bad_option);
        }
    });
}
