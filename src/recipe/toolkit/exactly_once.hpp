// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

/// The outcome of a transaction applied by `exactly_once`.
struct exactly_once_outcome {
    error_code error;  ///< `connection_loss` only if the outcome could not be determined
    std::optional<std::size_t> failed;  ///< the step that failed; none if the error is another one
    bool blank = true;  ///< applied, but without results because the response was lost
    std::vector<transaction_result> results;
};

/// Applies each transaction exactly once, even if the connection or the session is lost.
///
/// It has its own node, and each transaction begins with a set of this node at the version
/// that results from the previous one. So a transaction can be applied only once, and it is safe to
/// send the identical one again after a lost response: if the node's version has increased, it was
/// applied (no other client writes the node, and one transaction is in flight at a time).
///
/// The node is persistent, as an ephemeral one would not survive the session. It is deleted by
/// `retire`. Nodes of ones that crashed, or whose client was closed first, are deleted after an
/// hour by other ones below the same parent.
class exactly_once {
public:
    exactly_once(port& p, std::string parent, acl entries);
    exactly_once(const exactly_once&) = delete;
    exactly_once& operator=(const exactly_once&) = delete;

    /// Only one transaction at a time.
    /// @param who  must wait for it when it is sent, also when it is sent again, and when the node is
    ///             created; otherwise it is withdrawn, and the error is `operation_aborted` unless it
    ///             was applied
    task<exactly_once_outcome> commit(std::vector<transaction::step> steps, const interest& who) {
        return apply(std::move(steps), &who, 0);
    }

    /// Same as above, whoever waits, and even if the client is being closed.
    task<exactly_once_outcome> commit_owed(std::vector<transaction::step> steps) {
        return apply(std::move(steps), nullptr, 0);
    }

    /// Same as the first, in this session: once it has ended, the steps are not sent any more, and the
    /// error is that of its end unless an earlier attempt was applied.
    task<exactly_once_outcome> commit_in(std::uint64_t generation,
                                         std::vector<transaction::step> steps,
                                         const interest& who) {
        return apply(std::move(steps), &who, generation);
    }

    /// Same as the first, for a transaction that is valid now but not after an outage: it is sent once,
    /// and withdrawn if its response is lost. `try_again`: not applied. Call `prepare` before
    /// determining the steps.
    task<exactly_once_outcome> commit_now(std::vector<transaction::step> steps,
                                          const interest& who);

    /// Creates the node, unless it exists or nobody waits for that any more (`operation_aborted`).
    task<error_code> prepare(const interest& who);

    /// Deletes the node in the background. Not while a commit is in flight.
    void retire();

private:
    task<exactly_once_outcome> apply(std::vector<transaction::step> steps,
                                     const interest* who,
                                     std::uint64_t generation);
    task<error_code> open(const interest* who);
    task<error_code> withdraw();
    transaction::step mark() const;
    void applied(exactly_once_outcome& outcome, std::vector<transaction_result> results);
    void moved_on();

    port& port_;
    std::string parent_;
    acl entries_;
    std::string path_;          ///< empty: no node yet
    std::string perhaps_made_;  ///< a node whose creation has an unknown outcome
    std::int32_t version_ = 0;
    bool swept_ = false;
};

}  // namespace corozk::detail
