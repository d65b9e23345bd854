// SPDX-License-Identifier: Apache-2.0
#include "recipe/discovery/server_set.hpp"

#include "recipe/discovery/json_fields.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::string_view member_prefix = "member_";
constexpr std::string_view alive = "ALIVE";

/// FNV-1a. Names of nodes depend on it: it never changes.
std::uint64_t number_of(std::string_view id) {
    std::uint64_t hash = 14'695'981'039'346'656'037u;
    for (char c : id)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211u;
    return hash;
}

boost::json::object endpoint_object(const std::string& host, std::uint16_t port) {
    boost::json::object result;
    result["host"] = host;
    result["port"] = port;
    return result;
}

/// @return whether it is one
bool read_endpoint(const boost::json::value& value, std::string& host, std::uint16_t& port) {
    const boost::json::object* members = value.if_object();
    if (!members)
        return false;
    field_reader fields(*members);
    std::optional<std::uint16_t> number;
    fields.read("host", host);
    fields.read("port", number);
    port = number.value_or(0);
    return fields.good() && number && !host.empty();
}

void read_service_endpoint(field_reader& fields, service_instance& instance) {
    const boost::json::value* value = fields.find("serviceEndpoint");
    if (!value)
        return;
    std::uint16_t number = 0;
    if (read_endpoint(*value, instance.address, number))
        instance.port = number;
    else
        fields.fail();
}

void read_additional(field_reader& fields, service_instance& instance) {
    const boost::json::value* value = fields.find("additionalEndpoints");
    if (!value)
        return;
    const boost::json::object* all = value->if_object();
    if (!all)
        return fields.fail();
    for (const auto& [name, one] : *all) {
        additional_endpoint found;
        if (!read_endpoint(one, found.host, found.port))
            return fields.fail();
        instance.additional_endpoints.emplace(std::string(name.data(), name.size()),
                                              std::move(found));
    }
}

bool is_metadata(const boost::json::value& value) {
    const boost::json::object* all = value.if_object();
    return all && std::all_of(all->begin(), all->end(), [](const auto& one) {
               return one.value().is_string();
           });
}

}  // namespace

bool is_member_node(std::string_view node) {
    if (!node.starts_with(member_prefix))
        return false;
    std::string_view number = node.substr(member_prefix.size());
    // The server's counter overflows into negative numbers.
    if (number.starts_with('-'))
        number.remove_prefix(1);
    return !number.empty() &&
           std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string member_node(std::string_view id) {
    if (is_member_node(id))
        return std::string(id);
    // Always 19 digits, and no more than a signed number of 64 bits holds.
    constexpr std::uint64_t high = std::uint64_t(1) << 62;
    return std::string(member_prefix) + std::to_string(high | (number_of(id) >> 2));
}

std::optional<std::string> write_member(const service_instance& instance) {
    if (instance.type != service_type::dynamic || instance.ssl_port || !instance.uri_spec.empty() ||
        instance.address.empty() || !instance.port)
        return std::nullopt;
    boost::json::object additional;
    for (const auto& [name, one] : instance.additional_endpoints) {
        if (one.host.empty())
            return std::nullopt;
        additional[name] = endpoint_object(one.host, one.port);
    }
    boost::json::object fields;
    fields["serviceEndpoint"] = endpoint_object(instance.address, *instance.port);
    fields["additionalEndpoints"] = std::move(additional);
    fields["status"] = instance.enabled ? alive.data() : "STOPPING";
    if (instance.shard)
        fields["shard"] = *instance.shard;
    boost::json::value metadata;
    if (!instance.payload.empty()) {
        if (!parse_json(instance.payload, metadata) || !is_metadata(metadata))
            return std::nullopt;
        fields["metadata"] = metadata;
    }
    return write_json(fields);
}

std::optional<service_instance> read_member(std::string_view service,
                                            std::string_view node,
                                            std::string_view data) {
    boost::json::value value;
    if (data.size() > largest_instance || !parse_json(data, value) || !value.is_object())
        return std::nullopt;
    service_instance instance;
    instance.name = service;
    instance.node = node;
    instance.id = node;
    field_reader fields(value.get_object());
    read_service_endpoint(fields, instance);
    read_additional(fields, instance);
    std::string status;
    fields.read("status", status);
    instance.enabled = status == alive;
    fields.read("shard", instance.shard);
    if (const boost::json::value* metadata = fields.find("metadata")) {
        if (!is_metadata(*metadata))
            fields.fail();
        instance.payload = boost::json::serialize(*metadata);
    }
    if (!fields.good())
        return std::nullopt;
    return instance;
}

}  // namespace corozk::detail
