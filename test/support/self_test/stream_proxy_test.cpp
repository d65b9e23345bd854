// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/stream_proxy.hpp"

#include "corozk/testing/admin.hpp"
#include "corozk/testing/error.hpp"
#include "corozk/testing/eventually.hpp"
#include "corozk/testing/server.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::stream_proxy_test {

using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;

namespace {

/** A server that says back what it hears, on one connection behind the proxy. */
class echo {
public:
    explicit echo(stream_proxy& proxy)
        : acceptor_{loop_, {boost::asio::ip::address_v4::loopback(), 0}} {
        proxy.forward_to(acceptor_.local_endpoint().port());
        near.connect({boost::asio::ip::address_v4::loopback(), proxy.port()});
        acceptor_.accept(far_);
    }

    /** Until the end of the connection. */
    void serve() {
        std::string bytes(100, '\0');
        boost::system::error_code failure;
        while (!failure) {
            const std::size_t count = far_.read_some(boost::asio::buffer(bytes), failure);
            if (!failure) {
                far_.write_some(boost::asio::buffer(bytes.data(), count), failure);
            }
        }
    }

    /** Waits for so much, and says it back. */
    void answer(std::size_t count) {
        std::string bytes(count, '\0');
        boost::asio::read(far_, boost::asio::buffer(bytes));
        boost::asio::write(far_, boost::asio::buffer(bytes));
    }

    void send(const std::string& bytes) { near.write_some(boost::asio::buffer(bytes), failure_); }

    /** What arrives until the end, and what the end is. */
    std::pair<std::string, boost::system::error_code> rest() {
        std::string all;
        boost::system::error_code failure = failure_;
        while (!failure) {
            std::string bytes(100, '\0');
            bytes.resize(near.read_some(boost::asio::buffer(bytes), failure));
            all += bytes;
        }
        return {all, failure};
    }

private:
    boost::asio::io_context loop_;
    tcp::acceptor acceptor_;
    tcp::socket far_{loop_};
    boost::system::error_code failure_;  // of sending: it is told once

public:
    tcp::socket near{loop_};
};

}  // namespace

TEST_CASE("a stream proxy passes everything on, and holds back answers until told otherwise") {
    stream_proxy proxy;
    CHECK_THROWS(raw_session{proxy.port()});
    proxy.forward_to(shared_server().port());
    raw_session through{proxy.port()};
    through.create("/through-a-stream-proxy", "here");
    CHECK(through.get("/through-a-stream-proxy").first == "here");

    admin beside{shared_server().port()};
    proxy.hold(direction::to_client, true);
    through.set_operation_timeout(50ms);
    CHECK_THROWS_AS(through.set("/through-a-stream-proxy", "there"), timeout_error);
    // The request went through.
    eventually([&] { return beside.data("/through-a-stream-proxy") == "there"; });
    CHECK_THROWS_AS(through.ping(), timeout_error);
    proxy.hold(direction::to_client, false);
    through.set_operation_timeout(10s);
    CHECK(through.get("/through-a-stream-proxy").first == "there");
    through.erase("/through-a-stream-proxy");
}

TEST_CASE("a stream proxy ends the next connection at a chosen byte") {
    const std::string ten = "0123456789";
    for (std::size_t after : {0U, 1U, 7U, 10U}) {
        for (cut_style how : {cut_style::orderly, cut_style::reset}) {
            for (direction way : {direction::to_server, direction::to_client}) {
                CAPTURE(after, how, way);
                stream_proxy proxy;
                proxy.cut_next(way, after, how);
                echo both{proxy};
                CHECK(proxy.connections() == 1);
                both.send(ten);
                both.serve();
                auto [all, end] = both.rest();
                CHECK(proxy.cuts() == 1);
                CHECK(proxy.passed(way) == after);
                if (how == cut_style::orderly) {
                    CHECK(end == boost::asio::error::eof);
                    // What was on its way back when the other direction ended may be lost.
                    CHECK(ten.starts_with(all));
                    if (way == direction::to_client) {
                        CHECK(all.size() == after);
                    }
                } else {
                    CHECK(end == boost::asio::error::connection_reset);
                }
            }
        }
    }
}

