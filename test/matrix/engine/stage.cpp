// SPDX-License-Identifier: Apache-2.0
#include "stage.hpp"

#include <algorithm>

namespace corozk::matrix {

using boost::asio::cancellation_type;

std::vector<scenario>& all_scenarios() {
    static std::vector<scenario> all;
    return all;
}

stage::stage(boost::asio::io_context& context, setting s, client ours, client theirs)
    : owners(
          s.server_port,
          s.root + s.folder,
          [this](bool holds, std::string_view what) { check(holds, what); },
          s.root),
      context_(context),
      setting_(std::move(s)),
      ours_(std::move(ours)),
      theirs_(std::move(theirs)) {}

client& stage::ours() {
    if (ours_gone_)
        throw scenario_over();
    return ours_;
}

void stage::enter_owner(const ownership& held, party whose, testing::share what) {
    owners.enter(held, session_of(whose), what);
}

void stage::check(bool holds, std::string_view what) {
    if (!holds)
        failures_.emplace_back(what);
}

bool stage::disturbed() const {
    if (ours_gone_ || (applied_ && interrupts(setting_.which)))
        return true;
    return std::any_of(calls_.begin(), calls_.end(), [](const auto& c) {
        return c->calls > 0 && c->ec && c->name != "lost";
    });
}

bool stage::deprived() const {
    switch (setting_.which) {
        case fault::expired:
        case fault::long_hole:
        case fault::client_stopped:
        case fault::own_node_deleted:
        case fault::oldest_node_deleted:
        case fault::newest_node_deleted:
        case fault::parent_deleted:
        case fault::close_client:
        case fault::destroy_client: return applied_;
        default: return false;
    }
}

bool stage::deprived_of(const std::string& path) {
    bool one_of_several = deletes_own(setting_.which) && setting_.which != fault::own_node_deleted;
    return deprived() && (!one_of_several || !exists(path));
}

bool stage::refused() const {
    return std::any_of(calls_.begin(), calls_.end(), [](const auto& c) {
        return c->calls > 0 && c->ec == zk_errc::no_auth;
    });
}

bool stage::permits(const error_code& ec, party whose) const {
    auto also = setting_.what->may_end_with.find(setting_.which);
    if (also != setting_.what->may_end_with.end() &&
        std::find(also->second.begin(), also->second.end(), ec) != also->second.end()) {
        return true;
    }
    if (setting_.which == fault::parent_deleted)
        return ec == errc::ownership_lost;
    if (whose == party::theirs)
        return false;
    switch (setting_.which) {
        case fault::cancel_terminal:
        case fault::cancel_partial:
        case fault::cancel_total:
        case fault::destroy_object: return ec == boost::asio::error::operation_aborted;
        case fault::drop_grant:
            return ec == boost::asio::error::operation_aborted || ec == errc::ownership_lost;
        case fault::close_client:
        case fault::destroy_client:
            return ec == errc::closed || ec == errc::ownership_lost || is_session_lost(ec) ||
                   is_outcome_unknown(ec);
        case fault::forbidding_acl:
        case fault::may_not_read:
        case fault::may_not_write:
        case fault::may_not_create:
        case fault::may_not_delete: return ec == zk_errc::no_auth;
        case fault::deadline_hole:
        case fault::slow_answers: return ec == errc::deadline_exceeded;
        case fault::expired:
        case fault::noticed_hole:
        case fault::long_hole:
        case fault::client_stopped:
            return !setting_.what->outlives_session &&
                   (is_session_lost(ec) || ec == errc::ownership_lost || ec == errc::not_connected);
        case fault::own_node_deleted:
        case fault::oldest_node_deleted:
        case fault::newest_node_deleted: return ec == errc::ownership_lost;
        default: return false;
    }
}

awaitable<void> stage::enter_state(std::string_view name) {
    std::string text(name);
    states_.push_back(text);
    if (text != setting_.at_state || applied_ || !setting_.apply)
        co_return;
    co_await settle();
    applied_ = true;
    std::int64_t session = session_of(party::ours);
    co_await setting_.apply(*this);
    if (setting_.settled)
        co_await settle_down(session);
}

/// Ours is connected again, in another session where the old one is certain to be gone, and has
/// caught up.
awaitable<void> stage::settle_down(std::int64_t session_before) {
    bool another = ends_session(setting_.which) && setting_.which != fault::noticed_hole;
    co_await testing::eventually_async(
        [&] {
            session_status now = ours_.status();
            return now.state == session_state::connected &&
                   !(another && now.session_id == session_before);
        },
        patience(),
        "ours is connected again");
    co_await settle();
}

awaitable<void> stage::settle() {
    for (int i = 0; i < 4 && !ours_gone_; ++i)
        co_await ours_.sync("/", as_tuple());
}

std::size_t stage::cancel_all(cancellation_type type) {
    // Handlers never run inside what is done here, but what they resume may end calls.
    auto calls = calls_;
    std::size_t pending = 0;
    for (const auto& c : calls) {
        if (c->whose != party::ours || !c->started || c->calls != 0)
            continue;
        ++pending;
        c->cancel.emit(type);
    }
    return pending;
}

namespace {

std::size_t destroy_all(const std::vector<std::weak_ptr<destroyer>>& all) {
    std::size_t there = 0;
    for (const auto& one : all) {
        auto destroy = one.lock();
        there += destroy && (*destroy)() ? 1 : 0;
    }
    return there;
}

}  // namespace

void stage::interrupt() {
    applied_ = true;
    std::size_t touched = 1;
    switch (setting_.which) {
        case fault::cancel_terminal: touched = cancel_all(cancellation_type::terminal); break;
        case fault::cancel_partial: touched = cancel_all(cancellation_type::partial); break;
        case fault::cancel_total: touched = cancel_all(cancellation_type::total); break;
        case fault::destroy_object: touched = destroy_all(objects_); break;
        case fault::drop_grant: touched = destroy_all(grants_); break;
        case fault::close_client: {
            auto closing = std::make_shared<call_record>(executor(), "close", party::theirs);
            closing->started = true;
            add(closing);
            ours_.close([closing](error_code ec) {
                ++closing->calls;
                closing->ec = ec;
            });
            break;
        }
        case fault::destroy_client:
            ours_gone_ = true;
            ours_ = client();
            break;
        default: break;
    }
    if (touched == 0)
        set_void();
}

awaitable<void> stage::close_ours() {
    if (ours_gone_)
        co_return;
    co_await ours_.close(as_tuple());
    ours_gone_ = true;
}

bool stage::all_ended() const {
    return std::all_of(
        calls_.begin(), calls_.end(), [](const auto& c) { return !c->started || c->calls > 0; });
}

bool stage::has_limited() const {
    return std::any_of(calls_.begin(), calls_.end(), [](const auto& c) { return c->limited; });
}

void stage::tick_after(const std::shared_ptr<call_record>& c,
                       std::chrono::milliseconds time,
                       int ticks_left) {
    c->watchdog.expires_after(time);
    c->watchdog.async_wait([c, ticks_left](error_code ec) {
        if (ec || c->calls > 0)
            return;
        c->late = ticks_left == 0;
        if (!c->late)
            tick_after(c, tick, ticks_left - 1);
    });
}

/// A limited call ends at its deadline, whatever it waits for, and fails no earlier.
void stage::check_deadline(const call_record& c) {
    if (!is_about_deadlines(setting_.which) || !c.limited || !c.started || c.calls == 0)
        return;
    auto took = std::chrono::duration_cast<std::chrono::milliseconds>(c.ended - c.began);
    check(!c.late,
          c.name + " ended after " + std::to_string(took.count()) + " ms, not at its deadline");
    check(c.ec != errc::deadline_exceeded || took >= short_limit,
          c.name + " ended before its deadline");
}

void stage::check_calls() {
    for (const auto& c : calls_) {
        check_deadline(*c);
        if (c->started && c->calls != 1)
            check(false, c->name + " was resumed " + std::to_string(c->calls) + " times");
    }
}

}  // namespace corozk::matrix
