// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <mutex>
#include <set>

namespace corozk::testing::service_discovery_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

service_instance instance(std::string id, std::uint16_t port = 80) {
    service_instance one("web", "127.0.0.1", port);
    one.id = std::move(id);
    return one;
}

std::vector<std::string> ids(const std::vector<service_instance>& all) {
    std::vector<std::string> result;
    for (const service_instance& one : all)
        result.push_back(one.id);
    return result;
}

// Named: g++ 12.2 does not compile lists in braces beside co_await.
const std::vector<std::string> nobody;
const std::vector<std::string> only_a{"a"};
const std::vector<std::string> a_and_b{"a", "b"};
const std::vector<std::string> only_web{"web"};

/// Waits until a cache shows these instances.
awaitable<service_state> shown(service_cache& cache, const std::vector<std::string>& wanted) {
    service_state state = cache.current();
    while (state.revision == 0 || ids(state.instances) != wanted)
        state = co_await cache.next(state);
    co_return state;
}

}  // namespace

TEST_CASE("service discovery: register, resolve, update, unregister") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string base = path + "/services";
        service_discovery discovery(zk, base);
        CHECK(discovery.path() == base);
        auto names = co_await discovery.list_names();
        CHECK(names.empty());
        auto all = co_await discovery.resolve("web");
        CHECK(all.empty());

        service_instance a = instance("a");
        a.payload = "{\"weight\":1}";
        co_await discovery.register_instance(a);
        all = co_await discovery.resolve("web");
        REQUIRE(all.size() == 1);
        CHECK(all[0].session_id == zk.session_id());
        CHECK(all[0].incarnation != 0);
        a.session_id = all[0].session_id;
        a.incarnation = all[0].incarnation;
        a.node = "a";
        CHECK(all[0] == a);
        CHECK(observer().stat(base + "/web/a")->ephemeral_owner == zk.session_id());
        names = co_await discovery.list_names();
        CHECK(names == only_web);

        a.enabled = false;
        co_await discovery.update(a);
        all = co_await discovery.resolve("web");
        REQUIRE(all.size() == 1);
        CHECK_FALSE(all[0].enabled);
        CHECK(all[0].incarnation == a.incarnation);

        auto [ec] = co_await discovery.register_instance(a, as_tuple());
        CHECK(ec == errc::busy);
        std::tie(ec) = co_await discovery.update(instance("b"), as_tuple());
        CHECK(ec == errc::not_a_member);
        std::tie(ec) = co_await discovery.unregister("web", "b", as_tuple());
        CHECK(ec == zk_errc::no_node);
        co_await discovery.unregister(a);
        CHECK(observer().children(base + "/web").empty());
        co_await discovery.register_instance(a);
        CHECK(observer().children(base + "/web") == only_a);
        discovery = service_discovery();
        co_await eventually_async([&] { return observer().children(base + "/web").empty(); });
        std::tie(ec) = co_await discovery.register_instance(a, as_tuple());
        CHECK(ec == errc::closed);
    });
}

TEST_CASE("service discovery: static and permanent instances remain, and are replaced") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (service_type type : {service_type::static_, service_type::permanent}) {
            service_discovery discovery(zk, path);
            service_instance a = instance("a");
            a.type = type;
            auto [ec] = co_await discovery.update(a, as_tuple());
            CHECK(ec == zk_errc::no_node);
            co_await discovery.register_instance_for(a, 20s);
            co_await discovery.register_instance(a);
            CHECK(observer().stat(path + "/web/a")->ephemeral_owner == 0);
            CHECK(observer().stat(path + "/web/a")->version == 0);
            a.port = 81;
            co_await discovery.register_instance(a);
            a.port = 82;
            co_await discovery.update(a);
            discovery = service_discovery(zk, path);
            auto all = co_await discovery.resolve("web");
            REQUIRE(all.size() == 1);
            CHECK(all[0].port == 82);
            CHECK(all[0].type == type);
            CHECK(all[0].session_id == 0);
            co_await discovery.unregister("web", "a");
            all = co_await discovery.resolve("web");
            CHECK(all.empty());
        }
        // The node of a dynamic instance is its session's.
        service_discovery discovery(zk, path);
        service_instance a = instance("a");
        co_await discovery.register_instance(a);
        a.type = service_type::permanent;
        auto [ec] = co_await discovery.register_instance(a, as_tuple());
        CHECK(ec == errc::busy);
        std::tie(ec) = co_await discovery.update(a, as_tuple());
        CHECK(ec == errc::bad_option);
        service_discovery other(zk, path);
        std::tie(ec) = co_await other.register_instance(a, as_tuple());
        CHECK(ec == errc::already_exists);
        std::tie(ec) = co_await other.update(a, as_tuple());
        CHECK(ec == errc::not_a_member);
    });
}

