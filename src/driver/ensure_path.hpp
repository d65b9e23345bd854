// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/types.hpp>

#include <string>

namespace corozk::detail {

/// Creates a node and its missing ancestors with the given mode and ACL. Existing nodes are not
/// changed, and no permissions are needed on their ancestors.
task<error_code> ensure_path(port& p,
                             std::string path,
                             acl entries,
                             create_mode mode = create_mode::container);

}  // namespace corozk::detail
