// SPDX-License-Identifier: Apache-2.0
// Those who queue or meet, as their nodes' names say it: priority locks and double barriers.
#include "checks.hpp"
#include "operation/name_list.hpp"
#include "recipe/barriers/double_barrier_rule.hpp"
#include "recipe/barriers/page_barrier_rule.hpp"
#include "recipe/contention/node_name.hpp"
#include "recipe/priority_lock/rule.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace corozk::fuzz {

using namespace corozk::detail;

namespace {

void judge_places(const std::vector<ranked_place>& places,
                  std::int32_t ageing,
                  std::string_view input) {
    auto nearest = nearest_ahead(places, ageing);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].holds) {
            require(!nearest[i], "who holds waits for nobody", input);
            continue;
        }
        ranked_verdict verdict = judge(places, i, ageing);
        require(verdict.grant == !verdict.watch, "granted, or waiting for somebody", input);
        require(verdict.watch != i, "not for itself", input);
        auto holds = [&](std::size_t other) { return places[other].holds; };
        require(std::all_of(verdict.inferior.begin(), verdict.inferior.end(), holds),
                "holders are asked",
                input);
        bool for_waiter = verdict.watch && !places[*verdict.watch].holds;
        require(nearest[i].has_value() == for_waiter, "all at once as each", input);
        require(!for_waiter || nearest[i] == verdict.watch, "and for the same", input);
    }
}

void check_groups(const barrier_view& view,
                  const round_record& record,
                  const name_list& names,
                  std::string_view input) {
    std::multiset<std::string_view> expected;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (auto sequence = parse_member(names[i])) {
            expected.insert(names[i]);
            require(view.has({names[i], *sequence}), "who is there is found", input);
        }
    }
    std::multiset<std::string_view> found;
    for (const auto* group : {&view.inside, &view.waiting, &view.others}) {
        for (std::size_t i = 0; i < group->size(); ++i) {
            const barrier_member& m = (*group)[i];
            found.insert(m.name);
            require(is_inside(record, m.sequence) == (group == &view.inside), "its group", input);
            require(i == 0 || (*group)[i - 1].sequence <= m.sequence, "in order", input);
        }
    }
    require(found == expected, "each in one group", input);
    std::set<std::string_view> participants;
    for (const barrier_member& m : view.waiting)
        require(participants.insert(m.name.substr(0, 16)).second, "each waits once", input);
}

void check_next_round(const barrier_view& view,
                      const round_record& record,
                      std::string_view input) {
    for (std::uint32_t size : {1u, 2u, 3u}) {
        auto next = next_round(view, record, size);
        require(next.has_value() == (view.inside.empty() && view.waiting.size() >= size),
                "a round begins when enough wait and nobody is inside",
                input);
        if (!next)
            continue;
        require(next->round == record.round + 1 && next->round != 0, "the next one", input);
        require(next->last == view.waiting[size - 1].sequence, "of the first who wait", input);
        constexpr std::uint64_t highest = std::numeric_limits<std::int64_t>::max();
        if (record.round < highest)
            require(parse_round(format_round(*next)) == next, "what is written is read", input);
        for (std::size_t i = 0; i < size && record.round != 0; ++i)
            require(is_inside(*next, view.waiting[i].sequence), "and they are in", input);
    }
}

void check_leaving(const barrier_view& view, const round_record& record, std::string_view input) {
    std::set<std::int32_t> own;
    for (std::size_t i = 0; i < view.inside.size(); i += 2)
        own.insert(view.inside[i].sequence);
    for (const std::set<std::int32_t>& mine : {own, std::set<std::int32_t>()}) {
        leave_plan plan = plan_leave(view, record.last, mine);
        require(std::includes(mine.begin(), mine.end(), plan.erase.begin(), plan.erase.end()),
                "nobody else's node is erased",
                input);
        require(
            plan.done == (plan.erase.empty() && !plan.watch), "done, or something to do", input);
        if (!plan.watch)
            continue;
        auto watched = parse_member(*plan.watch);
        require(watched && !mine.contains(*watched), "nobody waits for itself", input);
    }
}

}  // namespace

void priorities(std::string_view input) {
    std::vector<std::string> lines = lines_of(input);
    std::vector<std::string_view> views(lines.begin(), lines.end());
    std::size_t good = 0;
    std::int32_t origin = 0;
    for (std::string_view line : views) {
        auto found = parse_ranked(line);
        if (!found)
            continue;
        ++good;
        origin = found->sequence;
        std::string written = format_ranked(found->guid, found->kind, found->priority) +
                              sequence_text(found->sequence);
        auto again = parse_ranked(written);
        require(again && again->priority == found->priority && again->kind == found->kind &&
                    again->sequence == found->sequence && !again->record,
                "what is written is read",
                input);
        std::string record = found->record ? std::string(line) : record_of(line);
        auto held = parse_ranked(record);
        require(held && held->record && held->contender == found->contender,
                "a record is its contender's",
                input);
    }
    ranked_listing listing = sort_out(views, origin);
    require(listing.places.size() <= good, "one place for each", input);
    for (std::size_t i = 0; i < listing.places.size(); ++i) {
        require(listing.find(listing.contenders[i]) == i, "a place is found", input);
        require(!listing.blocking_node(i).empty(), "and is somebody", input);
    }
    for (std::int32_t ageing : {0, 3, 2147483647})
        judge_places(listing.places, ageing, input);
}

/// In the format of Curator and Kazoo any name is a member's: all leave, the first one last.
void check_page(const name_list& names, std::string_view input) {
    std::vector<std::string> there = view_page_barrier(names).members;
    require(std::is_sorted(there.begin(), there.end()), "members are sorted", input);
    while (!there.empty()) {
        const std::string last = there.back();
        page_leave step = plan_page_leave(there, last);
        require(step == page_leave::erase || there.front() == last, "the last one leaves", input);
        std::erase(there, last);
    }
}

/// The record in the first line, and the names of nodes.
void barriers(std::string_view input) {
    std::vector<std::string> lines = lines_of(input);
    auto round = parse_round(lines.front());
    if (round && !lines.front().empty())
        require(format_round(*round) == lines.front(), "only what is written is read", input);
    name_list names;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        names.push_back(lines[i]);
        auto member = parse_member(lines[i]);
        if (!member)
            continue;
        std::string written =
            member_prefix("0123456789abcdef0123456789abcdef") + sequence_text(*member);
        require(parse_member(written) == member, "what is written is read", input);
    }
    const round_record record = round.value_or(round_record());
    const barrier_view view = view_barrier(names, record);
    check_groups(view, record, names, input);
    check_next_round(view, record, input);
    check_leaving(view, record, input);
    check_page(names, input);
}

}  // namespace corozk::fuzz
