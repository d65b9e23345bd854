// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/server.hpp"

#include "corozk/testing/admin.hpp"
#include "corozk/testing/class_archive.hpp"
#include "corozk/testing/error.hpp"
#include "corozk/testing/eventually.hpp"
#include "corozk/testing/four_letter.hpp"

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace corozk::testing::server_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("a server keeps its data over kill and restart") {
    server zk;
    admin hand{zk.port()};
    hand.plant("/kept/here", "data");
    const auto port = zk.port();
    const auto pid = zk.pid();

    zk.kill();
    CHECK_FALSE(zk.running());
    CHECK_FALSE(zk.serving());
    zk.restart();
    CHECK(zk.port() == port);
    CHECK(zk.pid() != pid);
    CHECK(hand.data("/kept/here") == "data");

    zk.terminate();
    CHECK_FALSE(zk.running());
    zk.launch();
    CHECK_THROWS_AS(zk.launch(), server_error);
    zk.wait_until_serving();
    CHECK(hand.data("/kept/here") == "data");
    zk.restart();
    CHECK(hand.data("/kept/here") == "data");
}

TEST_CASE("sessions and their ephemeral nodes survive a restart") {
    server zk;
    raw_session session{zk.port()};
    session.create("/mine", "", node_kind::ephemeral);
    zk.restart();
    raw_session again{zk.port(),
                      {.session_id = session.session_id(), .password = session.password()}};
    CHECK(again.exists("/mine")->ephemeral_owner == session.session_id());
}

TEST_CASE("a server can be stopped and continued") {
    server zk;
    raw_session session{zk.port()};
    session.set_operation_timeout(100ms);
    zk.stop();
    CHECK(zk.running());
    CHECK_THROWS_AS(session.exists("/"), timeout_error);
    zk.cont();
    session.set_operation_timeout(10s);
    CHECK(session.exists("/"));
}

TEST_CASE("a server and its folder vanish with the object") {
    std::filesystem::path folder;
    pid_t pid = 0;
    {
        const auto where = GENERATE(storage::memory, storage::disk);
        const server zk{{.where = where}};
        folder = zk.directory();
        pid = zk.pid();
        CHECK(std::filesystem::exists(folder / "data"));
        CHECK(zk.hosts() == "127.0.0.1:" + std::to_string(zk.port()));
    }
    CHECK_FALSE(std::filesystem::exists(folder));
    CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("ticks, properties and configuration lines reach the server") {
    server zk{{.tick_time = 200ms,
               .java_properties = {"zookeeper.extendedTypesEnabled=true",
                                   "-Dznode.container.checkIntervalMs=100"},
               .config_lines = {"jute.maxbuffer=2000000"},
               .quick_start = false}};
    CHECK(raw_session{zk.port(), {.session_timeout = 1ms}}.negotiated_timeout() == 400ms);
    raw_session session{zk.port()};
    session.create("/ttl", "", node_kind::persistent_ttl, open_acl(), 50ms);
    session.create("/container", "", node_kind::container);
    session.create("/container/child");
    session.erase("/container/child");
    eventually([&] {
        session.ping();
        return !session.exists("/container") && !session.exists("/ttl");
    });
    CHECK(raw_session{zk.port(), {.session_timeout = 100s}}.negotiated_timeout() == 100s);
}

TEST_CASE("a class archive is used where it fits") {
    temporary_directory folder;
    const auto place = folder.path() / "archive";
    std::filesystem::create_directory(place);
    const auto file = place / "classes.jsa";
    write_class_archive(file);
    REQUIRE(std::filesystem::file_size(file) > 1'000'000);
    CHECK(std::distance(std::filesystem::directory_iterator(place), {}) == 1);
    const std::string tell = "-Xlog:class+load";
    const std::string archived = "QuorumPeerMain source: shared objects file (top)";
    {
        server zk{{.java_properties = {tell}, .class_archive = file}};
        CHECK(zk.log_tail(100'000).find(archived) != std::string::npos);
    }
    // As the benchmark starts them.
    {
        server zk{{.heap = "-Xmx256m",
                   .java_properties = {tell, "-XX:-UseSerialGC", "-XX:+UseG1GC"},
                   .quick_start = false,
                   .class_archive = file}};
        CHECK(zk.log_tail(100'000).find(archived) != std::string::npos);
    }
    std::filesystem::remove(file);
    std::ofstream{file} << "something else";
    server zk{{.java_properties = {tell}, .class_archive = file}};
    CHECK(zk.log_tail(100'000).find(archived) == std::string::npos);
}

TEST_CASE("a class archive that cannot be written is an error") {
    CHECK_THROWS_WITH(write_class_archive("/nowhere/classes.jsa"),
                      Catch::Contains("no class archive"));
}

TEST_CASE("a session without pings expires") {
    server zk{{.tick_time = 100ms}};
    raw_session session{zk.port(), {.session_timeout = 3s}};
    session.create("/gone", "", node_kind::ephemeral);
    session.disconnect();
    admin hand{zk.port()};
    eventually([&] { return !hand.exists("/gone"); }, 20s);
}

TEST_CASE("a start that fails says why") {
    CHECK_THROWS_WITH((server{{.jar_directory = "/nowhere"}}),
                      Catch::Contains("install the package 'zookeeper'"));
    CHECK_THROWS_WITH((server{{.java = "/nowhere/java"}}),
                      Catch::Contains("install the package 'zookeeper'"));
    CHECK_THROWS_WITH((server{{.config_lines = {"tickTime=nonsense"}}}),
                      Catch::Contains("nonsense"));
    CHECK_THROWS_WITH((server{{.start_limit = 1ms}}), Catch::Contains("does not serve after 1 ms"));
}

TEST_CASE("a server whose port was taken does not start there") {
    server zk;
    zk.kill();
    const int thief = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(thief, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(zk.port());
    REQUIRE(::bind(thief, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(thief, 1) == 0);
    CHECK_THROWS_WITH(zk.restart(), Catch::Contains("Address already in use"));
    ::close(thief);
    zk.restart();
}

TEST_CASE("the shared server is one server") {
    CHECK(&shared_server() == &shared_server());
    CHECK(shared_server().serving());
}

}  // namespace corozk::testing::server_test
