// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk {

/** @brief Whose nodes a recipe works with: its own, or those of another library, so that programs
 *         of both kinds can share a path. All participants have to agree.
 *
 * What that means for a recipe is described at its options. A value that a recipe does not have
 * makes its operations fail with `errc::bad_option`.
 */
enum class compatibility : std::uint8_t {
    native,   ///< as the recipes page says, or by our own rules
    curator,  ///< as Apache Curator
    kazoo,    ///< as Kazoo
};

}  // namespace corozk
