// SPDX-License-Identifier: Apache-2.0
// The shipped connector, step by step: events in, actions out, and a clock that a test advances.
#include "session/connector.hpp"

#include <corozk/error.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <set>

namespace corozk::testing::connector_test {

using namespace corozk::detail;
using namespace std::chrono_literals;
using kind = connector::action::kind_type;
using phase = connector::phase_type;
using boost::asio::ip::make_address;

namespace {

connector::endpoint at(const char* address, std::uint16_t port = 2181) {
    return {make_address(address), port};
}

/// A connector and the time.
struct bench {
    explicit bench(client_options options_)
        : options(std::move(options_)), machine(options, parse_hosts(options.hosts), random) {
        REQUIRE(machine.hosts().problem == "");
    }
    explicit bench(const char* hosts) : bench(client_options(hosts)) {}

    connector::action next() { return machine.next(now); }

    /// As a call of `connect` does.
    void start() {
        machine.expect(options.connect_timeout == 0ms ? time_point::max()
                                                      : now + options.connect_timeout);
        machine.start(now);
    }
    /// The next action is the first of a round.
    void begin_round() const {
        REQUIRE(machine.phase() == phase::waiting);
        REQUIRE(machine.deadline() <= now);
    }
    void start_round() {
        start();
        begin_round();
    }
    connector::endpoint attempt() {
        auto todo = next();
        REQUIRE(todo.kind == kind::attempt);
        REQUIRE(machine.phase() == phase::attempting);
        return todo.server;
    }
    std::size_t resolve() {
        auto todo = next();
        REQUIRE(todo.kind == kind::resolve);
        return todo.host;
    }
    void refuse() { machine.attempt_failed("connection refused"); }
    bool waits() { return next().kind == kind::wait; }

    /// Advances the time to the deadline. @return by how much.
    std::chrono::milliseconds pass() {
        auto before = now;
        REQUIRE(machine.deadline() != time_point::max());
        now = machine.deadline();
        return std::chrono::duration_cast<std::chrono::milliseconds>(now - before);
    }
    /// Connected to the one server there is.
    void connect(bool read_only = false) {
        start_round();
        attempt();
        machine.established(options.session_timeout, read_only, now);
    }

