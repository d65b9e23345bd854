// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/jute.hpp"
#include "wire/op_code.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace corozk::detail {

/// What an operation looks like on the wire: the fields behind the header, a letter for each.
///
///   b boolean   i int32   l int64   S a stat
///   s string    p path: it begins with '/' and contains no zero byte    n name: it is not empty
///   d data: a buffer, or jute's null
///   [...] a list of these, at most `most_entries`; never nested
///   {...} the same, at most `longest_short_list`
///   ? what follows may be missing, if the record is not part of a transaction
struct operation_form {
    wire_op op;
    std::string_view name;  ///< as in ZooKeeper's sources
    const char* request;
    const char* response;
};

/// A list of few records, which take more memory than bytes: 1 MiB, servers' limit of a request, has no
/// more of them.
inline constexpr std::int32_t longest_short_list = 100'000;

/// In all lists of a response together: names of one byte take several times as much memory as on the
/// wire. Ten times as many as fit into 1 MiB, the usual limit of those who read listings.
inline constexpr std::int32_t most_entries = 2'000'000;

/// How many more entries the lists of a response may have.
class entry_budget {
public:
    /// @return false if there is none left
    bool take() noexcept { return --left_ >= 0; }

    /// Whether there were more than that.
    bool exceeded() const noexcept { return left_ < 0; }

private:
    std::int32_t left_ = most_entries;
};

/// The row with the number 0 is that of operations that are not known.
///
/// As ZooKeeper 3.4 to 3.9 and ClickHouse Keeper send them. What is optional, some servers leave
/// out, or send although it is not in ZooKeeper's definition: early Keepers send a stat with
/// `getChildren`.
inline constexpr operation_form operation_forms[] = {
    {wire_op::error, "unknown operation", "", ""},
    {wire_op::create_session, "connect", "", ""},
    {wire_op::close_session, "closeSession", "", ""},
    {wire_op::create, "create", "pd[iss]i", "p?S"},
    {wire_op::remove, "delete", "pi", ""},
    {wire_op::exists, "exists", "pb", "S"},
    {wire_op::get_data, "getData", "pb", "dS"},
    {wire_op::set_data, "setData", "pdi", "S"},
    {wire_op::get_acl, "getACL", "p", "{iss}S"},
    {wire_op::set_acl, "setACL", "p[iss]i", "?S"},
    {wire_op::get_children, "getChildren", "pb", "[n]?S"},
    {wire_op::sync, "sync", "p", "p"},
    {wire_op::ping, "ping", "", ""},
    {wire_op::get_children2, "getChildren2", "pb", "[n]S"},
    {wire_op::check, "check", "pi", "?S"},
    {wire_op::multi, "multi", "", ""},
    {wire_op::create2, "create2", "pd[iss]i", "pS"},
    {wire_op::reconfig, "reconfig", "dddl", "dS"},
    {wire_op::check_watches, "checkWatches", "pi", ""},
    {wire_op::remove_watches, "removeWatches", "pi", ""},
    {wire_op::create_container, "createContainer", "pd[iss]i", "pS"},
    {wire_op::delete_container, "deleteContainer", "p", ""},
    {wire_op::create_ttl, "createTTL", "pd[iss]il", "pS"},
    {wire_op::multi_read, "multiRead", "", ""},
    {wire_op::auth, "auth", "isd", ""},
    {wire_op::set_watches, "setWatches", "l[s][s][s]", ""},
    {wire_op::sasl, "sasl", "d", "d"},
    {wire_op::get_ephemerals, "getEphemerals", "s", "[p]"},
    {wire_op::get_all_children_number, "getAllChildrenNumber", "p", "i"},
    {wire_op::set_watches2, "setWatches2", "l[s][s][s][s][s]", ""},
    {wire_op::add_watch, "addWatch", "pi", "?i"},
    {wire_op::who_am_i, "whoAmI", "", "{sd}"},
};

