// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/sweep.hpp"
#include <corozk/transaction.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// The implementation of an `ownership`: a node that represents something held.
class owned {
public:
    virtual ~owned() = default;

    virtual port& owner_port() noexcept = 0;
    virtual std::string path() const = 0;
    virtual std::int64_t fencing_token() const noexcept = 0;

    /// The session that its nodes belong to.
    virtual std::uint64_t generation() const noexcept = 0;

    /// See `ownership::valid`.
    virtual bool valid() const noexcept = 0;

    /// Whether its node is being replaced by another one.
    virtual bool changing() const noexcept { return false; }

    /// The nodes that exist as long as it is held.
    virtual std::vector<std::string> nodes() const { return {path()}; }

    virtual void wait_lost(user_call<error_code> call) = 0;
    virtual void release(user_call<> call) = 0;

    /// Not supported by all recipes.
    virtual void wait_release_requested(user_call<> call) { call.fail(errc::not_supported); }

    /// Releases it without a result.
    virtual void drop() noexcept = 0;
};

/// The pending calls of a holder: for its loss, and one for a release request.
class held_calls {
public:
    /// Completes with the reason for the loss; `operation_aborted` when released.
    void wait_lost(user_call<error_code> call);

    /// Fails with the reason for a loss, and with `busy` while another one is pending; otherwise as
    /// `wait_lost`.
    void wait_release_requested(user_call<> call);

    void lose(error_code reason);
    void request_release();
    void give_back();

    /// No error unless it is lost.
    const error_code& lost_reason() const noexcept { return lost_reason_; }

private:
    std::vector<std::shared_ptr<pending_call<error_code>>> lost_;
    sweep sweep_;
    std::shared_ptr<pending_call<>> request_;
    error_code lost_reason_;
    bool requested_ = false;
    bool given_back_ = false;
};

/// Starts a transaction that is not sent if this client knows that one of `held` (at least one) is
/// lost, and not applied by the server if one of their nodes was deleted or their session has ended.
void guarded_commit(std::vector<std::shared_ptr<owned>> held,
                    transaction steps,
                    handler_of<std::vector<transaction_result>> handler);

/// Starts a read that sees everything that any client has written before.
void synced_read(port& p, std::string path, handler_of<node_data> handler);

}  // namespace corozk::detail
