// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_queue.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include "recipe/toolkit/retry.hpp"

#include <memory>
#include <utility>

namespace corozk::detail {

/// A driver's request for a grant, which sets the driver's signal when it is granted or fails. The
/// destructor releases or abandons it, unless the grant was taken.
class grant_request {
public:
    grant_request(contention_queue& where,
                  const acquire_request& what,
                  contender_data data,
                  signal& wake)
        : call_(where.get_port(), wake), gone_(where.get_port(), wake) {
        user_call<ownership> call(where.get_port(), call_.handler());
        contender_ = where.enter(what, std::move(data), std::move(call));
    }
    ~grant_request() {
        if (!done())
            abandon(boost::asio::error::operation_aborted);
    }

    /// Whether to make another one after such a failure.
    static bool worth_another(const error_code& ec) noexcept {
        return ec == errc::ownership_lost || ec == zk_errc::not_read_only || is_transient(ec);
    }

    bool done() const noexcept { return call_.done(); }
    const error_code& error() const noexcept { return call_.error(); }
    ownership& granted() noexcept { return call_.value(); }

    /// Deletes its node in the background.
    void abandon(error_code reason) {
        if (auto c = contender_.lock())
            c->abandon(reason);
    }

    /// Whether its node was deleted or its session has ended. Called after it has failed; sets the
    /// signal when that happens later.
    bool gone() {
        auto c = contender_.lock();
        if (!c || c->stage() == contender::stage_type::gone)
            return true;
        if (!std::exchange(follows_, true))
            c->wait_gone(user_call<>(c->owner_port(), gone_.handler()));
        return gone_.done();
    }

private:
    inner_call<ownership> call_;
    inner_call<> gone_;
    bool follows_ = false;
    std::weak_ptr<contender> contender_;
};

}  // namespace corozk::detail
