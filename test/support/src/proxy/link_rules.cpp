// SPDX-License-Identifier: Apache-2.0

// What becomes of a frame that passes through a link.

#include "frame_reader.hpp"
#include "jute.hpp"
#include "link.hpp"

#include <algorithm>
#include <utility>

namespace corozk::testing::detail {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

constexpr auto settle_limit = milliseconds{2'000};

}  // namespace

void link::pass(direction way, arrived frame) {
    way == direction::to_server ? pass_request(std::move(frame)) : pass_reply(std::move(frame));
}

frame_info link::classify(direction way, const std::string& bytes) {
    auto& one = line(way);
    frame_info info;
    info.way = way;
    info.connection = id_;
    info.size = bytes.size();
    info.payload = payload_of(bytes);
    if (one.stream.unframed()) {
        info.kind = frame_kind::raw;
    } else if (!std::exchange(one.first_seen, true)) {
        info.kind = frame_kind::connect;
        info.op = op_code::create_session;
    } else if (way == direction::to_server) {
        info.kind = frame_kind::request;
        read_request(info);
        if (info.op != op_code::ping || state_.options.number_pings) {
            info.number = ++state_.last_number;
        }
    } else {
        info.kind = frame_kind::reply;
        read_reply(info);
    }
    return info;
}

void link::pass_request(arrived frame) {
    frame_info info;
    std::optional<fired_rule> rule;
    if (frame.decided) {
        info = *frame.decided;
        info.payload = payload_of(frame.bytes);
    } else {
        info = classify(direction::to_server, frame.bytes);
        if (info.kind != frame_kind::raw) {
            rule = state_.rules.match(info);
            state_.log.count([&](auto& statistics) {
                statistics.requests = state_.last_number;
                ++statistics.requests_by_op[info.op];
                if (rule) {
                    ++statistics.fired_by_rule[rule->id];
                }
            });
        }
    }
    milliseconds extra{};
    if (rule) {
        using kind = action::kind;
        switch (rule->what.what()) {
            case kind::drop_request_and_cut:
                state_.log.record(info, frame_fate::dropped);
                no_more_requests_ = true;
                cut_behind_answers(rule->what);
                return;
            case kind::reject_and_cut: {
                state_.log.record(info, frame_fate::dropped);
                departing answer;
                answer.bytes = framed(
                    jute_writer{}.int32(info.xid).int64(0).int32(rule->what.error()).bytes());
                answer.due = clock::now();
                auto& back = line(direction::to_client);
                back.queued += answer.bytes.size();
                back.outbox.push_back(std::move(answer));
                cut_behind_answers(rule->what);
                write(direction::to_client);
                return;
            }
            case kind::hold_request:
                hold(direction::to_server, std::move(frame), info, rule->id);
                return;
            case kind::black_hole: {
                auto& one = line(direction::to_server);
                state_.log.record(info, frame_fate::held);
                one.queued += frame.bytes.size();
                frame.decided = info;
                one.inbox.push_front(std::move(frame));
                state_.begin_black_hole(rule->what.duration());
                return;
            }
            case kind::swallow_reply_and_cut:
            case kind::cut_after_reply: no_more_requests_ = true; break;
            case kind::delay_request: extra = rule->what.duration(); break;
            case kind::call_at_request:
                rule->what.call()(info);
                if (closed_) {
                    return;
                }
                break;
            default: break;
        }
    }
    if (info.kind != frame_kind::raw) {
        unanswered_.push_back({.frame = info, .rule = rule});
        unanswered_.back().frame.payload = {};
    }
    forward(direction::to_server, info, std::move(frame.bytes), extra);
}

std::optional<fired_rule> link::decide_reply(frame_info& info) {
    if (info.kind == frame_kind::raw) {
        return std::nullopt;
    }
    if (info.kind == frame_kind::notification) {
        auto rule = state_.rules.match(info);
        state_.log.count([&](auto& statistics) {
            ++statistics.notifications;
            if (rule) {
                ++statistics.fired_by_rule[rule->id];
            }
        });
        return rule;
    }
    std::optional<fired_rule> rule;
    const auto request =
        std::find_if(unanswered_.begin(), unanswered_.end(), [&info](const outstanding& candidate) {
            return info.kind == frame_kind::connect ? candidate.frame.kind == frame_kind::connect
                                                    : candidate.frame.kind == frame_kind::request &&
                                                          candidate.frame.xid == info.xid;
        });
    if (request != unanswered_.end()) {
        info.op = request->frame.op;
        info.number = request->frame.number;
        info.path = std::move(request->frame.path);
        rule = std::move(request->rule);
        unanswered_.erase(request);
    }
    if (info.kind == frame_kind::connect) {
        auto session = read_connect_reply(info);
        if (session.timeout.count() > 0) {
            session_id_ = session.session_id;
            state_.log.add_session(std::move(session));
        }
    }
    state_.log.count([&](auto& statistics) { ++statistics.replies_by_op[info.op]; });
    return rule;
}

void link::pass_reply(arrived frame) {
    if (frame.decided) {
        auto info = *std::move(frame.decided);
        info.payload = payload_of(frame.bytes);
        forward(direction::to_client, info, std::move(frame.bytes));
        settle();
        return;
    }
    auto info = classify(direction::to_client, frame.bytes);
    const auto rule = decide_reply(info);
    milliseconds extra{};
    if (rule) {
        using kind = action::kind;
        switch (rule->what.what()) {
            case kind::swallow_reply_and_cut:
                state_.log.record(info, frame_fate::swallowed);
                cut_behind_answers(rule->what);
                // Nothing that the server sent behind a lost event reaches the client: a session
                // whose zxid is newer than the event never gets it again.
                settle(info.kind == frame_kind::notification);
                return;
            case kind::cut_after_reply:
                forward(direction::to_client, info, std::move(frame.bytes));
                cut_behind_answers(rule->what);
                return;
            case kind::hold_reply:
                hold(direction::to_client, std::move(frame), info, rule->id);
                return;
            case kind::delay_reply: extra = rule->what.duration(); break;
            case kind::call_at_reply:
                rule->what.call()(info);
                if (closed_) {
                    return;
                }
                break;
            default: break;
        }
    }
    forward(direction::to_client, info, std::move(frame.bytes), extra);
    settle();
}

void link::forward(direction way, const frame_info& info, std::string bytes, milliseconds extra) {
    state_.log.record(info, frame_fate::forwarded);
    if (const auto& editor = state_.editor(way)) {
        bytes = editor(info, std::move(bytes));
    }
    auto& one = line(way);
    departing next;
    next.bytes = std::move(bytes);
    const auto now = clock::now();
    if (extra.count() > 0) {
        one.busy_until = std::max(now, one.busy_until) + extra;
    }
    next.due = std::max(now, one.busy_until) + state_.delay(way);
    one.queued += next.bytes.size();
    one.outbox.push_back(std::move(next));
}

void link::cut_behind_answers(const action& how) {
    no_more_requests_ = true;
    cut_when_all_answered_ = how;
    if (how.settles()) {
        limit_.expires_after(settle_limit);
        limit_.async_wait([self = weak_from_this()](const error_code& error) {
            const auto alive = self.lock();
            if (alive && !error) {  // the server stands still, or the test holds an answer
                alive->settle(true);
            }
        });
    }
    settle(!how.settles());
}

void link::settle(bool force) {
    const bool answered = unanswered_.empty() && line(direction::to_client).inbox.empty();
    if (!cut_when_all_answered_ || (!answered && !force)) {
        return;
    }
    departing last;
    last.due = clock::now();
    last.then_cut = true;
    last.refusal = cut_when_all_answered_->refusal();
    cut_when_all_answered_.reset();
    line(direction::to_client).outbox.push_back(std::move(last));
    write(direction::to_client);
}

}  // namespace corozk::testing::detail
