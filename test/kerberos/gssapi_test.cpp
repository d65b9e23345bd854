// SPDX-License-Identifier: Apache-2.0
// SASL with GSSAPI: a real KDC and a real server, and KDCs that do not answer.
#include "certificates.hpp"
#include "connecting.hpp"
#include "kerberos/kerberos_realm.hpp"
#include "opens_to_ann.hpp"
#include "recipe_fixture.hpp"
#include <corozk.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/endian/conversion.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::gssapi_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using boost::asio::use_awaitable;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

/// With ann and bob, and with carl of a realm without a KDC.
kerberos_realm& the_realm() {
    struct populated : kerberos_realm {
        populated() {
            for (std::string name : {"ann", "bob", "carl@SILENT.COROZK"})
                add(name);
        }
    };
    static populated realm;
    return realm;
}

/// A server with the realm's principal zookeeper/localhost.
struct kerberos_server {
    explicit kerberos_server(const std::function<void(server_options&)>& more = {})
        : instance(settings(more)) {}

    server_options settings(const std::function<void(server_options&)>& more) const {
        kerberos_realm& realm = the_realm();
        std::string jaas = (folder.path() / "jaas.conf").string();
        std::ofstream(jaas) << "Server {\n"
                            << "  com.sun.security.auth.module.Krb5LoginModule required\n"
                            << "  useKeyTab=true storeKey=true doNotPrompt=true\n"
                            << "  keyTab=\"" << realm.server_keytab() << "\"\n"
                            << "  principal=\"zookeeper/localhost@TEST.COROZK\";\n"
                            << "};\n";
        server_options options = recipe_server_options();
        options.java_properties = {
            "java.security.auth.login.config=" + jaas,
            "java.security.krb5.conf=" + realm.file("krb5.conf"),
            "zookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"};
        if (more)
            more(options);
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

acl only_ann() {
    return {corozk::acl_entry(permission::all, "sasl", "ann@TEST.COROZK")};
}

/// The KDC of SILENT.COROZK: it is asked, and does not answer.
class silent_kdc {
public:
    explicit silent_kdc(boost::asio::io_context& context)
        : acceptor_(context, {boost::asio::ip::address_v4::loopback(), the_realm().silent_port()}),
          client_(context) {}

    /// Waits for a request, by TCP: a length and so many bytes.
    awaitable<void> asked() {
        co_await acceptor_.async_accept(client_, use_awaitable);
        std::array<unsigned char, 4> length{};
        co_await boost::asio::async_read(client_, boost::asio::buffer(length), use_awaitable);
        std::vector<char> request(boost::endian::load_big_u32(length.data()));
        co_await boost::asio::async_read(client_, boost::asio::buffer(request), use_awaitable);
        client_.non_blocking(true);
    }

    /// Whether the one who asked still waits for the response.
    bool awaited() {
        char byte = 0;
        error_code ec;
        client_.receive(boost::asio::buffer(&byte, 1), tcp::socket::message_peek, ec);
        return ec == boost::asio::error::would_block;
    }

private:
    tcp::acceptor acceptor_;
    tcp::socket client_;
};

std::ptrdiff_t threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

}  // namespace

TEST_CASE("gssapi: a ticket opens what the list allows, over a restart of the server") {
    kerberos_server secure;
    opens_to_ann_only(secure.instance, only_ann(), [&](const std::string& user) {
        the_realm().hold_key_of(user);
        return secure.options();
    });
}

TEST_CASE("gssapi: inside TLS") {
    if (!has_tls())
        return;
    port_reservation port;
    kerberos_server secure(
        [&](server_options& options) { speak_tls(options, port.port(), "server", "none"); });
    the_realm().hold_key_of("ann");
    client_options options = secure.options();
    options.hosts = "localhost:" + std::to_string(port.port());
    options.connect_timeout = 20s;
    options.tls = made().trusting("ca.pem");
    acl mine = creator_acl();
    create_options created;
    created.acl = &mine;
    auto ann = [&](client& zk) -> awaitable<void> {
        co_await zk.create("/mine", "", created);
        node_acl found = co_await zk.get_acl("/mine");
        CHECK(found.acl == only_ann());
    };
    with_client(options, ann, 60s);
}

TEST_CASE("gssapi: who gets no ticket is told why at once") {
    kerberos_server secure;
    auto problem = [&](auto change, const std::string& words) {
        client_options options = secure.options();
        options.connect_timeout = 0ms;  // even for ever
        change(options);
        refusal r = refused(options, 60s);
        CHECK(r.ec == zk_errc::auth_failed);
        CHECK_THAT(r.log, Contains(words));
    };
    the_realm().hold_nothing();
    problem([](client_options&) {}, "No Kerberos credentials available");
    the_realm().hold_key_of("carl@SILENT.COROZK");
    problem([](client_options&) {}, "Cannot contact any KDC for realm 'SILENT.COROZK'");
    the_realm().hold_key_of("ann");
    problem([](client_options& o) { o.sasl->service = "unknown"; },
            "not found in Kerberos database");
}

TEST_CASE("gssapi: a session waits for a KDC that is away") {
    kerberos_server secure;
    the_realm().hold_key_of("ann");
    client_options options = secure.options();
    std::string log;
    options.logger =
        logger(log_level::debug, [&](log_level, std::string_view text) { log += text; });
    auto body = [&](client& zk) -> awaitable<void> {
        the_realm().hold_key_of("carl@SILENT.COROZK");
        secure.instance.restart();
        auto told = [&] { return log.find("Cannot contact any KDC") != std::string::npos; };
        co_await eventually_async(told, 60s, "an attempt without a KDC");
        the_realm().hold_key_of("ann");
        co_await zk.get("/");
        CHECK(zk.status().generation == 1);
    };
    with_client(options, body, 120s);
}

TEST_CASE("gssapi: the loop turns while a KDC does not answer, and nobody waits for it") {
    kerberos_server secure;
    the_realm().hold_key_of("carl@SILENT.COROZK");
    const auto before = threads();
    boost::asio::io_context context;
    std::optional<silent_kdc> kdc(std::in_place, context);
    error_code ended;
    auto body = [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client_options options = secure.options();
        options.connect_timeout = 0ms;
        client zk(executor, options);
        zk.connect([&](error_code ec) { ended = ec; });
        // Libraries of Kerberos give up some time later, and hang up.
        co_await kdc->asked();
        for (int turn = 0; turn < 1000; ++turn)
            co_await boost::asio::post(executor, use_awaitable);
        CHECK(kdc->awaited());
        CHECK(zk.state() == session_state::connecting);
    };
    run(context, body, 60s);
    run_to_idle(context);
    CHECK(ended == errc::closed);
    CHECK(kdc->awaited());
    kdc.reset();
    // What waits for it ends with it.
    eventually([&] { return threads() <= before; }, 60s, "the end of its thread");
}

TEST_CASE("gssapi: connect_timeout holds while a KDC does not answer") {
    kerberos_server secure;
    the_realm().hold_key_of("carl@SILENT.COROZK");
    const auto before = threads();
    boost::asio::io_context context;
    std::optional<silent_kdc> kdc(std::in_place, context);
    client_options options = secure.options();
    options.connect_timeout = 3s;
    refusal r = refused(options, 60s);
    CHECK(r.ec == errc::server_silent);
    CHECK_THAT(r.log, Contains("GSSAPI asks"));
    kdc.reset();
    eventually([&] { return threads() <= before; }, 60s, "the end of its threads");
}

}  // namespace corozk::testing::gssapi_test
