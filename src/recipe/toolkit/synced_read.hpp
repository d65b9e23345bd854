// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/request.hpp"
#include "driver/task.hpp"

namespace corozk::detail {

/// Sends a `sync` and `look` right behind it, so that `look` sees all that was committed before: a
/// server may lag behind what this client has seen at another one, or what another client did
/// before it spoke to this one. @return the first error of the two; the rest is in `look`
task<error_code> behind_sync(port& p, request& look);

}  // namespace corozk::detail
