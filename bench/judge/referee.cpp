// SPDX-License-Identifier: Apache-2.0
#include "judge/referee.hpp"

#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace corozk::bench {

namespace {

constexpr std::array kinds{
    fault_kind::exclusion, fault_kind::order, fault_kind::stall, fault_kind::death};

[[noreturn]] void out_of_turn(std::string_view said, std::string_view why) {
    throw protocol_error(fmt::format("said '{}' {}", said, why));
}

}  // namespace

std::string_view to_string(fault_kind kind) {
    constexpr std::array<std::string_view, 4> names{"exclusion", "order", "stall", "death"};
    return names.at(static_cast<std::size_t>(kind));
}

referee::referee(rules r, std::size_t contenders)
    : rules_(r), contenders_(contenders), free_(r.limit) {}

void referee::blame(fault_kind kind, std::string text) {
    faults_.push_back({kind, std::move(text)});
}

void referee::leave(contender_state& c, clock::time_point now, way how, referee::state next) {
    if (c.state == state::holding) {
        --holders_;
        // More of them than allowed leave nothing free.
        if (holders_ < rules_.limit)
            free_.push_back({now, how});
    }
    if ((c.state == state::holding || c.state == state::leaving) && next != state::leaving)
        ++c.turns;
    c.state = next;
    c.since = now;
}

void referee::check_order(std::size_t who, clock::time_point asked) {
    if (rules_.limit > 1)
        return;
    std::size_t overtaken = contenders_.size();
    std::size_t count = 0;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        const contender_state& c = contenders_[i];
        if (i == who || c.state != state::waiting)
            continue;
        if (queued_at(c) < asked) {
            overtaken = std::min(overtaken, i);
            ++count;
            ++comparable_;
        } else if (queued_at(contenders_[who]) < c.since) {
            ++comparable_;
        }
    }
    if (count == 0)
        return;
    ++overtakings_;
    if (rules_.fair) {
        blame(fault_kind::order,
              fmt::format("contender {} got it before {} that had queued earlier, contender {} "
                          "among them",
                          who + 1,
                          count,
                          overtaken + 1));
    }
}

/// The oldest one that was given back, else that was lost, else of those who were killed, whose
/// sessions the server ends later.
referee::free_place referee::take_place() {
    auto at =
        std::min_element(free_.begin(), free_.end(), [](const free_place& a, const free_place& b) {
            return a.freed < b.freed;
        });
    free_place place = *at;
    free_.erase(at);
    return place;
}

void referee::granted(std::size_t who, const statement& what, clock::time_point now) {
    contender_state& c = contenders_[who];
    auto asked = c.since;
    if (holders_ >= rules_.limit) {
        std::size_t other = 0;
        while (!holds(other))
            ++other;
        blame(
            fault_kind::exclusion,
            rules_.limit == 1
                ? fmt::format("contender {} held it while contender {} did, who had had it for {}",
                              who + 1,
                              other + 1,
                              microseconds_text(to_microseconds(now - contenders_[other].since)))
                : fmt::format("contender {} held it while {} others did, and {} may",
                              who + 1,
                              holders_,
                              rules_.limit));
    } else {
        free_place place = take_place();
        bool passed = place.since && place.freed != way::lost;
        passed_on_ += passed ? 1 : 0;
        // Who asked for it later than it became free has not waited for it; and what is found in one
        // reading says nothing about the time between.
        if (passed && asked <= *place.since && *place.since < now) {
            latencies& times = place.freed == way::died ? takeovers_ : handovers_;
            times.add(to_microseconds(now - *place.since));
        }
    }
    if (what.token && rules_.limit == 1) {
        if (last_token_ && *what.token <= *last_token_) {
            blame(
                fault_kind::exclusion,
                fmt::format("the token of contender {}, {}, is not larger than the one before, {}",
                            who + 1,
                            *what.token,
                            *last_token_));
        }
        last_token_ = what.token;
    }
    check_order(who, asked);
    c.state = state::holding;
    c.since = now;
    ++holders_;
    ++grants_;
    most_holders_ = std::max(most_holders_, holders_);
}

