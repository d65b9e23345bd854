// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace corozk::bench {

/// Each byte that is not UTF-8 becomes U+FFFD, for no program reads such a JSON file.
std::string to_utf8(std::string_view text);

}  // namespace corozk::bench
