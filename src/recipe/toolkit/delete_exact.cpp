// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/delete_exact.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/synced_read.hpp"

#include <optional>

namespace corozk::detail {

task<error_code> erase_one(port& p, std::string path, bool& erased) {
    std::optional<std::int64_t> meant;  // by a request whose response was lost
    erased = false;
    for (;;) {
        // The server may lag behind and not have the node yet.
        request look(p, op_code::exists, path);
        error_code ec = co_await behind_sync(p, look);
        if (retry(p).again(ec))
            continue;
        if (ec == zk_errc::no_node) {
            // After a lost response: deleted by this client or another one.
            erased = meant.has_value();
            co_return error_code();
        }
        if (ec)
            co_return ec;
        if (meant && *meant != look.record.czxid) {
            erased = true;
            co_return error_code();
        }
        request erase(p, op_code::erase, path);
        ec = co_await erase;
        retry attempt(p);
        if (attempt.again(ec)) {
            if (attempt.doubtful())
                meant = look.record.czxid;
            continue;
        }
        erased = !ec || meant.has_value();
        co_return ec == zk_errc::no_node ? error_code() : ec;
    }
}

}  // namespace corozk::detail
