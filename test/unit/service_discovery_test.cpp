// SPDX-License-Identifier: Apache-2.0
// The format of service discovery, strategies, and which instances are set aside.
#include "node_map/node_map_editor.hpp"
#include "recipe/discovery/format.hpp"
#include "recipe/discovery/json_fields.hpp"
#include "recipe/discovery/selection.hpp"
#include "recipe/discovery/server_set.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace corozk::testing::service_discovery_test {

using namespace corozk;
using namespace corozk::detail;
using namespace std::chrono_literals;

namespace {

using table = std::map<std::string, instance_table::entry>;

service_instance whole_instance() {
    service_instance instance("web", "10.0.0.5", 8080);
    instance.id = "a1";
    instance.ssl_port = 8443;
    instance.payload = R"({"@class":"com.example.Details","weight":3})";
    instance.registration_time = 1'700'000'000'123;
    instance.type = service_type::permanent;
    instance.uri_spec = "{scheme}://{address}:{ssl-port}/{[}x{]}";
    instance.enabled = false;
    return instance;
}

/// As Curator 5.4 writes it.
constexpr const char* from_curator =
    R"({"name":"web","id":"a1","address":"10.0.0.5","port":8080,"sslPort":8443,)"
    R"("payload":{"@class":"com.example.Details","weight":3},)"
    R"("registrationTimeUTC":1700000000123,"serviceType":"PERMANENT",)"
    R"("uriSpec":{"parts":[{"value":"scheme","variable":true},)"
    R"({"value":"://","variable":false},{"value":"address","variable":true},)"
    R"({"value":":","variable":false},{"value":"ssl-port","variable":true},)"
    R"({"value":"/","variable":false},{"value":"[","variable":true},)"
    R"({"value":"x","variable":false},{"value":"]","variable":true}]},"enabled":false})";

table known(const std::vector<std::string>& ids, std::int64_t incarnation = 1) {
    table result;
    for (const std::string& id : ids) {
        service_instance instance("web", "h", 1);
        instance.id = id;
        instance.incarnation = incarnation;
        result[id].instance = std::make_shared<const service_instance>(instance);
    }
    return result;
}

std::vector<candidate> candidates(const std::vector<std::string>& ids) {
    std::vector<candidate> result;
    for (const auto& [node, one] : known(ids))
        result.push_back({node, one.instance});
    return result;
}

std::string first(instance_order& order, const std::vector<std::string>& ids) {
    return order.arrange(candidates(ids)).at(0).node;
}

constexpr time_limit::time_point start{1h};

}  // namespace

TEST_CASE("service discovery: Curator's format is written and read") {
    service_instance instance = whole_instance();
    instance.node = "a1";
    CHECK(write_instance(instance) == from_curator);
    auto again = read_instance("web", "a1", from_curator);
    REQUIRE(again);
    CHECK(*again == instance);
    CHECK(again->uri() == "https://10.0.0.5:8443/{x}");
}

TEST_CASE("service discovery: what is missing, null or unknown") {
    auto instance = read_instance("web", "a1", "{}");
    REQUIRE(instance);
    CHECK(instance->name == "web");
    CHECK(instance->id == "a1");
    CHECK(instance->address.empty());
    CHECK_FALSE(instance->port);
    CHECK_FALSE(instance->ssl_port);
    CHECK(instance->payload.empty());
    CHECK(instance->type == service_type::dynamic);
    CHECK(instance->enabled);
    CHECK(instance->uri().empty());
    auto nulls = read_instance("web",
                               "a1",
                               R"({"name":null,"address":null,"port":null,"sslPort":null,)"
                               R"("payload":null,"uriSpec":null,"serviceType":null,"new":[1]})");
    REQUIRE(nulls);
    CHECK(*nulls == *instance);
    // What has no value is written as Curator writes it, without the field of later versions.
    CHECK(write_instance(*instance) ==
          R"({"name":"web","id":"a1","address":null,"port":null,"sslPort":null,"payload":null,)"
          R"("registrationTimeUTC":0,"serviceType":"DYNAMIC","uriSpec":null})");
}

