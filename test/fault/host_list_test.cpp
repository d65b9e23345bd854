// SPDX-License-Identifier: Apache-2.0
// The host list is replaced. Proxies before one server stand for the servers of an ensemble.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/port.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace corozk::testing::client_tests::host_list_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

struct proxies {
    fault_proxy a{the_server().port()};
    fault_proxy b{the_server().port()};
};

/// Long enough for a move: the client sends a request every 0.3 session timeouts, and moves within
/// one.
awaitable<void> time_to_move(client& zk) {
    auto before = zk.counters().requests;
    co_await eventually_async([&] { return zk.counters().requests >= before + 5; }, 60s);
}

/// Waits until the client is connected through this proxy.
awaitable<void> arrive(client& zk, fault_proxy& at) {
    co_await eventually_async(
        [&] { return !at.sessions().empty() && zk.state() == session_state::connected; },
        30s,
        "the client's arrival");
    CHECK(at.session().session_id == zk.session_id());
}

template <class Body>
void with_proxies(Body body,
                  std::chrono::milliseconds limit = 60s,
                  std::chrono::milliseconds session_timeout = quiet_session_timeout) {
    boost::asio::io_context context;
    proxies both;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk =
                co_await connected_client(quiet_options(rooted(both.a.hosts()), session_timeout));
            co_await body(zk, both);
            co_await zk.close(as_tuple());
        },
        limit);
    run_to_idle(context);
}

/// With a client whose attempt to connect to the first proxy gets no response. The attempt would take
/// longer than the test may.
template <class Body>
void at_a_silent_server(Body body) {
    boost::asio::io_context context;
    proxies both;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(rooted(both.a.hosts()));
        options.session_timeout = 10min;
        options.connect_timeout = 0ms;
        both.a.black_hole(true);
        client zk(co_await boost::asio::this_coro::executor, options);
        outcome<> connecting;
        zk.connect(connecting.handler());
        co_await eventually_async([&] { return both.a.statistics().connections_accepted == 1; });
        co_await body(zk, both, connecting);
        co_await zk.close();
        both.a.black_hole(false);
    });
    run_to_idle(context);
}

/// Reads all the time, so many at once.
class steady_reads {
public:
    steady_reads(client& zk, std::string path, int many) : zk_(zk), path_(std::move(path)) {
        for (int i = 0; i < many; ++i)
            next();
    }

    awaitable<void> stop() {
        stopped_ = true;
        co_await eventually_async([&] { return pending_ == 0; }, 20s);
    }
    int failed() const { return failed_; }

private:
    void next() {
        ++pending_;
        zk_.get(path_, [this](error_code ec, const node_data&) {
            --pending_;
            failed_ += ec ? 1 : 0;
            if (!stopped_)
                next();
        });
    }

    client& zk_;
    std::string path_;
    int pending_ = 0;
    int failed_ = 0;
    bool stopped_ = false;
};

/// Speaks first, and not ZooKeeper's protocol.
class other_service {
public:
    other_service(const boost::asio::any_io_executor& executor, std::string greeting)
        : state_(std::make_shared<state>(executor, std::move(greeting))) {
        accept(state_);
    }
    other_service(const other_service&) = delete;
    other_service& operator=(const other_service&) = delete;
    ~other_service() {
        state_->acceptor.close();
        state_->accepted.clear();
    }

    std::string hosts() const {
        return "127.0.0.1:" + std::to_string(state_->acceptor.local_endpoint().port());
    }
    std::size_t connections() const { return state_->accepted.size(); }

private:
    using tcp = boost::asio::ip::tcp;
    struct state {
        state(const boost::asio::any_io_executor& executor, std::string greeting_)
            : acceptor(executor, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
              greeting(std::move(greeting_)) {}
        tcp::acceptor acceptor;
        std::string greeting;
        std::vector<tcp::socket> accepted;
    };

    static void accept(const std::shared_ptr<state>& s) {
        s->acceptor.async_accept([s](error_code ec, tcp::socket socket) {
            if (ec)
                return;
            boost::asio::write(socket, boost::asio::buffer(s->greeting));
            s->accepted.push_back(std::move(socket));
            accept(s);
        });
    }

    std::shared_ptr<state> state_;
};

create_options fleeting() {
    create_options options;
    options.mode = create_mode::ephemeral;
    return options;
}

}  // namespace

