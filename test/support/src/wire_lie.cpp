// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/wire_lie.hpp"

#include "wire_lie/answer_layout.hpp"
#include "wire_lie/false_content.hpp"
#include "wire_lie/invented_frame.hpp"
#include "wire_lie/spoilt_event.hpp"
#include "wire_lie/spoilt_frame.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace corozk::testing {
namespace {

constexpr std::array names = {
    std::pair{wire_lie::none, "none"},
    std::pair{wire_lie::stops_inside, "stops inside"},
    std::pair{wire_lie::ends_early, "ends early"},
    std::pair{wire_lie::header_only, "header only"},
    std::pair{wire_lie::no_bytes, "no bytes"},
    std::pair{wire_lie::three_bytes, "three bytes"},
    std::pair{wire_lie::length_of_64_mib, "length of 64 MiB"},
    std::pair{wire_lie::length_of_2_gib, "length of 2 GiB"},
    std::pair{wire_lie::length_minus_one, "length -1"},
    std::pair{wire_lie::length_minimum, "length -2^31"},
    std::pair{wire_lie::another_xid, "another xid"},
    std::pair{wire_lie::answered_twice, "answered twice"},
    std::pair{wire_lie::answer_to_nobody, "answer to nobody"},
    std::pair{wire_lie::swapped, "swapped"},
    std::pair{wire_lie::left_out, "left out"},
    std::pair{wire_lie::unknown_error, "unknown error"},
    std::pair{wire_lie::positive_error, "positive error"},
    std::pair{wire_lie::not_there, "not there"},
    std::pair{wire_lie::there_already, "there already"},
    std::pair{wire_lie::not_allowed, "not allowed"},
    std::pair{wire_lie::connection_lost, "connection lost"},
    std::pair{wire_lie::session_over, "session over"},
    std::pair{wire_lie::session_elsewhere, "session elsewhere"},
    std::pair{wire_lie::credentials_wrong, "credentials wrong"},
    std::pair{wire_lie::credentials_missing, "credentials missing"},
    std::pair{wire_lie::overloaded, "overloaded"},
    std::pair{wire_lie::negative_zxid, "negative zxid"},
    std::pair{wire_lie::huge_inner_length, "huge inner length"},
    std::pair{wire_lie::large_inner_count, "large inner count"},
    std::pair{wire_lie::negative_inner_length, "negative inner length"},
    std::pair{wire_lie::garbage_body, "garbage body"},
    std::pair{wire_lie::garbage_frame, "garbage frame"},
    std::pair{wire_lie::flipped_bit, "flipped bit"},
    std::pair{wire_lie::ping_answer, "ping answer"},
    std::pair{wire_lie::auth_answer, "auth answer"},
    std::pair{wire_lie::watches_answer, "watches answer"},
    std::pair{wire_lie::event_of_unknown_type, "event of unknown type"},
    std::pair{wire_lie::event_of_unknown_state, "event of unknown state"},
    std::pair{wire_lie::event_with_garbage_path, "event with garbage path"},
    std::pair{wire_lie::event_with_empty_path, "event with empty path"},
    std::pair{wire_lie::event_with_huge_path, "event with huge path"},
    std::pair{wire_lie::event_with_zero_bytes, "event with zero bytes"},
    std::pair{wire_lie::event_that_ends_early, "event that ends early"},
    std::pair{wire_lie::event_for_nobody, "event for nobody"},
    std::pair{wire_lie::spurious_events, "spurious events"},
    std::pair{wire_lie::session_event, "session event"},
    std::pair{wire_lie::child_without_name, "child without name"},
    std::pair{wire_lie::child_named_dot, "child named dot"},
    std::pair{wire_lie::child_below_a_child, "child below a child"},
    std::pair{wire_lie::child_twice, "child twice"},
    std::pair{wire_lie::children_with_one_long_name, "children with one long name"},
    std::pair{wire_lie::too_many_children, "too many children"},
    std::pair{wire_lie::created_elsewhere, "created elsewhere"},
    std::pair{wire_lie::created_nowhere, "created nowhere"},
    std::pair{wire_lie::created_at_short_path, "created at short path"},
    std::pair{wire_lie::owned_by_another_session, "owned by another session"},
    std::pair{wire_lie::created_by_no_transaction, "created by no transaction"},
    std::pair{wire_lie::created_before_all, "created before all"},
    std::pair{wire_lie::version_minus_one, "version -1"},
    std::pair{wire_lie::negative_number_of_children, "negative number of children"},
    std::pair{wire_lie::event_lost, "event lost"},
    std::pair{wire_lie::event_doubled, "event doubled"},
    std::pair{wire_lie::event_for_another_path, "event for another path"},
    std::pair{wire_lie::event_of_another_type, "event of another type"},
    std::pair{wire_lie::event_cut_short, "event cut short"},
    std::pair{wire_lie::event_stops_inside, "event stops inside"},
    std::pair{wire_lie::no_timeout, "no timeout"},
    std::pair{wire_lie::negative_timeout, "negative timeout"},
    std::pair{wire_lie::huge_timeout, "huge timeout"},
    std::pair{wire_lie::no_session, "no session"},
    std::pair{wire_lie::long_password, "long password"},
    std::pair{wire_lie::negative_password, "negative password"},
    std::pair{wire_lie::connect_ends_early, "connect ends early"},
    std::pair{wire_lie::connect_garbage, "connect garbage"},
};

constexpr std::array occasion_names = {
    std::pair{wire_occasion::answer, "answer"},
    std::pair{wire_occasion::list, "list"},
    std::pair{wire_occasion::creation, "creation"},
    std::pair{wire_occasion::record, "record"},
    std::pair{wire_occasion::event, "event"},
    std::pair{wire_occasion::connecting, "connecting"},
};

template <class Names, class Value>
std::string_view name_in(const Names& all, Value value) noexcept {
    const auto* found = std::find_if(
        all.begin(), all.end(), [value](const auto& entry) { return entry.first == value; });
    return found == all.end() ? "?" : found->second;
}

template <class Names>
auto value_in(const Names& all, std::string_view name) {
    std::optional<decltype(all.front().first)> value;
    for (const auto& [candidate, known] : all) {
        if (name == known) {
            value = candidate;
        }
    }
    return value;
}

}  // namespace

