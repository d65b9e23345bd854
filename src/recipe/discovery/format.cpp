// SPDX-License-Identifier: Apache-2.0
#include "recipe/discovery/format.hpp"

#include "operation/path.hpp"
#include "recipe/discovery/json_fields.hpp"
#include "recipe/discovery/server_set.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace corozk {

namespace detail {

namespace {

namespace json = boost::json;

constexpr std::array<std::pair<service_type, std::string_view>, 4> type_names{
    {{service_type::dynamic, "DYNAMIC"},
     {service_type::static_, "STATIC"},
     {service_type::permanent, "PERMANENT"},
     {service_type::dynamic_sequential, "DYNAMIC_SEQUENTIAL"}}};

std::string_view name_of(service_type type) {
    for (const auto& [value, name] : type_names) {
        if (value == type)
            return name;
    }
    return type_names[0].second;
}

/// A piece of a URI's template.
struct uri_part {
    std::string value;
    bool variable = false;
};

std::string trimmed(std::string_view text) {
    auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!text.empty() && blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && blank(text.back()))
        text.remove_suffix(1);
    return std::string(text);
}

/// Nothing if braces are not paired.
std::optional<std::vector<uri_part>> parse_spec(std::string_view spec) {
    std::vector<uri_part> parts;
    bool inside = false;
    while (!spec.empty()) {
        const std::size_t end = spec.find_first_of("{}");
        if (std::string_view token = spec.substr(0, end); !token.empty())
            parts.push_back({inside ? trimmed(token) : std::string(token), inside});
        if (end == spec.npos)
            break;
        if (inside == (spec[end] == '{'))
            return std::nullopt;
        inside = !inside;
        spec.remove_prefix(end + 1);
    }
    if (inside)
        return std::nullopt;
    return parts;
}

void append_literal(std::string& spec, std::string_view text) {
    for (char c : text) {
        if (c == '{')
            spec += "{[}";
        else if (c == '}')
            spec += "{]}";
        else
            spec += c;
    }
}

json::value to_json(const std::vector<uri_part>& parts) {
    json::array list;
    for (const uri_part& part : parts) {
        json::object one;
        one["value"] = part.value;
        one["variable"] = part.variable;
        list.push_back(std::move(one));
    }
    json::object spec;
    spec["parts"] = std::move(list);
    return spec;
}

json::value to_json(const std::optional<std::uint16_t>& port) {
    return port ? json::value(*port) : json::value(nullptr);
}

void read_type(field_reader& fields, service_type& to) {
    if (!fields.find("serviceType"))
        return;
    std::string text;
    fields.read("serviceType", text);
    auto known = std::find_if(type_names.begin(), type_names.end(), [&text](const auto& one) {
        return one.second == text;
    });
    if (known == type_names.end())
        fields.fail();
    else
        to = known->first;
}

/// A URI's template.
void read_spec(field_reader& fields, std::string& to) {
    const json::value* value = fields.find("uriSpec");
    if (!value)
        return;
    const json::object* spec = value->if_object();
    const json::value* parts = spec ? spec->if_contains("parts") : nullptr;
    if (!parts || !parts->is_array())
        return fields.fail();
    for (const json::value& one : parts->get_array()) {
        const json::object* members = one.if_object();
        if (!members)
            return fields.fail();
        field_reader part(*members);
        std::string text;
        bool variable = false;
        part.read("value", text);
        part.read("variable", variable);
        // Braces in a variable cannot be written in a template.
        if (!part.good() || (variable && text.find_first_of("{}") != text.npos))
            fields.fail();
        if (variable)
            to += '{' + text + '}';
        else
            append_literal(to, text);
    }
}

}  // namespace

std::optional<std::string> write_instance(const service_instance& instance) {
    if (instance.shard || !instance.additional_endpoints.empty())
        return std::nullopt;
    json::object fields;
    fields["name"] = instance.name;
    fields["id"] = instance.id;
    if (instance.address.empty())
        fields["address"] = nullptr;
    else
        fields["address"] = instance.address;
    fields["port"] = to_json(instance.port);
    fields["sslPort"] = to_json(instance.ssl_port);
    json::value payload;
    if (!instance.payload.empty() && !parse_json(instance.payload, payload))
        return std::nullopt;
    fields["payload"] = std::move(payload);
    fields["registrationTimeUTC"] = instance.registration_time;
    fields["serviceType"] = std::string(name_of(instance.type));
    if (!instance.uri_spec.empty()) {
        auto parts = parse_spec(instance.uri_spec);
        if (!parts)
            return std::nullopt;
        fields["uriSpec"] = to_json(*parts);
    } else {
        fields["uriSpec"] = nullptr;
    }
    if (!instance.enabled)
        fields["enabled"] = false;
    return write_json(fields);
}

