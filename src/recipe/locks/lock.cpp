// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/formats.hpp"
#include <corozk/recipe/lock.hpp>

namespace corozk {

using namespace detail;

namespace {

std::shared_ptr<const contention_object> make_object(std::string path, lock_options options) {
    contention_settings settings = settings_in_format(known_recipe::lock, options.compatibility);
    settings.parent = std::move(path);
    settings.rule = &the_exclusive_rule();
    settings.entries = std::move(options.acl);
    settings.release_request = std::move(options.release_request);
    std::vector<std::string> kinds{"lock"};
    return std::make_shared<const contention_object>(
        std::move(settings), std::move(options.identity), std::move(kinds));
}

}  // namespace

lock::lock(const client& c, std::string path, lock_options options)
    : contention_recipe(c, make_object(std::move(path), std::move(options)), "lock") {}

lock::lock() noexcept = default;
lock::lock(lock&&) noexcept = default;
lock& lock::operator=(lock&&) noexcept = default;
lock::~lock() = default;

}  // namespace corozk
