// SPDX-License-Identifier: Apache-2.0
#include "recipe/partitioner/claims.hpp"

#include "operation/path.hpp"
#include "recipe/partitioner/rule.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

void claims::dismiss(std::unique_ptr<grant_request> request) {
    if (!request->done())
        request->abandon(boost::asio::error::operation_aborted);
    dismissed_.push_back(std::move(request));
    note_dismissed();
}

/// Waits until the nodes of what was dismissed are gone.
void claims::note_dismissed() {
    std::erase_if(dismissed_, [](const auto& request) {
        if (!request->done())
            return false;
        request->granted() = ownership();  // which may have come at the same time
        return request->gone();
    });
}

/// Forgets a contender whose node is gone.
error_code claims::look_at(const std::string& resource, claim& c) {
    if (!c.request || !c.request->done())
        return error_code();
    error_code refusal = c.request->error();
    if (grant_request::worth_another(refusal))
        refusal = error_code();
    if (!c.request->gone())
        return refusal;
    if (c.delivered && c.delivered->lost_reason() && !c.reported)
        lost_.push_back(resource);
    c = claim();
    return refusal;
}

error_code claims::look() {
    note_dismissed();
    error_code first;
    for (auto& [resource, c] : claims_) {
        const error_code refusal = look_at(resource, c);
        if (!first)
            first = refusal;
    }
    return first;
}

void claims::pursue(const std::vector<std::string>& share, const std::string& name, bool ask) {
    for (const std::string& resource : share)
        claims_.try_emplace(resource);
    for (auto at = claims_.begin(); at != claims_.end();) {
        claim& c = at->second;
        claim_view view;
        view.wanted = std::binary_search(share.begin(), share.end(), at->first);
        view.session = ask;
        view.asked = c.request != nullptr;
        view.failed = c.request && c.request->done() && c.request->error();
        view.delivered = c.delivered != nullptr;
        view.revoked = c.revoked;
        switch (decide(view)) {
            case claim_step::wait: break;
            case claim_step::ask:
                c.request = locks_.make(join_path("locks", at->first), name);
                break;
            case claim_step::withdraw:
                dismiss(std::move(c.request));
                c = claim();
                break;
            case claim_step::revoke:
                c.revoked = true;
                c.delivered->request_release();
                break;
        }
        at = view.wanted || c.request ? std::next(at) : claims_.erase(at);
    }
}

partition_change claims::take_news() {
    partition_change news;
    news.lost = std::exchange(lost_, {});
    for (auto& [resource, c] : claims_) {
        if (c.revoked && c.in_use() && !std::exchange(c.reported, true))
            news.to_release.push_back(resource);
    }
    // These do not wait for the local copies, to which the holder of a lock just granted catches up.
    if (!news.empty())
        return news;
    for (auto& [resource, c] : claims_) {
        if (c.delivered || !c.granted() || !c.request->granted().valid())
            continue;
        ownership held = std::move(c.request->granted());
        c.delivered = std::dynamic_pointer_cast<contender>(held.implementation());
        news.gained.emplace_back(resource, std::move(held));
    }
    return news;
}

void claims::abandon() {
    for (auto& [resource, c] : claims_) {
        if (c.delivered)
            c.delivered->request_release();
    }
    std::erase_if(claims_, [](const auto& one) { return one.second.delivered != nullptr; });
}

bool claims::all_delivered() const noexcept {
    return std::all_of(
        claims_.begin(), claims_.end(), [](const auto& one) { return one.second.delivered; });
}

}  // namespace corozk::detail