TEST_CASE("service discovery: what is done to an instance that was found concerns no other one") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        service_discovery discovery(zk, path);
        service_instance primary("db", "127.0.0.1", 1);
        primary.id = "primary";
        primary.type = service_type::permanent;
        co_await discovery.register_instance(primary);
        const std::string before = observer().data(path + "/db/primary");
        observer().plant(path + "/web");
        observer().plant(path + "/web/x",
                         R"({"name":"db","id":"primary","port":80,"serviceType":"PERMANENT"})");
        auto found = co_await discovery.resolve("web");
        REQUIRE(found.size() == 1);
        CHECK(found[0].node == "x");
        found[0].port = 81;
        co_await discovery.update(found[0]);
        CHECK(observer().data(path + "/db/primary") == before);
        service_cache cache(zk, path, "web");
        service_state state = co_await cache.next();
        while (state.instances.at(0).port != 81)
            state = co_await cache.next(state);
        co_await discovery.unregister(state.instances[0]);
        CHECK_FALSE(observer().exists(path + "/web/x"));
        CHECK(observer().data(path + "/db/primary") == before);
    });
}

TEST_CASE("service discovery: the root is a base path like others") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string service = "root" + path;
        std::replace(service.begin(), service.end(), '/', '-');
        service_discovery discovery(zk, "/");
        service_instance a(service, "127.0.0.1", 1);
        co_await discovery.register_instance(a);
        auto names = co_await discovery.list_names();
        CHECK(std::count(names.begin(), names.end(), service) == 1);
        auto all = co_await discovery.resolve(service);
        CHECK(all.size() == 1);
        service_cache cache(zk, "/", service);
        service_state state = co_await cache.next();
        CHECK(state.instances.size() == 1);
        service_provider provider(zk, "/", service);
        service_instance chosen = co_await provider.choose();
        CHECK(chosen.id == a.id);
        co_await discovery.unregister(a);
    });
}

TEST_CASE("service discovery: what cannot be registered") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        service_discovery discovery(zk, path);
        for (const char* bad : {"", "a/b", ".."}) {
            service_instance one = instance(bad);
            auto [ec] = co_await discovery.register_instance(one, as_tuple());
            CHECK(ec == errc::bad_path);
            one = instance("a");
            one.name = bad;
            std::tie(ec) = co_await discovery.register_instance(one, as_tuple());
            CHECK(ec == errc::bad_path);
            auto [ec2, none] = co_await discovery.resolve(bad, as_tuple());
            CHECK(ec2 == errc::bad_path);
            service_cache cache(zk, path, bad);
            auto [ec3, state] = co_await cache.next(as_tuple());
            CHECK(ec3 == errc::bad_path);
            service_provider provider(zk, path, bad);
            auto [ec4, chosen] = co_await provider.choose(as_tuple());
            CHECK(ec4 == errc::bad_path);
            auto [ec5, endpoints] = co_await provider.get_endpoints(as_tuple());
            CHECK(ec5 == errc::bad_path);
        }
        service_instance one = instance("a");
        one.payload = "{";
        auto [ec] = co_await discovery.register_instance(one, as_tuple());
        CHECK(ec == errc::bad_option);
        one = instance("a");
        one.type = service_type::dynamic_sequential;
        std::tie(ec) = co_await discovery.register_instance(one, as_tuple());
        CHECK(ec == errc::bad_option);
        one = instance("a");
        one.set_text(std::string(2'000'000, 'x'));
        std::tie(ec) = co_await discovery.register_instance(one, as_tuple());
        CHECK(ec == errc::too_large);
        CHECK(observer().children(path).empty());
    });
}

