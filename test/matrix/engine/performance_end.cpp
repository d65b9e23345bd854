// SPDX-License-Identifier: Apache-2.0
// What must be so when everything is over and quiet.
#include "performance.hpp"
#include <corozk/testing/four_letter.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace corozk::matrix {

using testing::eventually_async;

/// They were not ours to touch.
void performance::take_foreign_back() {
    for (const std::string& path : stage_->planted) {
        bool there = stage_->observer().erase(path);
        stage_->check(there, "a foreign node is still there: " + path);
    }
    stage_->planted.clear();
}

bool performance::only_what_may_stay() {
    std::string folder = stage_->server_folder();
    if (!what_.may_stay)
        return stage_->observer().children(folder).empty();
    std::vector<std::string> all = stage_->observer().tree(folder);
    return std::all_of(all.begin(), all.end(), [&](const std::string& path) {
        return path.size() <= folder.size() ||
               what_.may_stay(*stage_, path.substr(folder.size() + 1));
    });
}

awaitable<void> performance::wait_until_nothing_is_left() {
    std::string folder = stage_->server_folder();
    co_await eventually_async(
        [&] {
            for (const auto& [path, session] : testing::ephemerals(port_)) {
                if (in_folder(path))
                    return false;
            }
            return which_ == fault::may_not_delete || only_what_may_stay();
        },
        stage_->patience(),
        "no node is left");
    co_await eventually_async([&] { return testing::watches_below(port_, folder) == 0; },
                              stage_->patience(),
                              "no watch is left");
}

/// Of all kinds: the list of watches by path has none on children. Costs the server a lot.
awaitable<void> performance::wait_until_nothing_is_watched() {
    if (party_) {
        // At the server the others of the party have theirs.
        co_await eventually_async([&] { return stage_->watches_of_ours() == 0; },
                                  stage_->patience(),
                                  "ours waits for no watch");
        co_return;
    }
    co_await eventually_async([&] { return testing::watch_count(port_) == 0; },
                              stage_->patience(),
                              "the server's count of watches is back");
}

/// For a failure's text.
std::string performance::what_is_left() {
    std::string text = "left:";
    try {
        for (const std::string& path : stage_->observer().tree(stage_->server_folder()))
            text += " node " + path;
        for (const auto& [path, sessions] : testing::watches_by_path(port_)) {
            if (!in_folder(path))
                continue;
            text += " watch " + path + " of";
            for (std::int64_t session : sessions) {
                char number[24];
                std::snprintf(
                    number, sizeof number, " %#llx", static_cast<unsigned long long>(session));
                text += number;
            }
        }
    } catch (const std::exception& e) {
        text += std::string(" unknown, ") + e.what();
    }
    return text;
}

awaitable<void> performance::wait_until_quiet() {
    // Of the fault itself nothing stays.
    proxy_.disarm_all();
    proxy_.black_hole(false);
    proxy_.set_delay(testing::direction::to_client, std::chrono::milliseconds(0));
    proxy_.set_acceptance(testing::acceptance::normal);
    co_await eventually_async(
        [&] { return stage_->all_ended(); }, stage_->patience(), "every call's end");
    co_await stage_->settle();
    // What it has sent may come to the server after all looks at what is there.
    if (which_ == fault::destroy_client && stage_->applied()) {
        co_await eventually_async([&] { return session_.expired(); },
                                  stage_->patience(),
                                  "the destroyed client's session is closed");
    }
    co_await eventually_async(
        [&] { return !beside_runs_; }, stage_->patience(), "the other one's turn");
    if (!beside_failed_.empty())
        stage_->check(false, "the one beside failed: " + beside_failed_);
    take_foreign_back();
    co_await wait_until_nothing_is_left();
    co_await wait_until_nothing_is_watched();
}

}  // namespace corozk::matrix
