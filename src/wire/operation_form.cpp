// SPDX-License-Identifier: Apache-2.0
#include "wire/operation_form.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corozk::detail {

namespace {

constexpr std::size_t stat_size = 68;

// As ZooKeeper 3.4 to 3.9 and ClickHouse Keeper send them. What is optional, some servers leave
// out, or send although it is not in ZooKeeper's definition: early Keepers send a stat with
// `getChildren`.
constexpr operation_form forms[] = {
    {wire_op::error, "unknown operation", "", ""},
    {wire_op::create_session, "connect", "", ""},
    {wire_op::close_session, "closeSession", "", ""},
    {wire_op::create, "create", "pd[iss]i", "p?S"},
    {wire_op::remove, "delete", "pi", ""},
    {wire_op::exists, "exists", "pb", "S"},
    {wire_op::get_data, "getData", "pb", "dS"},
    {wire_op::set_data, "setData", "pdi", "S"},
    {wire_op::get_acl, "getACL", "p", "[iss]S"},
    {wire_op::set_acl, "setACL", "p[iss]i", "?S"},
    {wire_op::get_children, "getChildren", "pb", "[s]?S"},
    {wire_op::sync, "sync", "p", "p"},
    {wire_op::ping, "ping", "", ""},
    {wire_op::get_children2, "getChildren2", "pb", "[s]S"},
    {wire_op::check, "check", "pi", "?S"},
    {wire_op::multi, "multi", "", ""},
    {wire_op::create2, "create2", "pd[iss]i", "pS"},
    {wire_op::reconfig, "reconfig", "dddl", "dS"},
    {wire_op::check_watches, "checkWatches", "pi", ""},
    {wire_op::remove_watches, "removeWatches", "pi", ""},
    {wire_op::create_container, "createContainer", "pd[iss]i", "p?S"},
    {wire_op::delete_container, "deleteContainer", "p", ""},
    {wire_op::create_ttl, "createTTL", "pd[iss]il", "p?S"},
    {wire_op::multi_read, "multiRead", "", ""},
    {wire_op::auth, "auth", "isd", ""},
    {wire_op::set_watches, "setWatches", "l[s][s][s]", ""},
    {wire_op::sasl, "sasl", "d", "d"},
    {wire_op::get_ephemerals, "getEphemerals", "s", "[p]"},
    {wire_op::get_all_children_number, "getAllChildrenNumber", "p", "i"},
    {wire_op::set_watches2, "setWatches2", "l[s][s][s][s][s]", ""},
    {wire_op::add_watch, "addWatch", "pi", "?i"},
    {wire_op::who_am_i, "whoAmI", "", "[sd]"},
};

constexpr std::int32_t first_op = static_cast<std::int32_t>(wire_op::close_session);
constexpr std::int32_t last_op = static_cast<std::int32_t>(wire_op::who_am_i);

constexpr auto rows = [] {
    std::array<std::uint8_t, static_cast<std::size_t>(last_op - first_op) + 1> numbers{};
    for (std::size_t i = 1; i < std::size(forms); ++i)
        numbers[static_cast<std::size_t>(static_cast<std::int32_t>(forms[i].op) - first_op)] =
            static_cast<std::uint8_t>(i);
    return numbers;
}();

void read_field(jute_reader& in, char field) noexcept {
    switch (field) {
        case 'b':
            in.take(1);
            break;
        case 'i':
            in.take(4);
            break;
        case 'l':
            in.take(8);
            break;
        case 'S':
            in.take(stat_size);
            break;
        case 's':
            in.string();
            break;
        case 'd':
            in.buffer();
            break;
        case 'p':
            if (!is_wire_path(in.buffer()))
                in.fail();
            break;
        default:
            in.fail();
    }
}

/// Returns the end of the list's description. The number of entries is not believed: each takes
/// bytes.
const char* read_list(jute_reader& in, const char* fields) noexcept {
    const char* end = std::strchr(fields, ']');
    std::int32_t count = in.int32();
    if (count < 0)
        in.fail();
    for (std::int32_t i = 0; i < count && !in.failed(); ++i) {
        for (const char* field = fields; field != end; ++field)
            read_field(in, *field);
    }
    return end;
}

}  // namespace

const operation_form& form_of(wire_op op) noexcept {
    auto code = static_cast<std::int32_t>(op);
    bool known = code >= first_op && code <= last_op;
    return forms[known ? rows[static_cast<std::size_t>(code - first_op)] : 0];
}

const operation_form& form_at(std::uint8_t number) noexcept {
    return forms[number];
}

std::uint8_t number_of(const operation_form& form) noexcept {
    return static_cast<std::uint8_t>(&form - forms);
}

std::string_view to_string(wire_op op) noexcept {
    return form_of(op).name;
}

void read_record(jute_reader& in, const char* fields, bool in_transaction) noexcept {
    for (const char* field = fields; *field != '\0'; ++field) {
        if (*field == '?') {
            if (in_transaction || in.empty())
                return;
        } else if (*field == '[') {
            field = read_list(in, field + 1);
        } else {
            read_field(in, *field);
        }
    }
}

bool is_wire_path(std::string_view text) noexcept {
    return !text.empty() && text.front() == '/' && text.find('\0') == std::string_view::npos;
}

}  // namespace corozk::detail
