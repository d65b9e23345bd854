// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk {

/** @brief The node layout of a recipe: native, or that of another library, so that programs using
 *         either can share a path. All participants must use the same one.
 *
 * The options of each recipe describe the effect. Operations fail with `errc::bad_option` if the
 * recipe does not support the chosen layout.
 */
enum class compatibility : std::uint8_t {
    native,   ///< As on ZooKeeper's recipes page, or specific to this library.
    curator,  ///< Apache Curator's.
    kazoo,    ///< Kazoo's.
};

}  // namespace corozk
