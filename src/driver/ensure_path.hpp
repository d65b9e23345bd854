// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/request.hpp"
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
                             const interest* call = nullptr);

/// Sends a create, or a transaction. When a create has failed because its parent is missing, which
/// means that nothing was applied, creates the missing ancestors, as above and with the ACL of the
/// new node, and sends the request again. Nothing more is sent once the call that the request is
/// `only_for` is over.
/// @return the error of the request, or why the ancestors could not be created
task<error_code> create_with_parents(port& p,
                                     request& creation,
                                     create_mode parents = create_mode::container);

}  // namespace corozk::detail
