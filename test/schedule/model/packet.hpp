// SPDX-License-Identifier: Apache-2.0
// What goes between the C client and a server, without its encoding.
#pragma once

#include "hash.hpp"

#include <zookeeper/zookeeper.h>

#include <cstdint>
#include <string>
#include <vector>

namespace corozk::model {

enum class verb : std::uint8_t {
    create,
    erase,
    set,
    check,
    get,
    exists,
    children,
    sync,
    get_acl,
    set_acl,
    multi,
    multi_read,
    auth,
    add_watch,
    remove_watches,
    set_watches,
    close,
};

struct acl_item {
    std::int32_t perms = 0;
    std::string scheme;
    std::string id;
};

struct request {
    request() = default;
    explicit request(verb v) : what(v) {}

    verb what = verb::exists;
    int xid = 0;
    std::string path;
    std::string data;
    std::vector<acl_item> acl;
    int mode = 0;
    std::int32_t version = -1;
    bool watch = false;
    int watch_type = 0;
    std::vector<request> steps;

    // Of set_watches.
    std::vector<std::string> data_watches;
    std::vector<std::string> exists_watches;
    std::vector<std::string> child_watches;
    std::int64_t seen = 0;
};

struct step_result {
    int rc = 0;
    std::string path;
    std::string data;
    Stat stat{};
    std::vector<std::string> names;
};

enum class packet : std::uint8_t { answer, event, welcome, rejection };

struct answer {
    packet kind = packet::answer;
    verb what = verb::exists;
    int xid = 0;
    int rc = 0;
    std::int64_t zxid = 0;
    int event = 0;
    std::string path;  ///< also of an event
    std::string data;
    Stat stat{};
    std::vector<std::string> names;
    std::vector<acl_item> acl;
    std::vector<step_result> steps;

    // Of a welcome.
    std::int64_t session = 0;
    std::int64_t password = 0;
    int timeout = 0;
};

const char* name_of(verb v);
std::string text_of(const request& r);
std::string text_of(const answer& a);

/// What a zxid stands for, by its number: what was changed, and how often it was before. Other than
/// the number it does not depend on what else was done before. Empty: the numbers themselves.
using change_names = std::vector<std::uint64_t>;
inline std::uint64_t name_of(std::int64_t zxid, const change_names& names) {
    auto at = static_cast<std::uint64_t>(zxid);
    return at < names.size() ? names[at] : at;
}

void add(hasher& h, const Stat& s, const change_names& names);
void add(hasher& h, const request& r);
void add(hasher& h, const answer& a, const change_names& names);

}  // namespace corozk::model