    client_options options;
    std::mt19937_64 random{1};
    connector machine;
    time_point now = time_point() + 1h;
};

client_options with_chroot() {
    return client_options("10.0.0.1/app");
}

}  // namespace

TEST_CASE("connector: a literal address is tried at once, and the client is connected") {
    bench b("10.0.0.1:2182");
    CHECK(b.machine.idle());
    CHECK(b.machine.deadline() == time_point::max());
    CHECK(b.waits());
    b.start_round();
    CHECK(b.attempt() == at("10.0.0.1", 2182));
    CHECK(b.waits());
    b.machine.accepted();
    b.machine.established(4s, false, b.now);
    CHECK(b.machine.phase() == phase::open);
    CHECK(b.machine.timeout() == 4s);
    CHECK(b.machine.deadline() == time_point::max());
    CHECK(b.waits());
    CHECK(b.machine.problems() == "");
}

TEST_CASE("connector: all servers of a round are tried, each once, in random order") {
    std::set<connector::endpoint> first;
    bench b("10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.1,[::ffff:10.0.0.2]");
    b.start();
    for (int round = 0; round < 30; ++round) {
        b.begin_round();
        std::set<connector::endpoint> tried;
        for (int i = 0; i < 3; ++i) {
            tried.insert(b.attempt());
            if (i == 0)
                first.insert(*tried.begin());
            b.refuse();
        }
        CHECK(tried.size() == 3);
        CHECK(b.waits());
        CHECK(b.machine.phase() == phase::waiting);
        b.machine.expect(time_point::max());
        b.pass();
    }
    CHECK(first.size() == 3);
}

TEST_CASE("connector: pauses between rounds grow, differ, and do not cost the session") {
    client_options options("10.0.0.1");
    options.connect_timeout = 0ms;
    auto pauses = [](bench& b) {
        std::vector<std::chrono::milliseconds> result;
        b.start();
        for (int i = 0; i < 6; ++i) {
            b.begin_round();
            b.attempt();
            b.refuse();
            CHECK(b.waits());
            result.push_back(b.pass());
        }
        return result;
    };
    bench b(options);
    auto p = pauses(b);
    std::chrono::milliseconds most = 100ms;
    for (std::size_t i = 0; i < p.size();
         ++i, most = std::min<std::chrono::milliseconds>(most * 2, 1000ms)) {
        CHECK(p[i] >= most / 2);
        CHECK(p[i] <= most);
    }
    options.session_timeout = 500ms;
    bench brief(options);
    for (auto pause : pauses(brief))
        CHECK((pause >= 25ms && pause <= 50ms));
}

TEST_CASE("connector: what a server grants may be short") {
    bench b("10.0.0.1");
    b.connect();
    b.machine.established(30ms, false, b.now);
    for (int i = 0; i < 5; ++i) {
        b.machine.connection_lost(b.now);
        auto pause = b.pass();
        CHECK((pause >= 0ms && pause <= 1s));
    }
}

TEST_CASE("connector: a silent server gets its share of the time, then the next is tried") {
    client_options options("10.0.0.1,10.0.0.2");
    options.session_timeout = 12s;
    options.connect_timeout = 0ms;
    bench b(options);
    b.start_round();
    auto first = b.attempt();
    CHECK(b.pass() == 4s);  // half of two thirds of the session timeout
    CHECK(b.machine.next(b.now, true).kind == kind::wait);
    CHECK(b.next().kind == kind::abandon_attempt);
    CHECK(b.attempt() != first);
    CHECK(b.machine.tried().size() == 2);
    b.pass();
    CHECK(b.next().kind == kind::abandon_attempt);
    CHECK(b.waits());
    CHECK(b.machine.phase() == phase::waiting);
    CHECK(b.machine.problems() ==
          " (10.0.0.1:2181: no answer in time; 10.0.0.2:2181: no answer in time)");
}

TEST_CASE("connector: an attempt may not take the others' share of connect_timeout") {
    client_options options("10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4");
    options.connect_timeout = 2000ms;
    bench b(options);
    b.start_round();
    b.attempt();
    CHECK(b.pass() == 500ms);
    CHECK(b.next().kind == kind::abandon_attempt);
    b.attempt();
    CHECK(b.pass() == 500ms);

    options.connect_timeout = 60ms;
    bench hasty(options);
    hasty.start();
    hasty.begin_round();
    hasty.attempt();
    CHECK(hasty.pass() == 60ms);  // an attempt may take 100 ms, but `connect` is over before
    CHECK(hasty.next().kind == kind::give_up);
}

TEST_CASE(
    "connector: connect_timeout ends the waiting, with the reason that is nearest to success") {
    client_options options("10.0.0.1");
    options.connect_timeout = 300ms;
    SECTION("a name that is not known") {
        options.hosts = "nowhere";
        bench b(options);
        b.start_round();
        CHECK(b.resolve() == 0);
        SECTION("yet") {
            b.now += 300ms;
            auto end = b.next();
            CHECK(end.kind == kind::give_up);
            CHECK(end.reason == errc::host_not_found);
            CHECK(b.machine.problems() == " (nowhere: no answer from the name service in time)");
        }
        SECTION("at all") {
            b.machine.resolved(0, "unknown", {});
            CHECK(b.waits());
            CHECK(b.machine.phase() == phase::waiting);
            b.now += 300ms;
            CHECK(b.next().reason == errc::host_not_found);
            CHECK(b.machine.problems() == " (nowhere: unknown)");
        }
    }
    SECTION("nothing accepts") {
        bench b(options);
        b.start_round();
        b.attempt();
        b.refuse();
        b.now += 300ms;
        auto end = b.next();
        CHECK(end.kind == kind::give_up);
        CHECK(end.reason == errc::no_server);
        CHECK(b.machine.problems() == " (10.0.0.1:2181: connection refused)");
        CHECK(b.next().kind != kind::give_up);  // once
    }
    SECTION("nothing answers") {
        bench b(options);
        b.start_round();
        b.attempt();
        b.machine.accepted();
        b.now += 300ms;
        CHECK(b.next().reason == errc::server_silent);
        CHECK(b.machine.problems() ==
              " (10.0.0.1:2181: it accepted the connection, but established no session in time)");
    }
    SECTION("no answer about the chroot") {
        options.hosts = "10.0.0.1/app";
        bench b(options);
        b.connect();
        b.now += 300ms;
        CHECK(b.next().reason == errc::server_silent);
    }
    SECTION("nobody waits any more") {
        bench b(options);
        b.start_round();
        b.attempt();
        b.machine.expect(time_point::max());
        b.now += 300ms;
        CHECK(b.next().kind == kind::abandon_attempt);
    }
    SECTION("unlimited") {
        options.connect_timeout = 0ms;
        bench b(options);
        b.start();
        b.now += 24h;
        b.begin_round();
    }
}

TEST_CASE("connector: names are looked up in each round, and all their addresses tried") {
    bench b("zk");
    b.start_round();
    CHECK(b.resolve() == 0);
    CHECK(b.waits());
    CHECK(b.machine.phase() == phase::resolving);
    b.machine.resolved(0, "", {make_address("10.0.0.1"), make_address("10.0.0.2")});
    auto first = b.attempt();
    b.refuse();
    CHECK(b.attempt() != first);
    b.refuse();
    CHECK(b.waits());
    b.pass();
    b.begin_round();
    CHECK(b.resolve() == 0);
}

TEST_CASE("connector: a name without an answer does not delay what can be tried") {
    bench b("10.0.0.1,slow");
    b.start_round();
    CHECK(b.resolve() == 1);
    CHECK(b.attempt() == at("10.0.0.1"));
    b.refuse();
    CHECK(b.waits());
    CHECK(b.machine.phase() == phase::waiting);
    SECTION("an answer between rounds is used in the next one") {
        b.machine.resolved(1, "", {make_address("10.0.0.2")});
        b.pass();
        b.begin_round();
        std::set<connector::endpoint> tried{b.attempt()};
        b.refuse();
        tried.insert(b.attempt());
        CHECK(tried == std::set{at("10.0.0.1"), at("10.0.0.2")});
    }
    SECTION("a look-up goes on over rounds, and its answer joins the round under way") {
        b.pass();
        b.begin_round();
        CHECK(b.attempt() == at("10.0.0.1"));
        auto alone = b.machine.deadline();
        b.machine.resolved(
            1, "", {make_address("10.0.0.1"), make_address("10.0.0.2"), make_address("10.0.0.3")});
        CHECK(b.machine.deadline() < alone);
        b.refuse();
        std::set<connector::endpoint> tried{b.attempt()};
        b.refuse();
        tried.insert(b.attempt());
        CHECK(tried == std::set{at("10.0.0.2"), at("10.0.0.3")});
    }
    SECTION("a failure between rounds: it is asked again") {
        b.machine.resolved(1, "unknown", {});
        b.pass();
        b.begin_round();
        CHECK(b.resolve() == 1);
    }
}

TEST_CASE("connector: known addresses are used when a look-up is slow or fails") {
    bench b("zk");
    b.start_round();
    b.resolve();
    b.machine.resolved(0, "", {make_address("10.0.0.1")});
    b.attempt();
    b.machine.established(4s, false, b.now);
    b.machine.connection_lost(b.now);
    b.begin_round();
    b.resolve();
    CHECK(b.waits());
    SECTION("slow") {
        CHECK(b.pass() == 400ms);
        CHECK(b.attempt() == at("10.0.0.1"));
        b.refuse();
        CHECK(b.waits());
        CHECK(b.machine.phase() == phase::waiting);
    }
    SECTION("failed") {
        b.machine.resolved(0, "the name service is away", {});
        CHECK(b.attempt() == at("10.0.0.1"));
    }
    SECTION("unknown and slow: waits for the look-up") {
        bench other("zk");
        other.start();
        other.begin_round();
        other.resolve();
        other.now += 1s;
        CHECK(other.waits());
        CHECK(other.machine.phase() == phase::resolving);
        other.machine.resolved(0, "", {make_address("10.0.0.1")});
        CHECK(other.attempt() == at("10.0.0.1"));
    }
}

TEST_CASE("connector: an address that is not its name's any more is not tried") {
    bench b("zk");
    b.start_round();
    b.resolve();
    b.machine.resolved(0, "", {make_address("10.0.0.1"), make_address("10.0.0.2")});
    b.attempt();
    b.machine.established(4s, false, b.now);
    b.machine.connection_lost(b.now);
    b.begin_round();
    b.resolve();
    b.waits();
    b.pass();
    const auto first = b.attempt();
    b.machine.resolved(0, "", {first.address(), make_address("10.0.0.3")});
    b.refuse();
    CHECK(b.attempt() == at("10.0.0.3"));
    CHECK(b.machine.servers().names_of(at("10.0.0.3")) == std::vector<std::string>{"zk"});
    b.refuse();
    CHECK(b.waits());
}

TEST_CASE("connector: a known address is tried although others were, while a look-up is slow") {
    bench b("10.0.0.1,zk");
    b.start_round();
    CHECK(b.resolve() == 1);
    b.machine.resolved(1, "", {make_address("10.0.0.2")});
    if (b.attempt() == at("10.0.0.1")) {
        b.refuse();
        b.attempt();
    }
    b.machine.established(4s, false, b.now);
    b.machine.connection_lost(b.now);
    b.begin_round();
    CHECK(b.resolve() == 1);
    CHECK(b.attempt() == at("10.0.0.1"));
    b.refuse();
    CHECK(b.attempt() == at("10.0.0.2"));
    b.refuse();
    CHECK(b.waits());
    CHECK(b.machine.phase() == phase::waiting);
}

TEST_CASE("connector: a link-local address without an interface is no address") {
    bench b("[fe80::1]");
    b.start_round();
    CHECK(b.waits());
    CHECK(b.machine.phase() == phase::waiting);
    CHECK(b.machine.problems() ==
          " (fe80::1: a link-local address needs a network interface of this machine, as in "
          "fe80::1%eth0)");
}

TEST_CASE("connector: a connection that ends is replaced at once, unless all end at once") {
    bench b("10.0.0.1");
    b.connect();
    for (int i = 0; i < 2; ++i) {
        b.machine.connection_lost(b.now);
        b.begin_round();
        b.attempt();
        b.machine.established(10s, false, b.now);
    }
    b.machine.connection_lost(b.now);
    CHECK(b.waits());
    b.pass();
    b.begin_round();
    b.attempt();
    b.machine.established(10s, false, b.now);
    b.now += 1s;  // this one lasts
    b.machine.connection_lost(b.now);
    b.begin_round();
}

TEST_CASE(
    "connector: a server that was given up is tried after the others, in the next round only") {
    bench b("10.0.0.1,10.0.0.2,10.0.0.3");
    b.start();
    std::set<connector::endpoint> again;
    for (int i = 0; i < 30; ++i) {
        b.begin_round();
        const auto current = b.attempt();
        b.machine.established(10s, false, b.now);
        b.now += 2s;
        b.machine.give_up_server();
        b.machine.connection_lost(b.now);
        b.begin_round();
        CHECK(b.attempt() != current);
        b.refuse();
        CHECK(b.attempt() != current);
        b.refuse();
        CHECK(b.attempt() == current);
        b.refuse();
        CHECK(b.waits());
        b.pass();
        b.begin_round();
        const auto next = b.attempt();
        if (next == current)
            again.insert(next);
        b.machine.established(10s, false, b.now);
        b.now += 2s;
        b.machine.connection_lost(b.now);
    }
    CHECK(again.size() > 1);
}

TEST_CASE("connector: the server that was given up waits for the others' names") {
    bench b("a,b");
    b.start_round();
    b.resolve();
    b.resolve();
    b.machine.resolved(0, "", {make_address("10.0.0.1")});
    CHECK(b.attempt() == at("10.0.0.1"));
    b.machine.resolved(1, "", {make_address("10.0.0.2")});
    b.machine.established(10s, false, b.now);
    b.now += 2s;
    b.machine.give_up_server();
    b.machine.connection_lost(b.now);
    b.begin_round();
    b.resolve();
    b.resolve();
    SECTION("another one is found first") {
        b.machine.resolved(1, "", {make_address("10.0.0.2")});
        CHECK(b.attempt() == at("10.0.0.2"));
        b.machine.resolved(0, "", {make_address("10.0.0.1")});
        b.refuse();
        CHECK(b.attempt() == at("10.0.0.1"));
    }
    SECTION("its own is found first") {
        b.machine.resolved(0, "", {make_address("10.0.0.1")});
        CHECK(b.waits());
        SECTION("another one then") {
            b.machine.resolved(1, "", {make_address("10.0.0.3")});
            CHECK(b.attempt() == at("10.0.0.3"));
            b.refuse();
        }
        SECTION("not found any more: the other's known address is used") {
            b.machine.resolved(1, "unknown name", {});
            CHECK(b.attempt() == at("10.0.0.2"));
            b.refuse();
        }
        SECTION("the others' take long: their known addresses are used") {
            CHECK(b.pass() == 500ms);
            CHECK(b.attempt() == at("10.0.0.2"));
            b.refuse();
        }
        CHECK(b.attempt() == at("10.0.0.1"));
    }
}

TEST_CASE("connector: the chroot is verified before the first use, and only then") {
    bench b(with_chroot());
    b.connect();
    CHECK(b.machine.verifying());
    CHECK(b.waits());
    SECTION("lost meanwhile: again") {
        b.machine.connection_lost(b.now);
        b.begin_round();
        b.attempt();
        b.machine.established(10s, false, b.now);
        CHECK(b.machine.verifying());
    }
    SECTION("it exists: once is enough, until `connect` is called again") {
        b.machine.verified(false, b.now);
        CHECK(b.machine.open());
        b.now += 1min;
        CHECK(b.waits());  // of `connect_timeout` nothing is left
        b.machine.connection_lost(b.now);
        b.begin_round();
        b.attempt();
        b.machine.established(10s, false, b.now);
        CHECK(b.machine.open());
        b.machine.stop();
        b.connect();
        CHECK(b.machine.verifying());
    }
    SECTION("it is missing: the end") {
        b.machine.stop();
        CHECK(b.machine.idle());
        CHECK(b.machine.deadline() == time_point::max());
    }
}

TEST_CASE("connector: a busy server is asked for the chroot again, once for each refusal") {
    bench b(with_chroot());
    b.connect();
    CHECK_FALSE(b.machine.take_question());
    b.machine.verify_again();
    CHECK(b.machine.take_question());
    CHECK_FALSE(b.machine.take_question());

    // A new connection has its own question.
    b.machine.verify_again();
    b.machine.connection_lost(b.now);
    CHECK_FALSE(b.machine.take_question());
    b.attempt();
    b.machine.established(6s, false, b.now);
    CHECK(b.machine.verifying());
    CHECK_FALSE(b.machine.take_question());
}

TEST_CASE("connector: what stands in the way is to be said once in an outage, and not at once") {
    client_options options("10.0.0.1");
    options.session_timeout = 6s;
    options.connect_timeout = GENERATE(0ms, 10000ms);
    bench b(options);
    CHECK_FALSE(b.machine.take_explanation(b.now));
    b.start_round();
    CHECK_FALSE(b.machine.take_explanation(b.now + 2999ms));
    // With a time limit, the failure says it.
    CHECK(b.machine.take_explanation(b.now + 3s) == (options.connect_timeout == 0ms));
    CHECK_FALSE(b.machine.take_explanation(b.now + 1h));

    b.attempt();
    b.machine.established(6s, false, b.now);
    CHECK_FALSE(b.machine.take_explanation(b.now + 1h));
    b.machine.connection_lost(b.now);
    // The end of the session causes another one.
    b.machine.connection_lost(b.now + 2s);
    CHECK_FALSE(b.machine.take_explanation(b.now + 2999ms));
    CHECK(b.machine.take_explanation(b.now + 3s));
    b.machine.connection_lost(b.now + 4s);  // and this one, too
    CHECK_FALSE(b.machine.take_explanation(b.now + 1h));

    b.now += 5s;
    b.attempt();
    b.machine.established(6s, false, b.now);
    REQUIRE(b.machine.replace(parse_hosts("10.0.0.2"), b.now));
    CHECK_FALSE(b.machine.take_explanation(b.now + 8999ms));
    SECTION("it has not moved") {
        CHECK(b.machine.take_explanation(b.now + 9s));
        CHECK_FALSE(b.machine.take_explanation(b.now + 1h));
    }
    SECTION("it was closed") {
        b.machine.stop();
        CHECK_FALSE(b.machine.take_explanation(b.now + 9s));
    }
}

TEST_CASE("connector: stopped in any phase it wants nothing, and a late answer starts nothing") {
    bench b("10.0.0.1,zk");
    int phases = GENERATE(0, 1, 2, 3, 4);
    b.start();
    if (phases > 0)
        b.begin_round();
    if (phases > 1)
        b.resolve();
    if (phases > 2)
        b.attempt();
    if (phases > 3)
        b.machine.established(4s, true, b.now);
    b.machine.stop();  // closed, authentication refused, the chroot is missing
    b.now += 1h;
    CHECK(b.waits());
    CHECK(b.machine.deadline() == time_point::max());
    b.start_round();
    CHECK(b.resolve() == 1);
}

TEST_CASE("connector: while read-only it looks for a quorum, and goes there first") {
    client_options options("10.0.0.1,10.0.0.2,zk");
    bench b(options);
    b.start_round();
    b.resolve();
    b.machine.resolved(2, "", {make_address("10.0.0.3"), make_address("10.0.0.4")});
    auto current = b.attempt();
    b.machine.established(4s, true, b.now);
    std::vector<std::chrono::milliseconds> pauses;
    for (int i = 0; i < 8; ++i) {
        // Nobody has answered: its addresses may have changed.
        if (i > 0) {
            CHECK(b.resolve() == 2);
            CHECK(b.waits());
            b.machine.resolved(2, "", {make_address("10.0.0.3"), make_address("10.0.0.5")});
        }
        CHECK(b.next().kind == kind::ask_servers);
        CHECK(b.waits());
        pauses.push_back(b.pass());
    }
    CHECK(pauses == std::vector<std::chrono::milliseconds>{
                        200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 10s, 10s});
    auto others = b.machine.search().candidates();
    CHECK(std::count(others.begin(), others.end(), current) == 0);
    CHECK(std::count(others.begin(), others.end(), at("10.0.0.5")) == 1);
    CHECK(std::count(others.begin(), others.end(), at("10.0.0.4")) == 0);
    b.machine.found(others.back(), b.now);
    CHECK(b.waits());
    b.machine.connection_lost(b.now);
    b.begin_round();
    b.resolve();
    CHECK(b.attempt() == others.back());
    b.machine.established(4s, false, b.now);
    CHECK(b.waits());
    CHECK(b.machine.deadline() == time_point::max());
}

TEST_CASE("connector: it leaves once nothing is in flight, or tries again later") {
    bench b("10.0.0.1,10.0.0.2");
    b.start_round();
    auto current = b.attempt();
    b.machine.established(4s, true, b.now);
    REQUIRE(b.next().kind == kind::ask_servers);
    auto other = b.machine.search().candidates().at(0);
    CHECK(other != current);
    CHECK_FALSE(b.machine.search().leaving());
    b.machine.found(other, b.now);
    CHECK(b.machine.search().leaving());
    CHECK(b.waits());
    CHECK(b.pass() == 1333ms);
    CHECK(b.waits());
    CHECK_FALSE(b.machine.search().leaving());
    b.pass();
    CHECK(b.next().kind == kind::ask_servers);
    b.machine.found(other, b.now);
    b.machine.left();
    CHECK_FALSE(b.machine.search().leaving());
    b.machine.connection_lost(b.now);
    b.begin_round();
    CHECK(b.attempt() == other);
    b.refuse();
    CHECK(b.attempt() == current);
}

TEST_CASE("connector: why a server takes no client stays known while it is asked again") {
    bench b("10.0.0.1");
    b.start_round();
    b.attempt();
    b.machine.established(4s, false, b.now);
    b.machine.replace(parse_hosts("10.0.0.2"), b.now);
    b.machine.refused(at("10.0.0.2"), "");
    CHECK(b.machine.problems() == " (10.0.0.2:2181: no answer in time)");
    b.machine.refused(at("10.0.0.2"), "it has no quorum");
    b.machine.refused(at("10.0.0.2"), "");
    CHECK(b.machine.problems() == " (10.0.0.2:2181: it has no quorum)");
    SECTION("until the list is replaced") {
        b.machine.replace(parse_hosts("10.0.0.3"), b.now);
        CHECK(b.machine.problems().empty());
    }
    SECTION("until the connection is lost") {
        b.machine.connection_lost(b.now);
        CHECK(b.machine.problems().empty());
    }
}

TEST_CASE("hosts replaced: while idle the next connection uses them") {
    bench b("10.0.0.1");
    b.machine.replace(parse_hosts("10.0.0.2"), b.now);
    CHECK(b.waits());
    CHECK(b.machine.idle());
    b.start_round();
    CHECK(b.attempt() == at("10.0.0.2"));
}

TEST_CASE("hosts replaced: without a connection they are tried at once") {
    bench b("10.0.0.1,10.0.0.9,zk");
    b.start();
    int phases = GENERATE(0, 1, 2, 3);
    CAPTURE(phases);
    if (phases > 0)
        b.begin_round();
    if (phases > 1)
        b.resolve();
    if (phases > 2) {
        for (int i = 0; i < 2; ++i) {
            b.attempt();
            b.refuse();
        }
        CHECK(b.waits());
    }
    b.machine.replace(parse_hosts("10.0.0.2"), b.now);
    b.begin_round();
    CHECK(b.attempt() == at("10.0.0.2"));
    b.machine.established(4s, false, b.now);
    CHECK(b.waits());
    CHECK(b.machine.deadline() == time_point::max());
}

TEST_CASE("hosts replaced: an attempt is abandoned, unless it may have succeeded") {
    bench b("10.0.0.1,10.0.0.9");
    b.start_round();
    auto old = b.attempt();
    b.machine.replace(parse_hosts("10.0.0.2,10.0.0.3"), b.now);
    CHECK(b.machine.next(b.now, true).kind == kind::wait);
    SECTION("it has not") {
        CHECK(b.next().kind == kind::abandon_attempt);
        b.begin_round();
        b.attempt();
        b.refuse();
        b.attempt();
        b.refuse();
        CHECK(b.waits());  // a usual pause
        CHECK(b.machine.phase() == phase::waiting);
    }
    SECTION("it fails") {
        b.refuse();
        b.begin_round();
        CHECK(b.attempt() != old);
    }
    SECTION("it has: the client moves later") {
        b.machine.established(4s, false, b.now);
        CHECK(b.machine.open());
        CHECK(b.machine.deadline() <= b.now + 4s);
        b.now = b.machine.deadline();
        CHECK(b.next().kind == kind::ask_servers);
        auto other = b.machine.search().candidates().at(0);
        CHECK((other == at("10.0.0.2") || other == at("10.0.0.3")));
    }
}

TEST_CASE("hosts replaced: an attempt at a server of both lists goes on, and the others are next") {
    bench b("10.0.0.1,10.0.0.9");
    const bool tls = GENERATE(false, true);
    if (tls)
        b.options.tls.emplace();
    b.start_round();
    const auto current = b.attempt();
    const std::string server = current.address().to_string();
    const auto due = b.machine.deadline();
    for (int i = 0; i < 10; ++i) {
        b.machine.replace(parse_hosts("10.0.0.2," + server), b.now);
        b.machine.replace(parse_hosts(server + ",10.0.0.3"), b.now);
        CHECK(b.waits());
    }
    CHECK(b.machine.deadline() == due);
    CHECK_THAT(b.machine.problems(), Catch::Contains(to_text(current) + ": no answer in time"));
    SECTION("it succeeds") {
        b.machine.established(4s, false, b.now);
        CHECK(b.machine.open());
    }
    SECTION("it takes too long") {
        b.pass();
        CHECK(b.next().kind == kind::abandon_attempt);
        b.begin_round();
        CHECK(b.attempt() == at("10.0.0.3"));
        b.refuse();
        CHECK(b.attempt() == current);
    }
}

TEST_CASE("hosts replaced: with TLS a server of another name is another one") {
    bench b("a");
    const bool tls = GENERATE(false, true);
    if (tls)
        b.options.tls.emplace();
    b.start_round();
    b.resolve();
    b.machine.resolved(0, "", {make_address("10.0.0.1")});
    b.attempt();
    b.machine.replace(parse_hosts("a,b"), b.now);
    CHECK(b.waits());
    b.machine.replace(parse_hosts("10.0.0.1"), b.now);
    CHECK(b.next().kind == (tls ? kind::abandon_attempt : kind::wait));
}

TEST_CASE("hosts replaced: by the same list, nothing changes") {
    bench b("10.0.0.1,a,b");
    auto again = [&] { CHECK_FALSE(b.machine.replace(parse_hosts("10.0.0.1,a:2181,b"), b.now)); };
    b.start();
    again();
    b.begin_round();
    b.resolve();
    again();
    CHECK(b.resolve() == 2);
    b.attempt();
    again();
    CHECK(b.waits());
    b.refuse();
    again();
    b.machine.resolved(1, "", {make_address("10.0.0.2")});
    CHECK(b.attempt() == at("10.0.0.2"));
    b.refuse();
    CHECK(b.waits());  // a pause
    const auto due = b.machine.deadline();
    REQUIRE(due > b.now);
    again();
    CHECK(b.machine.deadline() == due);
    b.pass();
    b.begin_round();
    CHECK(b.machine.replace(parse_hosts("10.0.0.1,b,a"), b.now));
}

TEST_CASE("hosts replaced: names are looked up first, and addresses of names in both lists known") {
    bench b("a,b");
    b.start_round();
    b.resolve();
    b.resolve();
    b.machine.resolved(0, "", {make_address("10.0.0.1")});
    auto current = b.attempt();
    CHECK(current == at("10.0.0.1"));
    b.machine.resolved(1, "", {make_address("10.0.0.2")});
    b.machine.established(4s, false, b.now);
    SECTION("the own server under another name") {
        b.machine.replace(parse_hosts("c,b"), b.now);
        b.pass();
        CHECK(b.resolve() == 0);
        CHECK(b.waits());
        b.machine.resolved(0, "", {current.address()});
        CHECK(b.waits());
        CHECK(b.machine.deadline() == time_point::max());
    }
    SECTION("one that is gone; the new one cannot be resolved, and later it can") {
        b.machine.replace(parse_hosts("c"), b.now);
        b.pass();
        CHECK(b.resolve() == 0);
        b.machine.resolved(0, "unknown name", {});
        CHECK(b.waits());
        CHECK(b.machine.open());
        b.pass();
        CHECK(b.resolve() == 0);
        CHECK(b.waits());
        b.pass();  // patience
        CHECK(b.waits());
        b.machine.resolved(0, "", {make_address("10.0.0.3")});
        b.pass();
        CHECK(b.next().kind == kind::ask_servers);
        CHECK(b.machine.search().candidates() == std::vector{at("10.0.0.3")});
    }
    SECTION("the other one: nothing is looked up") {
        b.machine.replace(parse_hosts("b"), b.now);
        b.pass();
        CHECK(b.next().kind == kind::ask_servers);
        CHECK(b.machine.search().candidates() == std::vector{at("10.0.0.2")});
    }
    SECTION("the connection is lost before: all are tried, with new look-ups") {
        b.machine.replace(parse_hosts("b,c"), b.now);
        b.machine.connection_lost(b.now);
        b.begin_round();
        b.resolve();
        b.resolve();
        b.machine.resolved(0, "", {make_address("10.0.0.2")});
        CHECK(b.attempt() == at("10.0.0.2"));
    }
}

TEST_CASE("hosts replaced: a server whose name was not resolved before is no new one") {
    const bool more = GENERATE(false, true);
    int moved = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        bench b("a,b");
        b.random.seed(seed);
        b.start_round();
        b.resolve();
        b.resolve();
        b.machine.resolved(0, "", {make_address("10.0.0.1")});
        b.attempt();
        b.machine.established(4s, false, b.now);
        b.machine.resolved(1, "unknown", {});
        b.machine.replace(parse_hosts(more ? "a,b,c" : "b,a"), b.now);
        b.pass();
        b.resolve();
        if (more)
            b.resolve();
        b.machine.resolved(more ? 1 : 0, "", {make_address("10.0.0.2")});
        if (more)
            b.machine.resolved(2, "", {make_address("10.0.0.3")});
        if (b.waits()) {
            CHECK(b.machine.deadline() == time_point::max());
            continue;
        }
        REQUIRE(more);
        ++moved;
        CHECK(b.machine.search().candidates() == std::vector{at("10.0.0.3")});
    }
    CHECK((moved == 0 || (moved > 40 && moved < 95)));
}

