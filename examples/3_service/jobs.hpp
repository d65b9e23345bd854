// SPDX-License-Identifier: Apache-2.0
// A work queue with acknowledgement: a job is gone when it is done, and not before. If its worker dies
// or loses its session, somebody else gets it.
#pragma once

#include "accounts.hpp"

#include <cstdint>
#include <iostream>
#include <string>

namespace service {

class jobs {
public:
    jobs(corozk::client& zk, accounts& work) : queue_(zk, "/service/jobs"), work_(work) {}

    awaitable<void> put(std::string text) { co_await queue_.put(std::move(text)); }

    std::uint64_t done() const { return done_; }

    awaitable<std::size_t> waiting() {
        std::size_t count = co_await queue_.size();
        co_return count;
    }

    static std::optional<order> read(std::string_view text) {
        auto space = text.find(' ');
        if (space == std::string_view::npos)
            return std::nullopt;
        return read_order(text.substr(0, space), text.substr(space + 1));
    }

    /// Does jobs, for ever.
    awaitable<void> work() {
        for (;;) {
            corozk::queue_claim claim = co_await queue_.consume();
            std::optional<order> job = read(claim.data());
            if (job)
                co_await work_.deposit(*job);
            else
                std::cerr << "not a job: " << claim.data() << '\n';  // nor will it be next time
            co_await claim.acknowledge();
            ++done_;
        }
    }

private:
    corozk::queue queue_;
    accounts& work_;
    std::uint64_t done_ = 0;
};

}  // namespace service
