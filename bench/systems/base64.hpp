// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace corozk::bench {

// How bytes are written in etcd's JSON.

std::string to_base64(std::string_view bytes);

/// @throws std::runtime_error if it is none
std::string from_base64(std::string_view text);

}  // namespace corozk::bench
