// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "compare/comparison.hpp"
#include "compare/peer_kind.hpp"
#include "compare/peer_process.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace corozk::bench {

/// A peer that takes part in comparisons: its process, started when it is needed, and again after
/// it failed.
class contender {
public:
    contender(const peer_kind& kind, peer_program program)
        : kind_(kind), program_(std::move(program)), version_(program_.version) {}

    const peer_kind& kind() const noexcept { return kind_; }
    const std::string& version() const noexcept { return version_; }

    /// "Curator 5.4.0"
    std::string title() const;

    bool takes_part(const comparison& c) const;

    /// It has no part in comparisons of this family any more.
    void give_up(const comparison& c) { failed_.insert(c.family()); }

    /// Ends its process.
    void stop() { process_.reset(); }

    /// One repetition. @return what went wrong; empty if nothing did
    boost::asio::awaitable<std::string> run(job& j,
                                            client& observer,
                                            comparison& c,
                                            std::vector<result>& rows);

private:
    boost::asio::awaitable<void> start(job& j);
    boost::asio::awaitable<void> run_or_throw(job& j,
                                              client& observer,
                                              comparison& c,
                                              std::vector<result>& rows);

    const peer_kind& kind_;
    peer_program program_;
    std::string version_;
    std::unique_ptr<peer_process> process_;
    std::set<std::string> warm_;    ///< families
    std::set<std::string> failed_;  ///< the same
};

/// Those that are wanted and installed; `remarks` says what is missing.
std::deque<contender> find_contenders(job& j, std::string& remarks);

/// In the facts about the run; each tells its version when it has been started.
void note_versions(job& j, const std::deque<contender>& peers);

}  // namespace corozk::bench
