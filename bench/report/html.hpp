// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace corozk::bench {

/// Text within HTML or SVG.
std::string escaped(std::string_view text);

}  // namespace corozk::bench
