// SPDX-License-Identifier: Apache-2.0
// When all faults are over: everybody has to get on.
#include "conductor.hpp"
#include <corozk/testing/admin.hpp>
#include <corozk/testing/eventually.hpp>

#include <limits>
#include <utility>

namespace corozk::chaos {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;

/// All that a client does, and what it has told when it has got on with that.
std::vector<std::pair<deed, std::string>> duties_of(std::size_t client) {
    std::vector<std::pair<deed, std::string>> duties = {{deed::entered, "own"},
                                                        {deed::wrote, "write through its guard"},
                                                        {deed::put, "put"},
                                                        {deed::added, "add"},
                                                        {deed::leads, "lead"},
                                                        {deed::witnessed, "change a node"}};
    if (client == taker) {
        duties.emplace_back(deed::took, "take");
    } else {
        duties.emplace_back(deed::done, "consume");
    }
    return duties;
}

std::size_t times(const resource::progress& all, std::size_t client, deed what) {
    auto of_client = all.find(std::to_string(client));
    if (of_client == all.end())
        return 0;
    auto found = of_client->second.find(what);
    return found == of_client->second.end() ? 0 : found->second;
}

}  // namespace

void conductor::calm_down() {
    calm_ = true;
    run_undone(true);
    watch_owner();
    resource_.let_go();
    for (std::size_t i = 0; i < 3; ++i) {
        if (!(*servers_)[i].running())
            (*servers_)[i].launch();
    }
    servers_->wait_until_serving();
}

/// What a fault has done to a session is known when that could have ended, and a lost owner is through
/// when it has owned again.
void conductor::settle() {
    auto sessions_ended = clock::now() + session_timeout;
    auto before = resource_.done_so_far();
    auto settled = [&] {
        if (clock::now() < sessions_ended)
            return false;
        auto now = resource_.done_so_far();
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            if (times(now, i, deed::entered) <= times(before, i, deed::entered))
                return false;
        }
        return true;
    };
    if (wait_for(settled, "every client owns again"))
        resource_.settle();
}

/// Everybody gets on with all that he does.
void conductor::see_progress() {
    auto before = resource_.done_so_far();
    std::vector<std::string> stuck;
    auto nobody_is_stuck = [&] {
        stuck.clear();
        auto now = resource_.done_so_far();
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            for (const auto& [what, name] : duties_of(i)) {
                if (times(now, i, what) <= times(before, i, what))
                    stuck.push_back("client " + std::to_string(i) + " does not " + name);
            }
        }
        return stuck.empty();
    };
    if (wait_for(nobody_is_stuck, "every client gets on with all that it does"))
        return;
    for (const std::string& who : stuck)
        check(false, who);
}

/// As long as it takes on this machine, if only there are fewer and fewer.
void conductor::drain_queue() {
    resource_.refuse_items();
    testing::admin hand((*servers_)[0].port());
    auto items = [&] { return hand.children(std::string(root) + "/queue").size(); };
    std::size_t left = std::numeric_limits<std::size_t>::max();
    while (left > 0) {
        std::size_t now = left;
        auto fewer = [&] { return (now = items()) < left; };
        if (!wait_for(fewer, "the queue is emptied"))
            return;
        left = now;
    }
}

bool conductor::wait_for(const std::function<bool()>& state, const std::string& what) {
    try {
        testing::eventually(state, patience, what);
        return true;
    } catch (const std::exception& e) {
        check(false, e.what());
        return false;
    }
}

}  // namespace corozk::chaos
