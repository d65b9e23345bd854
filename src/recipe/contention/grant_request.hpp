// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_queue.hpp"
#include "recipe/toolkit/inner_call.hpp"

#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

/// A place in a queue that a driver asks for, among other things that it waits for: sets the
/// driver's signal when there is an answer. Destroying it gives up what has not been taken.
class grant_request {
public:
    grant_request(contention_queue& where,
                  const acquire_request& what,
                  std::string data,
                  signal& wake)
        : call_(where.get_port(), wake), gone_(where.get_port(), wake) {
        user_call<ownership> call(where.get_port(), call_.handler());
        contender_ = where.enter(what, std::move(data), std::move(call));
    }
    ~grant_request() {
        if (!done())
            abandon(boost::asio::error::operation_aborted);
    }

    bool done() const noexcept { return call_.done(); }
    const error_code& error() const noexcept { return call_.error(); }
    ownership& granted() noexcept { return call_.value(); }

    /// Leaves nothing behind at the server, sooner or later.
    void abandon(error_code reason) {
        if (auto c = contender_.lock())
            c->abandon(reason);
    }

    /// Whether nothing of it is left at the server, or its session is over. Asked for after it has
    /// failed: then this sets the signal, too.
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
