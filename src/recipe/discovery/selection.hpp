// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/discovery/format.hpp"
#include <corozk/recipe/service_provider.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

// Which instance is used.
//
//   * Round robin goes on from the node name of the last choice, so that instances that come and go
//     neither repeat nor skip others.
//   * What a failure was reported of is known by its id and incarnation: one that is registered again
//     is another one.
//   * As Curator's: the failures of an instance are forgotten together, `set_aside_for` after the
//     first of them.

using instance_ptr = std::shared_ptr<const service_instance>;

/// An available instance and the name of its node.
struct candidate {
    std::string node;
    instance_ptr instance;
};

/// Orders candidates by a strategy.
class instance_order {
public:
    instance_order(service_strategy strategy, std::uint64_t seed)
        : strategy_(strategy), random_(seed) {}

    /// The chosen candidate first, then those to try if it fails.
    /// @param available by node name
    std::vector<candidate> arrange(std::vector<candidate> available);

private:
    service_strategy strategy_;
    std::mt19937_64 random_;
    std::string last_;  ///< the node of the last choice
};

/// The instances that are set aside.
class down_instances {
public:
    using time_point = time_limit::time_point;

    down_instances(std::uint32_t threshold, time_limit set_aside_for)
        : threshold_(threshold), length_(set_aside_for) {}

    /// A failure of an instance. Forgets what is over, and others than those that are known.
    void report(const service_instance& instance,
                const std::map<std::string, instance_table::entry>& known,
                time_point now);
    bool contains(const service_instance& instance, time_point now) const;

    /// When the first of those that are set aside is available again.
    std::optional<time_point> next_return(time_point now) const;

    /// How many it knows of, set aside or not.
    std::size_t size() const noexcept { return failures_.size(); }

private:
    void retain(const std::map<std::string, instance_table::entry>& known, time_point now);

    using key = std::pair<std::string, std::int64_t>;
    struct failures {
        time_point end;
        std::uint32_t count = 0;
    };
    bool sets_aside(const failures& f, time_point now) const noexcept {
        return threshold_ != 0 && f.count >= threshold_ && now < f.end;
    }

    std::uint32_t threshold_;
    time_limit length_;
    std::map<key, failures> failures_;
};

/// The instances that may be chosen.
std::vector<candidate> available_instances(
    const std::map<std::string, instance_table::entry>& known,
    const down_instances& down,
    down_instances::time_point now);

}  // namespace corozk::detail
