// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "operation/path.hpp"
#include "recipe/discovery/format.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/recipe/cache.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace corozk::detail {

inline void report_malformed(port& p, const std::string& path) {
    p.report(log_level::warning, "service discovery: ", path, " is not a valid instance; skipped");
}

/// Base of what follows a service: a cache of its node's children, and what they say.
class followed_service : public recipe_core {
public:
    followed_service(port& p,
                     std::string path,
                     const client& c,
                     const std::string& base,
                     const std::string& service,
                     service_format format)
        : recipe_core(p, "service discovery", std::move(path)), table_(service, format) {
        good_ = service_path(base, service).has_value() && recipe_core::path_is_good();
        if (!good_)
            return;
        cache_options options;
        if (format != service_format::curator) {
            options.filter = [format](std::string_view node) {
                return is_instance_node(format, node.substr(node.rfind('/') + 1));
            };
        }
        nodes = children_cache(c, recipe_core::path(), options);
    }

    void stop() noexcept override {
        recipe_core::stop();
        nodes = children_cache();
    }

    bool path_is_good() const noexcept { return good_; }

    /// The instances in a state of the cache.
    const std::map<std::string, instance_table::entry>& read(const tree_state& state) {
        if (state.revision != revision_ && state.nodes) {
            revision_ = state.revision;
            for (const std::string& name : table_.update(*state.nodes))
                report_malformed(port_, join_path(recipe_core::path(), name));
        }
        return table_.entries();
    }

    children_cache nodes;

private:
    instance_table table_;
    std::uint64_t revision_ = 0;
    bool good_ = false;
};

}  // namespace corozk::detail
