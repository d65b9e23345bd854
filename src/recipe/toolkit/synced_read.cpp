// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/synced_read.hpp"

namespace corozk::detail {

task<error_code> behind_sync(port& p, request& look) {
    request sync(p, op_code::sync, look.path);
    sync.generation = look.generation;
    sync.send();
    look.send();
    error_code synced = co_await sync;
    error_code seen = co_await look;
    co_return synced ? synced : seen;
}

}  // namespace corozk::detail
