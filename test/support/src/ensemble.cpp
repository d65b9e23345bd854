// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/ensemble.hpp"

#include "corozk/testing/error.hpp"
#include "corozk/testing/four_letter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <thread>

namespace corozk::testing {
namespace {

constexpr int ensemble_attempts = 3;
constexpr auto member_interval = std::chrono::milliseconds{20};
constexpr auto member_answer_limit = std::chrono::milliseconds{5'000};

}  // namespace

ensemble::ensemble(ensemble_options options) : options_{std::move(options)} {
    for (int attempt = 1;; ++attempt) {
        set_up();
        try {
            for (auto& member : members_) {
                member->launch();
            }
            wait_until_serving();
            return;
        } catch (const server_error&) {
            const bool taken =
                std::any_of(members_.begin(), members_.end(), [](const auto& member) {
                    return member->address_taken();
                });
            if (attempt == ensemble_attempts || !taken) {
                throw;
            }
        }
    }
}

void ensemble::set_up() {
    members_.clear();
    peer_ports_.clear();
    const std::size_t all = options_.size + options_.observers;
    peer_ports_.resize(2 * all);
    std::vector<std::string> lines = options_.member.config_lines;
    lines.push_back(fmt::format("initLimit={}", options_.init_limit));
    lines.push_back(fmt::format("syncLimit={}", options_.sync_limit));
    for (std::size_t index = 0; index < all; ++index) {
        members_.emplace_back(new server{options_.member, server::deferred{}});
    }
    for (std::size_t index = 0; index < all; ++index) {
        server_options& member = members_[index]->options_;
        member.config_lines = lines;
        if (index >= options_.size) {
            member.config_lines.emplace_back("peerType=observer");
        }
        for (std::size_t peer = 0; peer < all; ++peer) {
            std::uint16_t quorum = peer_ports_[2 * peer].port();
            if (options_.quorum_route && peer != index) {
                quorum = options_.quorum_route(index, peer, quorum);
            }
            member.config_lines.push_back(fmt::format("server.{}=127.0.0.1:{}:{}{};127.0.0.1:{}",
                                                      peer + 1,
                                                      quorum,
                                                      peer_ports_[2 * peer + 1].port(),
                                                      peer < options_.size ? "" : ":observer",
                                                      members_[peer]->port()));
        }
        member.member_id = static_cast<int>(index) + 1;
        member.start_limit = options_.quorum_limit;
    }
}

std::string ensemble::hosts() const {
    std::vector<std::string> all;
    for (const auto& member : members_) {
        all.push_back(member->hosts());
    }
    return fmt::format("{}", fmt::join(all, ","));
}

std::string ensemble::mode(std::size_t index) const {
    if (!members_[index]->running()) {
        return {};
    }
    try {
        return server_mode(members_[index]->port(), member_answer_limit);
    } catch (const std::system_error&) {
    } catch (const timeout_error&) {
    }
    return {};
}

std::optional<std::size_t> ensemble::leader() const {
    for (std::size_t index = 0; index < size(); ++index) {
        if (mode(index) == "leader") {
            return index;
        }
    }
    return std::nullopt;
}

std::vector<std::size_t> ensemble::members_in(std::string_view wanted) const {
    std::vector<std::size_t> result;
    for (std::size_t index = 0; index < size(); ++index) {
        if (mode(index) == wanted) {
            result.push_back(index);
        }
    }
    return result;
}

std::vector<std::size_t> ensemble::followers() const {
    return members_in("follower");
}

std::vector<std::size_t> ensemble::observers() const {
    return members_in("observer");
}

void ensemble::wait_until_serving() {
    for (auto& member : members_) {
        if (member->running()) {
            member->wait_until_serving();
        }
    }
}

void ensemble::wait_for_quorum() {
    const auto deadline = std::chrono::steady_clock::now() + options_.quorum_limit;
    while (!leader() || 1 + followers().size() <= options_.size / 2) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw server_error{"the ensemble has no quorum" + logs()};
        }
        std::this_thread::sleep_for(member_interval);
    }
}

std::string ensemble::logs() const {
    std::string text;
    for (std::size_t index = 0; index < size(); ++index) {
        text += fmt::format("\n--- member {} ({}):\n{}",
                            index,
                            members_[index]->running() ? "runs" : "does not run",
                            members_[index]->log_tail(15));
    }
    return text;
}

}  // namespace corozk::testing
