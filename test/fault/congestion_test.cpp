// SPDX-License-Identifier: Apache-2.0
// A server that reads nothing for a while, and much to be sent by the library itself.
#include "client_fixture.hpp"
#include "tls/tls_front.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/stream_proxy.hpp>
#include <corozk/version.hpp>

#include <catch2/catch.hpp>

#include <malloc.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace corozk::testing::client_tests::congestion_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t payload = 40'000;
constexpr std::size_t many = 1'000;
// What the kernel takes, and one request. All of them are 40 MB.
constexpr std::size_t much = 20'000'000;

/// Requests with much data that leave little behind. The C client has no transaction with a TTL; every
/// tenth request is its own.
class flood {
public:
    flood(client& zk, std::string path, std::size_t count) {
        const std::string data(payload, 'x');
        create_options mortal;
        mortal.mode = create_mode::persistent_with_ttl;
        mortal.ttl = 1h;
        for (std::size_t i = 0; i < count; ++i) {
            auto done = [this, i](error_code ec, auto&&) { ended(i, ec); };
            errors_.emplace_back();
            calls_.push_back(0);
            if (i % 10 == 9) {
                zk.set(path, std::to_string(i), any_version, done);
                continue;
            }
            transaction steps;
            steps.create(path + "/t", data, mortal).erase(path + "/t").set(path, std::to_string(i));
            zk.commit(steps, done);
        }
    }
    flood(const flood&) = delete;
    flood& operator=(const flood&) = delete;

    bool over() const { return ended_ == calls_.size(); }

    awaitable<void> wait() {
        co_await eventually_async([this] { return over(); }, 60s, "all responses");
        CHECK(calls_ == std::vector<int>(calls_.size(), 1));
    }

    /// How many ended so.
    std::size_t with(error_code ec) const {
        return static_cast<std::size_t>(std::count(errors_.begin(), errors_.end(), ec));
    }

    /// None ended before one that was started earlier.
    bool in_order() const { return in_order_; }

private:
    void ended(std::size_t i, error_code ec) {
        in_order_ = in_order_ && i == ended_;
        ++ended_;
        ++calls_[i];
        errors_[i] = ec;
    }

    std::vector<error_code> errors_;
    std::vector<int> calls_;
    std::size_t ended_ = 0;
    bool in_order_ = true;
};

/// Nothing more is sent: neither the kernel nor the library takes any. The heartbeats of a session
/// without responses do not count.
awaitable<void> standstill(client& zk) {
    std::uint64_t queued = 0;
    int looks = 0;
    co_await eventually_async(
        [&] {
            const std::uint64_t now = zk.counters().queued;
            looks = std::exchange(queued, now) == now ? looks + 1 : 0;
            return looks == 25;
        },
        30s,
        "a standstill");
}

/// One that grants long sessions.
server& patient_server() {
    static server instance([] {
        server_options options = client_server_options();
        options.config_lines.emplace_back("maxSessionTimeout=60000");
        return options;
    }());
    return instance;
}

/// With TCP, and with TLS: `body(zk, proxy, path)`.
template <class Body>
void in_both_ways(client_options options, Body body) {
    for (bool tls : {false, true}) {
        if (tls && !has_tls())
            continue;
        INFO((tls ? "TLS" : "TCP"));
        std::unique_ptr<tls_front> front;
        if (tls) {
            front = std::make_unique<tls_front>(patient_server().port());
            options.tls = tls_front::trusted();
        }
        boost::asio::io_context context;
        run(
            context,
            [&]() -> awaitable<void> {
                stream_proxy proxy;
                proxy.forward_to(tls ? front->port() : patient_server().port());
                options.hosts = proxy.hosts();
                client zk = co_await connected_client(options);
                std::string path = fresh_path();
                co_await zk.create(path);
                co_await body(zk, proxy, path);
            },
            120s);
        run_to_idle(context);
    }
}

}  // namespace

