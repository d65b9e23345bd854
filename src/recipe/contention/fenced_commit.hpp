// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/owned.hpp"
#include <corozk/transaction.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A transaction that is not sent once this client knows that one of these is lost, and is not
/// carried out by the server once one of their nodes is gone, or their session has ended.
task<> guarded_commit(port& p,
                      std::vector<std::shared_ptr<owned>> held,
                      transaction steps,
                      user_call<std::vector<transaction_result>> call);

/// A read that sees everything that was written before it was asked for, by whomever.
task<> synced_read(port& p, std::string path, user_call<node_data> call);

}  // namespace corozk::detail