TEST_CASE("service discovery: an id of another session is waited for, or refused") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        service_discovery theirs(other, path);
        service_instance a = instance("a");
        co_await theirs.register_instance(a);
        service_discovery_options options;
        options.wait_for_predecessor = false;
        service_discovery impatient(zk, path, options);
        auto [ec] = co_await impatient.register_instance(a, as_tuple());
        CHECK(ec == errc::already_exists);
        service_discovery mine(zk, path);
        std::tie(ec) = co_await mine.register_instance_for(a, 20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        std::tie(ec) = co_await mine.register_instance_until(
            a, std::chrono::steady_clock::now() + 20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        pending_result<> waiting;
        mine.register_instance(a, waiting.handler());
        co_await settle(zk);
        CHECK_FALSE(waiting.done());
        co_await other.close();
        CHECK(!co_await finished(waiting));
        CHECK(observer().stat(path + "/web/a")->ephemeral_owner == zk.session_id());
    });
}

TEST_CASE("service discovery: another session in the place of a live registration is told, once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::mutex m;
        std::vector<std::string> warnings;
        client_options loud = options_for(shared_server().hosts());
        loud.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
            std::lock_guard hold(m);
            warnings.emplace_back(text);
        });
        auto executor = co_await boost::asio::this_coro::executor;
        client mine = co_await client::connect(executor, loud);
        service_discovery discovery(mine, path);
        co_await discovery.register_instance(instance("a"));
        const std::string node = path + "/web/a";
        auto told = [&] {
            std::lock_guard hold(m);
            return warnings.size();
        };
        CHECK(told() == 0);
        // As Curator does it, if nobody is faster.
        create_options theirs;
        theirs.mode = create_mode::ephemeral;
        transaction replace;
        replace.erase(node).create(node, "theirs", theirs);
        co_await zk.commit(replace);
        co_await eventually_async([&] { return told() == 1; });
        co_await eventually_async([&] { return watches_below(node) == 1; });
        co_await zk.set(node, "still theirs");
        co_await settle(mine);
        co_await zk.erase(node);
        co_await eventually_async([&] {
            auto there = observer().stat(node);
            return there && there->ephemeral_owner == mine.session_id();
        });
        CHECK(told() == 1);
        CHECK(warnings.at(0).find(node) != std::string::npos);
        co_await mine.close();
    });
}

TEST_CASE("service discovery: a cache shows changes; what is malformed is skipped and told") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::mutex m;
        std::vector<std::string> warnings;
        client_options loud = options_for(shared_server().hosts());
        loud.logger.level = log_level::warning;
        loud.logger.write = [&](log_level, std::string_view text) {
            std::lock_guard hold(m);
            warnings.emplace_back(text);
        };
        auto executor = co_await boost::asio::this_coro::executor;
        client watching = co_await client::connect(executor, loud);
        service_cache cache(watching, path, "web");
        CHECK(cache.path() == path + "/web");
        co_await shown(cache, nobody);
        service_discovery discovery(zk, path);
        co_await discovery.register_instance(instance("a"));
        co_await shown(cache, only_a);
        admin hand = observer();
        hand.plant(path + "/web/x", "not JSON");
        hand.plant(path + "/web/y", "{\"port\":\"http\"}");
        co_await discovery.register_instance(instance("b"));
        service_state state = co_await shown(cache, a_and_b);
        const std::vector<std::string> x_and_y{"x", "y"};
        while (state.malformed != x_and_y)
            state = co_await cache.next(state);
        CHECK(ids(state.instances) == a_and_b);
        auto all = co_await discovery.resolve("web");
        CHECK(ids(all) == a_and_b);
        // It becomes an instance, with fields that nobody knows.
        hand.set(path + "/web/x", "{\"port\":1,\"zone\":{\"a\":[1]}}");
        const std::vector<std::string> a_b_x{"a", "b", "x"};
        co_await shown(cache, a_b_x);
        co_await discovery.unregister("web", "a");
        const std::vector<std::string> b_x{"b", "x"};
        state = co_await shown(cache, b_x);
        {
            std::lock_guard hold(m);
            REQUIRE(warnings.size() == 2);
            const std::string both = warnings[0] + warnings[1];
            CHECK(both.find(path + "/web/x") != both.npos);
            CHECK(both.find(path + "/web/y") != both.npos);
        }
        pending_result<service_state> next;
        cache.next(state, next.handler());
        co_await settle(watching);
        CHECK_FALSE(next.done());
        next.cancel();
        CHECK(co_await finished(next) == boost::asio::error::operation_aborted);
        pending_result<service_state> last;
        cache.next(state, last.handler());
        cache = service_cache();
        CHECK(co_await finished(last) == boost::asio::error::operation_aborted);
        // A registration has a watch of its own.
        discovery = service_discovery();
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await watching.close();
    });
}