TEST_CASE("set_hosts: a client whose server is in the new list stays") {
    boost::asio::io_context context;
    proxies both;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connected_client(
                quiet_options(rooted(both.a.hosts() + "," + both.b.hosts())));
            fault_proxy& home = both.a.sessions().empty() ? both.b : both.a;
            fault_proxy& other = both.a.sessions().empty() ? both.a : both.b;
            session_status before = zk.status();
            co_await zk.set_hosts(rooted(home.hosts()));
            CHECK(zk.hosts() == rooted(home.hosts()));
            co_await time_to_move(zk);
            CHECK(other.statistics().connections_accepted == 0);
            // The same list in another order, and with the same server twice.
            co_await zk.set_hosts(rooted(home.hosts() + "," + home.hosts()));
            co_await time_to_move(zk);
            CHECK(other.statistics().connections_accepted == 0);
            // The next connection uses the new list.
            home.cut();
            co_await zk.next_status(before);
            co_await reach(zk, session_state::connected);
            CHECK(other.statistics().connections_accepted == 0);
            CHECK(zk.generation() == 1);
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

TEST_CASE("set_hosts: a client whose server is not in the new list moves with all that it has") {
    with_proxies([](client& zk, proxies& both) -> awaitable<void> {
        std::string path = fresh_path();
        std::int64_t id = zk.session_id();
        co_await zk.create(path, "", fleeting());
        watched_data watched = co_await zk.watch_data(path);
        watched_children children = co_await zk.watch_children("/");
        watched_stat missing = co_await zk.watch_exists(path + "-later");
        steady_reads reads(zk, path, 100);
        co_await zk.set_hosts(rooted(both.b.hosts()));
        co_await arrive(zk, both.b);
        co_await reads.stop();
        CHECK(reads.failed() == 0);
        CHECK(zk.counters().connection_losses == 0);
        CHECK(zk.session_id() == id);
        CHECK(zk.generation() == 1);
        co_await eventually_async([&] { return both.a.statistics().connections_open == 0; });
        auto found = co_await zk.exists(path);
        REQUIRE(found);
        CHECK(found->ephemeral_owner == id);
        CHECK(watched.changed.pending());
        co_await zk.set(path, "x");
        watch_event event = co_await watched.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
        co_await zk.create(path + "-later", "", fleeting());
        event = co_await missing.changed.next();
        CHECK(event.type == watch_event_type::created);
        event = co_await children.changed.next();
        CHECK(event.type == watch_event_type::children_changed);
    });
}

TEST_CASE("set_hosts: a server whose responses take long is left, too") {
    with_proxies([&](client& zk, proxies& both) -> awaitable<void> {
        const session_status before = zk.status();
        // Longer than an overdue response is waited for: some heartbeat is always in flight.
        both.a.set_delay(direction::to_client, 1200ms);
        co_await zk.exists("/");
        co_await zk.set_hosts(rooted(both.b.hosts()));
        co_await arrive(zk, both.b);
        CHECK(zk.session_id() == before.session_id);
        CHECK(zk.counters().connection_losses == 0);
    });
}

TEST_CASE("set_hosts: the connection is kept until one of the new servers answers") {
    port_reservation nobody;
    with_proxies([&](client& zk, proxies& both) -> awaitable<void> {
        session_status before = zk.status();
        SECTION("no one listens") {
            co_await zk.set_hosts(rooted("127.0.0.1:" + std::to_string(nobody.port())));
        }
        SECTION("it accepts and is silent") {
            both.b.black_hole(true);
            co_await zk.set_hosts(rooted(both.b.hosts()));
            co_await eventually_async([&] { return both.b.statistics().connections_accepted > 1; },
                                      20s);
        }
        SECTION("it closes connections at once") {
            both.b.set_acceptance(acceptance::close_at_once);
            co_await zk.set_hosts(rooted(both.b.hosts()));
        }
        SECTION("it is another service") {
            other_service mail(zk.get_executor(), "220 mail.example ESMTP\r\n");
            co_await zk.set_hosts(rooted(mail.hosts()));
            co_await eventually_async([&] { return mail.connections() > 1; }, 20s);
        }
        SECTION("the name does not exist") {
            co_await zk.set_hosts(rooted("no-such-name.invalid:2181"));
        }
        co_await time_to_move(zk);
        CHECK(zk.status().revision == before.revision);
        co_await zk.exists("/");
        // One that answers is added, or wakes up.
        both.b.black_hole(false);
        both.b.set_acceptance(acceptance::normal);
        co_await zk.set_hosts(zk.hosts().substr(0, zk.hosts().find('/')) + "," +
                              rooted(both.b.hosts()));
        co_await arrive(zk, both.b);
        CHECK(zk.session_id() == before.session_id);
    });
}

TEST_CASE("set_hosts: without a connection the new servers are tried at once") {
    with_proxies([](client& zk, proxies& both) -> awaitable<void> {
        std::int64_t id = zk.session_id();
        both.a.set_acceptance(acceptance::not_listening);
        both.a.cut();
        co_await reach(zk, session_state::suspended);
        outcome<std::optional<stat>> waiting;
        zk.exists("/", waiting.handler());
        co_await zk.set_hosts(rooted(both.b.hosts()));
        co_await arrive(zk, both.b);
        CHECK(zk.session_id() == id);
        error_code ec = co_await waiting.wait();
        CHECK_FALSE(ec);
    });
}

TEST_CASE("set_hosts: an attempt at a silent server of the old list is abandoned") {
    at_a_silent_server([](client& zk, proxies& both, outcome<>& connecting) -> awaitable<void> {
        co_await zk.set_hosts(rooted(both.b.hosts()));
        error_code ec = co_await connecting.wait();
        CHECK_FALSE(ec);
        CHECK(both.b.session().session_id == zk.session_id());
    });
}

TEST_CASE("set_hosts: a slow attempt at a server that stays in the list is not disturbed") {
    at_a_silent_server([](client& zk, proxies& both, outcome<>& connecting) -> awaitable<void> {
        for (int i = 0; i < 5; ++i) {
            co_await zk.set_hosts(rooted(both.a.hosts()));
            co_await let_others_run();
            co_await zk.set_hosts(rooted(both.b.hosts() + "," + both.a.hosts()));
            co_await let_others_run();
        }
        both.a.black_hole(false);
        error_code ec = co_await connecting.wait();
        CHECK_FALSE(ec);
        CHECK(both.a.statistics().connections_accepted == 1);
        CHECK(both.b.statistics().connections_accepted == 0);
    });
}

TEST_CASE("set_hosts: what cannot be used changes nothing") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        std::string log;
        client_options options = quiet_options(the_server().hosts() + "/zookeeper");
        options.logger = logger(log_level::error, [&](log_level, std::string_view text) {
            log += std::string(text) + "\n";
        });
        client zk = co_await connected_client(options);
        session_status before = zk.status();
        for (std::string bad : {"",
                                "a:0/zookeeper",
                                "a:1:2/zookeeper",
                                "a,,b/zookeeper",
                                "a b:1",
                                "a",
                                "a/",
                                "a/zookeeper/config",
                                "a/other"}) {
            INFO(bad);
            auto [ec] = co_await zk.set_hosts(bad, as_tuple());
            CHECK(ec == errc::bad_host_list);
            CHECK(zk.hosts() == options.hosts);
        }
        CHECK_THAT(log, Catch::Contains("\"a/other\" has another root"));
        CHECK_THAT(log, Catch::Contains("whose root is \"/zookeeper\""));
        CHECK(zk.status().revision == before.revision);
        co_await zk.set_hosts("localhost:" + std::to_string(the_server().port()) + "/zookeeper");
        co_await zk.exists("/config");
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("set_hosts: before connect, after close, and on an empty handle") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, quiet_options("not:a:list"));
        auto [refused] = co_await zk.connect(as_tuple());
        CHECK(refused == errc::bad_host_list);
        auto [other_root] = co_await zk.set_hosts("localhost/zookeeper", as_tuple());
        CHECK(other_root == errc::bad_host_list);
        co_await zk.set_hosts(the_hosts());
        co_await zk.connect();
        co_await zk.exists("/");
        co_await zk.close();
        co_await zk.set_hosts(the_hosts());
        CHECK(zk.state() == session_state::closed);
        client none;
        auto [ec] = co_await none.set_hosts(the_hosts(), as_tuple());
        CHECK(ec == errc::closed);
    });
    run_to_idle(context);
}