void referee::said(std::size_t who, const statement& what, clock::time_point now) {
    contender_state& c = contenders_[who];
    auto name = to_string(what.kind);
    if (c.state == state::gone)
        return;  // it was killed, and had said it before
    switch (what.kind) {
        case statement_kind::waiting:
            if (c.state == state::waiting || c.state == state::holding)
                out_of_turn(name, "while it was waiting or holding");
            // Who says so has given it back, if it was to.
            if (c.state == state::leaving)
                ++c.turns;
            c.state = state::waiting;
            c.since = now;
            c.queued.reset();
            return;
        case statement_kind::queued:
            if (c.state != state::waiting)
                out_of_turn(name, "without having said 'waiting' before");
            c.queued = now;
            return;
        case statement_kind::holding:
            if (c.state != state::waiting)
                out_of_turn(name,
                            c.state == state::holding ? "although it already held it"
                                                      : "without having said 'waiting' before");
            granted(who, what, now);
            return;
        case statement_kind::releasing:
            if (c.state != state::holding && c.state != state::leaving)
                out_of_turn(name, "without having said 'holding' before");
            leave(c, now, way::released, state::leaving);
            return;
        case statement_kind::released:
            if (c.state == state::holding)
                out_of_turn(name,
                            "although it had not been told to release: a process that decides "
                            "itself says 'releasing' before it does (and --hold own is for it)");
            if (c.state == state::lost) {
                c.state = state::idle;  // it was told before its loss was heard of
                return;
            }
            if (c.state != state::leaving)
                out_of_turn(name, "without having said 'holding' before");
            leave(c, now, way::released, state::idle);
            return;
        case statement_kind::lost:
            if (c.state != state::holding && c.state != state::leaving)
                out_of_turn(name, "without having said 'holding' before");
            ++losses_;
            leave(c, now, way::lost, state::lost);
            return;
    }
}

void referee::told(std::size_t who, clock::time_point now) {
    if (holds(who))
        leave(contenders_[who], now, way::released, state::leaving);
}

void referee::killed(std::size_t who, clock::time_point now) {
    leave(contenders_[who], now, way::died, state::gone);
}

void referee::ended(std::size_t who, clock::time_point now, const std::string& how) {
    contender_state& c = contenders_[who];
    if (c.state == state::silent)
        throw protocol_error(fmt::format("{} before it said 'waiting'", how));
    std::string_view meanwhile = c.state == state::holding   ? "which held it"
                                 : c.state == state::waiting ? "which waited"
                                 : c.state == state::leaving
                                     ? "which was to release it and had not said 'released'"
                                     : "";
    if (!meanwhile.empty())
        blame(fault_kind::death, fmt::format("contender {}, {}, {}", who + 1, meanwhile, how));
    leave(c, now, way::died, state::gone);
}

bool referee::has_queued(std::size_t who, clock::time_point now) const {
    const contender_state& c = contenders_[who];
    return c.state == state::waiting ? queued_at(c) < now : c.state != state::silent;
}

void referee::stuck(std::size_t who, clock::duration since) {
    blame(fault_kind::stall,
          fmt::format("contender {} was to release it, and has not said for {} that it did",
                      who + 1,
                      seconds_text(to_seconds(since))));
}

void referee::stalled(clock::duration since) {
    std::string text = fmt::format(
        "no process has taken it for {}, although {} "
        "waited",
        seconds_text(to_seconds(since)),
        waiting());
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        if (contenders_[i].state == state::leaving) {
            text +=
                fmt::format("; contender {} was to release it and has not said that it did", i + 1);
            break;
        }
    }
    blame(fault_kind::stall, std::move(text));
}

std::size_t referee::waiting() const {
    return static_cast<std::size_t>(
        std::count_if(contenders_.begin(), contenders_.end(), [](const contender_state& c) {
            return c.state == state::waiting;
        }));
}

clock::time_point referee::moved() const {
    clock::time_point last{};
    for (const contender_state& c : contenders_)
        last = std::max(last, c.since);
    return last;
}

std::optional<clock::time_point> referee::idle_since() const {
    if (holders_ >= rules_.limit && !rules_.holds_itself)
        return std::nullopt;
    std::optional<clock::time_point> asked;  // by the first of those who wait
    for (const contender_state& c : contenders_) {
        if (c.state == state::waiting && (!asked || c.since < *asked))
            asked = c.since;
    }
    if (!asked)
        return std::nullopt;
    // Each grant begins the patience anew.
    clock::time_point since = *asked;
    for (const contender_state& c : contenders_) {
        if (c.state != state::waiting && c.state != state::silent)
            since = std::max(since, c.since);
    }
    return since;
}

std::size_t referee::faults(fault_kind kind) const {
    return static_cast<std::size_t>(std::count_if(
        faults_.begin(), faults_.end(), [kind](const fault& f) { return f.kind == kind; }));
}

std::vector<std::string> referee::fault_texts() const {
    std::vector<std::string> texts;
    for (fault_kind kind : kinds) {
        auto at = std::find_if(
            faults_.begin(), faults_.end(), [kind](const fault& f) { return f.kind == kind; });
        if (at == faults_.end())
            continue;
        std::size_t count = faults(kind);
        texts.push_back(
            count == 1
                ? fmt::format("{}: {}", to_string(kind), at->text)
                : fmt::format(
                      "{} ({} times): first, {}", to_string(kind), count_text(count), at->text));
    }
    return texts;
}

}  // namespace corozk::bench
