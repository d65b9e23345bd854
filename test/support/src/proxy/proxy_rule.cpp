// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/proxy_rule.hpp"

#include <utility>

namespace corozk::testing {

trigger trigger::times(std::uint64_t count) && {
    limit_ = count;
    return std::move(*this);
}

trigger trigger::where(predicate also) && {
    matches_ = [first = std::move(matches_), also = std::move(also)](const frame_info& frame) {
        return (!first || first(frame)) && also(frame);
    };
    return std::move(*this);
}

trigger trigger::under(std::string path_prefix) && {
    return std::move(*this).where([prefix = std::move(path_prefix)](const frame_info& frame) {
        return frame.path.starts_with(prefix);
    });
}

bool trigger::matches(const frame_info& frame) const {
    return frame.kind == kind_ && (!matches_ || matches_(frame));
}

trigger at_request(std::uint64_t number) {
    return at_frame([number](const frame_info& frame) { return frame.number == number; });
}

trigger at_op(op_code op, std::uint64_t k) {
    if (op == op_code::create_session) {
        return at_connect(k);
    }
    return at_frame([op](const frame_info& frame) { return frame.op == op; }, k);
}

trigger at_connect(std::uint64_t k) {
    return {frame_kind::connect, nullptr, k};
}

trigger at_notification(std::uint64_t k) {
    return {frame_kind::notification, nullptr, k};
}

trigger at_frame(trigger::predicate matches, std::uint64_t k) {
    return {frame_kind::request, std::move(matches), k};
}

action action::then_refuse(std::chrono::milliseconds duration) && {
    refusal_ = duration;
    return std::move(*this);
}

action action::at_once() && {
    settles_ = false;
    return std::move(*this);
}

bool action::suits_notifications() const noexcept {
    switch (what_) {
        case kind::swallow_reply_and_cut:
        case kind::cut_after_reply:
        case kind::delay_reply:
        case kind::hold_reply:
        case kind::call_at_reply: return true;
        default: return false;
    }
}

action drop_request_and_cut() {
    return action{action::kind::drop_request_and_cut};
}

action reject_and_cut(std::int32_t error) {
    return {action::kind::reject_and_cut, error};
}

action swallow_reply_and_cut() {
    return action{action::kind::swallow_reply_and_cut};
}

action cut_after_reply() {
    return action{action::kind::cut_after_reply};
}

action delay_request(std::chrono::milliseconds duration) {
    return {action::kind::delay_request, duration};
}

action delay_reply(std::chrono::milliseconds duration) {
    return {action::kind::delay_reply, duration};
}

action hold_request() {
    return action{action::kind::hold_request};
}

action hold_reply() {
    return action{action::kind::hold_reply};
}

action black_hole_from_here(std::chrono::milliseconds duration) {
    return {action::kind::black_hole, duration};
}

action call_at_request(action::callback call) {
    return {action::kind::call_at_request, std::move(call)};
}

action call_at_reply(action::callback call) {
    return {action::kind::call_at_reply, std::move(call)};
}

}  // namespace corozk::testing