TEST_CASE("service discovery: an instance is where it was found, whatever its data says") {
    auto instance = read_instance("web", "x", R"({"name":"db","id":"primary"})");
    REQUIRE(instance);
    CHECK(instance->name == "web");
    CHECK(instance->node == "x");
    CHECK(instance->id == "primary");
}

TEST_CASE("service discovery: numbers with a fraction of zero are integers") {
    auto instance = read_instance("web", "x", R"({"port":80.0,"registrationTimeUTC":1.7e12})");
    REQUIRE(instance);
    CHECK(instance->port == 80);
    CHECK(instance->registration_time == 1'700'000'000'000);
}

TEST_CASE("service discovery: what is no instance") {
    for (const char* bad : {"",
                            "web",
                            "[]",
                            "{",
                            R"({} x)",
                            R"({"id":[]})",
                            R"({"port":"8080"})",
                            R"({"port":-1})",
                            R"({"port":65536})",
                            R"({"port":1.5})",
                            R"({"port":65536.0})",
                            R"({"port":1e300})",
                            R"({"port":18446744073709551615})",
                            R"({"registrationTimeUTC":"now"})",
                            R"({"serviceType":"ETERNAL"})",
                            R"({"enabled":1})",
                            R"({"uriSpec":"{scheme}"})",
                            R"({"uriSpec":{"parts":{}}})",
                            R"({"uriSpec":{"parts":[1]}})",
                            R"({"uriSpec":{"parts":[{"value":"}","variable":true}]}})",
                            "{\"name\":\"\xff\"}"}) {
        INFO(bad);
        CHECK_FALSE(read_instance("web", "a1", bad));
    }
    // Nested too deeply, and too large.
    std::string deep = R"({"payload":)" + std::string(100'000, '[');
    CHECK_FALSE(read_instance("web", "a1", deep));
    std::string large = R"({"payload":")" + std::string(largest_instance, 'x') + "\"}";
    CHECK_FALSE(read_instance("web", "a1", large));
}

TEST_CASE("service discovery: what cannot be written") {
    service_instance instance = whole_instance();
    instance.payload = "{";
    CHECK_FALSE(write_instance(instance));
    instance = whole_instance();
    instance.address = "\xff";
    CHECK_FALSE(write_instance(instance));
    for (const char* bad : {"{", "}", "{a", "a}", "{{a}}", "{a}}"}) {
        INFO(bad);
        instance = whole_instance();
        instance.uri_spec = bad;
        CHECK_FALSE(write_instance(instance));
        CHECK(instance.uri().empty());
    }
}

TEST_CASE("service discovery: payloads that are strings, and URIs") {
    service_instance instance("web", "h", 80);
    CHECK_FALSE(instance.text());
    instance.set_text("a \"b\"\n");
    CHECK(instance.payload == R"("a \"b\"\n")");
    CHECK(instance.text() == "a \"b\"\n");
    instance.payload = "{}";
    CHECK_FALSE(instance.text());

    instance.id = "i";
    instance.registration_time = 7;
    instance.uri_spec =
        "{scheme}://{ address }:{port}/{name}/{id}/{ssl-port}{unknown}{service-type}"
        "/{registration-time-utc}";
    CHECK(instance.uri() == "http://h:80/web/i/dynamic/7");
    CHECK(service_instance("web", "h", 1).id != service_instance("web", "h", 1).id);
}

TEST_CASE("service discovery: paths") {
    CHECK(instance_path(service_format::curator, "/base", "web", "a1") == "/base/web/a1");
    CHECK(service_path("/base", "web") == "/base/web");
    for (const char* bad : {"", "a/b", ".", "..", "/", "a\n"}) {
        INFO(bad);
        CHECK_FALSE(service_path("/base", bad));
        CHECK_FALSE(instance_path(service_format::curator, "/base", bad, "a1"));
        CHECK_FALSE(instance_path(service_format::curator, "/base", "web", bad));
    }
}

