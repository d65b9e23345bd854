// SPDX-License-Identifier: Apache-2.0

#include "false_content.hpp"

#include "answer_layout.hpp"
#include "frame_bytes.hpp"
#include "jute.hpp"
#include "wire/operation_form.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing::detail {
namespace {

constexpr std::size_t version_in_record = 32;
constexpr std::size_t owner_in_record = version_in_record + 12;
constexpr std::size_t children_in_record = owner_in_record + 12;

using name_list = std::vector<std::string>;

name_list read_names(jute_reader& from) {
    const std::int32_t count = from.int32();
    name_list names;
    for (std::int32_t i = 0; i < count; ++i) {
        names.emplace_back(from.buffer());
    }
    return names;
}

void write_names(jute_writer& to, const name_list& names) {
    to.int32(static_cast<std::int32_t>(names.size()));
    for (const std::string& name : names) {
        to.buffer(name);
    }
}

name_list false_names(wire_lie lie, name_list names) {
    constexpr std::size_t long_size = 500'000;
    constexpr int many = 20'000;
    constexpr std::size_t too_many = corozk::detail::most_entries + 1;
    switch (lie) {
        case wire_lie::child_without_name: names.emplace(names.begin()); break;
        case wire_lie::child_named_dot: names.emplace(names.begin(), "."); break;
        case wire_lie::child_below_a_child: names.emplace(names.begin(), "a/b"); break;
        case wire_lie::child_twice:
            if (names.empty()) {
                names.emplace_back("twice");
            }
            names.push_back(std::string{names.front()});
            break;
        case wire_lie::too_many_children: names.resize(too_many, "x"); break;
        default:
            names.emplace(names.begin(), long_size, 'x');
            for (int i = 0; i < many; ++i) {
                names.push_back(std::to_string(i));
            }
    }
    return names;
}

std::string with_false_names(wire_lie lie, std::string_view payload, std::size_t at) {
    jute_reader old{payload.substr(at)};
    name_list names = read_names(old);
    jute_writer changed;
    changed.raw(payload.substr(0, at));
    write_names(changed, false_names(lie, std::move(names)));
    changed.raw(old.rest());
    return framed(changed.bytes());
}

std::string false_path(wire_lie lie, std::string_view path) {
    switch (lie) {
        case wire_lie::created_elsewhere:
            return std::string{path.substr(0, path.rfind('/') + 1)} + "somebody-else-0000000007";
        case wire_lie::created_nowhere: return {};
        default: return "/a";
    }
}

std::string with_false_paths(wire_lie lie,
                             std::string_view payload,
                             const std::vector<std::size_t>& places) {
    jute_writer changed;
    std::size_t done = 0;
    for (std::size_t at : places) {
        jute_reader old{payload.substr(at)};
        const std::string path = false_path(lie, old.buffer());
        changed.raw(payload.substr(done, at - done)).buffer(path);
        done = payload.size() - old.rest().size();
    }
    changed.raw(payload.substr(done));
    return framed(changed.bytes());
}

void put_false_number(wire_lie lie, std::string& bytes, std::size_t record) {
    switch (lie) {
        case wire_lie::owned_by_another_session:
            put64(bytes, record + owner_in_record, 0x123456789);
            break;
        case wire_lie::created_by_no_transaction: put64(bytes, record, 0); break;
        case wire_lie::created_before_all: put64(bytes, record, -1'000'000); break;
        case wire_lie::version_minus_one: put32(bytes, record + version_in_record, -1); break;
        default: put32(bytes, record + children_in_record, -1);
    }
}

}  // namespace

std::string with_false_content(wire_lie lie, const frame_info& frame, const std::string& bytes) {
    const answer_layout layout = layout_of(frame);
    const std::string_view payload = std::string_view{bytes}.substr(length_size);
    switch (occasion_of(lie)) {
        case wire_occasion::list: return with_false_names(lie, payload, layout.names.value());
        case wire_occasion::creation: return with_false_paths(lie, payload, layout.created);
        default: break;
    }
    std::string changed = bytes;
    for (std::size_t record : layout.records) {
        put_false_number(lie, changed, length_size + record);
    }
    return changed;
}

}  // namespace corozk::testing::detail
