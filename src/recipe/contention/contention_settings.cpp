// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_settings.hpp"

namespace corozk::detail {

namespace {

using recipe = known_recipe;
using library = compatibility;

/// The text between guid and sequence, by kind, and variants accepted when parsing.
struct format {
    recipe what;
    library whose;
    const char* first_kind;
    const char* second_kind = nullptr;
    const char* without_guid = nullptr;  ///< before the sequence, if there is no guid
    bool weighted = false;
    bool counts_everything = false;
};

constexpr format formats[] = {
    {recipe::lock, library::native, "-lock-"},
    // A mutex without protection has no guid.
    {recipe::lock, library::curator, "-lock-", nullptr, "lock-"},
    {recipe::lock, library::kazoo, "__lock__"},

    {recipe::shared_lock, library::native, "-read-", "-write-"},
    {recipe::shared_lock, library::curator, "-__READ__", "-__WRIT__"},
    {recipe::shared_lock, library::kazoo, "__rlock__", "__lock__"},

    {recipe::election, library::native, "-n_"},
    {recipe::election, library::curator, "-latch-"},
    {recipe::election, library::kazoo, "__lock__"},

    {recipe::semaphore, library::native, "-lease-", nullptr, nullptr, true, false},
    {recipe::semaphore, library::curator, "-lease-", nullptr, nullptr, false, true},
    {recipe::semaphore, library::kazoo, "__lease__", nullptr, nullptr, false, true},
};

naming names_in(const format& f) {
    bool curators = f.whose == library::curator;
    naming names(curators ? "_c_" : "", {f.first_kind});
    if (f.second_kind)
        names.infixes.emplace_back(f.second_kind);
    if (f.without_guid)
        names.foreign_infixes.emplace_back(f.without_guid);
    names.dashed_guid = curators;
    names.weighted = f.weighted;
    names.counts_everything = f.counts_everything;
    return names;
}

}  // namespace

contention_settings settings_in_format(known_recipe what,
                                       const contention_rule& rule,
                                       std::string parent,
                                       const contender_options& options) {
    const compatibility whose = options.compatibility;
    contention_settings settings;
    settings.parent = std::move(parent);
    settings.rule = &rule;
    settings.entries = options.acl;
    for (const format& f : formats) {
        if (f.what == what && f.whose == whose)
            settings.names = names_in(f);
    }
    if (whose == library::curator) {
        const bool revocable = what == recipe::lock || what == recipe::shared_lock;
        settings.release_request = revocable ? "__REVOKE__" : "";
        settings.request_replaces_data = true;
    }
    if (!options.release_request.empty())
        settings.release_request = options.release_request;
    if (whose == library::kazoo)
        settings.parent_mode = create_mode::persistent;
    return settings;
}

}  // namespace corozk::detail