TEST_CASE("congestion: what cannot be sent waits in its queue, and goes on when the server reads") {
    client_options options = quiet_options("");
    options.session_timeout = 60s;
    in_both_ways(options, [](client& zk, stream_proxy& proxy, std::string path) -> awaitable<void> {
        proxy.hold(direction::to_server, true);
        std::uint64_t before = zk.counters().bytes_sent;
        const std::uint64_t requests = zk.counters().requests;
        flood all(zk, path, many);
        co_await standstill(zk);
        client_counters c = zk.counters();
        WARN("sent " << c.bytes_sent - before << " bytes; in flight " << c.in_flight << ", queued "
                     << c.queued);
        CHECK(c.bytes_sent - before > payload);
        CHECK(c.bytes_sent - before < much);
        CHECK(c.in_flight < much / payload * 10 / 9);
        // With the heartbeats.
        CHECK(c.in_flight == c.requests - requests);
        CHECK(many - c.queued <= c.in_flight);
        proxy.hold(direction::to_server, false);
        co_await all.wait();
        CHECK(all.with({}) == many);
        CHECK(all.in_order());
        CHECK(admin(patient_server().port()).data(path) == std::to_string(many - 1));
        CHECK(zk.counters().connects == 1);
        co_await zk.close();
    });
}

namespace {

/// While this exists, the process cannot open anything.
class no_descriptors {
public:
    no_descriptors() {
        REQUIRE(getrlimit(RLIMIT_NOFILE, &usual_) == 0);
        rlimit none = usual_;
        none.rlim_cur = 0;
        REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    }
    no_descriptors(const no_descriptors&) = delete;
    no_descriptors& operator=(const no_descriptors&) = delete;
    ~no_descriptors() { setrlimit(RLIMIT_NOFILE, &usual_); }

private:
    rlimit usual_{};
};

}  // namespace

TEST_CASE("congestion: without another descriptor, too") {
    client_options options = quiet_options("", steady_session_timeout);
    in_both_ways(options, [](client& zk, stream_proxy& proxy, std::string path) -> awaitable<void> {
        proxy.hold(direction::to_server, true);
        auto none = std::make_unique<no_descriptors>();
        CHECK(::dup(0) < 0);
        flood all(zk, path, many);
        co_await standstill(zk);
        proxy.hold(direction::to_server, false);
        co_await all.wait();
        none.reset();
        CHECK(all.with({}) == many);
        CHECK(zk.counters().connects == 1);
        co_await zk.close();
    });
}

namespace {

/// Of this process, in bytes.
std::size_t heap_in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

}  // namespace

TEST_CASE("congestion: what a large request has taken is given back") {
    client_options options = quiet_options("", steady_session_timeout);
    in_both_ways(options, [](client& zk, stream_proxy&, std::string path) -> awaitable<void> {
        co_await zk.set(path, std::string(50'000, 'x'));
        co_await zk.set(path, "");
        const std::size_t before = heap_in_use();
        for (int i = 0; i < 3; ++i)
            co_await zk.set(path, std::string(900'000, 'x'));
        co_await zk.set(path, "");
        const std::size_t after = heap_in_use();
        WARN("bytes before: " << before << ", and after: " << after);
        CHECK(after < before + 300'000);
        co_await zk.close();
    });
}

TEST_CASE("congestion: a server that never reads again costs what is in flight only") {
    client_options options = quiet_options("", 15s);
    in_both_ways(options, [](client& zk, stream_proxy& proxy, std::string path) -> awaitable<void> {
        session_status before = zk.status();
        proxy.hold(direction::to_server, true);
        flood all(zk, path, many);
        session_status lost = co_await zk.next_status(before);
        REQUIRE(lost.state == session_state::suspended);
        proxy.cut();
        proxy.hold(direction::to_server, false);
        co_await all.wait();
        CHECK(zk.session_id() == before.session_id);
        std::size_t unknown = all.with(zk_errc::connection_loss);
        CHECK(unknown > 0);
        CHECK(unknown < much / payload * 10 / 9);
        CHECK(all.with({}) == many - unknown);
        CHECK(admin(patient_server().port()).data(path) == std::to_string(many - 1));
        co_await zk.close();
    });
}

TEST_CASE("congestion: closing ends although the server reads nothing") {
    client_options options = quiet_options("", steady_session_timeout);
    options.close_timeout = 300ms;
    in_both_ways(options, [](client& zk, stream_proxy& proxy, std::string path) -> awaitable<void> {
        proxy.hold(direction::to_server, true);
        flood all(zk, path, many);
        co_await standstill(zk);
        co_await zk.close(as_tuple());
        co_await all.wait();
        CHECK(zk.state() == session_state::closed);
        std::size_t closed = all.with(errc::closed);
        std::size_t unknown = all.with(zk_errc::connection_loss);
        CHECK(closed > 0);
        CHECK(closed + unknown == many);
    });
}

}  // namespace corozk::testing::client_tests::congestion_test
