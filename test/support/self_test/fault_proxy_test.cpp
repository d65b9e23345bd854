// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/fault_proxy.hpp"

#include "corozk/testing/admin.hpp"
#include "corozk/testing/error.hpp"
#include "corozk/testing/eventually.hpp"
#include "corozk/testing/four_letter.hpp"
#include "corozk/testing/server.hpp"
#include "jute.hpp"
#include "tcp_socket.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace corozk::testing::fault_proxy_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/** A node of its own for a test, gone afterwards. */
class scratch {
public:
    explicit scratch(std::uint16_t port = shared_server().port()) : hand{port} {
        hand.erase_recursively("/proxy");
        hand.plant("/proxy");
    }
    ~scratch() { hand.erase_recursively("/proxy"); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    admin hand;
};

bool loses_connection(raw_session& session) {
    try {
        session.exists("/");
        return false;
    } catch (const zookeeper_error& error) {
        return error.code() == zk_code::connection_loss;
    }
}

bool can_connect(std::uint16_t port, std::chrono::milliseconds limit = 200ms) {
    try {
        const raw_session session{port, {.operation_timeout = limit}};
        return true;
    } catch (const zookeeper_error&) {
    } catch (const timeout_error&) {
    }
    return false;
}

}  // namespace

TEST_CASE("a proxy passes everything on and counts it") {
    scratch node;
    fault_proxy proxy{shared_server().port()};
    CHECK(proxy.hosts() == "127.0.0.1:" + std::to_string(proxy.port()));
    CHECK_THROWS_AS(proxy.session(), std::logic_error);
    {
        raw_session zk{proxy.port()};
        CHECK(proxy.session().session_id == zk.session_id());
        CHECK(proxy.session().password == zk.password());
        CHECK(proxy.session().timeout == zk.negotiated_timeout());
        zk.create("/proxy/a", "x");
        zk.ping();
        zk.get("/proxy/a", true);
        zk.set("/proxy/a", "y");
        CHECK(zk.next_notification(10s).path == "/proxy/a");
        CHECK(proxy.requests() == 3);
    }
    proxy.wait_for([](const auto& statistics) { return statistics.connections_open == 0; });
    const auto seen = proxy.statistics();
    CHECK(seen.requests == 4);
    CHECK(seen.requests_of(op_code::create) == 1);
    CHECK(seen.requests_of(op_code::ping) == 1);
    CHECK(seen.requests_of(op_code::create_session) == 1);
    CHECK(seen.requests_of(op_code::erase) == 0);
    CHECK(seen.replies_of(op_code::close_session) == 1);
    CHECK(seen.notifications == 1);
    CHECK(seen.connections_accepted == 1);
    CHECK(seen.bytes_to_server > 100);
    CHECK(seen.bytes_to_client > 100);

    const auto log = proxy.log();
    REQUIRE(log.size() == 13);
    CHECK(log[0].frame.kind == frame_kind::connect);
    CHECK(log[2].frame.op == op_code::create);
    CHECK(log[2].frame.number == 1);
    CHECK(log[2].frame.path == "/proxy/a");
    CHECK(log[3].frame.kind == frame_kind::reply);
    CHECK(log[3].frame.op == op_code::create);
    CHECK(log[3].frame.zxid > 0);
    CHECK_THAT(proxy.describe_log(), Catch::Contains("#1 create") && Catch::Contains("/proxy/a"));
}

TEST_CASE("requests are numbered over reconnects") {
    fault_proxy proxy{shared_server().port()};
    {
        raw_session zk{proxy.port()};
        zk.exists("/");
    }
    raw_session zk{proxy.port()};
    zk.exists("/");
    CHECK(proxy.requests() == 3);  // with one closeSession
    CHECK(proxy.sessions().size() == 2);
    proxy.reset_numbering();
    zk.exists("/");
    CHECK(proxy.requests() == 1);
}

TEST_CASE("pings are numbered on demand") {
    fault_proxy proxy{shared_server().port(), {.number_pings = true}};
    raw_session zk{proxy.port()};
    zk.ping();
    CHECK(proxy.requests() == 1);
}

TEST_CASE("cut closes all connections, or those of a session") {
    fault_proxy proxy{shared_server().port()};
    raw_session first{proxy.port()};
    raw_session second{proxy.port()};
    CHECK(proxy.statistics().connections_open == 2);
    CHECK(proxy.cut_session(first.session_id()));
    CHECK_FALSE(proxy.cut_session(first.session_id()));
    CHECK(proxy.statistics().connections_open == 1);
    CHECK(loses_connection(first));
    CHECK(second.exists("/"));
    proxy.cut();
    CHECK(loses_connection(second));
    raw_session again{proxy.port(),
                      {.session_id = first.session_id(), .password = first.password()}};
    CHECK(again.exists("/"));
}

TEST_CASE("a cut can be a reset") {
    fault_proxy proxy{shared_server().port(), {.style = cut_style::reset}};
    raw_session zk{proxy.port()};
    proxy.cut();
    CHECK(loses_connection(zk));
}