TEST_CASE(
    "a stream proxy silences the next connection at a chosen byte, until the client closes it") {
    const std::string ten = "0123456789";
    for (std::size_t after : {0U, 1U, 7U, 10U}) {
        for (direction way : {direction::to_server, direction::to_client}) {
            CAPTURE(after, way);
            stream_proxy proxy;
            proxy.silence_next(way, after);
            echo both{proxy};
            both.send(ten);
            if (way == direction::to_client && after > 0) {
                both.answer(ten.size());
            }
            eventually([&] { return proxy.cuts() == 1; });
            both.send("more");
            both.near.non_blocking(true);
            auto [all, end] = both.rest();
            CHECK(end == boost::asio::error::would_block);
            CHECK(ten.starts_with(all));
            both.near.close();
            both.serve();  // ends
            CHECK(proxy.cuts() == 1);
            CHECK(proxy.passed(way) == after);
            CHECK(proxy.passed(direction::to_server) <= ten.size());
        }
    }
}

TEST_CASE("a stream proxy ends all connections, and looks like several servers") {
    stream_proxy proxy{2};
    const std::string first = "127.0.0.1:" + std::to_string(proxy.port());
    CHECK(proxy.hosts().starts_with(first + ",127.0.0.1:"));
    CHECK(proxy.hosts() != first + "," + first);
    proxy.forward_to(shared_server().port());
    raw_session one{proxy.port()};
    auto second = std::stoi(proxy.hosts().substr(proxy.hosts().rfind(':') + 1));
    raw_session other{static_cast<std::uint16_t>(second)};
    CHECK(proxy.connections() == 2);
    one.ping();
    other.ping();
    proxy.cut();
    CHECK_THROWS_AS(one.ping(), zookeeper_error);
    CHECK_THROWS_AS(other.ping(), zookeeper_error);
    CHECK(proxy.cuts() == 0);
}

TEST_CASE("a stream proxy that holds back what clients send lets them send little of it") {
    constexpr std::size_t many = 64 * 1024 * 1024;
    stream_proxy proxy;
    echo both{proxy};
    proxy.hold(direction::to_server, true);
    both.near.non_blocking(true);
    const std::string bytes(100'000, 'x');
    std::size_t sent = 0;
    boost::system::error_code failure;
    int looks = 0;
    eventually([&] {
        std::size_t before = sent;
        failure.clear();
        while (!failure && sent < many) {
            sent += both.near.write_some(boost::asio::buffer(bytes), failure);
        }
        looks = sent == before ? looks + 1 : 0;
        return looks == 25 || sent >= many;
    });
    CHECK(sent < many);
    CHECK(failure == boost::asio::error::would_block);
    CHECK(proxy.passed(direction::to_server) == 0);
    proxy.hold(direction::to_server, false);
    eventually([&] { return proxy.passed(direction::to_server) > 0; });
}

TEST_CASE("a stream proxy that is late passes everything on, in order") {
    stream_proxy proxy;
    proxy.set_delay(direction::to_client, 20ms);
    proxy.forward_to(shared_server().port());
    raw_session through{proxy.port()};
    through.create("/through-a-late-proxy", "");
    admin beside{shared_server().port()};
    for (int i = 0; i < 10; ++i) {
        const std::string text(30'000, static_cast<char>('a' + i));
        beside.set("/through-a-late-proxy", text);
        CHECK(through.get("/through-a-late-proxy").first == text);
    }
    through.erase("/through-a-late-proxy");

    proxy.set_delay(direction::to_client, 1h);
    CHECK_THROWS_AS((raw_session{proxy.port(), {.operation_timeout = 50ms}}), timeout_error);
    through.ping();  // an earlier connection
    proxy.set_delay(direction::to_client, 0ms);
    raw_session after{proxy.port()};
    after.ping();
}

TEST_CASE("a stream proxy that is late lets everybody send as much as he wants") {
    constexpr std::size_t many = 32 * 1024 * 1024;
    stream_proxy proxy;
    proxy.set_delay(direction::to_server, 1h);
    echo both{proxy};
    both.near.non_blocking(true);
    const std::string bytes(100'000, 'x');
    std::size_t sent = 0;
    eventually([&] {
        boost::system::error_code failure;
        while (!failure && sent < many) {
            sent += both.near.write_some(boost::asio::buffer(bytes), failure);
        }
        return sent >= many;
    });
    CHECK(proxy.passed(direction::to_server) == 0);
}

}  // namespace corozk::testing::stream_proxy_test