std::optional<service_instance> read_instance(std::string_view service,
                                              std::string_view node,
                                              std::string_view data) {
    json::value value;
    if (data.size() > largest_instance || !parse_json(data, value) || !value.is_object())
        return std::nullopt;
    service_instance instance;
    // Where it was found, whatever the data says: what is done to it must not concern another one.
    instance.name = service;
    instance.node = node;
    instance.id = node;
    field_reader fields(value.get_object());
    fields.read("id", instance.id);
    fields.read("address", instance.address);
    fields.read("port", instance.port);
    fields.read("sslPort", instance.ssl_port);
    fields.read("registrationTimeUTC", instance.registration_time);
    read_type(fields, instance.type);
    read_spec(fields, instance.uri_spec);
    fields.read("enabled", instance.enabled);
    if (const json::value* payload = fields.find("payload"))
        instance.payload = json::serialize(*payload);
    if (!fields.good())
        return std::nullopt;
    return instance;
}

std::optional<std::string> write_instance(service_format format, const service_instance& instance) {
    return format == service_format::server_set ? write_member(instance) : write_instance(instance);
}

std::optional<service_instance> read_instance(service_format format,
                                              std::string_view service,
                                              std::string_view node,
                                              const std::string& data,
                                              const stat& record) {
    const bool member = format == service_format::server_set;
    auto instance = member ? read_member(service, node, data) : read_instance(service, node, data);
    if (instance) {
        instance->session_id = session_of(record);
        instance->incarnation = record.czxid;
        if (member)
            instance->registration_time = record.ctime;
    }
    return instance;
}

std::optional<std::string> service_path(std::string_view base, std::string_view service) {
    if (path_problem(base) || !is_node_name(service))
        return std::nullopt;
    std::string path = join_path(base, service);
    if (path_problem(path))
        return std::nullopt;
    return path;
}

std::optional<std::string> instance_path(service_format format,
                                         std::string_view base,
                                         std::string_view service,
                                         std::string_view id) {
    auto parent = service_path(base, service);
    return parent ? service_path(*parent, instance_node(format, id)) : std::nullopt;
}

std::string instance_node(service_format format, std::string_view id) {
    // What names no instance in one format names none in another.
    return format == service_format::server_set && is_node_name(id) ? member_node(id)
                                                                    : std::string(id);
}

bool is_instance_node(service_format format, std::string_view node) {
    return format == service_format::curator || is_member_node(node);
}

std::vector<std::string> instance_table::update(const node_map& nodes) {
    std::vector<std::string> malformed;
    std::erase_if(entries_, [&nodes](const auto& one) { return !nodes.contains(one.first); });
    for (const auto& [name, node] : nodes) {
        auto [at, added] = entries_.try_emplace(name);
        entry& one = at->second;
        // Every write has a zxid of its own; what could not be read at first has the same one later.
        if (!added && one.mzxid == node.stat.mzxid && one.empty == node.data.empty())
            continue;
        one.mzxid = node.stat.mzxid;
        one.empty = node.data.empty();
        one.instance.reset();
        if (auto instance = read_instance(format_, service_, name, node.data, node.stat))
            one.instance = std::make_shared<const service_instance>(std::move(*instance));
        else
            malformed.push_back(name);
    }
    return malformed;
}

}  // namespace detail

service_instance::service_instance(std::string name_, std::string address_, std::uint16_t port_)
    : name(std::move(name_)),
      id(boost::uuids::to_string(boost::uuids::random_generator()())),
      address(std::move(address_)),
      port(port_) {
    using namespace std::chrono;
    registration_time = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string service_instance::node_name(service_format format) const {
    return node.empty() ? detail::instance_node(format, id) : node;
}

std::string service_instance::uri() const {
    auto parts = detail::parse_spec(uri_spec);
    if (!parts)
        return std::string();
    auto number = [](const std::optional<std::uint16_t>& value) {
        return value ? std::to_string(*value) : std::string();
    };
    std::string kind(detail::name_of(type));
    for (char& c : kind) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    }
    const std::map<std::string, std::string, std::less<>> variables{
        {"[", "{"},
        {"]", "}"},
        {"scheme", ssl_port ? "https" : "http"},
        {"name", name},
        {"id", id},
        {"address", address},
        {"port", number(port)},
        {"ssl-port", number(ssl_port)},
        {"registration-time-utc", std::to_string(registration_time)},
        {"service-type", kind}};
    std::string result;
    for (const detail::uri_part& part : *parts) {
        if (!part.variable)
            result += part.value;
        else if (auto found = variables.find(part.value); found != variables.end())
            result += found->second;
    }
    return result;
}

void service_instance::set_text(std::string_view value) {
    payload = boost::json::serialize(boost::json::string_view(value.data(), value.size()));
}

std::optional<std::string> service_instance::text() const {
    boost::json::value value;
    if (!detail::parse_json(payload, value) || !value.is_string())
        return std::nullopt;
    const boost::json::string& found = value.get_string();
    return std::string(found.data(), found.size());
}

}  // namespace corozk
