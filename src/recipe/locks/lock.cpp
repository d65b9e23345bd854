// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/line_object.hpp"
#include "recipe/contention/predecessor_rule.hpp"
#include <corozk/recipe/lock.hpp>

namespace corozk {

using namespace detail;

namespace {

naming make_naming(lock_naming style) {
    switch (style) {
        case lock_naming::curator: {
            naming n("_c_", {"-lock-"});
            n.dashed_guid = true;
            n.foreign_infixes = {"lock-"};  // a mutex without protection
            return n;
        }
        case lock_naming::kazoo:
            return naming("", {"__lock__"});
        case lock_naming::standard:
            break;
    }
    return naming("", {"-lock-"});
}

std::shared_ptr<const line_object> make_object(std::string path, lock_options options) {
    line_settings settings;
    settings.directory = std::move(path);
    settings.names = make_naming(options.naming);
    settings.rule = &the_exclusive_rule();
    settings.entries = std::move(options.acl);
    settings.release_request = std::move(options.release_request);
    settings.request_replaces_data = options.naming == lock_naming::curator;
    if (options.naming == lock_naming::kazoo)
        settings.folder_mode = create_mode::persistent;
    std::vector<std::string> kinds{"lock"};
    return std::make_shared<const line_object>(
        std::move(settings), std::move(options.identity), std::move(kinds));
}

}  // namespace

lock::lock(const client& c, std::string path, lock_options options)
    : line_user(c, make_object(std::move(path), std::move(options)), "lock") {}

lock::lock(lock&&) noexcept = default;
lock& lock::operator=(lock&&) noexcept = default;
lock::~lock() = default;

}  // namespace corozk
