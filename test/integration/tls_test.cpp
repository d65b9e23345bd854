// SPDX-License-Identifier: Apache-2.0
// TLS against a real server (Netty); built where the library has it. The certificates are made by
// openssl and keytool.
#include "certificates.hpp"
#include "connecting.hpp"
#include "network/tls_settings.hpp"
#include "recipe_fixture.hpp"
#include "tls/tls_front.hpp"
#include <corozk.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <openssl/x509_vfy.h>

namespace corozk::testing::tls_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

/// A server with a plain port and one for TLS.
struct secure_server {
    explicit secure_server(std::string identity_ = "server",
                           std::string client_auth_ = "need",
                           std::string version_ = "")
        : identity(std::move(identity_)),
          client_auth(std::move(client_auth_)),
          version(std::move(version_)) {}

    std::string at(const std::string& host) const {
        return host + ":" + std::to_string(port.port());
    }

    client_options options(tls_options tls, const std::string& host = "127.0.0.1") const {
        client_options result = options_for(at(host));
        result.connect_timeout = 20s;
        result.tls = std::move(tls);
        return result;
    }

    server_options settings() const {
        server_options options = recipe_server_options();
        speak_tls(options, port.port(), identity, client_auth);
        options.config_lines.push_back(
            "authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider");
        if (!version.empty()) {
            options.config_lines.push_back("ssl.protocol=" + version);
            options.config_lines.push_back("ssl.enabledProtocols=" + version);
            options.config_lines.push_back("ssl.ciphersuites=TLS_AES_128_GCM_SHA256");
        }
        return options;
    }

    std::string identity;
    std::string client_auth;
    std::string version;  ///< empty: the server's default
    port_reservation port;
    server instance{settings()};
};

secure_server& usual_server() {
    static secure_server one;
    return one;
}

/// Tries to connect until the log says this.
void sees(client_options options, const std::string& words) {
    INFO(words);
    options.connect_timeout = 0ms;
    std::string log;
    options.logger = logger(log_level::debug, [&](log_level, std::string_view text) {
        log += std::string(text) + "\n";
    });
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk(co_await boost::asio::this_coro::executor, options);
            bool ended = false;
            zk.connect([&](error_code) { ended = true; });
            co_await eventually_async([&] { return log.find(words) != log.npos; }, 60s);
            CHECK_FALSE(ended);
            co_await zk.close(as_tuple());
        },
        90s);
    run_to_idle(context);
}

/// Sets or removes an environment variable for as long as this exists.
class environment_setting {
public:
    /// Without a value it is not set.
    explicit environment_setting(const char* name, std::optional<std::string> value = {})
        : name_(name) {
        if (const char* found = std::getenv(name))
            old_ = found;
        change(value);
    }
    ~environment_setting() { change(old_); }
    environment_setting(const environment_setting&) = delete;
    environment_setting& operator=(const environment_setting&) = delete;

private:
    void change(const std::optional<std::string>& value) {
        if (value)
            ::setenv(name_, value->c_str(), 1);
        else
            ::unsetenv(name_);
    }

    const char* name_;
    std::optional<std::string> old_;
};

/// What the next connection would use.
std::shared_ptr<boost::asio::ssl::context> next_context(corozk::detail::tls_settings& settings) {
    settings.use(settings.reader().read());
    while (!settings.step()) {
    }
    return settings.context();
}

}  // namespace

