// SPDX-License-Identifier: Apache-2.0
// A work queue with acknowledgement: a job is removed when it is done. If its worker dies or loses
// its session, another one gets the job. Jobs that can never be done are put aside for inspection,
// so that they do not return to the workers forever.
#pragma once

#include "accounts.hpp"
#include "health.hpp"

#include <cstdint>
#include <iostream>
#include <string>

namespace service {

class jobs {
public:
    jobs(corozk::client& zk, accounts& work) : queue_(zk, "/service/jobs"), work_(work) {}

    awaitable<void> put(std::string text) { co_await queue_.put(std::move(text)); }

    std::uint64_t done() const { return done_; }
    std::uint64_t put_aside() const { return put_aside_; }

    awaitable<std::size_t> waiting() {
        std::size_t count = co_await queue_.count_items();
        co_return count;
    }

    static std::optional<order> read(std::string_view text) {
        auto space = text.find(' ');
        if (space == std::string_view::npos)
            return std::nullopt;
        return read_order(text.substr(0, space), text.substr(space + 1));
    }

    /// Processes jobs, forever.
    awaitable<void> work(health::part& state) {
        co_await queue_.count_items();  // fails unless the queue is reachable
        for (;;) {
            state.works();
            corozk::queue_claim claim = co_await queue_.consume();
            std::string problem;
            try {
                std::optional<order> job = read(claim.data());
                if (!job)
                    throw not_a_number("not a job");
                co_await work_.deposit(*job, claim);
                ++done_;
            } catch (const not_a_number& e) {
                problem = e.what();
            }
            if (!problem.empty())
                co_await put_aside(claim, problem);
        }
    }

private:
    awaitable<void> put_aside(corozk::queue_claim& claim, std::string why) {
        std::cerr << "a job was put aside: " << why << '\n';
        corozk::create_options numbered;
        numbered.mode = corozk::create_mode::persistent_sequential;
        corozk::transaction keep;
        keep.create("/service/failed/job-", claim.data(), numbered);
        co_await claim.acknowledge(keep);
        ++put_aside_;
    }

    corozk::queue queue_;
    accounts& work_;
    std::uint64_t done_ = 0;
    std::uint64_t put_aside_ = 0;
};

}  // namespace service