TEST_CASE("service discovery: a ServerSet's format is written and read") {
    service_instance instance("web", "10.0.0.5", 8080);
    instance.shard = 7;
    instance.additional_endpoints.emplace("http-admin", additional_endpoint("10.0.0.6", 9990));
    instance.payload = R"({"zone":"a"})";
    // As Finagle writes it.
    const std::string data =
        R"({"serviceEndpoint":{"host":"10.0.0.5","port":8080},)"
        R"("additionalEndpoints":{"http-admin":{"host":"10.0.0.6","port":9990}},)"
        R"("status":"ALIVE","shard":7,"metadata":{"zone":"a"}})";
    CHECK(write_instance(service_format::server_set, instance) == data);
    stat record;
    record.ephemeral_owner = 17;
    record.czxid = 4;
    record.ctime = 1'700'000'000'123;
    auto found =
        read_instance(service_format::server_set, "web", "member_0000000001", data, record);
    REQUIRE(found);
    CHECK(found->session_id == 17);
    CHECK(found->incarnation == 4);
    CHECK(found->registration_time == 1'700'000'000'123);
    instance.id = instance.node = "member_0000000001";
    instance.session_id = 17;
    instance.incarnation = 4;
    instance.registration_time = found->registration_time;
    CHECK(*found == instance);

    instance = service_instance("web", "h", 1);
    instance.enabled = false;
    CHECK(write_member(instance) ==
          R"({"serviceEndpoint":{"host":"h","port":1},"additionalEndpoints":{},)"
          R"("status":"STOPPING"})");
}

TEST_CASE("service discovery: members of a ServerSet that are not alive, or have no endpoint") {
    auto member = read_member("web", "member_1", "{}");
    REQUIRE(member);
    CHECK_FALSE(member->enabled);
    CHECK(member->address.empty());
    CHECK_FALSE(member->port);
    CHECK_FALSE(member->shard);
    CHECK_FALSE(write_member(*member));
    for (const char* status : {"DEAD", "STARTING", "STOPPED", "WARNING", "alive", ""}) {
        INFO(status);
        member = read_member("web", "member_1", R"({"status":")" + std::string(status) + R"("})");
        REQUIRE(member);
        CHECK_FALSE(member->enabled);
    }
    member = read_member("web",
                         "member_1",
                         R"({"status":"ALIVE","serviceEndpoint":null,"additionalEndpoints":)"
                         R"({"a":{"host":"h","port":1.0,"new":[]}},"shard":-1,"metadata":null})");
    REQUIRE(member);
    CHECK(member->enabled);
    CHECK(member->shard == -1);
    CHECK(member->payload.empty());
    CHECK(member->additional_endpoints.at("a") == additional_endpoint("h", 1));
}

TEST_CASE("service discovery: what is no member of a ServerSet") {
    for (const char* bad : {"",
                            "web",
                            "[]",
                            "{",
                            R"({"status":2})",
                            R"({"serviceEndpoint":"h:1"})",
                            R"({"serviceEndpoint":{}})",
                            R"({"serviceEndpoint":{"host":"h"}})",
                            R"({"serviceEndpoint":{"port":1}})",
                            R"({"serviceEndpoint":{"host":"","port":1}})",
                            R"({"serviceEndpoint":{"host":1,"port":1}})",
                            R"({"serviceEndpoint":{"host":"h","port":"1"}})",
                            R"({"serviceEndpoint":{"host":"h","port":65536}})",
                            R"({"serviceEndpoint":{"host":"h","port":-1}})",
                            R"({"additionalEndpoints":[]})",
                            R"({"additionalEndpoints":{"a":null}})",
                            R"({"additionalEndpoints":{"a":{"host":"h"}}})",
                            R"({"shard":2147483648})",
                            R"({"shard":-2147483649})",
                            R"({"shard":1.5})",
                            R"({"shard":"1"})",
                            R"({"metadata":[]})",
                            R"({"metadata":{"a":1}})",
                            "{\"status\":\"\xff\"}"}) {
        INFO(bad);
        CHECK_FALSE(read_member("web", "member_1", bad));
    }
    std::string large = R"({"status":")" + std::string(largest_instance, 'x') + "\"}";
    CHECK_FALSE(read_member("web", "member_1", large));
}