TEST_CASE("tls: operations, watches and recipes, over a restart of the server") {
    secure_server secure;
    client_options options = secure.options(made().client());
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

        // What is written to a connection that is gone must not end the program.
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

TEST_CASE("tls: closed without time to wait while something is being sent, the server is told") {
    secure_server& secure = usual_server();
    auto body = [&](client& other) -> awaitable<void> {
        ownership held = co_await lock(other, "/farewell").acquire();
        client_options options = secure.options(made().client());
        options.close_timeout = 0ms;
        options.session_timeout = 30s;
        client zk = co_await client::connect(co_await boost::asio::this_coro::executor, options);
        create_options until_closed;
        until_closed.mode = create_mode::ephemeral;
        co_await zk.create("/farewell-session", "", until_closed);
        // Its contender is being removed when the call ends.
        auto [late, none] = co_await lock(zk, "/farewell").acquire_for(50ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        auto [ec] = co_await zk.close(as_tuple());
        CHECK(ec == errc::session_left_to_expire);
        // Long before it would expire.
        auto gone = [&] { return !admin(secure.instance.port()).exists("/farewell-session"); };
        co_await eventually_async(gone, zk.status().negotiated_timeout / 2);
        co_await held.release();
    };
    with_client(secure.options(made().client()), body, 60s);
}

TEST_CASE("tls: the server knows the client by its certificate") {
    secure_server& secure = usual_server();
    corozk::acl only_client{corozk::acl_entry(permission::all, "x509", "CN=client")};
    create_options mine;
    mine.acl = &only_client;
    auto body = [&](client& zk) -> awaitable<void> {
        co_await zk.create("/mine", "secret", mine);
        node_data back = co_await zk.get("/mine");
        CHECK(back.data == "secret");
    };
    with_client(secure.options(made().client()), body, 60s);
    // Somebody else.
    client_options plain = options_for("127.0.0.1:" + std::to_string(secure.instance.port()));
    auto other = [&](client& zk) -> awaitable<void> {
        auto [ec, data] = co_await zk.get("/mine", as_tuple());
        CHECK(ec == zk_errc::no_auth);
    };
    with_client(plain, other, 60s);
}

TEST_CASE("tls: certificates as texts, a locked key, a context of the user's, names") {
    secure_server& secure = usual_server();
    auto works = [&](tls_options tls, const std::string& host) {
        auto body = [&](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
        with_client(secure.options(std::move(tls), host), body, 60s);
    };
    tls_options texts;
    texts.ca_pem = made().text("ca.pem");
    texts.certificate_pem = made().text("client.pem");
    texts.key_pem = made().text("client.key");
    works(texts, "localhost");

    tls_options locked = made().client();
    locked.key_file = made().file("locked.key");
    locked.key_password = "open";
    works(locked, "127.0.0.1");

    namespace ssl = boost::asio::ssl;
    tls_options own;
    own.context = std::make_shared<ssl::context>(ssl::context::tls_client);
    own.context->load_verify_file(made().file("ca.pem"));
    own.context->use_certificate_chain_file(made().file("client.pem"));
    own.context->use_private_key_file(made().file("client.key"), ssl::context::pem);
    works(own, "127.0.0.1");

    // Behind a name that the certificate does not have.
    tls_options named = made().client();
    named.server_name = "localhost";
    works(named, "127.0.0.1");
}

TEST_CASE("tls: the certificate may be for any name that the list has for the server") {
    secure_server secure("named", "none");
    const bool first = GENERATE(true, false);
    client_options options = secure.options(made().trusting("ca.pem"), "localhost");
    const std::string alias = secure.at("127.0.0.1");
    options.session_timeout = 30s;
    options.hosts = first ? options.hosts + "," + alias : alias + "," + options.hosts;
    auto body = [&](client& zk) -> awaitable<void> {
        co_await zk.exists("/");
        secure.instance.restart();
        co_await zk.exists("/");
        CHECK(zk.status().generation == 1);
    };
    with_client(options, body, 60s);
    // Only the list says what its names are: nobody is asked for the name of an address.
    if (first)
        sees(secure.options(made().trusting("ca.pem")), "is not for \"127.0.0.1\"");
}

TEST_CASE("tls: a name that Java's TLS does not take is not sent to the server") {
    secure_server secure("underscored", "none");
    client_options options = secure.options(made().trusting("ca.pem"));
    options.tls->server_name = "zk_1";
    auto body = [&](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(options, body, 60s);
}

TEST_CASE("tls: a key may come out of a pipe, which can be read once") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const std::string key = made().text("client.key");
    REQUIRE(::write(ends[1], key.data(), key.size()) == static_cast<ssize_t>(key.size()));
    ::close(ends[1]);
    client_options options = usual_server().options(made().client());
    options.tls->key_file = "/dev/fd/" + std::to_string(ends[0]);
    auto body = [&](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(options, body, 60s);
    ::close(ends[0]);
}

TEST_CASE("tls: many authorities are added in steps") {
    tls_options tls = made().trusting("ca.pem");
    std::string all;
    for (int i = 0; i < 30; ++i)
        all += "a comment\n" + made().text("client.key") + made().text("other.pem");
    tls.ca_pem = all + made().text("ca.pem");
    tls.ca_file.clear();
    corozk::detail::tls_settings settings(tls);
    settings.use(settings.reader().read());
    int steps = 1;
    while (!settings.step())
        ++steps;
    REQUIRE(settings.context());
    CHECK(steps == 5);  // eight each, and the rest
    secure_server open("server", "none");
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(open.options(tls), body, 60s);
    tls.ca_pem = all;
    sees(open.options(tls), "unknown authority");
    tls.ca_pem = all + "-----BEGIN CERTIFICATE-----\nAAAA\n";
    corozk::detail::tls_settings damaged(tls);
    CHECK_FALSE(next_context(damaged));
    CHECK(damaged.problem().starts_with("tls: the trusted authorities (ca_file, ca_pem): "));
}

TEST_CASE("tls: the event loop runs while files are read") {
    temporary_directory folder;
    client_options options = usual_server().options(made().client());
    options.tls->ca_file = (folder.path() / "ca.pem").string();
    REQUIRE(::mkfifo(options.tls->ca_file.c_str(), 0600) == 0);
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk(co_await boost::asio::this_coro::executor, options);
        bool connected = false;
        zk.connect([&](error_code ec) {
            CHECK(!ec);
            connected = true;
        });
        // There is a reader once the file is being read.
        int pipe = -1;
        co_await eventually_async([&] {
            pipe = ::open(options.tls->ca_file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
            return pipe >= 0;
        });
        const std::string authority = made().text("ca.pem");
        CHECK(::write(pipe, authority.data(), authority.size()) ==
              static_cast<ssize_t>(authority.size()));
        ::close(pipe);
        co_await eventually_async([&] { return connected; });
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("tls: a client that is closed while files are read leaves nothing to wait for") {
    temporary_directory folder;
    client_options options = options_for("127.0.0.1:1");
    options.tls = made().client();
    options.tls->key_file = (folder.path() / "key").string();
    REQUIRE(::mkfifo(options.tls->key_file.c_str(), 0600) == 0);
    const auto begin = std::chrono::steady_clock::now();
    auto open = [&] {
        return ::open(options.tls->key_file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    };
    boost::asio::io_context context;
    client zk(context.get_executor(), options);
    int pipe = -1;
    run(context, [&]() -> awaitable<void> {
        boost::asio::cancellation_signal stop;
        bool done = false;
        zk.connect(boost::asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) {
            CHECK(ec == boost::asio::error::operation_aborted);
            done = true;
        }));
        co_await eventually_async([&] { return (pipe = open()) >= 0; });
        stop.emit(boost::asio::cancellation_type::terminal);
        co_await eventually_async([&] { return done; });
    });
    run_to_idle(context);
    // The thread still reads, for ten seconds in all.
    const int again = open();
    const bool reads = again >= 0;
    CHECK((reads || std::chrono::steady_clock::now() - begin >= 10s));
    ::close(again);
    ::close(pipe);
}

TEST_CASE("tls: what has come out of a pipe for a connection that nobody wants any more is kept") {
    temporary_directory folder;
    client_options options = usual_server().options(made().client());
    options.tls->key_file = (folder.path() / "key").string();
    REQUIRE(::mkfifo(options.tls->key_file.c_str(), 0600) == 0);
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk(co_await boost::asio::this_coro::executor, options);
        pending_result<> first;
        zk.connect(first.handler());
        int pipe = -1;
        co_await eventually_async([&] {
            pipe = ::open(options.tls->key_file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
            return pipe >= 0;
        });
        first.cancel();
        error_code stopped = co_await finished(first);
        CHECK(stopped == boost::asio::error::operation_aborted);
        const std::string key = made().text("client.key");
        CHECK(::write(pipe, key.data(), key.size()) == static_cast<ssize_t>(key.size()));
        ::close(pipe);
        co_await zk.connect();
        co_await zk.exists("/");
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("tls: a connect that fails before it returns calls its handler nevertheless") {
    client_options options = options_for("127.0.0.1:1");
    options.tls = made().client();
    options.connect_timeout = 1ms;
    options.logger = logger(log_level::debug, [](log_level, std::string_view) {
        const auto late = std::chrono::steady_clock::now() + 2ms;
        while (std::chrono::steady_clock::now() < late) {
        }
    });
    boost::asio::io_context context;
    client zk(context.get_executor(), options);
    pending_result<> result;
    zk.connect(boost::asio::bind_executor(context.get_executor(), result.handler()));
    context.run();
    CHECK(result.calls() == 1);
    CHECK(result.error());
}

TEST_CASE("tls: a server that does not ask for a certificate") {
    secure_server open("server", "none");
    auto body = [&](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(open.options(made().trusting("ca.pem")), body, 60s);
}

TEST_CASE("tls: every mismatch says what it is") {
    secure_server& secure = usual_server();
    const tls_options good = made().client();
    {
        INFO("unknown authority");
        tls_options tls = good;
        tls.ca_file = made().file("other.pem");
        sees(secure.options(tls), "unknown authority");
        tls.ca_file.clear();
        tls.system_authorities = true;
        sees(secure.options(tls), "unknown authority");
    }
    {
        INFO("wrong name");
        tls_options tls = good;
        tls.server_name = "zookeeper.example";
        sees(secure.options(tls), "is not for \"zookeeper.example\"");
        secure_server elsewhere("elsewhere");
        sees(elsewhere.options(good), "is not for \"127.0.0.1\"");
        sees(elsewhere.options(good, "localhost"), "is not for \"localhost\"");
    }
    {
        INFO("expired, and signed by an authority that has");
        secure_server expired("expired");
        sees(expired.options(good), "its certificate has expired");
        secure_server fresh("fresh");
        sees(fresh.options(good), "the certificate of its authority /CN=outdated has expired");
    }
    {
        INFO("no client certificate, and one of an unknown authority");
        sees(secure.options(made().trusting("ca.pem")), "client's certificate");
        tls_options tls = good;
        tls.certificate_file = made().file("stranger.pem");
        tls.key_file = made().file("stranger.key");
        sees(secure.options(tls), "client's certificate");
    }
    {
        INFO("a plain port");
        client_options options = secure.options(good);
        options.hosts = "127.0.0.1:" + std::to_string(secure.instance.port());
        sees(options, "without TLS");
    }
    {
        INFO("the port for TLS spoken to in clear");
        client_options options = secure.options(good);
        options.tls.reset();
        sees(options, "TLS");
    }
}

TEST_CASE("tls: with version 1.3, too, who has no good certificate is told that TLS has failed") {
    secure_server newer("server", "need", "TLSv1.3");
    // A server's first handshake can take longer than an attempt.
    sees(newer.options(made().trusting("ca.pem")), "client's certificate");
    tls_options stranger = made().client();
    stranger.certificate_file = made().file("stranger.pem");
    stranger.key_file = made().file("stranger.key");
    for (const tls_options& tls : {made().trusting("ca.pem"), stranger}) {
        client_options options = newer.options(tls);
        options.connect_timeout = 5s;
        refusal r = refused(options);
        CHECK(r.ec == errc::tls_failed);
        CHECK_THAT(r.log, Catch::Contains("client's certificate"));
    }
    tls_options apart;
    apart.context =
        std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_client);
    SSL_CTX_set_ciphersuites(apart.context->native_handle(), "TLS_AES_256_GCM_SHA384");
    sees(newer.options(apart), "no cipher suite may be common");
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(newer.options(made().client()), body, 60s);
}

TEST_CASE("tls: an authority that was named is trusted, whoever has signed it") {
    secure_server below("below", "none");
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    for (const char* trusted : {"ca.pem", "between.pem", "below.pem"})
        with_client(below.options(made().trusting(trusted)), body, 60s);
    sees(below.options(made().trusting("other.pem")), "unknown authority");
}

TEST_CASE("tls: a name's final dot is not part of what a certificate is for") {
    secure_server open("server", "none");
    tls_options tls = made().trusting("ca.pem");
    tls.server_name = "localhost.";
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(open.options(tls), body, 60s);
}

TEST_CASE("tls: the server is told its name, without a final dot, but no address") {
    tls_options tls = tls_front::trusted();
    auto told = [&](const std::string& host) {
        tls_front front(usual_server().instance.port());
        client_options options = options_for(host + ":" + std::to_string(front.port()));
        options.tls = tls;
        auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
        with_client(options, body, 60s);
        return front.names();
    };
    using names = std::vector<std::string>;
    CHECK(told("localhost") == names{"localhost"});
    CHECK(told("127.0.0.1") == names{""});
    for (const char* name : {"localhost", "localhost."}) {
        tls.server_name = name;
        CHECK(told("127.0.0.1") == names{"localhost"});
    }
    tls.server_name = "127.0.0.1";
    CHECK(told("localhost") == names{""});
}

TEST_CASE("tls: a server that has several names is told the first that is no address") {
    fault_proxy proxy(usual_server().instance.port());
    tls_front front(proxy.port());
    const std::string port = std::to_string(front.port());
    client_options options = options_for("127.0.0.1:" + port + ",localhost:" + port);
    options.session_timeout = 30s;
    options.tls = tls_front::trusted();
    auto body = [&](client& zk) -> awaitable<void> {
        co_await zk.exists("/");
        // Now the addresses of all names are known.
        proxy.cut();
        co_await zk.exists("/", as_tuple());  // may find that the connection is lost
        co_await zk.exists("/");
    };
    with_client(options, body, 60s);
    CHECK(front.names().back() == "localhost");
}

TEST_CASE("tls: below version 1.2 no server is spoken to") {
    const std::uint16_t plain = usual_server().instance.port();
    auto at = [](const tls_front& front, tls_options tls) {
        client_options options = options_for(front.hosts());
        options.tls = std::move(tls);
        return options;
    };
    // A context that would speak it.
    tls_options own;
    own.context =
        std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_client);
    SSL_CTX_set_security_level(own.context->native_handle(), 0);
    SSL_CTX_set_min_proto_version(own.context->native_handle(), TLS1_VERSION);
    own.context->load_verify_file(made().file("ca.pem"));

    tls_front old(plain, tls_front::version::only_1_1);
    for (const tls_options& tls : {tls_front::trusted(), own}) {
        client_options options = at(old, tls);
        options.connect_timeout = 3s;
        refusal r = refused(options);
        CHECK(r.ec == errc::tls_failed);
        CHECK_THAT(r.log, Catch::Contains("it offers no version of TLS from 1.2 on"));
    }

    tls_front enough(plain, tls_front::version::only_1_2);
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    for (const tls_options& tls : {tls_front::trusted(), own})
        with_client(at(enough, tls), body, 60s);
}

TEST_CASE("tls: a silent server takes its time only, and connecting can be cancelled") {
    boost::asio::io_context other;
    tcp::acceptor silent(other, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    client_options options =
        options_for("127.0.0.1:" + std::to_string(silent.local_endpoint().port()));
    options.tls = made().client();
    options.connect_timeout = 3s;
    refusal r = refused(options);
    CHECK(r.ec == errc::tls_failed);
    CHECK_THAT(r.log, Catch::Contains("handshake"));

    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        options.connect_timeout = 0ms;
        client zk(co_await boost::asio::this_coro::executor, options);
        boost::asio::cancellation_signal stop;
        bool done = false;
        zk.connect(boost::asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) {
            CHECK(ec == boost::asio::error::operation_aborted);
            done = true;
        }));
        co_await boost::asio::post(boost::asio::use_awaitable);
        stop.emit(boost::asio::cancellation_type::terminal);
        co_await eventually_async([&] { return done; });
    });
    run_to_idle(context);
}

TEST_CASE("tls: certificates that are replaced are used for the next connection") {
    secure_server secure;
    namespace fs = std::filesystem;
    temporary_directory folder;
    auto put = [&](const std::string& what) {
        for (std::string kind : {".pem", ".key"}) {
            fs::path to = folder.path() / ("current" + kind);
            fs::copy_file(made().file(what + kind), to, fs::copy_options::overwrite_existing);
            // Whatever the clock's resolution.
            static int age = 0;
            fs::last_write_time(to, fs::last_write_time(to) + std::chrono::seconds(++age));
        }
    };
    put("client");
    tls_options tls = made().trusting("ca.pem");
    tls.certificate_file = (folder.path() / "current.pem").string();
    tls.key_file = (folder.path() / "current.key").string();
    client_options options = secure.options(tls);
    options.session_timeout = 30s;
    auto body = [&](client& zk) -> awaitable<void> {
        co_await zk.exists("/");
        put("server");  // another identity of the same authority
        secure.instance.restart();
        co_await zk.exists("/", as_tuple());  // finds that the connection is lost
        corozk::acl only_server{corozk::acl_entry(permission::all, "x509", "CN=server")};
        create_options mine;
        mine.acl = &only_server;
        co_await zk.create("/by-new-identity", "", mine);
        co_await zk.get("/by-new-identity");
    };
    with_client(options, body, 120s);
}

TEST_CASE("tls: a file is read again that was replaced by one of the same age") {
    namespace fs = std::filesystem;
    temporary_directory folder;
    const fs::path file = folder.path() / "ca.pem";
    fs::copy_file(made().file("ca.pem"), file);
    const auto age = fs::last_write_time(file);
    tls_options tls;
    tls.ca_file = file.string();
    corozk::detail::tls_settings settings(tls);
    auto first = next_context(settings);
    CHECK(first);
    CHECK(next_context(settings) == first);
    fs::copy_file(made().file("other.pem"), file, fs::copy_options::overwrite_existing);
    fs::last_write_time(file, age);
    CHECK(next_context(settings) != first);
    CHECK(settings.problem().empty());
}

TEST_CASE("tls: a certificate is renewed for a key that has come out of a pipe") {
    namespace fs = std::filesystem;
    temporary_directory folder;
    tls_options tls = made().client();
    tls.certificate_file = (folder.path() / "current.pem").string();
    tls.key_file = (folder.path() / "key").string();
    fs::copy_file(made().file("client.pem"), tls.certificate_file);
    REQUIRE(::mkfifo(tls.key_file.c_str(), 0600) == 0);
    std::thread writer(
        [&] { std::ofstream(tls.key_file) << made().text("client.key") << std::flush; });
    corozk::detail::tls_settings settings(tls);
    auto first = next_context(settings);
    writer.join();
    CHECK(first);
    CHECK(settings.problem().empty());
    std::ofstream(tls.certificate_file, std::ios::app) << "\n";
    auto renewed = next_context(settings);
    CHECK(settings.problem().empty());
    CHECK(renewed != first);
    CHECK(next_context(settings) == renewed);
}

TEST_CASE("tls: what an outage is due to is in the log once, as a warning") {
    secure_server open("server", "none");
    fault_proxy proxy(open.port.port());
    temporary_directory folder;
    const std::string authority = (folder.path() / "ca.pem").string();
    auto trust = [&](const std::string& name) {
        std::ofstream(authority, std::ios::trunc) << made().text(name);
    };
    trust("ca.pem");
    tls_options tls;
    tls.ca_file = authority;
    client_options options = open.options(tls);
    options.hosts = proxy.hosts();
    options.session_timeout = 30s;
    std::string log;
    options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
        log += std::string(text) + "\n";
    });
    auto body = [&](client& zk) -> awaitable<void> {
        trust("other.pem");
        proxy.cut();
        co_await eventually_async([&] { return !log.empty(); }, 20s);
        CHECK_THAT(log,
                   Catch::Contains("still no connection") && Catch::Contains("unknown authority"));
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, 3s);
        co_await pause.async_wait(boost::asio::use_awaitable);
        CHECK(std::count(log.begin(), log.end(), '\n') == 1);
        trust("ca.pem");
        co_await zk.exists("/");
        CHECK(zk.generation() == 1);
    };
    with_client(options, body, 60s);
}

