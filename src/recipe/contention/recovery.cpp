// SPDX-License-Identifier: Apache-2.0
// Creates that failed because the parent did not exist, or whose responses were lost.
#include "driver/ensure_path.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"

#include <utility>

namespace corozk::detail {

using stage = local_node::stage_type;

task<> contention_queue::create_under_new_parent(contender_ptr c) {
    error_code ec = co_await ensure_path(
        port_, settings_->parent, settings_->entries, settings_->parent_mode, &c->call_);
    if (c->state == stage::unwanted || ec) {
        fail(*c, ec ? ec : make_error_code(boost::asio::error::operation_aborted));
    } else {
        creation_.again(*c);
        create(*c);
        if (!head() && view_.list())
            list(false);
    }
    driver_ended();
}

task<> contention_queue::recover() {
    for (;;) {
        std::vector<contender_ptr> batch;
        for (local_node* c : creation_.next_search())
            batch.push_back(static_cast<contender&>(*c).shared_from_this());
        if (batch.empty())
            break;
        const std::uint64_t session = batch.front()->session;
        co_await recover(std::move(batch), session);
    }
    driver_ended();
}

/// Searches for the nodes of creates whose responses were lost, with one listing: nodes with a
/// contender's guid that belong to this session.
task<> contention_queue::recover(std::vector<contender_ptr> batch, std::uint64_t session) {
    std::unordered_map<std::string, contender_ptr> lost;  // by stem
    for (auto& c : batch)
        lost.emplace(settings_->names.format(c->guid(), c->kind, c->weight), std::move(c));
    // The new server may lag behind the one that got the create: sync first.
    request listing(port_, op_code::children, settings_->parent, session);
    error_code ec = co_await behind_sync(port_, listing);
    retry attempts(port_, session);
    const bool again = co_await again_until_done(port_, attempts, ec);
    std::vector<std::pair<contender_ptr, std::unique_ptr<request>>> found;
    for (std::size_t i = 0; !ec && i < listing.names.size(); ++i) {
        auto name = settings_->names.parse(listing.names[i]);
        auto at = name ? lost.find(std::string(name->stem)) : lost.end();
        if (at == lost.end())
            continue;
        auto look = std::make_unique<request>(port_, op_code::exists, path_of(listing.names[i]));
        look->generation = session;
        look->send();
        found.emplace_back(std::move(at->second), std::move(look));
        lost.erase(at);
    }
    for (auto& [stem, c] : lost) {
        if (again)
            creation_.still_unknown(*c);
        else
            not_created(*c, ec == zk_errc::no_node ? error_code() : ec);
    }
    for (auto& [c, owned_look] : found) {
        request& look = *owned_look;
        ec = co_await look;
        if (retry(port_, session).again(ec)) {
            creation_.still_unknown(*c);
        } else if (!ec && look.record.ephemeral_owner == port_.status().session_id) {
            place(*c, base_name(look.path), look.record);
        } else if (!ec || ec == zk_errc::no_node) {
            not_created(*c);
        } else {
            port_.use_service<background_deleter>().erase(look.path, session);
            fail(*c, ec);
        }
    }
}

/// A lost create has not created a node so far, or that cannot be determined (`ec`).
void contention_queue::not_created(contender& c, error_code ec) {
    port_.use_service<background_deleter>().erase_late(
        settings_->parent, settings_->names.format(c.guid(), c.kind, c.weight), c.session);
    if (!ec && c.state == stage::unwanted)
        ec = boost::asio::error::operation_aborted;
    if (ec)
        return fail(c, ec);
    creation_.again(c);
    create(c);
}

}  // namespace corozk::detail