const std::vector<wire_lie>& all_wire_lies() {
    static const std::vector<wire_lie> all = [] {
        std::vector<wire_lie> lies;
        for (const auto& [lie, name] : names) {
            if (lie != wire_lie::none) {
                lies.push_back(lie);
            }
        }
        return lies;
    }();
    return all;
}

std::string_view to_string(wire_lie lie) noexcept {
    return name_in(names, lie);
}

std::optional<wire_lie> wire_lie_named(std::string_view name) {
    return value_in(names, name);
}

const std::vector<wire_occasion>& all_wire_occasions() {
    static const std::vector<wire_occasion> all = [] {
        std::vector<wire_occasion> occasions;
        for (const auto& entry : occasion_names) {
            occasions.push_back(entry.first);
        }
        return occasions;
    }();
    return all;
}

std::string_view to_string(wire_occasion occasion) noexcept {
    return name_in(occasion_names, occasion);
}

std::optional<wire_occasion> wire_occasion_named(std::string_view name) {
    return value_in(occasion_names, name);
}

wire_occasion occasion_of(wire_lie lie) noexcept {
    if (lie >= wire_lie::no_timeout) {
        return wire_occasion::connecting;
    }
    if (lie >= wire_lie::event_lost) {
        return wire_occasion::event;
    }
    if (lie >= wire_lie::owned_by_another_session) {
        return wire_occasion::record;
    }
    if (lie >= wire_lie::created_elsewhere) {
        return wire_occasion::creation;
    }
    return lie >= wire_lie::child_without_name ? wire_occasion::list : wire_occasion::answer;
}

bool is_occasion(wire_occasion occasion, const frame_info& frame) {
    if (occasion == wire_occasion::connecting) {
        return frame.kind == frame_kind::connect;
    }
    if (occasion == wire_occasion::event) {
        return frame.kind == frame_kind::notification;
    }
    // Pings come when they like: with them a run would not be the same twice.
    if (frame.kind != frame_kind::reply || frame.op == op_code::ping || frame.number == 0) {
        return false;
    }
    if (occasion == wire_occasion::answer) {
        return true;
    }
    const detail::answer_layout layout = detail::layout_of(frame);
    switch (occasion) {
        case wire_occasion::list: return layout.names.has_value();
        case wire_occasion::creation: return !layout.created.empty();
        default: return !layout.records.empty();
    }
}

liar::liar(wire_lie lie, std::uint64_t at, std::uint64_t seed, lie_span span)
    : lie_{lie}, at_{at}, seed_{seed}, span_{span} {}

bool liar::lies_at(std::uint64_t chance) const noexcept {
    if (lie_ == wire_lie::none || at_ == 0) {
        return false;
    }
    return span_ == lie_span::once ? chance == at_ : chance >= at_;
}

std::string liar::operator()(const frame_info& frame, std::string bytes) {
    if (!shared_->kept.empty() && frame.kind == frame_kind::reply) {
        return std::move(bytes) + std::exchange(shared_->kept, {});
    }
    const wire_occasion occasion = occasion_of(lie_);
    if (!is_occasion(occasion, frame)) {
        return bytes;
    }
    const std::uint64_t chance = ++shared_->chances;
    if (!lies_at(chance)) {
        return bytes;
    }
    ++shared_->lies;
    std::mt19937_64 random{seed_ + (chance - at_)};
    if (lie_ == wire_lie::left_out) {
        return {};
    }
    if (lie_ == wire_lie::swapped) {
        shared_->kept = std::move(bytes);
        return {};
    }
    if (auto more = detail::invented_frame(lie_, frame, random)) {
        return *std::move(more) + bytes;
    }
    switch (occasion) {
        case wire_occasion::event: return detail::spoilt_event(lie_, frame, std::move(bytes));
        case wire_occasion::list:
        case wire_occasion::creation:
        case wire_occasion::record: return detail::with_false_content(lie_, frame, bytes);
        default: return detail::spoilt_frame(lie_, std::move(bytes), random);
    }
}

}  // namespace corozk::testing
