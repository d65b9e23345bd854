// SPDX-License-Identifier: Apache-2.0
#include "safety/protection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace corozk::bench {

std::string protection::name() const {
    return fmt::format("{}-{}-{}", system, store, guard);
}

std::string protection::store_title() const {
    if (store == "file")
        return "elsewhere (a file)";
    return store == "znode" ? "a znode" : "a key";
}

std::string protection::guard_title() const {
    if (guard == "valid")
        return system == "curator" ? "isOwnedByCurrentThread() before each write"
                                   : "valid() before each write";
    if (guard == "check")
        return "transaction that checks the lock's node";
    if (guard == "token")
        return "fencing token, checked by the store";
    if (guard == "commit")
        return "commit() of the ownership";
    if (guard == "transaction")
        return "transaction that compares the lock's key";
    if (guard == "script")
        return "script that compares the lock's value";
    return "none";
}

const protection& find_protection(std::string_view name) {
    auto at = std::find_if(protections.begin(), protections.end(), [name](const protection& p) {
        return p.name() == name;
    });
    if (at == protections.end())
        throw std::logic_error("no such protection: " + std::string(name));
    return *at;
}

}  // namespace corozk::bench