TEST_CASE("service discovery: what one of the formats has no place for") {
    const service_instance good("web", "h", 1);
    REQUIRE(write_member(good));
    std::vector<service_instance> bad(8, good);
    bad[0].ssl_port = 2;
    bad[1].uri_spec = "{scheme}";
    bad[2].type = service_type::permanent;
    bad[3].address.clear();
    bad[4].port.reset();
    bad[5].payload = R"({"weight":1})";
    bad[6].payload = R"("text")";
    bad[7].additional_endpoints["a"];
    for (const service_instance& one : bad)
        CHECK_FALSE(write_member(one));
    service_instance wrong_text = good;
    wrong_text.address = "\xff";
    CHECK_FALSE(write_member(wrong_text));

    service_instance numbered = good;
    numbered.shard = 1;
    CHECK_FALSE(write_instance(service_format::curator, numbered));
    service_instance more = good;
    more.additional_endpoints.emplace("a", additional_endpoint("h", 2));
    CHECK_FALSE(write_instance(service_format::curator, more));
}

TEST_CASE("service discovery: names of a ServerSet's members") {
    for (const char* name : {"member_0", "member_0000000001", "member_-2147483648"})
        CHECK(is_member_node(name));
    for (const char* name :
         {"", "member_", "member_-", "member_1a", "member_+1", "vector_0000000001", "Member_1"}) {
        INFO(name);
        CHECK_FALSE(is_member_node(name));
        CHECK(is_member_node(member_node(name)));
    }
    CHECK(member_node("member_0000000001") == "member_0000000001");
    // What the server numbers has 10 digits.
    std::set<std::string> all;
    for (int i = 0; i < 1000; ++i) {
        all.insert(member_node(std::to_string(i)));
        CHECK(all.rbegin()->size() == std::string_view("member_").size() + 19);
    }
    CHECK(all.size() == 1000);
    // Names that are in use: they stay the same in all versions.
    CHECK(member_node("web-1") == "member_6457018972743600263");
    CHECK(instance_path(service_format::server_set, "/b", "web", "web-1") ==
          "/b/web/member_6457018972743600263");
    CHECK_FALSE(instance_path(service_format::server_set, "/b", "web", ""));
    CHECK_FALSE(instance_path(service_format::server_set, "/b", "web", "a/b"));
    service_instance instance("web", "h", 1);
    instance.id = "web-1";
    CHECK(instance.node_name() == "web-1");
    CHECK(instance.node_name(service_format::server_set) == "member_6457018972743600263");
    instance.node = "member_0000000001";
    CHECK(instance.node_name(service_format::server_set) == "member_0000000001");
}

TEST_CASE("service discovery: nodes are parsed when they change, and reported once") {
    instance_table t("web");
    node_map_editor nodes;
    node_data one;
    one.data = R"({"port":1})";
    one.stat.mzxid = 5;
    one.stat.czxid = 4;
    one.stat.ephemeral_owner = 17;
    nodes.set("a", one);
    node_data other;
    other.data = "?";
    other.stat.mzxid = 6;
    nodes.set("b", other);
    CHECK(t.update(nodes.map()) == std::vector<std::string>{"b"});
    REQUIRE(t.entries().size() == 2);
    instance_ptr a = t.entries().at("a").instance;
    REQUIRE(a);
    CHECK(a->incarnation == 4);
    CHECK(a->session_id == 17);
    CHECK_FALSE(t.entries().at("b").instance);
    CHECK(t.update(nodes.map()).empty());
    CHECK(t.entries().at("a").instance == a);
    one.data = "?";
    one.stat.mzxid = 7;
    nodes.set("a", one);
    nodes.erase("b");
    CHECK(t.update(nodes.map()) == std::vector<std::string>{"a"});
    CHECK(t.entries().size() == 1);
}

TEST_CASE("service discovery: a node that becomes readable is parsed again") {
    instance_table t("web");
    node_map_editor nodes;
    node_data one;
    one.stat.mzxid = 5;
    nodes.set("a", one);
    CHECK(t.update(nodes.map()) == std::vector<std::string>{"a"});
    CHECK(t.update(nodes.map()).empty());
    one.data = "{}";
    nodes.set("a", one);
    CHECK(t.update(nodes.map()).empty());
    instance_ptr a = t.entries().at("a").instance;
    REQUIRE(a);
    t.update(nodes.map());
    CHECK(t.entries().at("a").instance == a);
}

