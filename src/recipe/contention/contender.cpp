// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contender.hpp"

#include "driver/pending_call.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/contention/release_request.hpp"

namespace corozk::detail {

contender::contender(contention_queue& q,
                     const acquire_request& request,
                     contender_data data,
                     user_call<ownership> call)
    : port_(q.get_port()),
      queue_(&q),
      settings_(q.settings_),
      data_(std::move(data)),
      watch_(*this),
      call_(std::move(call)) {
    kind = request.kind;
    weight = request.weight;
    try_only = request.try_only;
    since = port_.now();
    if (request.deadline != time_point::max()) {
        port_.start_timer(*this, request.deadline);
        call_.set_deadline(request.deadline);
    }
}

std::string contender::path() const {
    if (sequence == 0 && czxid == 0)
        return settings_->parent;
    return path_as(guid(), kind);
}

std::string contender::path_as(std::string_view other_guid, std::uint8_t other_kind) const {
    std::string name = settings_->names.format(other_guid, other_kind, weight);
    append_sequence(name, sequence);
    return join_path(settings_->parent, name);
}

bool contender::valid() const noexcept {
    return state == stage_type::granted && port_.alive(session) &&
           port_.now() < port_.expiry_deadline();
}

void contender::abandon(error_code reason) {
    // Whoever gets the result decides, and may keep it.
    if (state == stage_type::granted)
        return;
    auto keep = shared_from_this();
    if (reason == errc::bad_option && call_.waiting())
        port_.reject(errc::bad_option,
                     settings_->parent,
                     ": more permits are requested than the limit allows");
    call_.fail(reason);
    timer_node::cancel();
    if (queue_)
        queue_->abandoned(*this, reason);
}

void contender::wait_gone(user_call<> call) {
    if (state == stage_type::gone)
        return call.complete(error_code());
    more().gone = std::move(call);
}

/// Its node does not exist any more.
void contender::end() {
    state = stage_type::gone;
    if (extras_)
        extras_->gone.complete(error_code());
}

void contender::turn_announced(watch_event_type type) noexcept {
    // With any other type changes may have been missed.
    if (!queue_ || type != watch_event_type::created)
        return;
    queue_->view_.announced(*this);
    queue_->wake();
}

bool contender::will_be_proved(const local_node& n) noexcept {
    const auto& c = static_cast<const contender&>(n);
    return c.watch_.certain() || c.proving || c.checking || c.converting;
}

void contender::own_node_touched(watch_event_type) noexcept {
    if (queue_ && (state == stage_type::granted || state == stage_type::waiting))
        queue_->prove(*this);
}

void contender::expired() noexcept {
    if (state != stage_type::granted)
        return abandon(errc::deadline_exceeded);
    if (!queue_)
        return;
    // Still held after a while: notice if the node is deleted by another client.
    if (!watch_.armed())
        queue_->prove(*this);
    // Others wait for it: the next one should be known before the release.
    if (listens() && queue_->view_.look_behind(*this))
        queue_->list(false);
}

void contender::wait_lost(user_call<error_code> call) {
    if (state != stage_type::granted && !lost_reason())
        return call.fail(boost::asio::error::operation_aborted);
    more().held.wait_lost(std::move(call));
}

void contender::wait_release_requested(user_call<> call) {
    if (state != stage_type::granted && !lost_reason())
        return call.fail(boost::asio::error::operation_aborted);
    if (settings_->release_request.empty())
        return call.fail(errc::not_supported);
    more().held.wait_release_requested(std::move(call));
}

void contender::request_release() {
    if (state == stage_type::granted)
        more().held.request_release();
}

void contender::release(user_call<> call) {
    if (error_code reason = lost_reason())
        return call.fail(reason);
    if (state != stage_type::granted || !queue_)
        return call.fail(errc::ownership_lost);
    release_call_ = cancellable(std::move(call), stops_waiting);
    queue_->release(*this);
}

void contender::drop() noexcept {
    if (state == stage_type::granted && queue_)
        queue_->release(*this);
}

/// Inspects the own node's data, each time a watch is set, so that no request is missed.
void contender::inspect(const operation& look) {
    // Version 0 is the data of the create, not a request.
    if (look.record.version == 0)
        return;
    if (has_release_request(look.answer, settings_->release_request))
        more().held.request_release();
}

}  // namespace corozk::detail
