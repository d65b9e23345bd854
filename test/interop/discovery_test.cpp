// SPDX-License-Identifier: Apache-2.0
// Service discovery, with Curator's ServiceDiscovery, ServiceCache and ServiceProvider (x-discovery) at
// the same base path.
#include "contest.hpp"
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace corozk::testing::discovery_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

/// As the instances of the other party's program.
service_instance instance(std::string id) {
    service_instance one("web", "127.0.0.1", 8080);
    one.id = std::move(id);
    one.ssl_port = 8443;
    one.set_text("\u00e4 \"text\"");
    one.uri_spec = "{scheme}://{address}:{ssl-port}/{[}x{]}";
    return one;
}

constexpr const char* uri = "https://127.0.0.1:8443/{x}";

/// How the other party's program prints such an instance.
std::string printed(const std::string& id, const std::string& type, const std::string& enabled) {
    return id + " " + uri + " 8080 " + type + " " + enabled + " \u00e4 \"text\"";
}

bool last_found(const party& theirs, const std::string& wanted) {
    std::vector<std::string> lines = theirs.lines();
    auto last = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) {
        return line.starts_with("found");
    });
    return last != lines.rend() && *last == "found " + wanted;
}

}  // namespace

TEST_CASE("another library finds the instances that we register, update and unregister") {
    meeting at;
    party theirs(party_kind::curator, at.arguments({"task=find", "kind=dynamic"}));
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client_options options = interop_options();
            options.hosts = proxy.hosts();
            client zk = co_await client::connect(executor, options);
            service_discovery ours(zk, at.path);
            auto they_find = [&](std::string wanted) -> awaitable<void> {
                auto found = [&] { return last_found(theirs, wanted); };
                co_await theirs.until(found, "it finds: " + wanted);
            };
            co_await they_find("");
            service_instance a = instance("a");
            service_instance b = instance("b");
            b.type = service_type::permanent;
            co_await ours.register_instance(a);
            co_await they_find(printed("a", "DYNAMIC", "true"));
            co_await ours.register_instance(b);
            const std::string its_b = printed("b", "PERMANENT", "true");
            co_await they_find(printed("a", "DYNAMIC", "true") + "; " + its_b);
            a.enabled = false;
            co_await ours.update(a);
            co_await they_find(printed("a", "DYNAMIC", "false") + "; " + its_b);

            // The session ends, and the instance with it, until there is another session.
            session_record session = proxy.session();
            proxy.set_acceptance(acceptance::close_at_once);
            proxy.cut();
            expire(session);
            co_await they_find(its_b);
            proxy.set_acceptance(acceptance::normal);
            co_await they_find(printed("a", "DYNAMIC", "false") + "; " + its_b);
            // Of these a provider of theirs chooses the one that is enabled.
            at.tell_to_leave();
            co_await theirs.end();
            std::vector<std::string> lines = theirs.lines();
            const std::string all = printed("a", "DYNAMIC", "false") + "; " + its_b;
            const std::vector<std::string> last{"queried " + all, "services web", "chosen b"};
            REQUIRE(lines.size() > last.size());
            lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(last.size()));
            CHECK(lines == last);
            co_await ours.unregister(a);
            co_await ours.unregister(b);
            CHECK(at.hand.children(at.path + "/web").empty());
            co_await zk.close();
        },
        party_limit);
    run_to_idle(context);
}

