// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <string>

namespace corozk::detail {

/// Replaces a parent if its sequence numbers are spent (`sequence_spent`). The new one has the same
/// ACL; its numbers begin at 0. It is persistent: whether the old one was a container is not shown.
/// @param keep_data  otherwise the new one is empty
/// @return `errc::sequence_exhausted` if it has children, or must not be replaced (which is logged)
task<error_code> renew_parent(port& p, std::string path, bool keep_data = true);

/// Same as above. If it fails, the next one whose number is spent tries again.
task<> try_renew_parent(port& p, std::string path);

}  // namespace corozk::detail
