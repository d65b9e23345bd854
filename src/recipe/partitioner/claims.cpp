// SPDX-License-Identifier: Apache-2.0
// What a member has, waits for, and gives back.
#include "operation/path.hpp"
#include "recipe/partitioner/core.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

/// Takes back what the user has not seen.
void partitioner_impl::dismiss(std::unique_ptr<grant_request> request) {
    if (!request->done())
        request->abandon(boost::asio::error::operation_aborted);
    dismissed_.push_back(std::move(request));
    note_dismissed();
}

/// Waits until the nodes of what was dismissed are gone.
void partitioner_impl::note_dismissed() {
    std::erase_if(dismissed_, [](const auto& request) {
        if (!request->done())
            return false;
        request->granted() = ownership();  // which may have come at the same time
        return request->gone();
    });
}

/// Forgets a contender whose node is gone.
void partitioner_impl::look_at(const std::string& resource, claim& c) {
    if (!c.request || !c.request->done())
        return;
    const error_code ec = c.request->error();
    if (ec && wanted_ && !worth_another(ec))
        give_up(ec);
    if (!c.request->gone())
        return;
    if (c.delivered && c.delivered->lost_reason() && !c.told)
        lost_.push_back(resource);
    c = claim();
}

void partitioner_impl::pursue_claims() {
    note_dismissed();
    for (auto& [resource, c] : claims_)
        look_at(resource, c);
    const std::vector<std::string>* share = nullptr;
    if (auto mine = decision_.find(name_); wanted_ && member_ && mine != decision_.end())
        share = &mine->second;
    if (share) {
        for (const std::string& resource : *share) {
            if (std::binary_search(resources_.begin(), resources_.end(), resource))
                claims_.try_emplace(resource);
        }
    }
    for (auto at = claims_.begin(); at != claims_.end();) {
        claim& c = at->second;
        claim_view view;
        view.wanted = share && std::binary_search(share->begin(), share->end(), at->first);
        view.session = may_ask();
        view.asked = c.request != nullptr;
        view.failed = c.request && c.request->done() && c.request->error();
        view.delivered = c.delivered != nullptr;
        view.revoked = c.revoked;
        switch (decide(view)) {
            case claim_step::wait:
                break;
            case claim_step::ask:
                c.request = ask(lock_at(join_path(place("locks"), at->first)));
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

partition_change partitioner_impl::take_news() {
    partition_change news;
    news.lost = std::exchange(lost_, {});
    for (auto& [resource, c] : claims_) {
        if (c.revoked && c.in_use() && !std::exchange(c.told, true))
            news.to_release.push_back(resource);
    }
    // Not to wait for anything, see `tell`.
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

void partitioner_impl::tell() {
    if (!next_call_ || next_call_->over())
        return;
    partition_change news = take_news();
    if (!news.empty()) {
        if (news.gained.empty())
            next_call_->ahead_of_copies();
        next_call_->complete(error_code(), std::move(news));
    } else if (!wanted_ && !next_name_ && claims_.empty()) {
        next_call_->fail(fatal_ ? fatal_ : make_error_code(errc::not_a_member));
    }
}

}  // namespace corozk::detail