TEST_CASE("set_hosts: closed, destroyed or cut off at each stage of a move") {
    enum class end { close, destroy, lose };
    for (end how : {end::close, end::destroy, end::lose}) {
        for (int stage = 0; stage < 4; ++stage) {
            INFO(static_cast<int>(how) << ", " << stage);
            auto body = [&](client& zk, proxies& both) -> awaitable<void> {
                // While a response is owed, the client does not leave.
                outcome<node_data> read;
                if (stage == 2) {
                    both.a.black_hole(true, direction::to_client);
                    zk.get("/", read.handler());
                }
                session_status before = zk.status();
                co_await zk.set_hosts(rooted(both.b.hosts()));
                if (stage == 1 || stage == 2)
                    co_await eventually_async(
                        [&] { return both.b.statistics().connections_accepted > 0; }, 20s);
                if (stage == 3)
                    co_await zk.next_status(before);
                if (how == end::destroy) {
                    zk = client();
                    co_return both.a.black_hole(false);
                }
                if (how == end::close) {
                    auto [ec] = co_await zk.close(as_tuple());
                    CHECK((!ec || ec == errc::session_left_to_expire));
                    co_return both.a.black_hole(false);
                }
                both.a.cut();
                both.a.black_hole(false);
                co_await arrive(zk, both.b);
                CHECK(zk.generation() == 1);
            };
            with_proxies(body, 60s, 12s);
        }
    }
}

