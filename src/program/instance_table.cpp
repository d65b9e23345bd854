// SPDX-License-Identifier: Apache-2.0
#include "instance_table.hpp"

#include "output.hpp"
#include "table.hpp"

#include <boost/json/parse.hpp>
#include <boost/system/error_code.hpp>

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

namespace corozk::program {

namespace {

const char* name_of(service_type type) {
    switch (type) {
        case service_type::dynamic: return "dynamic";
        case service_type::static_: return "static";
        case service_type::permanent: return "permanent";
        case service_type::dynamic_sequential: return "dynamic_sequential";
    }
    return "?";
}

/// Other programs write any number.
std::optional<std::string> registered(const service_instance& instance) {
    constexpr std::int64_t largest = 9'000'000'000'000;  // system_clock counts nanoseconds
    std::int64_t time = instance.registration_time;
    if (time <= 0 || time > largest)
        return std::nullopt;
    return utc(std::chrono::system_clock::time_point(std::chrono::milliseconds(time)));
}

std::string number(const std::optional<std::uint16_t>& port) {
    return port ? std::to_string(*port) : "-";
}

}  // namespace

std::string endpoint_of(const service_instance& instance) {
    bool v6 = instance.address.find(':') != std::string::npos;
    std::string address =
        v6 && instance.port ? fmt::format("[{}]", instance.address) : instance.address;
    return printable(instance.port ? fmt::format("{}:{}", address, *instance.port) : address);
}

std::string instance_table(const std::string& service_path, const service_state& state) {
    std::vector<table_row> rows{
        {"ADDRESS", "PORT", "SSL", "STATE", "TYPE", "REGISTERED", "ID", "PAYLOAD"}};
    for (const service_instance& one : state.instances) {
        rows.push_back({printable(one.address),
                        number(one.port),
                        number(one.ssl_port),
                        one.enabled ? "enabled" : "disabled",
                        name_of(one.type),
                        registered(one).value_or("-"),
                        printable(one.id),
                        one.payload.empty() ? "-" : printable(one.payload)});
    }
    std::size_t count = state.instances.size();
    std::string text =
        fmt::format("{}: {} instance{}\n", service_path, count, count == 1 ? "" : "s");
    if (count > 0)
        text += table(std::move(rows));
    for (const std::string& node : state.malformed)
        text += fmt::format("{}/{}: not a valid instance\n", service_path, printable(node));
    return text;
}

boost::json::object instance_value(const service_instance& instance) {
    boost::json::object value{{"service", instance.name},
                              {"id", instance.id},
                              {"node", instance.node},
                              {"address", instance.address},
                              {"port", nullptr},
                              {"ssl_port", nullptr},
                              {"uri", nullptr},
                              {"payload", nullptr},
                              {"type", name_of(instance.type)},
                              {"enabled", instance.enabled},
                              {"registered", nullptr},
                              {"session", nullptr}};
    if (instance.port)
        value["port"] = *instance.port;
    if (instance.ssl_port)
        value["ssl_port"] = *instance.ssl_port;
    if (!instance.uri_spec.empty())
        value["uri"] = instance.uri();
    if (auto time = registered(instance))
        value["registered"] = *time;
    if (instance.session_id != 0)
        value["session"] = session_name(instance.session_id);
    if (instance.shard)
        value["shard"] = *instance.shard;
    if (!instance.additional_endpoints.empty()) {
        boost::json::object all;
        for (const auto& [name, one] : instance.additional_endpoints)
            all[name] = boost::json::object{{"address", one.host}, {"port", one.port}};
        value["endpoints"] = std::move(all);
    }
    boost::system::error_code ec;
    boost::json::value payload = boost::json::parse(instance.payload, ec);
    if (!ec)
        value["payload"] = std::move(payload);
    else if (!instance.payload.empty())
        value["payload"] = instance.payload;
    return value;
}

}  // namespace corozk::program