TEST_CASE("service discovery: a provider chooses what is available") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        service_provider provider(zk, path, "web");
        auto [ec, none] = co_await provider.try_choose(as_tuple());
        CHECK(ec == errc::would_block);
        std::tie(ec, none) = co_await provider.choose_for(20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        std::tie(ec, none) =
            co_await provider.choose_until(std::chrono::steady_clock::now() + 20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        pending_result<service_instance> waiting;
        provider.choose(waiting.handler());
        service_discovery discovery(zk, path);
        service_instance disabled = instance("0");
        disabled.enabled = false;
        co_await discovery.register_instance(disabled);
        observer().plant(path + "/web/00", "malformed");
        co_await settle(zk);
        CHECK_FALSE(waiting.done());
        co_await discovery.register_instance(instance("a"));
        CHECK(!co_await finished(waiting));
        CHECK(waiting.value().id == "a");
        co_await discovery.register_instance(instance("b"));
        std::string order;
        for (int i = 0; i < 4; ++i)
            order += (co_await provider.choose()).id;
        CHECK(order == "baba");

        pending_result<service_instance> dropped;
        service_provider another(zk, path, "nobody");
        another.choose(dropped.handler());
        another = service_provider();
        CHECK(co_await finished(dropped) == boost::asio::error::operation_aborted);
        provider = service_provider();
        discovery = service_discovery();
        co_await eventually_async([&] { return watches_below(path) == 0; });
    });
}

TEST_CASE("service discovery: a random provider uses all, in no order") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        service_discovery discovery(zk, path);
        co_await discovery.register_instance(instance("a"));
        co_await discovery.register_instance(instance("b"));
        service_provider_options options;
        options.strategy = service_strategy::random;
        service_provider provider(zk, path, "web", options);
        std::set<std::string> used;
        std::string last;
        bool repeated = false;
        // That one of two is never chosen, or always the other one next, does not happen in 200 choices.
        for (int i = 0; i < 200; ++i) {
            service_instance chosen = co_await provider.choose();
            repeated = repeated || chosen.id == last;
            used.insert(chosen.id);
            last = chosen.id;
        }
        CHECK(used.size() == 2);
        CHECK(repeated);

        service_instance b = instance("b");
        b.enabled = false;
        co_await discovery.update(b);
        co_await settle(zk);
        used.clear();
        for (int i = 0; i < 20; ++i)
            used.insert((co_await provider.choose()).id);
        CHECK(used == std::set<std::string>{"a"});
    });
}

TEST_CASE("service discovery: a sticky provider keeps its instance while that is available") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        service_discovery discovery(zk, path);
        for (const char* id : {"a", "b", "c"})
            co_await discovery.register_instance(instance(id));
        service_provider_options options;
        options.strategy = service_strategy::sticky;
        options.failure_threshold = 1;
        options.set_aside_for = 1h;
        service_provider provider(zk, path, "web", options);
        auto stays = [&](const service_instance& first) -> awaitable<bool> {
            bool same = true;
            for (int i = 0; i < 20; ++i)
                same = (co_await provider.choose()).id == first.id && same;
            co_return same;
        };
        service_instance first = co_await provider.choose();
        bool stayed = co_await stays(first);
        CHECK(stayed);
        // Others come and go meanwhile.
        co_await discovery.register_instance(instance("d"));
        const std::string leaving = first.id == "a" ? "b" : "a";
        co_await discovery.unregister("web", leaving);
        co_await settle(zk);
        stayed = co_await stays(first);
        CHECK(stayed);

        // It is reported as down.
        provider.report_failure(first);
        service_instance second = co_await provider.choose();
        CHECK(second.id != first.id);
        stayed = co_await stays(second);
        CHECK(stayed);

        // It goes, and the first one is still set aside.
        co_await discovery.unregister(second);
        co_await settle(zk);
        service_instance third = co_await provider.choose();
        CHECK(third.id != second.id);
        CHECK(third.id != first.id);
        stayed = co_await stays(third);
        CHECK(stayed);
    });
}