TEST_CASE("new connections are refused and accepted again") {
    fault_proxy proxy{shared_server().port()};
    raw_session old{proxy.port()};
    const auto mode = GENERATE(acceptance::close_at_once, acceptance::not_listening);
    proxy.set_acceptance(mode);
    CHECK_FALSE(can_connect(proxy.port()));
    CHECK(old.exists("/"));
    proxy.set_acceptance(acceptance::normal);
    CHECK(can_connect(proxy.port(), 10s));
    CHECK(proxy.statistics().connections_refused == (mode == acceptance::close_at_once ? 1 : 0));
}

TEST_CASE("a proxy can be pointed to another server") {
    const server other;
    admin{other.port()}.plant("/the-other-one");
    fault_proxy proxy{shared_server().port()};
    raw_session before{proxy.port()};
    proxy.retarget(other.port());
    CHECK(raw_session{proxy.port()}.exists("/the-other-one"));
    CHECK_FALSE(before.exists("/the-other-one"));
}

TEST_CASE("a proxy before a dead server closes connections") {
    const port_reservation nobody;
    fault_proxy proxy{nobody.port()};
    CHECK_FALSE(can_connect(proxy.port()));
    proxy.wait_for([](const auto& statistics) { return statistics.connections_open == 0; });
}

TEST_CASE("nothing passes a black hole, and nothing is lost in it") {
    fault_proxy proxy{shared_server().port()};
    raw_session zk{proxy.port()};
    zk.set_operation_timeout(50ms);
    proxy.black_hole(true);
    CHECK_THROWS_AS(zk.exists("/"), timeout_error);
    CHECK_FALSE(can_connect(proxy.port()));
    CHECK(proxy.requests() == 0);
    CHECK(zk.connected());
    proxy.black_hole(false);
    zk.set_operation_timeout(10s);
    CHECK(zk.exists("/"));
    CHECK(proxy.requests() == 2);
}

TEST_CASE("a connection that waits for the end of a black hole is served then") {
    fault_proxy proxy{shared_server().port()};
    proxy.black_hole(true);
    std::thread patient{[&] { raw_session{proxy.port()}.exists("/"); }};
    proxy.wait_for([](const auto& statistics) { return statistics.connections_open == 1; });
    proxy.black_hole(false);
    patient.join();
    CHECK(proxy.statistics().requests_of(op_code::exists) == 1);
}

TEST_CASE("what was sent into a black hole by one who left is lost or comes late") {
    scratch node;
    const bool late = GENERATE(false, true);
    fault_proxy proxy{shared_server().port(), {.late_delivery = late}};
    raw_session zk{proxy.port()};
    proxy.black_hole(true);
    detail::jute_writer request;
    request.buffer("/proxy").buffer("late").int32(-1);
    zk.send(op_code::set_data, request.bytes());
    zk.disconnect();
    proxy.black_hole(false);
    proxy.wait_for([](const auto& statistics) { return statistics.connections_open == 0; });
    if (late) {
        eventually([&] { return node.hand.data("/proxy") == "late"; });
    } else {
        CHECK(node.hand.data("/proxy").empty());
    }
}

TEST_CASE("a black hole can swallow one direction only") {
    scratch node;
    fault_proxy proxy{shared_server().port()};
    raw_session zk{proxy.port()};
    proxy.black_hole(true, direction::to_client);
    zk.set_operation_timeout(50ms);
    CHECK_THROWS_AS(zk.set("/proxy", "heard"), timeout_error);
    eventually([&] { return node.hand.data("/proxy") == "heard"; });
    proxy.black_hole(false, direction::to_client);
    zk.set_operation_timeout(10s);
    CHECK(zk.exists("/"));
}

TEST_CASE("a session expires in a black hole that is longer than its timeout") {
    server zk{{.tick_time = 100ms}};
    fault_proxy proxy{zk.port()};
    raw_session session{proxy.port(), {.session_timeout = 2s}};
    session.create("/mine", "", node_kind::ephemeral);
    proxy.black_hole(true);
    admin hand{zk.port()};
    eventually([&] { return !hand.exists("/mine"); });
    CHECK(session.connected());
    proxy.black_hole(false);
    CHECK(loses_connection(session));
}

TEST_CASE("frames are delayed") {
    fault_proxy proxy{shared_server().port()};
    raw_session zk{proxy.port()};
    const auto way = GENERATE(direction::to_server, direction::to_client);
    proxy.set_delay(way, 60ms);
    const auto begin = std::chrono::steady_clock::now();
    zk.exists("/");
    CHECK(std::chrono::steady_clock::now() - begin >= 60ms);
    proxy.set_delay(way, 0ms);
    zk.exists("/");
}

