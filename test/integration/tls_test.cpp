// SPDX-License-Identifier: Apache-2.0
// TLS against a real server; built where the C client has it. The certificates are made by openssl and
// keytool.
#include "connecting.hpp"
#include "recipe_fixture.hpp"
#include <corozk.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <cstdlib>
#include <string>

namespace corozk::testing::tls_test {

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

    tls_options client(const std::string& authority) const {
        tls_options tls;
        tls.ca_file = file(authority);
        tls.certificate_file = file("client.pem");
        tls.key_file = file("client.key");
        return tls;
    }

    temporary_directory folder;
};

struct secure_server {
    client_options options(const std::string& authority) const {
        client_options result = options_for("127.0.0.1:" + std::to_string(port.port()));
        result.tls = made.client(authority);
        return result;
    }

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

}  // namespace

TEST_CASE("tls: operations, watches and recipes, over a restart of the server") {
    secure_server secure;
    client_options options = secure.options("ca.pem");
    options.session_timeout = 30s;
    auto body = [&](client& zk) -> awaitable<void> {
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

        // What OpenSSL writes to a connection that is gone must not end the program.
        lock mutex(zk, "/lock");
        ownership held = co_await mutex.acquire();
        secure.instance.restart();
        std::int64_t value = co_await number.add(1);
        CHECK(value == 201);
        CHECK(held.valid());
        co_await held.release();
        create_options until_closed;
        until_closed.mode = create_mode::ephemeral;
        co_await zk.create("/session", "", until_closed);
    };
    with_client(options, body, 120s);
    // The session has ended with the client: the server was told.
    CHECK_FALSE(admin(secure.instance.port()).exists("/session"));
}

TEST_CASE("tls: a server that the wrong authority has signed is refused") {
    secure_server secure;
    for (std::string authority : {"other.pem", "missing.pem"}) {
        client_options options = secure.options(authority);
        options.connect_timeout = 3s;
        refusal r = refused(options, 60s);
        CHECK(r.ec);
    }
}

TEST_CASE("tls: settings that the C client could not take are refused") {
    tls_options good;
    good.ca_file = "ca.pem";
    good.certificate_file = "client.pem";
    good.key_file = "client.key";
    client_options options = options_for("127.0.0.1:1");
    auto problem = [&](auto change) {
        options.tls = good;
        change(*options.tls);
        refusal r = refused(options);
        CHECK(r.ec == errc::bad_option);
        CHECK_THAT(r.log, Catch::Contains("tls"));
    };
    problem([](tls_options& o) { o.ca_file.clear(); });
    problem([](tls_options& o) { o.certificate_file.clear(); });
    problem([](tls_options& o) { o.key_file = "a,b"; });
    problem([](tls_options& o) { o.key_password = "a,b"; });
}

}  // namespace corozk::testing::tls_test