TEST_CASE("service discovery: what is reported as down is set aside, and comes back") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        service_discovery discovery(zk, path);
        service_instance a = instance("a");
        co_await discovery.register_instance(a);
        co_await discovery.register_instance(instance("b"));
        service_provider_options options;
        options.failure_threshold = 1;
        options.set_aside_for = 1h;
        service_provider provider(zk, path, "web", options);
        service_instance chosen = co_await provider.choose();
        CHECK(chosen.id == "a");
        provider.report_failure(chosen);
        for (int i = 0; i < 3; ++i)
            CHECK((co_await provider.choose()).id == "b");
        // Another registration is another instance.
        co_await discovery.unregister(a);
        co_await discovery.register_instance(a);
        std::set<std::string> both;
        for (int i = 0; i < 2; ++i)
            both.insert((co_await provider.choose()).id);
        CHECK(both.size() == 2);

        // All are set aside: the first that comes back is chosen.
        options.set_aside_for = 100ms;
        service_provider brief(zk, path, "web", options);
        for (int i = 0; i < 2; ++i) {
            chosen = co_await brief.choose();
            brief.report_failure(chosen);
        }
        chosen = co_await brief.choose_for(20s);
        CHECK(both.contains(chosen.id));
    });
}

TEST_CASE("service discovery: endpoints are connected to, and say of which instance they are") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        tcp::acceptor acceptor(executor, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
        const std::uint16_t open = acceptor.local_endpoint().port();
        // Nobody else gets this port meanwhile, and nobody listens there.
        tcp::acceptor silent(executor, tcp::v4());
        silent.bind(tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
        const std::uint16_t closed = silent.local_endpoint().port();
        service_discovery discovery(zk, path);
        service_provider provider(zk, path, "web");
        pending_result<service_endpoints> waiting;
        provider.get_endpoints(waiting.handler());
        service_instance no_port = instance("0");
        no_port.port.reset();
        co_await discovery.register_instance(no_port);
        co_await settle(zk);
        CHECK_FALSE(waiting.done());
        co_await discovery.register_instance(instance("a", closed));
        CHECK(!co_await finished(waiting));
        CHECK(waiting.value().size() == 1);
        service_instance b = instance("b", open);
        b.address = "localhost";
        b.ssl_port = 443;
        co_await discovery.register_instance(b);

        // In the other order it would be the first that is tried.
        service_endpoints endpoints = co_await provider.get_endpoints();
        if (endpoints.begin()->instance().id == "b")
            endpoints = co_await provider.get_endpoints();
        REQUIRE(endpoints.size() >= 2);
        CHECK(endpoints.begin()->instance().id == "a");
        CHECK(endpoints.begin()->port() == closed);
        tcp::socket socket(executor);
        tcp::endpoint used =
            co_await boost::asio::async_connect(socket, endpoints, boost::asio::use_awaitable);
        CHECK(used.port() == open);
        auto which = co_await boost::asio::async_connect(
            socket, endpoints.begin(), endpoints.end(), boost::asio::use_awaitable);
        CHECK(which->instance().id == "b");
        CHECK(which->host_name() == "localhost");
        CHECK(which->service_name() == std::to_string(open));

        service_provider_options options;
        options.ssl = true;
        service_provider secure(zk, path, "web", options);
        endpoints = co_await secure.get_endpoints_for(20s);
        CHECK(endpoints.begin()->port() == 443);

        // All of them are set aside.
        options.failure_threshold = 1;
        service_provider none_left(zk, path, "web", options);
        endpoints = co_await none_left.get_endpoints();
        none_left.report_failure(endpoints.begin()->instance());
        auto [ec, none] = co_await none_left.get_endpoints_until(
            std::chrono::steady_clock::now() + 20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);

        // If all fail, it says so.
        service_provider all_closed(zk, path, "closed");
        service_instance one("closed", "127.0.0.1", closed);
        co_await discovery.register_instance(one);
        endpoints = co_await all_closed.get_endpoints();
        auto [refused, last] =
            co_await boost::asio::async_connect(socket,
                                                endpoints.begin(),
                                                endpoints.end(),
                                                boost::asio::as_tuple(boost::asio::use_awaitable));
        CHECK(refused);
        CHECK(last == endpoints.end());
    });
}

}  // namespace corozk::testing::service_discovery_test
