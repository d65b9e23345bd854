// SPDX-License-Identifier: Apache-2.0
// SASL with DIGEST-MD5 against a real server; built where the library has it.
#include "network/sasl.hpp"

#include "certificates.hpp"
#include "connecting.hpp"
#include "opens_to_ann.hpp"
#include "recipe_fixture.hpp"
#include "sasl_server.hpp"
#include <corozk.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::sasl_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

acl only_ann() {
    return {corozk::acl_entry(permission::all, "sasl", "ann")};
}

}  // namespace

TEST_CASE("sasl: the password opens what the list allows, over a restart of the server") {
    sasl_server secure;
    opens_to_ann_only(secure.instance, only_ann(), [&](const std::string& user) {
        return secure.options(user, user);
    });
}

TEST_CASE("sasl: a wrong password is refused at once") {
    sasl_server secure;
    for (std::string user : {"ann", "nobody"}) {
        client_options options = secure.options(user, "wrong");
        options.connect_timeout = 0ms;  // even for ever
        refusal r = refused(options, 60s);
        CHECK(r.ec == zk_errc::auth_failed);
        CHECK_THAT(r.log, Contains("SASL authentication failed"));
    }
}

TEST_CASE("sasl: a server that demands it says so to whoever has none") {
    sasl_server strict({"enforce.auth.enabled=true", "enforce.auth.schemes=sasl"});
    auto served = [](client& zk) -> awaitable<void> { co_await zk.create("/a"); };
    with_client(strict.options("ann", "ann"), served, 60s);
    auto unserved = [](client& zk) -> awaitable<void> {
        auto [ec, path] = co_await zk.create("/b", "", create_options(), as_tuple());
        CHECK(ec == zk_errc::session_closed_require_sasl_auth);
    };
    client_options stranger = strict.options("", "");
    stranger.sasl.reset();
    with_client(stranger, unserved, 60s);
}

TEST_CASE("sasl: a password that is valid no more ends the session at the next connection") {
    sasl_server secure;
    secure.write("changing", "the secret of ann");
    client_options options = secure.options("ann", "changing");
    auto body = [&](client& zk) -> awaitable<void> {
        lock mutex(zk, "/lock");
        ownership held = co_await mutex.acquire();
        secure.write("changing", "another");
        secure.instance.restart();
        co_await held.wait_lost();
        CHECK(zk.state() == session_state::closed);
        CHECK(zk.status().reason == zk_errc::auth_failed);
        CHECK_FALSE(held.valid());
    };
    with_client(options, body, 120s);
}

TEST_CASE("sasl: a session waits for a password file that is away") {
    sasl_server secure;
    secure.write("moving", "the secret of ann");
    client_options options = secure.options("ann", "moving");
    std::string log;
    options.logger =
        logger(log_level::debug, [&](log_level, std::string_view text) { log += text; });
    auto body = [&](client& zk) -> awaitable<void> {
        std::filesystem::remove(secure.file("moving"));
        secure.instance.restart();
        auto told = [&] { return log.find("SASL: ") != std::string::npos; };
        co_await eventually_async(told, 60s, "an attempt without the password");
        secure.write("moving", "the secret of ann");
        co_await zk.get("/");
        CHECK(zk.status().generation == 1);
    };
    with_client(options, body, 120s);
}

TEST_CASE("sasl: a connection that ends while they agree is made again") {
    sasl_server secure;
    for (std::uint64_t k : {1u, 2u}) {
        for (bool answered : {false, true}) {
            INFO("message " << k << (answered ? ", answered" : ""));
            fault_proxy proxy(secure.instance.port());
            action cut = answered ? swallow_reply_and_cut() : drop_request_and_cut();
            rule_id rule = proxy.arm(at_op(testing::op_code::sasl, k), cut);
            client_options options = secure.options("ann", "ann");
            options.hosts = proxy.hosts();
            auto body = [&](client& zk) -> awaitable<void> {
                CHECK(proxy.fired(rule) == 1);
                co_await zk.get("/");
                CHECK(zk.status().generation == 1);
            };
            with_client(options, body, 60s);
        }
    }
}

