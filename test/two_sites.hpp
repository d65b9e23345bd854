// SPDX-License-Identifier: Apache-2.0
// What tests of the two-phase commit share: its forms, and a transaction that two sites have joined.
#pragma once

#include "pending_result.hpp"
#include <corozk/recipe/two_phase_commit.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing {

using outcome_result = pending_result<commit_outcome>;

inline constexpr commit_form commit_forms[] = {commit_form::all_sites, commit_form::coordinator};

inline commit_options with_form(commit_form form) {
    commit_options options;
    options.form = form;
    return options;
}

struct two_sites {
    two_sites(client& coordinators,
              client& mines,
              client& others,
              const std::string& path,
              commit_form form)
        : coordinator(std::in_place, coordinators, path, with_form(form)),
          mine(mines, path, "mine"),
          other(others, path, "other") {}

    /// Until both have joined.
    boost::asio::awaitable<void> begin() {
        const std::vector<std::string> both{"mine", "other"};
        co_await coordinator->begin(both, "");
        co_await mine.join();
        co_await other.join();
    }

    std::optional<commit_coordinator> coordinator;
    commit_site mine;
    commit_site other;
};

}  // namespace corozk::testing
