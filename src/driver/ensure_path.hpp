// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/user_call.hpp"
#include <corozk/types.hpp>

#include <string>

namespace corozk::detail {

/// Creates a node and its missing ancestors with the given mode and ACL. Existing nodes are not
/// changed, and no permissions are needed on their ancestors. Nothing more is sent once the call, if
/// there is one, is over.
task<error_code> ensure_path(port& p,
                             std::string path,
                             acl entries,
                             create_mode mode = create_mode::container,
                             const user_call<>* call = nullptr);

}  // namespace corozk::detail