TEST_CASE("tls: why the first connection takes long is in the log once, if it has no time limit") {
    client_options options = options_for("127.0.0.1:1");
    options.connect_timeout = 0ms;
    options.session_timeout = 1s;
    std::string log;
    options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
        log += std::string(text) + "\n";
    });
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk(co_await boost::asio::this_coro::executor, options);
        zk.connect([](error_code) {});
        co_await eventually_async([&] { return !log.empty(); }, 20s);
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, 2s);
        co_await pause.async_wait(boost::asio::use_awaitable);
        CHECK_THAT(log, Catch::Contains("127.0.0.1:1: Connection refused"));
        CHECK(std::count(log.begin(), log.end(), '\n') == 1);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("tls: a client moves to a server whose certificate is for its name in the new list") {
    secure_server secure;
    secure_server elsewhere("elsewhere");
    // A server's first handshake can take longer than a client asks it for.
    sees(elsewhere.options(made().client()), "is not for \"127.0.0.1\"");
    // Nothing of what passes is understood.
    fault_proxy old(secure.port.port());
    fault_proxy other(elsewhere.port.port());
    fault_proxy good(secure.port.port());
    client_options options = secure.options(made().client());
    options.hosts = old.hosts();
    options.session_timeout = 6s;
    std::string log;
    options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
        log += std::string(text) + "\n";
    });
    auto body = [&](client& zk) -> awaitable<void> {
        session_status before = zk.status();
        co_await zk.set_hosts(other.hosts());
        co_await eventually_async([&] { return other.statistics().connections_accepted >= 3; },
                                  40s);
        const std::string why = other.hosts() + ": its certificate is not for \"127.0.0.1\"";
        co_await eventually_async([&] { return log.find(why) != log.npos; }, 40s);
        CHECK(std::count(log.begin(), log.end(), '\n') == 1);
        CHECK(zk.status().revision == before.revision);
        // The server answers "srvr" on its port for TLS.
        co_await zk.set_hosts("localhost:" + std::to_string(good.port()));
        co_await eventually_async([&] { return old.statistics().connections_open == 0; }, 40s);
        co_await zk.exists("/");
        CHECK(zk.session_id() == before.session_id);
        CHECK(zk.counters().connection_losses == 0);
    };
    with_client(options, body, 120s);
}

