// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/owned.hpp"
#include <corozk/transaction.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A transaction that is not sent if this client knows that one of `held` is lost, and not applied
/// by the server if one of their nodes was deleted or their session has ended.
task<> guarded_commit(port& p,
                      std::vector<std::shared_ptr<owned>> held,
                      transaction steps,
                      user_call<std::vector<transaction_result>> call);

/// A read that sees everything that any client has written before its start.
task<> synced_read(port& p, std::string path, user_call<node_data> call);

}  // namespace corozk::detail
