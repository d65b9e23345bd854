// SPDX-License-Identifier: Apache-2.0
#include "block/contender.hpp"

#include "block/line.hpp"
#include "block/release_request.hpp"
#include "session/path.hpp"

namespace corozk::detail {

contender::contender(line& l, contender_request request, user_call<ownership> call)
    : line_node(true),
      port_(l.get_port()),
      line_(&l),
      settings_(l.settings_),
      request_(std::move(request)),
      watch_(*this),
      since_(port_.now()),
      call_(std::make_unique<user_call<ownership>>(std::move(call))) {
    kind = request_.kind;
    weight = request_.weight;
    if (request_.deadline)
        port_.start_timer(*this, *request_.deadline);
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
    if (call_)
        call_->fail(reason);
    timer_node::cancel();
    if (!line_)
        return;
    switch (stage_) {
        case stage_type::creating:
            // If nothing was sent, nothing is left behind.
            if (!asked_ || line_->take_back(*this)) {
                line_->fail(*this, reason);
            } else {
                abandoned_ = true;
            }
            break;
        case stage_type::waiting:
            line_->release(*this);
            break;
        default:
            break;
    }
}

void contender::expired() noexcept {
    if (stage_ == stage_type::granted) {
        // Still held after a while: notice if somebody erases the node.
        if (line_ && !watch_.armed() && !proving_)
            line_->prove(*this);
    } else {
        abandon(errc::deadline_exceeded);
    }
}

void contender::own_node_touched() noexcept {
    if (!line_)
        return;
    if (stage_ == stage_type::granted || stage_ == stage_type::waiting)
        line_->prove(*this);
}

void contender::lose(error_code reason) {
    lost_reason_ = reason;
    if (lost_call_ && lost_call_->waiting())
        lost_call_->complete(error_code(), reason);
    lost_call_.reset();
    if (request_call_)
        request_call_->fail(reason);
    request_call_.reset();
}

void contender::wait_lost(user_call<error_code> call) {
    if (lost_reason_)
        return call.complete(error_code(), lost_reason_);
    if (stage_ != stage_type::granted)
        return call.fail(boost::asio::error::operation_aborted);
    if (lost_call_ && lost_call_->waiting())
        return call.fail(errc::busy);
    lost_call_ = std::make_unique<user_call<error_code>>(std::move(call));
    lost_call_->on_cancel([weak = weak_from_this()](cancellation_type) {
        auto self = weak.lock();
        if (self && self->lost_call_)
            self->lost_call_->fail(boost::asio::error::operation_aborted);
    });
}

void contender::release(user_call<> call) {
    if (lost_reason_)
        return call.fail(lost_reason_);
    if (stage_ != stage_type::granted || !line_)
        return call.fail(errc::ownership_lost);
    release_call_ = std::make_unique<user_call<>>(std::move(call));
    release_call_->on_cancel([weak = weak_from_this()](cancellation_type type) {
        bool stops_waiting = (type & (cancellation_type::terminal | cancellation_type::partial)) !=
                             cancellation_type::none;
        auto self = weak.lock();
        if (stops_waiting && self && self->release_call_) {
            self->release_call_->fail(boost::asio::error::operation_aborted);
        }
    });
    line_->release(*this);
}

void contender::wait_release_requested(user_call<> call) {
    if (lost_reason_)
        return call.fail(lost_reason_);
    if (stage_ != stage_type::granted)
        return call.fail(boost::asio::error::operation_aborted);
    if (release_requested_)
        return call.complete(error_code());
    if (request_call_ && request_call_->waiting())
        return call.fail(errc::busy);
    request_call_ = std::make_unique<user_call<>>(std::move(call));
    request_call_->on_cancel([weak = weak_from_this()](cancellation_type) {
        auto self = weak.lock();
        if (self && self->request_call_) {
            self->request_call_->fail(boost::asio::error::operation_aborted);
        }
    });
}

/// What the own node's data says, each time that a watch is left on it: so no request is missed.
void contender::inspect(const operation& look) {
    // What we wrote ourselves is no request.
    if (look.record.version == 0)
        return;
    if (!has_release_request(look.answer, settings_->release_request))
        return;
    release_requested_ = true;
    if (stage_ == stage_type::granted && request_call_) {
        request_call_->complete(error_code());
        request_call_.reset();
    }
}

void contender::drop() noexcept {
    if (stage_ == stage_type::granted && line_)
        line_->release(*this);
}

}  // namespace corozk::detail