TEST_CASE("sasl: settings that cannot work are refused in words") {
    temporary_directory folder;
    std::string empty = (folder.path() / "empty").string();
    std::ofstream{empty};
    auto problem = [&](auto change, const std::string& words) {
        client_options options = options_for("127.0.0.1:1");
        options.sasl = sasl_options("ann", empty);
        change(options);
        refusal r = refused(options);
        CHECK(r.ec == errc::bad_option);
        CHECK_THAT(r.log, Contains(words));
    };
    problem([](client_options& o) { o.sasl->password_file = "/none/such"; },
            "\"/none/such\": No such file");
    problem([&](client_options& o) { o.sasl->password_file = folder.path().string(); },
            "it is a directory");
    problem([](client_options&) {}, "is empty");
    problem([](client_options& o) { o.sasl->password_file.clear(); }, "needs user and");
    problem([](client_options& o) { o.sasl->user.clear(); }, "needs user and");
    problem([](client_options& o) { o.sasl->mechanisms = "SMOKE-SIGNALS"; }, "SMOKE-SIGNALS");
    problem([](client_options& o) { o.sasl->mechanisms = "DIGEST-MD5 PLAIN"; }, "not \"PLAIN\"");
}

TEST_CASE("sasl: a server without it is told from one that refuses the password") {
    server plain(recipe_server_options());
    temporary_directory folder;
    const std::string password = (folder.path() / "password").string();
    std::ofstream(password) << "the secret of ann";
    client_options options = options_for(plain.hosts());
    options.sasl = sasl_options("ann", password);
    options.connect_timeout = 5s;
    refusal r = refused(options);
    CHECK(r.ec == zk_errc::auth_failed);
    CHECK_THAT(r.log, Contains("probably no SASL configured"));
}

TEST_CASE("sasl: a server without it does not keep the client from the others") {
    server plain(recipe_server_options());
    sasl_server secure;
    client_options options = secure.options("ann", "ann");
    // Half of the clients would be sent to either first.
    for (int i = 0; i < 8; ++i) {
        options.hosts = plain.hosts() + "," + secure.instance.hosts();
        auto body = [&](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
        with_client(options, body, 60s);
    }
}

TEST_CASE("sasl: without credentials for the first mechanism the next one is used") {
    sasl_server secure;
    client_options options = secure.options("ann", "ann");
    options.sasl->mechanisms = GENERATE("GSSAPI DIGEST-MD5", "DIGEST-MD5 GSSAPI");
    auto body = [&](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(options, body, 60s);
}

TEST_CASE("sasl: a server that goes on where the mechanism has ended has authenticated nobody") {
    using progress = corozk::detail::sasl_exchange::progress;
    sasl_options options;
    options.mechanisms = "ANONYMOUS";  // ends with its first message
    for (std::string token : {"", "realm=\"zk-sasl-md5\",nonce=\"1\""}) {
        corozk::detail::sasl_exchange exchange(options, "localhost");
        REQUIRE(exchange.start() == progress::send);
        CHECK(exchange.step(token) == (token.empty() ? progress::done : progress::failed));
    }
}

TEST_CASE("sasl: inside TLS") {
    if (!has_tls())
        return;
    port_reservation port;
    sasl_server secure(
        {}, [&](server_options& options) { speak_tls(options, port.port(), "server", "none"); });
    client_options options = secure.options("ann", "ann");
    options.hosts = "localhost:" + std::to_string(port.port());
    options.connect_timeout = 20s;
    options.tls = made().trusting("ca.pem");
    acl list = only_ann();
    create_options only;
    only.acl = &list;
    auto ann = [&](client& zk) -> awaitable<void> {
        co_await zk.create("/ann", "private", only);
        node_data found = co_await zk.get("/ann");
        CHECK(found.data == "private");
    };
    with_client(options, ann, 60s);
    options.sasl = sasl_options("ann", secure.file("wrong"));
    refusal r = refused(options, 60s);
    CHECK(r.ec == zk_errc::auth_failed);
}

}  // namespace corozk::testing::sasl_test