TEST_CASE("tls: a context's own verify callback is asked, and can refuse but not accept more") {
    namespace ssl = boost::asio::ssl;
    secure_server& secure = usual_server();
    int asked = 0;
    auto context = [&](const std::string& authority, bool answer) {
        tls_options own;
        own.context = std::make_shared<ssl::context>(ssl::context::tls_client);
        own.context->load_verify_file(made().file(authority));
        own.context->use_certificate_chain_file(made().file("client.pem"));
        own.context->use_private_key_file(made().file("client.key"), ssl::context::pem);
        own.context->set_verify_callback([&asked, answer](bool, ssl::verify_context&) {
            ++asked;
            return answer;
        });
        return own;
    };
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(secure.options(context("ca.pem", true)), body, 60s);
    CHECK(asked > 0);
    sees(secure.options(context("ca.pem", false)), "rejected by the verify callback");
    sees(secure.options(context("other.pem", true)), "unknown authority");
}

TEST_CASE("tls: a context that verifies whole chains itself can refuse but not accept more") {
    namespace ssl = boost::asio::ssl;
    secure_server& secure = usual_server();
    tls_options own;
    own.context = std::make_shared<ssl::context>(ssl::context::tls_client);
    own.context->load_verify_file(made().file("ca.pem"));
    own.context->use_certificate_chain_file(made().file("client.pem"));
    own.context->use_private_key_file(made().file("client.key"), ssl::context::pem);
    SSL_CTX_set_cert_verify_callback(
        own.context->native_handle(), [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(secure.options(own), body, 60s);
    own.server_name = "another.test";
    sees(secure.options(own), "not for \"another.test\"");
}

TEST_CASE("tls: an authority of the system is trusted where the system's are asked for") {
    tls_options tls = made().client();
    tls.ca_file.clear();
    tls.system_authorities = true;
    // Where OpenSSL looks for them.
    environment_setting system("SSL_CERT_FILE", made().file("ca.pem"));
    auto body = [](client& zk) -> awaitable<void> { co_await zk.exists("/"); };
    with_client(usual_server().options(tls), body, 60s);
    // Otherwise only those that were named are.
    tls.ca_file = made().file("other.pem");
    tls.system_authorities = false;
    sees(usual_server().options(tls), "unknown authority");
}

TEST_CASE("tls: of the system's authorities only the one that is needed is read") {
    const environment_setting no_file("SSL_CERT_FILE"), no_folder("SSL_CERT_DIR");
    tls_options tls;
    tls.system_authorities = true;
    corozk::detail::tls_settings settings(tls);
    auto context = next_context(settings);
    REQUIRE(context);
    X509_STORE* store = SSL_CTX_get_cert_store(context->native_handle());
    CHECK(sk_X509_OBJECT_num(X509_STORE_get0_objects(store)) == 0);

    // The package ca-certificates has made them.
    std::string file;
    for (const auto& entry : std::filesystem::directory_iterator(X509_get_default_cert_dir())) {
        if (entry.path().extension() == ".0")
            file = entry.path().string();
    }
    INFO(file);
    std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_file(file.c_str(), "r"), &BIO_free);
    REQUIRE(text);
    std::unique_ptr<X509, decltype(&X509_free)> authority(
        PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &X509_free);
    std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                          &X509_STORE_CTX_free);
    REQUIRE(X509_STORE_CTX_init(check.get(), store, authority.get(), nullptr) == 1);
    X509_STORE_CTX_set_flags(check.get(), X509_V_FLAG_NO_CHECK_TIME);
    CHECK(X509_verify_cert(check.get()) == 1);
    CHECK(sk_X509_OBJECT_num(X509_STORE_get0_objects(store)) == 1);
}

