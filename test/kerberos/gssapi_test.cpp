// SPDX-License-Identifier: Apache-2.0
// SASL with GSSAPI: a real KDC and a real server.
#include "connecting.hpp"
#include "kerberos/kerberos_realm.hpp"
#include "recipe_fixture.hpp"
#include <corozk.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <fstream>
#include <string>

namespace corozk::testing::gssapi_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

kerberos_realm& the_realm() {
    static kerberos_realm realm(1);
    return realm;
}

/// A server with the realm's principal zookeeper/localhost.
struct kerberos_server {
    kerberos_server() : instance(settings()) {}

    server_options settings() const {
        kerberos_realm& realm = the_realm();
        std::string jaas = (folder.path() / "jaas.conf").string();
        std::ofstream(jaas) << "Server {\n"
                               "  com.sun.security.auth.module.Krb5LoginModule required\n"
                               "  useKeyTab=true storeKey=true doNotPrompt=true\n"
                               "  keyTab=\""
                            << realm.server_keytab()
                            << "\"\n"
                               "  principal=\"zookeeper/localhost@TEST.COROZK\";\n"
                               "};\n";
        server_options options = recipe_server_options();
        options.java_properties = {
            "java.security.auth.login.config=" + jaas,
            "java.security.krb5.conf=" + realm.file("krb5.conf"),
            "zookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"};
        return options;
    }

    client_options options() const {
        client_options result = options_for("localhost:" + std::to_string(instance.port()));
        result.session_timeout = 30s;
        result.sasl.emplace();
        result.sasl->mechanisms = "GSSAPI";
        result.sasl->host.clear();
        return result;
    }

    temporary_directory folder;
    server instance;
};

}  // namespace

TEST_CASE("gssapi: a ticket opens what the list allows, over a restart of the server") {
    the_realm().add("ann");
    the_realm().add("bob");
    kerberos_server secure;
    the_realm().hold_key_of("ann");
    acl only_ann{corozk::acl_entry(permission::all, "sasl", "ann@TEST.COROZK")};
    auto ann = [&](client& zk) -> awaitable<void> {
        create_options only;
        only.acl = &only_ann;
        co_await zk.create("/ann", "private", only);
        acl mine = creator_acl();
        create_options created;
        created.acl = &mine;
        co_await zk.create("/mine", "", created);
        node_acl found = co_await zk.get_acl("/mine");
        CHECK(found.entries == only_ann);
        secure.instance.restart();
        counter number(zk, "/ann/number");
        std::int64_t value = co_await number.add(1);
        CHECK(value == 1);
        node_data read = co_await zk.get("/ann");
        CHECK(read.data == "private");
        CHECK(zk.status().generation == 1);
    };
    with_client(secure.options(), ann, 120s);

    auto others = [&](client& zk) -> awaitable<void> {
        auto [ec, nothing] = co_await zk.get("/ann", as_tuple());
        CHECK(ec == zk_errc::no_auth);
    };
    the_realm().hold_key_of("bob");
    with_client(secure.options(), others, 60s);
    client_options stranger = secure.options();
    stranger.sasl.reset();
    with_client(stranger, others, 60s);
}

}  // namespace corozk::testing::gssapi_test
