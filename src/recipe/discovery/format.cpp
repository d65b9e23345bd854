// SPDX-License-Identifier: Apache-2.0
#include "recipe/discovery/format.hpp"

#include "operation/path.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
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

bool parse_json(std::string_view text, json::value& value) {
    boost::system::error_code ec;
    value = json::parse(json::string_view(text.data(), text.size()), ec);
    return !ec;
}

std::string to_text(const json::value& value) {
    return json::serialize(value);
}

/// Such as 80.0, which some JSON libraries write.
bool is_exact_integer(double number) {
    constexpr double limit = 9'007'199'254'740'992.0;  // 2^53
    return std::fabs(number) <= limit && std::trunc(number) == number;
}

/// Reads the fields of an object; remembers whether one has the wrong type.
class field_reader {
public:
    explicit field_reader(const json::object& fields) : fields_(fields) {}

    bool good() const noexcept { return good_; }

    /// Null if it is missing or null.
    const json::value* find(std::string_view name) const {
        const json::value* value = fields_.if_contains(json::string_view(name.data(), name.size()));
        return value && !value->is_null() ? value : nullptr;
    }

    void read(std::string_view name, std::string& to) {
        const json::value* value = find(name);
        if (!value)
            return;
        if (const json::string* text = value->if_string())
            to.assign(text->data(), text->size());
        else
            good_ = false;
    }

    void read(std::string_view name, bool& to) {
        if (const json::value* value = find(name)) {
            good_ = good_ && value->is_bool();
            to = value->is_bool() ? value->get_bool() : to;
        }
    }

    void read(std::string_view name, std::int64_t& to) {
        const json::value* value = find(name);
        if (!value)
            return;
        if (value->is_int64())
            to = value->get_int64();
        else if (value->is_double() && is_exact_integer(value->get_double()))
            to = static_cast<std::int64_t>(value->get_double());
        else
            good_ = false;
    }

    void read(std::string_view name, std::optional<std::uint16_t>& to) {
        if (!find(name))
            return;
        std::int64_t number = -1;
        read(name, number);
        if (number < 0 || number > std::numeric_limits<std::uint16_t>::max())
            good_ = false;
        else
            to = static_cast<std::uint16_t>(number);
    }

    void read(std::string_view name, service_type& to) {
        if (!find(name))
            return;
        std::string text;
        read(name, text);
        auto known = std::find_if(type_names.begin(), type_names.end(), [&text](const auto& one) {
            return one.second == text;
        });
        if (known == type_names.end())
            good_ = false;
        else
            to = known->first;
    }

    /// A URI's template.
    void read_spec(std::string_view name, std::string& to) {
        const json::value* value = find(name);
        if (!value)
            return;
        const json::object* spec = value->if_object();
        const json::value* parts = spec ? spec->if_contains("parts") : nullptr;
        if (!parts || !parts->is_array()) {
            good_ = false;
            return;
        }
        for (const json::value& one : parts->get_array()) {
            const json::object* fields = one.if_object();
            if (!fields) {
                good_ = false;
                return;
            }
            field_reader part(*fields);
            std::string text;
            bool variable = false;
            part.read("value", text);
            part.read("variable", variable);
            // Braces in a variable cannot be written in a template.
            good_ = good_ && part.good() && !(variable && text.find_first_of("{}") != text.npos);
            if (variable)
                to += '{' + text + '}';
            else
                append_literal(to, text);
        }
    }

private:
    const json::object& fields_;
    bool good_ = true;
};

}  // namespace

std::optional<std::string> write_instance(const service_instance& instance) {
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
    std::string data = to_text(fields);
    // The serializer does not look for texts that are not UTF-8; the parser does.
    json::value again;
    if (!parse_json(data, again))
        return std::nullopt;
    return data;
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
    fields.read("serviceType", instance.type);
    fields.read_spec("uriSpec", instance.uri_spec);
    fields.read("enabled", instance.enabled);
    if (const json::value* payload = fields.find("payload"))
        instance.payload = to_text(*payload);
    if (!fields.good())
        return std::nullopt;
    return instance;
}

std::optional<service_instance> read_instance(std::string_view service,
                                              std::string_view node,
                                              const std::string& data,
                                              const stat& record) {
    auto instance = read_instance(service, node, data);
    if (instance) {
        instance->session_id = session_of(record);
        instance->incarnation = record.czxid;
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

std::optional<std::string> instance_path(std::string_view base,
                                         std::string_view service,
                                         std::string_view id) {
    auto parent = service_path(base, service);
    return parent ? service_path(*parent, id) : std::nullopt;
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
        if (auto instance = read_instance(service_, name, node.data, node.stat))
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
