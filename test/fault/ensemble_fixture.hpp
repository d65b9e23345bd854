// SPDX-License-Identifier: Apache-2.0
// What tests with several servers share.
#pragma once

#include "client_fixture.hpp"
#include <corozk/testing/ensemble.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <future>
#include <optional>
#include <string>

namespace corozk::testing::client_tests {

using namespace std::chrono_literals;

inline ensemble_options configurable() {
    ensemble_options options;
    options.member.java_properties = {"zookeeper.skipACL=yes"};
    options.member.config_lines = {"reconfigEnabled=true"};
    options.sync_limit = 20;
    return options;
}

template <class Function>
awaitable<void> in_background(Function& f) {
    auto done = std::async(std::launch::async, [&f] { f(); });
    co_await eventually_async([&] { return done.wait_for(0s) == std::future_status::ready; },
                              120s,
                              "the end of a function on another thread");
    done.get();
}

/// The member that a session is connected to. Nothing else runs meanwhile on the loop that asks: a member
/// that does not answer at once is left out.
inline std::optional<std::size_t> home_of(ensemble& all, std::int64_t session) {
    char id[32];
    std::snprintf(id, sizeof id, "0x%llx", static_cast<unsigned long long>(session));
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].running())
            continue;
        try {
            if (four_letter(all[i].port(), "cons", 500ms).find(std::string("sid=") + id) !=
                std::string::npos) {
                return i;
            }
        } catch (const std::exception&) {
        }
    }
    return std::nullopt;
}

}  // namespace corozk::testing::client_tests