TEST_CASE("connector: what was looked up while connected is looked up again later") {
    bench b("10.0.0.1,slow");
    b.start_round();
    CHECK(b.resolve() == 1);
    b.attempt();
    b.machine.established(4s, false, b.now);
    b.machine.resolved(1, "", {make_address("10.0.0.2")});
    b.now += 5h;
    b.machine.connection_lost(b.now);
    b.begin_round();
    CHECK(b.resolve() == 1);
    CHECK(b.attempt() == at("10.0.0.1"));
}

TEST_CASE("hosts replaced: one of a removed server's clients asks any, once the first is silent") {
    bench b("10.0.0.1,10.0.0.2");
    b.start_round();
    auto current = b.attempt();
    auto other = current == at("10.0.0.1") ? at("10.0.0.2") : at("10.0.0.1");
    b.machine.established(4s, false, b.now);
    b.machine.replace(parse_hosts(other.address().to_string() + ",10.0.0.3"), b.now);
    std::set<connector::endpoint> asked;
    for (int i = 0; i < 20; ++i) {
        b.pass();
        REQUIRE(b.next().kind == kind::ask_servers);
        REQUIRE(b.machine.search().candidates().size() == 1);
        asked.insert(b.machine.search().candidates().front());
        CHECK(b.waits());
    }
    CHECK(asked == std::set{other, at("10.0.0.3")});
}