TEST_CASE("tls: a replaced certificate that cannot be used leaves the previous one in use") {
    secure_server secure;
    namespace fs = std::filesystem;
    temporary_directory folder;
    fs::path certificate = folder.path() / "current.pem";
    fs::copy_file(made().file("client.pem"), certificate);
    tls_options tls = made().client();
    tls.certificate_file = certificate.string();
    client_options options = secure.options(tls);
    options.session_timeout = 30s;
    std::string log;
    options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
        if (text.starts_with("tls: "))
            log += std::string(text) + "\n";
    });
    auto says = [&](const std::string& words) {
        std::size_t first = log.find(words);
        INFO(log);
        // Once, however often it was connected.
        CHECK(first != log.npos);
        CHECK(log.find(words, first + 1) == log.npos);
        CHECK_THAT(log, Catch::Contains("the previous certificates stay in use"));
        log.clear();
    };
    auto body = [&](client& zk) -> awaitable<void> {
        corozk::acl only_client{corozk::acl_entry(permission::all, "x509", "CN=client")};
        create_options mine;
        mine.acl = &only_client;
        co_await zk.create("/mine", "", mine);
        auto reconnects = [&]() -> awaitable<void> {
            secure.instance.restart();
            co_await zk.exists("/", as_tuple());  // finds that the connection is lost
            co_await zk.get("/mine");
        };
        std::ofstream(certificate, std::ios::trunc) << "no certificate";
        co_await reconnects();
        says("certificate_file \"" + certificate.string() + "\" is not PEM");
        co_await reconnects();
        CHECK(log.empty());
        std::ofstream(certificate, std::ios::trunc) << made().text("curve.pem");
        co_await reconnects();
        says("is of another type than the certificate");
        std::ofstream(certificate, std::ios::trunc) << "";
        co_await reconnects();
        says("cannot read certificate_file \"" + certificate.string() + "\": it is empty");
        fs::remove(certificate);
        co_await reconnects();
        says("cannot read certificate_file \"" + certificate.string() + "\": No such file");
        CHECK(zk.generation() == 1);
    };
    with_client(options, body, 120s);
}

