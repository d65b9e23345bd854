// SPDX-License-Identifier: Apache-2.0
#include "systems/etcd_api.hpp"

#include "program/base64.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <charconv>
#include <stdexcept>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

json::string base64_bytes(std::string_view text) {
    return json::string(program::to_base64(text));
}

/// 64-bit numbers are texts in its JSON, and what is zero or empty is left out.
std::int64_t json_number(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    if (!value)
        return 0;
    std::string_view text = value->as_string();
    std::int64_t n = 0;
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
}

json::string number_text(std::int64_t n) {
    return json::string(std::to_string(n));
}

std::int64_t revision_of(const json::object& answer) {
    return json_number(answer.at("header").as_object(), "revision");
}

}  // namespace

asio::awaitable<std::int64_t> etcd_api::grant_lease(std::chrono::milliseconds duration) {
    json::object body;
    body["TTL"] = number_text(std::chrono::ceil<std::chrono::seconds>(duration).count());
    auto answer = co_await connection_.post("/v3/lease/grant", std::move(body));
    co_return json_number(answer, "ID");
}

asio::awaitable<void> etcd_api::keep_lease_alive(std::int64_t lease) {
    json::object body;
    body["ID"] = number_text(lease);
    auto answer = co_await connection_.post("/v3/lease/keepalive", std::move(body));
    if (json_number(answer.at("result").as_object(), "TTL") <= 0)
        throw std::runtime_error("the lease has ended");
}

asio::awaitable<etcd_key> etcd_api::lock(std::string name, std::int64_t lease) {
    json::object body;
    body["name"] = base64_bytes(name);
    body["lease"] = number_text(lease);
    auto answer = co_await connection_.post("/v3/lock/lock", std::move(body));
    etcd_key held;
    held.key = program::from_base64(answer.at("key").as_string());
    held.revision = revision_of(answer);
    co_return held;
}

asio::awaitable<void> etcd_api::unlock(std::string key) {
    json::object body;
    body["key"] = base64_bytes(key);
    co_await connection_.post("/v3/lock/unlock", std::move(body));
}

asio::awaitable<etcd_leader> etcd_api::campaign(std::string name, std::int64_t lease) {
    json::object body;
    body["name"] = base64_bytes(name);
    body["lease"] = number_text(lease);
    body["value"] = base64_bytes("candidate");
    auto answer = co_await connection_.post("/v3/election/campaign", std::move(body));
    etcd_leader leader;
    leader.key = answer.at("leader").as_object();
    leader.revision = json_number(leader.key, "rev");
    co_return leader;
}

asio::awaitable<void> etcd_api::resign(json::object key) {
    json::object body;
    body["leader"] = std::move(key);
    co_await connection_.post("/v3/election/resign", std::move(body));
}

asio::awaitable<void> etcd_api::put(std::string key, std::string value) {
    json::object body;
    body["key"] = base64_bytes(key);
    body["value"] = base64_bytes(value);
    co_await connection_.post("/v3/kv/put", std::move(body));
}

asio::awaitable<json::object> etcd_api::find(std::string key) {
    json::object body;
    body["key"] = base64_bytes(key);
    auto answer = co_await connection_.post("/v3/kv/range", std::move(body));
    const auto* found = answer.if_contains("kvs");
    if (!found || found->as_array().empty())
        co_return json::object();
    co_return found->as_array().front().as_object();
}

asio::awaitable<std::string> etcd_api::get(std::string key) {
    auto found = co_await find(std::move(key));
    const auto* value = found.if_contains("value");
    if (!value)
        co_return std::string();
    co_return program::from_base64(value->as_string());
}

asio::awaitable<std::int64_t> etcd_api::create_revision(std::string key) {
    auto found = co_await find(std::move(key));
    co_return json_number(found, "create_revision");
}

asio::awaitable<bool> etcd_api::put_guarded(std::string guard,
                                            std::int64_t create_revision,
                                            std::string key,
                                            std::string value) {
    json::object condition;
    condition["key"] = base64_bytes(guard);
    condition["target"] = "CREATE";
    condition["result"] = "EQUAL";
    condition["create_revision"] = number_text(create_revision);
    json::object write;
    write["key"] = base64_bytes(key);
    write["value"] = base64_bytes(value);
    json::object step;
    step["requestPut"] = std::move(write);
    json::object body;
    body["compare"] = json::array(1, std::move(condition));
    body["success"] = json::array(1, std::move(step));
    auto answer = co_await connection_.post("/v3/kv/txn", std::move(body));
    const auto* succeeded = answer.if_contains("succeeded");
    co_return succeeded && succeeded->as_bool();
}

asio::awaitable<std::size_t> etcd_api::count(std::string prefix) {
    std::string end = prefix;
    end.back() = static_cast<char>(end.back() + 1);
    json::object body;
    body["key"] = base64_bytes(prefix);
    body["range_end"] = base64_bytes(end);
    body["count_only"] = true;
    auto answer = co_await connection_.post("/v3/kv/range", std::move(body));
    co_return static_cast<std::size_t>(json_number(answer, "count"));
}

asio::awaitable<bool> etcd_api::leads() {
    auto answer = co_await connection_.post("/v3/maintenance/status", json::object());
    const auto* leader = answer.if_contains("leader");
    const auto& self = answer.at("header").as_object().at("member_id");
    co_return leader && leader->as_string() == self.as_string();
}

}  // namespace corozk::bench
