// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contender.hpp"
#include "recipe/partitioner/lock_requests.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A member's contender for the lock of one resource, if it has one, and what became of it.
struct claim {
    std::unique_ptr<grant_request> request;
    std::shared_ptr<contender> delivered;  ///< the user has it
    bool revoked = false;
    bool reported = false;  ///< the user knows that it is revoked

    bool granted() const noexcept { return request && request->done() && !request->error(); }
    /// The user has it, and neither lost nor released it.
    bool in_use() const noexcept {
        return delivered && delivered->stage() == contender::stage_type::granted;
    }
};

/// What a member has, waits for, and gives back.
class claims {
public:
    explicit claims(const lock_requests& locks) : locks_(locks) {}

    /// What became of the requests. @return why no other one is worth while, if one was refused
    error_code look();

    /// Takes the next steps towards having these.
    /// @param ask whether to ask for locks
    void pursue(const std::vector<std::string>& share, const std::string& name, bool ask);

    /// What was not reported to the user yet.
    partition_change take_news();

    /// Takes back a lock that the user has not seen.
    void dismiss(std::unique_ptr<grant_request> request);

    /// The object is destroyed: what the user holds is its own, but should be given back.
    void abandon();

    bool empty() const noexcept { return claims_.empty(); }
    /// Whether the nodes of what was dismissed are gone.
    bool settled() const noexcept { return dismissed_.empty(); }
    /// Whether there is nothing that the user does not have.
    bool all_delivered() const noexcept;

private:
    error_code look_at(const std::string& resource, claim& c);
    void note_dismissed();

    const lock_requests& locks_;
    std::map<std::string, claim> claims_;
    std::list<std::unique_ptr<grant_request>> dismissed_;  ///< until their nodes are gone
    std::vector<std::string> lost_;                        ///< not reported yet
};

}  // namespace corozk::detail