TEST_CASE("tls: a client moves with the previous certificate if the replaced one cannot be used") {
    secure_server& secure = usual_server();
    fault_proxy before(secure.port.port());
    fault_proxy after(secure.port.port());
    temporary_directory folder;
    std::string certificate = (folder.path() / "current.pem").string();
    std::filesystem::copy_file(made().file("client.pem"), certificate);
    tls_options tls = made().client();
    tls.certificate_file = certificate;
    client_options options = secure.options(tls);
    options.hosts = before.hosts();
    options.session_timeout = 6s;
    auto body = [&](client& zk) -> awaitable<void> {
        std::filesystem::remove(certificate);
        co_await zk.set_hosts(after.hosts());
        // The server is asked on a connection of its own before.
        co_await eventually_async([&] { return before.statistics().connections_open == 0; }, 40s);
        co_await zk.exists("/");
        CHECK(zk.generation() == 1);
        co_await eventually_async([&] { return after.statistics().connections_open == 1; });
    };
    with_client(options, body, 60s);
}

TEST_CASE("tls: settings that cannot be used are refused before anything is sent") {
    auto problem = [&](auto change) {
        client_options options = options_for("127.0.0.1:1");
        options.tls = made().client();
        change(*options.tls);
        refusal r = refused(options);
        CHECK(r.ec == errc::bad_option);
        return r.log;
    };
    using Catch::Contains;
    CHECK_THAT(problem([](tls_options& o) { o.ca_file.clear(); }), Contains("system_authorities"));
    CHECK_THAT(problem([](tls_options& o) { o.ca_file = "/none"; }),
               Contains("cannot read ca_file \"/none\": No such file"));
    CHECK_THAT(problem([](tls_options& o) { o.ca_file = "/"; }), Contains("it is a directory"));
    CHECK_THAT(problem([](tls_options& o) { o.server_name = ".example"; }),
               Contains("server_name must be"));
    CHECK_THAT(problem([](tls_options& o) { o.ca_file = made().file("server.p12"); }),
               Contains("is not PEM"));
    CHECK_THAT(problem([](tls_options& o) { o.key_file.clear(); }), Contains("its key"));
    CHECK_THAT(problem([](tls_options& o) { o.ca_pem = "also"; }),
               Contains("either ca_file or ca_pem"));
    CHECK_THAT(problem([](tls_options& o) { o.certificate_file = made().file("server.pem"); }),
               Contains("key values mismatch"));
    CHECK_THAT(problem([](tls_options& o) { o.key_file = made().file("ca.pem"); }),
               Contains("key_file"));
    CHECK_THAT(problem([](tls_options& o) { o.key_file = made().file("curve.key"); }),
               Contains("of another type than the certificate"));
    CHECK_THAT(
        problem([](tls_options& o) { std::swap(o.certificate_file, o.key_file); }),
        Contains("client.key\" must have a block \"-----BEGIN CERTIFICATE-----\", but begins "
                 "with \"-----BEGIN PRIVATE KEY-----\""));
    CHECK_THAT(problem([](tls_options& o) { o.key_file = made().file("locked.key"); }),
               Contains("is encrypted: set key_password"));
    CHECK_THAT(problem([](tls_options& o) {
                   o.key_file = made().file("locked.key");
                   o.key_password = "wrong";
               }),
               Contains("key_password may be wrong"));
    CHECK_THAT(problem([](tls_options& o) {
                   namespace ssl = boost::asio::ssl;
                   o.context = std::make_shared<ssl::context>(ssl::context::tls_server);
               }),
               Contains("made for servers"));
}

}  // namespace corozk::testing::tls_test