TEST_CASE("hosts replaced: while read-only all of them are asked at once") {
    bench b("10.0.0.1");
    b.connect(true);
    CHECK(b.waits());  // there is no other server
    b.machine.replace(parse_hosts("10.0.0.2,10.0.0.3"), b.now);
    CHECK(b.next().kind == kind::ask_servers);
    CHECK(b.machine.search().for_quorum());
    CHECK(b.machine.search().candidates().size() == 2);
}

TEST_CASE("hosts replaced: before the chroot was verified") {
    bench b(with_chroot());
    b.connect();
    CHECK(b.machine.verifying());
    b.machine.replace(parse_hosts("10.0.0.2/app"), b.now);
    CHECK(b.waits());
    b.machine.verified(false, b.now);
    b.pass();
    CHECK(b.next().kind == kind::ask_servers);
}

TEST_CASE("connector: keeps the problems of so many servers, and forgets them when connected") {
    client_options options;
    for (int i = 1; i <= 20; ++i)
        options.hosts += (i == 1 ? "10.0.0." : ",10.0.0.") + std::to_string(i);
    bench b(options);
    b.start_round();
    for (int i = 0; i < 19; ++i) {
        b.attempt();
        b.refuse();
    }
    b.attempt();
    auto text = b.machine.problems();
    CHECK(std::count(text.begin(), text.end(), ';') == 15);
    b.machine.established(4s, false, b.now);
    CHECK(b.machine.problems() == "");
}

}  // namespace corozk::testing::connector_test
