// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contender.hpp"

#include "driver/cancellable.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/contention/release_request.hpp"

namespace corozk::detail {

contender::contender(contention_queue& q, contender_request request, user_call<ownership> call)
    : contention_node(true),
      port_(q.get_port()),
      queue_(&q),
      settings_(q.settings_),
      request_(std::move(request)),
      watch_(*this),
      since_(port_.now()),
      call_(std::move(call)) {
    kind = request_.kind;
    weight = request_.weight;
    if (request_.deadline) {
        port_.start_timer(*this, *request_.deadline);
        call_.set_deadline(*request_.deadline);
    }
}

std::string contender::path() const {
    if (sequence_ == 0 && czxid_ == 0)
        return settings_->directory;
    char digits[16];
    std::snprintf(digits, sizeof digits, "%010d", sequence_);
    return join_path(settings_->directory, settings_->names.format(guid(), kind, weight) + digits);
}

bool contender::valid() const noexcept {
    return stage_ == stage_type::granted && port_.alive(generation_) &&
           port_.now() < port_.expiry_deadline();
}

void contender::abandon(error_code reason) {
    auto keep = shared_from_this();
    call_.fail(reason);
    timer_node::cancel();
    if (!queue_)
        return;
    switch (stage_) {
        case stage_type::creating:
            // If nothing was sent, nothing is left behind.
            if (!asked_ || queue_->take_back(*this)) {
                queue_->fail(*this, reason);
            } else {
                abandoned_ = true;
            }
            break;
        case stage_type::waiting:
            queue_->release(*this);
            break;
        default:
            break;
    }
}

void contender::wait_gone(user_call<> call) {
    if (stage_ == stage_type::gone)
        return call.complete(error_code());
    more().gone = std::move(call);
}

/// Nothing of it is left.
void contender::end() {
    stage_ = stage_type::gone;
    if (extras_)
        extras_->gone.complete(error_code());
}

void contender::turn_watch::fired(watch_event_type type) noexcept {
    // Any other type says that something may have happened while we could not hear of it.
    if (contender_.queue_ && type == watch_event_type::created)
        contender_.queue_->announced(contender_);
}

void contender::expired() noexcept {
    if (stage_ == stage_type::granted) {
        if (!queue_)
            return;
        // Still held after a while: notice if somebody erases the node.
        if (!watch_.armed() && !proving_)
            queue_->prove(*this);
        // Others want it, too: know the next one before it is released.
        if (listens())
            queue_->look_behind(*this);
    } else {
        abandon(errc::deadline_exceeded);
    }
}

void contender::own_node_touched() noexcept {
    if (!queue_)
        return;
    if (stage_ == stage_type::granted || stage_ == stage_type::waiting)
        queue_->prove(*this);
}

void contender::wait_lost(user_call<error_code> call) {
    if (stage_ != stage_type::granted && !lost_reason())
        return call.fail(boost::asio::error::operation_aborted);
    held().wait_lost(std::move(call));
}

void contender::wait_release_requested(user_call<> call) {
    if (stage_ != stage_type::granted && !lost_reason())
        return call.fail(boost::asio::error::operation_aborted);
    held().wait_release_requested(std::move(call));
}

void contender::release(user_call<> call) {
    if (error_code reason = lost_reason())
        return call.fail(reason);
    if (stage_ != stage_type::granted || !queue_)
        return call.fail(errc::ownership_lost);
    release_call_ = cancellable(std::move(call), stops_waiting);
    queue_->release(*this);
}

/// What the own node's data says, each time that a watch is left on it: so no request is missed.
void contender::inspect(const operation& look) {
    // What we wrote ourselves is no request.
    if (look.record.version == 0)
        return;
    if (!has_release_request(look.answer, settings_->release_request))
        return;
    held().request_release();
}

void contender::drop() noexcept {
    if (stage_ == stage_type::granted && queue_)
        queue_->release(*this);
}

}  // namespace corozk::detail
