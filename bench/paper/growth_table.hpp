// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compare/comparison.hpp"
#include "compare/comparison_run.hpp"
#include "table.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace corozk::bench {

/// Figures of several implementations as more and more clients use something, and what they are in
/// relation to those of the fewest clients.
class growth_table {
public:
    growth_table();

    /// One part of a comparison. Adds "growth" to the rows. The numbers of clients come in ascending
    /// order.
    void add(const comparison_part& part,
             std::size_t clients,
             std::size_t index,
             std::vector<compared>& entries);

    /// The table, how others compare with corozk with the fewest and the most clients, and who
    /// failed.
    std::string str() const;

private:
    /// What a line of the summary is about: a part, and whom it compares with corozk.
    using key = std::pair<std::string, std::string>;

    struct span {
        std::size_t fewest = 0;
        std::size_t most = 0;
        double figure_of_fewest = 0;
        double slower_with_fewest = 0;
        double slower_with_most = 0;
    };

    table table_;
    std::map<key, span> spans_;
    std::vector<key> order_;
    std::string remarks_;
};

}  // namespace corozk::bench
