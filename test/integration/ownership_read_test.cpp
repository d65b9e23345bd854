// SPDX-License-Identifier: Apache-2.0
// Reading through what is owned, where the owner's server lags behind: an ensemble of three in
// which the first member hears of nothing for as long as the test wants.
// ctest: PROCESSORS 2
#include "pending_result.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/testing/ensemble.hpp>
#include <corozk/testing/stream_proxy.hpp>

#include <map>
#include <memory>

namespace corozk::testing::ownership_read_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// Member 0 reaches the others through proxies. It never leads: its id is the lowest.
class lagging_ensemble {
public:
    lagging_ensemble() {
        ensemble_options options;
        // It may be out of touch for longer than a test takes.
        options.sync_limit = 240;
        options.quorum_route = [this](std::size_t member, std::size_t peer, std::uint16_t port) {
            if (member != 0)
                return port;
            auto& proxy = proxies_[peer];
            if (!proxy)
                proxy = std::make_unique<stream_proxy>();
            proxy->forward_to(port);
            return proxy->port();
        };
        all_ = std::make_unique<ensemble>(options);
        REQUIRE(all_->leader());
        REQUIRE(*all_->leader() != 0);
    }

    /// What is committed from now on does not reach member 0.
    void lag() {
        for (auto& [peer, proxy] : proxies_)
            proxy->hold(direction::to_client, true);
    }

    void catch_up() {
        for (auto& [peer, proxy] : proxies_)
            proxy->hold(direction::to_client, false);
    }

    server& lagging() { return (*all_)[0]; }
    server& current() {
        auto leader = all_->leader();
        REQUIRE(leader);
        return (*all_)[*leader];
    }

private:
    std::map<std::size_t, std::unique_ptr<stream_proxy>> proxies_;
    std::unique_ptr<ensemble> all_;
};

lagging_ensemble& the_ensemble() {
    static lagging_ensemble instance;
    return instance;
}

client_options patient_options(std::string hosts) {
    client_options options = options_for(std::move(hosts));
    options.session_timeout = 60s;
    options.close_timeout = 60s;
    return options;
}

boost::asio::awaitable<client> client_of(std::string hosts) {
    auto executor = co_await boost::asio::this_coro::executor;
    client_options options = patient_options(std::move(hosts));
    co_return co_await client::connect(executor, options);
}

/// Whatever happens in a test, the next one begins with servers that agree.
struct catching_up {
    ~catching_up() { the_ensemble().catch_up(); }
};

/// What somebody reads who does nothing about it.
boost::asio::awaitable<std::string> plainly(client& zk, std::string path) {
    node_data found = co_await zk.get(path);
    co_return found.data;
}

}  // namespace

TEST_CASE("ownership: read sees what a plain read on a lagging server does not") {
    lagging_ensemble& servers = the_ensemble();
    catching_up at_the_end;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client there = co_await client_of(servers.current().hosts());
            client here = co_await client_of(servers.lagging().hosts());
            client beside = co_await client_of(servers.lagging().hosts());
            std::string path = fresh_path();
            co_await there.create(path, "old");
            lock mine(here, path + "-lock");
            ownership held = co_await mine.acquire();
            node_data seen = co_await held.read(path);
            CHECK(seen.data == "old");

            servers.lag();
            co_await there.set(path, "new");  // two of three have it
            std::string plain = co_await plainly(here, path);
            CHECK(plain == "old");
            pending_result<node_data> reading;
            held.read(path, reading.handler());
            plain = co_await plainly(beside, path);
            CHECK(plain == "old");
            CHECK_FALSE(reading.done());  // it waits rather than give what is out of date

            servers.catch_up();
            error_code ec = co_await finished(reading);
            CHECK_FALSE(ec);
            CHECK(reading.value().data == "new");
            CHECK(held.valid());
            co_await held.release();
            co_await beside.close();
            co_await here.close();
            co_await there.close();
        },
        60s);
    run_to_idle(context);
}

TEST_CASE("ownership: a new owner on a lagging server sees what its predecessor wrote") {
    lagging_ensemble& servers = the_ensemble();
    catching_up at_the_end;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client there = co_await client_of(servers.current().hosts());
            client here = co_await client_of(servers.lagging().hosts());
            client beside = co_await client_of(servers.lagging().hosts());
            std::string path = fresh_path();
            co_await there.create(path, "old");
            lock theirs(there, path + "-lock");
            lock ours(here, path + "-lock");
            ownership before = co_await theirs.acquire();
            pending_result<ownership> acquiring;
            ours.acquire(acquiring.handler());
            admin hand(servers.current().port());
            co_await eventually_async([&] { return hand.children(path + "-lock").size() == 2; },
                                      20s,
                                      "our contender's node");
            co_await here.sync();

            servers.lag();
            transaction change;
            change.set(path, "new");
            co_await before.commit(change);
            co_await before.release();
            std::string plain = co_await plainly(beside, path);
            CHECK(plain == "old");
            CHECK_FALSE(acquiring.done());

            servers.catch_up();
            error_code ec = co_await finished(acquiring);
            REQUIRE_FALSE(ec);
            node_data seen = co_await acquiring.value().read(path);
            CHECK(seen.data == "new");
            co_await acquiring.value().release();
            co_await beside.close();
            co_await here.close();
            co_await there.close();
        },
        60s);
    run_to_idle(context);
}

TEST_CASE("ownership: an owner that moves to a lagging server reads nothing older than its grant") {
    lagging_ensemble& servers = the_ensemble();
    catching_up at_the_end;
    fault_proxy way(servers.current().port());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client there = co_await client_of(servers.current().hosts());
            client here = co_await client_of(way.hosts());
            client beside = co_await client_of(servers.lagging().hosts());
            std::string path = fresh_path();
            co_await there.create(path, "old");
            lock theirs(there, path + "-lock");
            lock ours(here, path + "-lock");
            ownership before = co_await theirs.acquire();
            pending_result<ownership> acquiring;
            ours.acquire(acquiring.handler());
            co_await beside.sync();

            servers.lag();
            transaction change;
            change.set(path, "new");
            co_await before.commit(change);
            co_await before.release();
            error_code ec = co_await finished(acquiring);
            REQUIRE_FALSE(ec);
            way.retarget(servers.lagging().port());
            way.cut();
            session_status status = here.status();
            while (status.state == session_state::connected) {
                status = co_await here.next_status(status);
            }
            std::string plain = co_await plainly(beside, path);
            CHECK(plain == "old");
            // That server refuses a session that has seen more than itself.
            CHECK(here.state() != session_state::connected);

            servers.catch_up();
            while (status.state != session_state::connected) {
                status = co_await here.next_status(status);
            }
            CHECK(acquiring.value().valid());
            node_data seen = co_await acquiring.value().read(path);
            CHECK(seen.data == "new");
            plain = co_await plainly(here, path);
            CHECK(plain == "new");
            co_await acquiring.value().release();
            co_await beside.close();
            co_await here.close();
            co_await there.close();
        },
        60s);
    run_to_idle(context);
}

}  // namespace corozk::testing::ownership_read_test