TEST_CASE("set_hosts: slow responses are waited for, and nothing is lost") {
    with_proxies([](client& zk, proxies& both) -> awaitable<void> {
        both.a.set_delay(direction::to_client, 300ms);
        steady_reads reads(zk, "/", 20);
        co_await zk.set_hosts(rooted(both.b.hosts()));
        co_await arrive(zk, both.b);
        co_await reads.stop();
        CHECK(reads.failed() == 0);
        CHECK(zk.counters().connection_losses == 0);
    });
}

TEST_CASE("set_hosts: a child that is forked during a move leaves it to the parent") {
    with_proxies([](client& zk, proxies& both) -> awaitable<void> {
        std::int64_t id = zk.session_id();
        both.b.black_hole(true);
        co_await zk.set_hosts(rooted(both.b.hosts()));
        co_await eventually_async([&] { return both.b.statistics().connections_accepted > 0; },
                                  20s);
        pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0)
            ::_exit(zk.state() == session_state::closed ? 0 : 1);
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        both.b.black_hole(false);
        co_await arrive(zk, both.b);
        CHECK(zk.session_id() == id);
        CHECK(zk.counters().connection_losses == 0);
    });
}

TEST_CASE("set_hosts: again and again, only the last list counts") {
    with_proxies([](client& zk, proxies& both) -> awaitable<void> {
        std::int64_t id = zk.session_id();
        for (int i = 0; i < 50; ++i) {
            co_await zk.set_hosts(rooted(both.b.hosts()));
            co_await let_others_run(i);
            co_await zk.set_hosts(rooted(both.a.hosts()));
        }
        co_await zk.set_hosts(rooted(both.b.hosts()));
        co_await arrive(zk, both.b);
        CHECK(zk.session_id() == id);
        co_await zk.exists("/");
    });
}

TEST_CASE("set_hosts: of a hundred clients only those move that have to, and the load is even") {
    boost::asio::io_context context;
    std::vector<std::unique_ptr<fault_proxy>> servers;
    for (int i = 0; i < 4; ++i)
        servers.push_back(std::make_unique<fault_proxy>(the_server().port()));
    run(
        context,
        [&]() -> awaitable<void> {
            std::string old_list = servers[0]->hosts() + "," + servers[1]->hosts();
            std::string new_list = old_list + "," + servers[2]->hosts() + "," + servers[3]->hosts();
            std::vector<client> clients;
            std::vector<std::int64_t> ids;
            for (int i = 0; i < 100; ++i) {
                client zk = co_await connected_client(quiet_options(rooted(old_list), 12s));
                ids.push_back(zk.session_id());
                clients.push_back(std::move(zk));
            }
            std::vector<std::uint64_t> requests;
            for (client& zk : clients) {
                co_await zk.set_hosts(rooted(new_list));
                requests.push_back(zk.counters().requests);
            }
            for (std::size_t i = 0; i < clients.size(); ++i)
                co_await eventually_async(
                    [&] { return clients[i].counters().requests >= requests[i] + 5; }, 60s);
            std::uint64_t moved = 0;
            for (std::size_t i = 0; i < clients.size(); ++i) {
                co_await reach(clients[i], session_state::connected);
                CHECK(clients[i].session_id() == ids[i]);
                moved += clients[i].counters().connects - 1;
            }
            std::size_t there = servers[2]->sessions().size() + servers[3]->sessions().size();
            WARN(moved << " of 100 clients have moved: " << servers[2]->sessions().size() << " and "
                       << servers[3]->sessions().size());
            // Six standard deviations.
            CHECK(moved > 20);
            CHECK(moved < 80);
            CHECK(there == moved);
            CHECK(servers[2]->sessions().size() > 2);
            CHECK(servers[3]->sessions().size() > 2);
            for (client& zk : clients)
                co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

TEST_CASE("set_hosts: an operation that completes at once, with every token") {
    with_proxies([](client& zk, proxies& both) -> awaitable<void> {
        outcome<> done;
        zk.set_hosts(rooted(both.a.hosts()), done.handler());
        CHECK_FALSE(done.done());
        error_code ec = co_await done.wait();
        CHECK_FALSE(ec);
        outcome<> cancelled;
        zk.set_hosts(rooted(both.b.hosts()), cancelled.handler());
        cancelled.cancel(cancellation_type::terminal);
        ec = co_await cancelled.wait();
        CHECK_FALSE(ec);
        CHECK(zk.hosts() == rooted(both.b.hosts()));
        std::string message;
        try {
            co_await zk.set_hosts("a:b");
        } catch (const corozk::error& e) {
            message = e.what();
        }
        CHECK_THAT(message, Catch::Contains("set_hosts a:b: "));
    });
}

}  // namespace corozk::testing::client_tests::host_list_test
