// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/proxy_frame.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace corozk::testing::detail {

/** Where the parts of an answer stand in its payload. */
struct answer_layout {
    std::optional<std::size_t> names = {};  ///< the list of the children's names
    std::vector<std::size_t> created = {};  ///< the paths of nodes that were made
    std::vector<std::size_t> records = {};  ///< the records of nodes
};

/** Nothing for what is no answer, tells of an error, or cannot be read to its end. */
answer_layout layout_of(const frame_info& frame);

}  // namespace corozk::testing::detail
