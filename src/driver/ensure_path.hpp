// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/types.hpp>

#include <string>

namespace corozk::detail {

/// Makes sure that a folder exists, with all its parents. Nodes that are missing become `mode`
/// (container: the server removes them when they are not used any more; persistent where the server
/// has no containers) with these ACLs. What exists is not touched: no right to create is needed on
/// the ancestors of a node that is there.
task<error_code> ensure_folder(port& p,
                               std::string path,
                               acl entries,
                               create_mode mode = create_mode::container);

}  // namespace corozk::detail
