// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace corozk::detail {

/// What became of a transaction that a ledger carried out.
struct ledger_outcome {
    error_code error;        ///< `connection_loss` only if it could not be found out
    std::size_t failed = 0;  ///< which step was the reason; 0 also if none of them was
    bool blank = true;       ///< applied, but its answer was lost: there are no results
    std::vector<transaction_result> results;
};

/// Carries out transactions, each exactly once, whatever becomes of connection and session.
///
/// The ledger has a node of its own, and each transaction begins with a set of this node at the
/// version that the one before made. So a transaction can be applied once only, and sending the
/// identical one again after a lost answer is safe: if the ledger's node has moved on, it was
/// applied (nobody else writes the node, and one transaction is on its way at a time).
///
/// The node is persistent: an ephemeral one could not tell anything after the session was lost. It
/// is erased by `retire`; what others left (they crashed, or closed the client first) is swept
/// after an hour by whoever opens a ledger in the same folder.
class ledger {
public:
    ledger(port& p, std::string folder, acl entries);
    ledger(const ledger&) = delete;
    ledger& operator=(const ledger&) = delete;

    /// Not to be called again before the answer.
    task<ledger_outcome> commit(std::vector<transaction::step> steps);

    /// The same for what is right only now, and not after an outage: it is sent once, and withdrawn if
    /// its answer is lost. `try_again`: nothing was done. Call `prepare` before its steps are decided.
    task<ledger_outcome> commit_now(std::vector<transaction::step> steps);

    /// Makes the node, where there is none yet.
    task<error_code> prepare();

    /// Erases the node, in the background. Not while a commit is on its way.
    void retire();

private:
    task<error_code> open();
    task<error_code> withdraw();
    transaction::step mark() const;
    void applied(ledger_outcome& outcome, std::vector<transaction_result> results);
    void moved_on();

    port& port_;
    std::string folder_;
    acl entries_;
    std::string path_;          ///< empty: no node yet
    std::string perhaps_made_;  ///< a node whose creation is in doubt
    std::int32_t version_ = 0;
    bool swept_ = false;
};

}  // namespace corozk::detail