TEST_CASE("service discovery: round robin goes on where it was, whoever comes and goes") {
    instance_order order(service_strategy::round_robin, 1);
    CHECK(order.arrange({}).empty());
    CHECK(first(order, {"a", "c", "e"}) == "a");
    CHECK(first(order, {"a", "c", "e"}) == "c");
    CHECK(first(order, {"a", "b", "d", "e"}) == "d");
    auto all = order.arrange(candidates({"a", "d", "e"}));
    REQUIRE(all.size() == 3);
    CHECK(all[0].node == "e");
    CHECK(all[1].node == "a");
    CHECK(all[2].node == "d");
    CHECK(first(order, {"a", "d", "e"}) == "a");
}

TEST_CASE("service discovery: random choices are all made") {
    instance_order order(service_strategy::random, 1);
    std::set<std::string> chosen;
    for (int i = 0; i < 100; ++i)
        chosen.insert(first(order, {"a", "b", "c"}));
    CHECK(chosen.size() == 3);
    CHECK(order.arrange(candidates({"a", "b", "c"})).size() == 3);
}

TEST_CASE("service discovery: a sticky choice remains while it is there") {
    std::set<std::string> chosen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        instance_order order(service_strategy::sticky, seed);
        std::string mine = first(order, {"a", "b", "c"});
        chosen.insert(mine);
        for (int i = 0; i < 10; ++i)
            CHECK(first(order, {"a", "b", "c"}) == mine);
        std::vector<std::string> others;
        for (const char* id : {"a", "b", "c"}) {
            if (id != mine)
                others.emplace_back(id);
        }
        std::string next = first(order, others);
        CHECK(next != mine);
        CHECK(first(order, {"a", "b", "c"}) == next);
    }
    CHECK(chosen.size() == 3);
}

TEST_CASE("service discovery: an instance is set aside after some failures, for a while") {
    down_instances down(2, 30s);
    table all = known({"a", "b"});
    const service_instance& a = *all.at("a").instance;
    auto available = [&](time_limit::time_point now) {
        std::string result;
        for (const candidate& c : available_instances(all, down, now))
            result += c.node;
        return result;
    };
    down.report(a, all, start);
    CHECK(available(start) == "ab");
    CHECK_FALSE(down.next_return(start));
    // Failures that are too far apart do not add up.
    down.report(a, all, start + 30s);
    CHECK(available(start + 30s) == "ab");
    down.report(a, all, start + 45s);
    CHECK(available(start + 45s) == "b");
    CHECK(down.next_return(start + 45s) == start + 60s);
    CHECK(available(start + 60s - 1ns) == "b");
    CHECK(available(start + 60s) == "ab");
    CHECK_FALSE(down.next_return(start + 60s));
}

TEST_CASE(
    "service discovery: another registration is another instance; unknown ones are forgotten") {
    down_instances down(1, 30s);
    table old = known({"a"}, 1);
    down.report(*old.at("a").instance, old, start);
    CHECK(available_instances(old, down, start).empty());
    table again = known({"a"}, 2);
    CHECK(available_instances(again, down, start).size() == 1);
    down.report(*old.at("a").instance, old, start);
    CHECK(down.contains(*old.at("a").instance, start));
    down.report(*again.at("a").instance, again, start);
    CHECK_FALSE(down.contains(*old.at("a").instance, start));
    CHECK(down.contains(*again.at("a").instance, start));
    CHECK(down.size() == 1);
    // Also what is over.
    table other = known({"a", "b"}, 2);
    down.report(*other.at("b").instance, other, start + 30s);
    CHECK(down.size() == 1);
}

TEST_CASE("service discovery: no threshold, disabled and malformed instances") {
    down_instances never(0, 30s);
    table all = known({"a", "b"});
    for (int i = 0; i < 3; ++i)
        never.report(*all.at("a").instance, all, start);
    CHECK(available_instances(all, never, start).size() == 2);
    service_instance off = *all.at("a").instance;
    off.enabled = false;
    all["a"].instance = std::make_shared<const service_instance>(off);
    all["b"].instance.reset();
    CHECK(available_instances(all, never, start).empty());
}

}  // namespace corozk::testing::service_discovery_test
