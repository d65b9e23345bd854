// SPDX-License-Identifier: Apache-2.0
#include "recipe/priority_lock/hold.hpp"

#include "driver/pending_call.hpp"
#include "driver/request.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/transaction.hpp>

namespace corozk::detail {

task<error_code> dismantle(port& p,
                           std::string contender,
                           std::string record,
                           std::uint64_t generation) {
    error_code ec = co_await delete_reliably(p, std::move(contender), generation);
    if (ec || record.empty())
        co_return ec;
    ec = co_await delete_reliably(p, std::move(record), generation);
    co_return ec;
}

priority_hold::priority_hold(port& p,
                             std::string contender,
                             std::string record,
                             std::string request_text,
                             std::uint64_t generation,
                             std::int64_t token)
    : port_(p),
      wake_(p),
      contender_watch_(wake_),
      record_watch_(wake_),
      contender_(std::move(contender)),
      record_(std::move(record)),
      request_text_(std::move(request_text)),
      generation_(generation),
      token_(token),
      record_czxid_(token) {}

void priority_hold::start() {
    port_.spawn(keep_watch(shared_from_this()));
}

bool priority_hold::valid() const noexcept {
    return stage_ == stage::held && port_.alive(generation_) &&
           port_.now() < port_.expiry_deadline();
}

void priority_hold::wait_lost(user_call<error_code> call) {
    calls_.wait_lost(std::move(call));
}

void priority_hold::wait_release_requested(user_call<> call) {
    calls_.wait_release_requested(std::move(call));
}

void priority_hold::release(user_call<> call) {
    if (calls_.lost_reason())
        return call.fail(calls_.lost_reason());
    if (stage_ != stage::held)
        return call.fail(errc::ownership_lost);
    end(cancellable(std::move(call), stops_waiting));
}

void priority_hold::drop() noexcept {
    if (stage_ == stage::held)
        end(nullptr);
}

void priority_hold::end(std::shared_ptr<pending_call<>> call) {
    stage_ = stage::given_back;
    calls_.give_back();
    wake_.set();
    port_.spawn(give_back(shared_from_this(), std::move(call)));
}

void priority_hold::lose(error_code reason) {
    if (stage_ != stage::held)
        return;
    stage_ = stage::lost;
    calls_.lose(reason);
}

task<> priority_hold::give_back(std::shared_ptr<priority_hold> self,
                                std::shared_ptr<pending_call<>> call) {
    priority_hold& me = *self;
    port& p = me.port_;
    transaction both;
    both.erase(me.contender_).erase(me.record_);
    request multi(p, both, me.generation_);
    error_code ec = co_await multi;
    bool broken = ec == zk_errc::no_node;
    if (ec)
        ec = co_await dismantle(p, me.contender_, me.record_, me.generation_);
    if (!ec && broken)
        ec = errc::ownership_lost;
    if (ec && !is_session_lost(ec) && ec != errc::ownership_lost)
        p.report(log_level::error, "cannot release ", me.record_, ": ", ec.message());
    if (call)
        call->complete(ec);
}

task<> priority_hold::keep_watch(std::shared_ptr<priority_hold> self) {
    priority_hold& me = *self;
    session_signal session(me.port_, me.wake_);
    while (me.stage_ == stage::held) {
        if (!me.port_.alive(me.generation_)) {
            me.lose(end_of_session(me.port_));
            break;
        }
        bool good = co_await me.look(me.contender_, me.contender_czxid_, me.contender_watch_);
        if (good)
            good = co_await me.look(me.record_, me.record_czxid_, me.record_watch_);
        // It may have been lost meanwhile, and no watch be left.
        if (good && me.stage_ == stage::held)
            co_await me.wake_.wait();
    }
    // The server's watches are removed with the nodes.
    me.contender_watch_.disarm();
    me.record_watch_.disarm();
}

/// Reads and watches a node, so that no request is missed.
/// @param czxid identifies the node; 0: the present one
/// @return whether there is nothing more to do for now
task<bool> priority_hold::look(const std::string& path, std::int64_t& czxid, watch_node& watch) {
    if (watch.armed() || stage_ != stage::held)
        co_return true;
    request read(port_, op_code::get, path, generation_);
    read.attach(watch);
    error_code ec = co_await read;
    bool another = !ec && czxid != 0 && czxid != read.record.czxid;
    if (ec == zk_errc::no_node || another) {
        // A node that now has this name must not be deleted, only the other one.
        if (stage_ == stage::held)
            port_.use_service<background_deleter>().erase(&path == &record_ ? contender_ : record_,
                                                          generation_);
        lose(errc::ownership_lost);
    } else if (ec) {
        // The state of the session is checked before the next read. If the node may not be read,
        // the loss is noticed at the release.
        co_return !is_transient(ec, in_session);
    } else {
        czxid = read.record.czxid;
        if (read.record.version > 0 && has_release_request(read.answer, request_text_))
            calls_.request_release();
    }
    co_return true;
}

}  // namespace corozk::detail
