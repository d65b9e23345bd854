// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/request.hpp"
#include "driver/task.hpp"

namespace corozk::detail {

/// Sends a `sync` directly followed by `look`, so that `look` sees everything that was committed
/// before: the server may lag behind one that this client used earlier, or behind changes by other
/// clients. @return the first error of the two; the result is in `look`
task<error_code> behind_sync(port& p, request& look);

}  // namespace corozk::detail
