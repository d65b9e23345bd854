// SPDX-License-Identifier: Apache-2.0
// Taking items: whoever erases one has it.
#include "driver/ensure_path.hpp"
#include "operation/path.hpp"
#include "recipe/queue/queue_impl.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

/// How many items are read before somebody asks for them.
constexpr std::size_t largest_lead = 16;

}  // namespace

task<error_code> queue_impl::serve_peek() {
    std::vector<candidate> batch = next_candidates(1);
    for (candidate& c : batch)
        c.read = false;
    error_code ec = co_await read(batch);
    if (ec || batch.empty())
        co_return ec;
    candidate& c = batch.front();
    for (consumer& waiting : consumers_) {
        if (waiting.what != wanted::peek || !waiting.waiting() || !is_listed_for(waiting))
            break;
        waiting.item->complete(error_code(), make_item(c.name, c.data, c.key));
    }
    co_return error_code();
}

task<error_code> queue_impl::serve_takes() {
    if (error_code ec = co_await takes_.prepare())
        co_return ec;
    std::vector<candidate> batch = next_candidates(run_length(wanted::take));
    time_point begin = port_.now();
    if (error_code ec = co_await read(batch))
        co_return ec;
    // Whoever was cancelled meanwhile needs none.
    batch.resize(std::min(batch.size(), run_length(wanted::take)));
    if (batch.empty() || !sure_of_folder())
        co_return error_code();

    std::vector<transaction::step> steps;
    for (const candidate& c : batch) {
        transaction::step step;
        step.kind = transaction::step_kind::erase;
        step.path = join_path(path_, c.name);
        step.version = c.version;
        steps.push_back(std::move(step));
    }
    // Meanwhile read what the next ones will want.
    std::vector<candidate> lead;
    std::vector<std::unique_ptr<request>> gets;
    if (!names_.ranked() && !lost_last_) {
        std::size_t ahead = std::min(batch.size(), largest_lead);
        lead = next_candidates(batch.size() + ahead);
        lead.erase(lead.begin(),
                   lead.begin() + static_cast<std::ptrdiff_t>(std::min(batch.size(), lead.size())));
        std::erase_if(lead, [](const candidate& c) { return c.read; });
        for (const candidate& c : lead) {
            gets.push_back(
                std::make_unique<request>(port_, op_code::get, join_path(path_, c.name)));
        }
    }
    if (names_.ranked())
        fresh_ = false;
    for (auto& get : gets)
        get->send();
    // Never again after an outage: by then the names may be those of other items.
    ledger_outcome outcome = co_await takes_.commit_now(std::move(steps));
    for (const candidate& c : batch)
        ahead_.erase(c.name);
    for (std::size_t i = 0; i < gets.size(); ++i) {
        request& get = *gets[i];
        if (co_await get)
            continue;
        candidate& c = lead[i];
        c.read = true;
        c.data = std::move(get.answer);
        c.version = get.record.version;
        c.ephemeral = get.record.ephemeral_owner != 0;
        ahead_.emplace(c.name, std::move(c));
    }
    error_code ec = outcome.error;
    if (!ec || is_outcome_unknown(ec)) {
        won(begin);
        use_up(batch);
        co_await give_out(std::move(batch), ec);
        co_return error_code();
    }
    if (ec == boost::asio::error::try_again) {
        forget_listing();
        co_return error_code();
    }
    if (outcome.failed < batch.size()) {
        const std::string& name = batch[outcome.failed].name;
        if (ec == zk_errc::not_empty) {
            foreign_.emplace(name, std::make_unique<foreign_claim>(wake_));
            co_return error_code();
        }
        if (ec == zk_errc::no_node || ec == zk_errc::bad_version) {
            // Others take from the front as well, and will be further when we look again.
            lost();
            forget_listing();
            co_return error_code();
        }
    }
    co_return ec;
}

/// Hands the removed items to those who wait; what nobody wants any more goes back.
task<> queue_impl::give_out(std::vector<candidate> batch, error_code ec) {
    for (candidate& c : batch) {
        consumer* taker = next_taker(wanted::take);
        if (!taker) {
            if (!ec)
                co_await put_back(std::move(c));
            continue;
        }
        taker->item->complete(ec, make_item(std::move(c.name), std::move(c.data), c.key));
    }
}

/// Creates it again under its old name: at its old place.
task<> queue_impl::put_back(candidate item) {
    for (;;) {
        std::vector<transaction::step> steps(1);
        steps[0].kind = transaction::step_kind::create;
        steps[0].path = join_path(path_, item.name);
        steps[0].data = item.data;
        steps[0].mode = item.ephemeral ? create_mode::ephemeral : create_mode::persistent;
        steps[0].entries = options_.acl;
        ledger_outcome outcome = co_await takes_.commit(std::move(steps));
        forget_listing();
        error_code ec = outcome.error;
        if (ec == zk_errc::no_node)
            ec = co_await ensure_folder(port_, path_, options_.acl, create_mode::persistent);
        if (ec == zk_errc::node_exists)
            co_return;  // an attempt of unknown outcome did it
        if (!outcome.error || (ec && !worth_another_try(ec))) {
            if (ec && port_.logs(log_level::error)) {
                port_.log(log_level::error,
                          "could not put the item " + item.name + " back into " + path_ + ": " +
                              ec.message());
            }
            co_return;
        }
    }
}

}  // namespace corozk::detail