TEST_CASE("we find the instances that another library registers, and their end") {
    meeting at;
    meet(at, [&](client& zk) -> awaitable<void> {
        service_cache cache(zk, at.path, "web");
        service_provider provider(zk, at.path, "web");
        party theirs(party_kind::curator,
                     at.arguments({"task=register", "kind=dynamic", "identity=c", "session=4000"}));
        party remaining(party_kind::curator,
                        at.arguments({"task=register", "kind=static", "identity=d"}));
        service_state state = co_await cache.next();
        while (state.instances.size() != 2)
            state = co_await cache.next(state);
        CHECK(state.malformed.empty());
        for (const service_instance& found : state.instances) {
            const bool dynamic = found.id == "c";
            service_instance expected = instance(dynamic ? "c" : "d");
            expected.type = dynamic ? service_type::dynamic : service_type::static_;
            CHECK((found.session_id != 0) == dynamic);
            CHECK(found.registration_time > 1'700'000'000'000);
            expected.session_id = found.session_id;
            expected.incarnation = found.incarnation;
            expected.node = expected.id;
            expected.registration_time = found.registration_time;
            CHECK(found == expected);
            CHECK(found.uri() == uri);
            CHECK(found.text() == "\u00e4 \"text\"");
        }
        // Another cache, which may see what others do a little later.
        service_endpoints endpoints;
        while (endpoints.size() != 2)
            endpoints = co_await provider.get_endpoints();
        CHECK(endpoints.begin()->port() == 8080);

        theirs.kill();
        while (state.instances.size() != 1)
            state = co_await cache.next(state);
        CHECK(state.instances[0].id == "d");
        while (endpoints.size() != 1)
            endpoints = co_await provider.get_endpoints();
        service_instance chosen = co_await provider.choose();
        CHECK(chosen.id == "d");
        at.tell_to_leave();
        co_await remaining.end();
        while (!state.instances.empty())
            state = co_await cache.next(state);
        service_discovery ours(zk, at.path);
        auto all = co_await ours.resolve("web");
        CHECK(all.empty());
    });
}

TEST_CASE(
    "a payload that is an object of a Java class is read, and written so that Java reads it") {
    meeting at;
    meet(at, [&](client& zk) -> awaitable<void> {
        party theirs(party_kind::curator,
                     at.arguments({"task=register", "kind=object", "identity=c"}));
        party reader(party_kind::curator, at.arguments({"task=find", "kind=object"}));
        service_cache cache(zk, at.path, "web");
        service_state state = co_await cache.next();
        while (state.instances.size() != 1)
            state = co_await cache.next(state);
        auto payload = boost::json::parse(state.instances[0].payload);
        CHECK(payload == boost::json::value{
                             {"@class", "CuratorContender$Build"}, {"version", "7"}, {"shard", 3}});
        CHECK_FALSE(state.instances[0].text());

        payload.at("version") = "8";
        service_instance d("web", "127.0.0.1", 8080);
        d.id = "d";
        d.uri_spec = "{address}";
        d.payload = boost::json::serialize(payload);
        service_discovery ours(zk, at.path);
        co_await ours.register_instance(d);
        const std::string its_c = std::string("c ") + uri + " 8080 DYNAMIC true 7/3";
        auto found = [&] {
            return last_found(reader, its_c + "; d 127.0.0.1 8080 DYNAMIC true 8/3");
        };
        co_await reader.until(found, "it finds both");
        at.tell_to_leave();
        co_await theirs.end();
        co_await reader.end();
        co_await ours.unregister(d);
    });
}

TEST_CASE("an id that another library has registered is ours when its process has died") {
    meeting at;
    meet(at, [&](client& zk) -> awaitable<void> {
        party theirs(party_kind::curator,
                     at.arguments({"task=register", "kind=dynamic", "identity=c", "session=4000"}));
        const std::string node = at.path + "/web/c";
        auto registered = [&] { return at.hand.exists(node); };
        co_await theirs.until(registered, "its registration");
        service_discovery ours(zk, at.path);
        pending_result<> waiting;
        ours.register_instance(instance("c"), waiting.handler());
        co_await settle(zk);
        CHECK_FALSE(waiting.done());
        theirs.kill();
        CHECK(!co_await finished(waiting));
        CHECK(at.hand.stat(node)->ephemeral_owner == zk.session_id());
        co_await ours.unregister("web", "c");
    });
}

}  // namespace corozk::testing::discovery_test
