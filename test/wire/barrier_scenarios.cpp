// SPDX-License-Identifier: Apache-2.0
// Who waits for others.
#include "bounded_wait.hpp"
#include "scenarios.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/two_phase_commit.hpp>

#include <chrono>

namespace corozk::wire {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

awaitable<void> barriers(client& c, std::string folder) {
    barrier gate(c, folder + "/gate");
    co_await gate.set();
    co_await gate.check();
    co_await gate.wait_for(20ms, as_tuple());
    co_await gate.remove();
    co_await gate.wait_for(patience(1s));
}

awaitable<void> double_barriers(client& c, std::string folder) {
    double_barrier gate(c, folder, 1);
    co_await gate.enter_for(patience(2s));
    co_await gate.leave_for(patience(2s));
}

awaitable<void> two_phase_commits(client& c, std::string folder) {
    std::string path = folder + "/tx";
    std::vector<std::string> sites{"a"};
    commit_coordinator coordinator(c, path);
    co_await coordinator.begin(sites, "payload");
    commit_site site(c, path, "a");
    co_await site.join_for(patience(2s));
    co_await site.vote_for(commit_vote::commit, patience(2s));
    co_await coordinator.decide_for(patience(2s));
    co_await site.finish();
    co_await coordinator.clean_up();
}

}  // namespace

const std::vector<scenario>& barrier_scenarios() {
    static const std::vector<scenario> all = {
        {"barrier", barriers},
        {"double_barrier", double_barriers},
        {"two_phase_commit", two_phase_commits},
    };
    return all;
}

}  // namespace corozk::wire
