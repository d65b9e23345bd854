// SPDX-License-Identifier: Apache-2.0
#include "session/server_search.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds first_question = 200ms;
constexpr milliseconds last_question = 10s;

// How long look-ups may delay the decision.
constexpr milliseconds lookup_patience = 500ms;

bool contains(const std::vector<known_servers::endpoint>& list,
              const known_servers::endpoint& server) {
    return std::find(list.begin(), list.end(), server) != list.end();
}

}  // namespace

void server_search::stop() noexcept {
    purpose_ = purpose_type::none;
    wait_until(time_point::max());
}

void server_search::wait_until(time_point when) noexcept {
    stage_ = stage_type::waiting;
    due_ = when;
}

void server_search::ask_later(time_point now) noexcept {
    interval_ = std::clamp(interval_ * 2, first_question, last_question);
    wait_until(now + interval_);
}

void server_search::look_for_quorum(time_point now) {
    purpose_ = purpose_type::quorum;
    interval_ = 0ms;
    candidates_.clear();
    wait_until(now);
}

void server_search::list_replaced(old_list before, milliseconds spread, time_point now) {
    target_.reset();
    if (for_quorum())
        return look_for_quorum(now);
    // Until a client has decided, it counts as one of those that are spread over the first list.
    const bool undecided = purpose_ == purpose_type::balance && !destination_;
    if (!undecided)
        before_ = std::move(before);
    purpose_ = purpose_type::balance;
    interval_ = 0ms;
    candidates_.clear();
    destination_.reset();
    std::uniform_int_distribution<std::int64_t> moment(0, spread.count());
    wait_until(now + milliseconds(moment(random_)));
}

void server_search::found(const endpoint& server, milliseconds patience, time_point now) {
    target_ = server;
    stage_ = stage_type::leaving;
    due_ = now + patience;
}

bool server_search::next(time_point now, known_servers& servers, const endpoint& current) {
    if (leaving()) {
        // Responses take long: not now.
        if (now >= due_)
            ask_later(now);
        return false;
    }
    if (stage_ == stage_type::waiting) {
        if (now < due_)
            return false;
        servers.want_lookups(!candidates_.empty());
        stage_ = stage_type::resolving;
        due_ = now + lookup_patience;
    }
    if (servers.looking_up() && now < due_)
        return false;
    ask_later(now);
    choose(servers, current);
    return !candidates_.empty();
}

void server_search::choose(const known_servers& servers, const endpoint& current) {
    candidates_ = servers.servers();
    const bool stays = contains(candidates_, current);
    const bool first = !destination_;
    recall(servers);
    if (!for_quorum() && first && !candidates_.empty())
        decide(servers, stays);
    std::erase(candidates_, current);
    if (for_quorum() || candidates_.empty())
        return;
    if (destination_ == relocation::stay) {
        candidates_.clear();
        return stop();
    }
    // If that one does not answer, any server is better than one that was removed.
    if (first || stays) {
        std::vector<endpoint> preferred;
        std::copy_if(candidates_.begin(),
                     candidates_.end(),
                     std::back_inserter(preferred),
                     [this](const endpoint& server) {
                         return contains(before_.servers, server) ==
                                (destination_ == relocation::to_kept);
                     });
        if (!preferred.empty())
            candidates_ = std::move(preferred);
    }
    // One only: the fastest would get too many.
    std::uniform_int_distribution<std::size_t> any(0, candidates_.size() - 1);
    candidates_ = {candidates_[any(random_)]};
}

/// A server of the old list is not a new one because its name was looked up only now.
void server_search::recall(const known_servers& servers) {
    std::erase_if(before_.unresolved, [&](const host& h) {
        const std::vector<endpoint> found = servers.servers_of(h);
        for (const endpoint& server : found) {
            if (!contains(before_.servers, server))
                before_.servers.push_back(server);
        }
        return !found.empty();
    });
}

void server_search::decide(const known_servers& servers, bool stays) {
    list_change change;
    change.before = before_.servers.size() + before_.unresolved.size();
    change.stays = stays;
    for (const endpoint& server : servers.servers())
        ++(contains(before_.servers, server) ? change.kept : change.added);
    const std::vector<host> unknown = servers.unresolved();
    for (const host& h : before_.unresolved)
        change.kept += static_cast<std::size_t>(std::count(unknown.begin(), unknown.end(), h));
    destination_ = relocate(change, std::uniform_real_distribution<>(0, 1)(random_));
}

}  // namespace corozk::detail