TEST_CASE("frames can be edited") {
    fault_proxy proxy{shared_server().port()};
    raw_session zk{proxy.port()};
    SECTION("a reply gets another error code") {
        proxy.edit(direction::to_client, [](const frame_info& frame, std::string bytes) {
            CHECK(frame.op == op_code::exists);
            bytes[19] = static_cast<char>(-112);
            bytes[16] = bytes[17] = bytes[18] = '\xff';
            return bytes;
        });
        CHECK_THROWS_WITH(zk.exists("/"), Catch::Contains("session expired"));
    }
    SECTION("a reply is swallowed") {
        proxy.edit(direction::to_client,
                   [](const frame_info&, const std::string&) { return std::string{}; });
        zk.set_operation_timeout(50ms);
        CHECK_THROWS_AS(zk.exists("/"), timeout_error);
    }
    SECTION("a request gets broken, and the server closes the connection") {
        proxy.edit(direction::to_server, [](const frame_info&, const std::string&) {
            return std::string{"\x7f\xff\xff\xff garbage"};
        });
        CHECK(loses_connection(zk));
        proxy.wait_for([](const auto& statistics) { return statistics.connections_open == 0; });
    }
    proxy.edit(direction::to_client, nullptr);
    proxy.edit(direction::to_server, nullptr);
    raw_session{proxy.port()}.exists("/");
}

TEST_CASE("four-letter words pass") {
    fault_proxy proxy{shared_server().port()};
    CHECK(four_letter(proxy.port(), "ruok") == "imok");
    CHECK_THAT(four_letter(proxy.port(), "mntr"), Catch::Contains("zk_watch_count"));
    CHECK(proxy.requests() == 0);
}

TEST_CASE("half-closed connections still carry the other direction") {
    // The server answers a four-letter word although nothing more can come.
    fault_proxy proxy{shared_server().port()};
    const auto until = detail::deadline_in(10s);
    detail::tcp_socket socket{proxy.port(), until};
    socket.send("ruok", until);
    socket.shutdown_send();
    std::string answer;
    char chunk[64];
    while (const auto got = socket.receive(chunk, sizeof chunk, until)) {
        answer.append(chunk, got);
    }
    CHECK(answer == "imok");
}

TEST_CASE("frames pass whole when they come in pieces") {
    fault_proxy proxy{shared_server().port()};
    raw_session zk{proxy.port()};
    detail::jute_writer request;
    request.int32(100).int32(3).buffer("/").boolean(false);
    for (const char byte : detail::framed(request.bytes())) {
        zk.send_raw({&byte, 1});
    }
    CHECK(zk.receive(100).error == zk_code::ok);
    CHECK(proxy.requests() == 1);
}

TEST_CASE("frames of 8 MB pass") {
    server zk{{.java_properties = {"jute.maxbuffer=20000000"}}};
    fault_proxy proxy{zk.port()};
    raw_session session{proxy.port()};
    const std::string big(8UL * 1024 * 1024, 'b');
    session.create("/big", big);
    CHECK(session.get("/big").first == big);
    CHECK(proxy.statistics().bytes_to_client > big.size());
}

TEST_CASE("many clients use one proxy at once while connections are cut") {
    scratch node;
    fault_proxy proxy{shared_server().port()};
    std::atomic<int> done{0};
    std::atomic<bool> enough{false};
    std::vector<std::thread> clients;
    for (int client = 0; client < 20; ++client) {
        clients.emplace_back([&] {
            while (!enough) {
                try {
                    raw_session zk{proxy.port()};
                    for (int count = 0; count < 50; ++count) {
                        zk.create("/proxy/n-", "data", node_kind::ephemeral_sequential);
                        ++done;
                    }
                } catch (const zookeeper_error&) {
                }
            }
        });
    }
    for (int round = 1; round <= 20; ++round) {
        eventually([&] { return done > round * 50; });
        proxy.cut();
    }
    enough = true;
    for (auto& client : clients) {
        client.join();
    }
    proxy.wait_for([](const auto& statistics) { return statistics.connections_open == 0; });
    for (const auto& session : proxy.sessions()) {
        expire_session(shared_server().port(), session.session_id, session.password);
    }
    CHECK(node.hand.children("/proxy").empty());
}

TEST_CASE("a proxy can be destroyed in the middle of traffic") {
    auto proxy = std::make_unique<fault_proxy>(shared_server().port());
    raw_session zk{proxy->port()};
    zk.exists("/");
    proxy->set_delay(direction::to_client, 1h);
    detail::jute_writer request;
    zk.send(op_code::exists, request.buffer("/").boolean(false).bytes());
    proxy.reset();
    CHECK(loses_connection(zk));
}

TEST_CASE("waiting for what does not happen shows the log") {
    fault_proxy proxy{shared_server().port()};
    raw_session zk{proxy.port()};
    zk.exists("/");
    CHECK_THROWS_WITH(proxy.wait_for([](const auto&) { return false; }, 20ms),
                      Catch::Contains("exists"));
}

}  // namespace corozk::testing::fault_proxy_test