inline const operation_form& form_of(wire_op op) noexcept {
    constexpr auto first = static_cast<std::int32_t>(wire_op::close_session);
    constexpr auto last = static_cast<std::int32_t>(wire_op::who_am_i);
    static constexpr auto rows = [] {
        std::array<std::uint8_t, static_cast<std::size_t>(last - first) + 1> numbers{};
        for (std::size_t i = 1; i < std::size(operation_forms); ++i)
            numbers[static_cast<std::size_t>(static_cast<std::int32_t>(operation_forms[i].op) -
                                             first)] = static_cast<std::uint8_t>(i);
        return numbers;
    }();
    auto code = static_cast<std::int32_t>(op);
    bool known = code >= first && code <= last;
    return operation_forms[known ? rows[static_cast<std::size_t>(code - first)] : 0];
}

inline const operation_form& form_at(std::uint8_t number) noexcept {
    return operation_forms[number];
}

inline std::uint8_t number_of(const operation_form& form) noexcept {
    return static_cast<std::uint8_t>(&form - operation_forms);
}

inline std::string_view to_string(wire_op op) noexcept {
    return form_of(op).name;
}

/// Operations, as bits at the numbers of their rows.
using operation_set = std::uint64_t;
static_assert(std::size(operation_forms) <= 64);

constexpr operation_set set_of(wire_op op) noexcept {
    for (std::size_t i = 1; i < std::size(operation_forms); ++i) {
        if (operation_forms[i].op == op)
            return operation_set{1} << i;
    }
    return 1;
}

/// Their names, separated by commas.
inline std::string to_string(operation_set ops) {
    std::string text;
    for (const operation_form& form : operation_forms) {
        if ((ops & set_of(form.op)) != 0)
            text.append(text.empty() ? "" : ", ").append(form.name);
    }
    return text;
}

inline bool is_creation(wire_op op) noexcept {
    return op == wire_op::create || op == wire_op::create2 || op == wire_op::create_container ||
           op == wire_op::create_ttl;
}

/// Whether it may stand for a node's path.
inline bool is_wire_path(std::string_view text) noexcept {
    return !text.empty() && text.front() == '/' && text.find('\0') == std::string_view::npos;
}

/// Reads the field that `fields` begins with; the reader fails if it is not there.
/// @return the description of what follows
inline const char* read_field(jute_reader& in, const char* fields, entry_budget& budget) noexcept {
    constexpr std::size_t stat_size = 68;
    switch (*fields) {
        case 'b': in.take(1); break;
        case 'i': in.take(4); break;
        case 'l': in.take(8); break;
        case 'S': in.take(stat_size); break;
        case 's': in.string(); break;
        case 'd': in.buffer(); break;
        case 'p':
            if (!is_wire_path(in.buffer()))
                in.fail();
            break;
        case 'n':
            if (in.string().empty())
                in.fail();
            break;
        case '[':
        case '{': {
            // The number of entries is not believed: each takes bytes.
            const bool is_short = *fields == '{';
            const char end = is_short ? '}' : ']';
            const char* entry = fields + 1;
            std::int32_t count = in.int32();
            if (count < 0 || (is_short && count > longest_short_list))
                in.fail();
            for (std::int32_t i = 0; i < count && !in.failed(); ++i) {
                // Counted as they are read: a number is no long list yet.
                if (!budget.take())
                    in.fail();
                for (fields = entry; *fields != end;)
                    fields = read_field(in, fields, budget);
            }
            while (*fields != end)
                ++fields;
            break;
        }
        default: in.fail();
    }
    return fields + 1;
}

/// Reads the fields of one record, which is a part of a transaction or not. Nothing is allocated.
inline void read_record(jute_reader& in,
                        const char* fields,
                        bool in_transaction,
                        entry_budget& budget) noexcept {
    while (*fields != '\0') {
        if (*fields != '?')
            fields = read_field(in, fields, budget);
        else if (in_transaction || in.empty())
            return;
        else
            ++fields;
    }
}

inline void read_record(jute_reader& in, const char* fields, bool in_transaction = false) noexcept {
    entry_budget budget;
    read_record(in, fields, in_transaction, budget);
}

}  // namespace corozk::detail
