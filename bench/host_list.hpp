// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// The ports of a list HOST:PORT[,HOST:PORT...][/CHROOT] on this machine.
std::vector<std::uint16_t> ports_of(std::string_view hosts);

}  // namespace corozk::bench
