// SPDX-License-Identifier: Apache-2.0
// Taking items: read the first ones, then delete them. The client whose delete succeeds has the item.
#include "driver/ensure_path.hpp"
#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

/// At most so many items are read before they are needed.
constexpr std::size_t largest_lead = 16;

/// Reads of several items, sent together.
class item_reads {
public:
    explicit item_reads(std::vector<available_item>& items) : items_(items) {}

    /// Only for those whose content is not known.
    void send(port& p, const queue_settings& settings) {
        for (const available_item& item : items_) {
            gets_.emplace_back();
            if (item.content)
                continue;
            std::string path = settings.item_path(item.name);
            gets_.back() = std::make_unique<request>(p, op_code::get, std::move(path));
            gets_.back()->send();
        }
    }

    /// What is gone has no content.
    task<error_code> finish() {
        error_code result;
        for (std::size_t i = 0; i < gets_.size(); ++i) {
            if (!gets_[i])
                continue;
            request& get = *gets_[i];
            error_code ec = co_await get;
            if (!ec) {
                item_content& content = items_[i].content.emplace();
                content.data = std::move(get.answer);
                content.version = get.record.version;
                content.ephemeral = get.record.ephemeral_owner != 0;
            } else if (ec != zk_errc::no_node) {
                result = ec;
            }
        }
        co_return result;
    }

private:
    std::vector<available_item>& items_;
    std::vector<std::unique_ptr<request>> gets_;
};

std::vector<transaction::step> deletes(const queue_settings& settings,
                                       const std::vector<available_item>& items) {
    std::vector<transaction::step> steps;
    for (const available_item& item : items) {
        transaction::step& step = steps.emplace_back();
        step.kind = transaction::step_kind::erase;
        step.path = settings.item_path(item.name);
        step.version = item.content->version;
    }
    return steps;
}

}  // namespace

task<error_code> queue_consumer::peek() {
    std::vector<available_item> first = index_.next(1);
    for (available_item& item : first)
        item.content.reset();  // it may have been changed since
    error_code ec = co_await read(first);
    if (ec || first.empty())
        co_return ec;
    queue_item item = make_item(settings_->names, std::move(first.front()));
    while (batch_size(consumer_call::kind::peek) > 0) {
        next_call(consumer_call::kind::peek)->result.get<queue_item>()->complete(ec, item);
        calls_.drop_finished();
    }
    co_return ec;
}

task<error_code> queue_consumer::take() {
    if (error_code ec = co_await takes_.prepare())
        co_return ec;
    time_point begin = port_.now();
    std::vector<available_item> batch = index_.next(batch_size(consumer_call::kind::take));
    if (error_code ec = co_await read(batch))
        co_return ec;
    // Fewer, if calls were cancelled meanwhile.
    std::size_t wanted = batch_size(consumer_call::kind::take);
    batch.resize(std::min(batch.size(), wanted));
    if (batch.empty() || !sure_of_parent())
        co_return error_code();

    // The next ones are read at the same time, unless other clients are likely to get them.
    std::vector<available_item> lead;
    if (!settings_->names.ranked() && last_attempt_ == attempt_result::succeeded)
        lead = index_.next(std::min(batch.size(), largest_lead), batch.size());
    item_reads lead_reads(lead);
    lead_reads.send(port_, *settings_);
    index_.round_begins();
    std::vector<transaction::step> steps = deletes(*settings_, batch);
    // Not repeated after an outage: by then the names may be those of other items.
    ledger_outcome outcome = co_await takes_.commit_now(std::move(steps));
    index_.delete_tried(batch);
    co_await lead_reads.finish();
    for (const available_item& item : lead) {
        if (item.content)
            index_.keep_content(item);
    }
    error_code ec = outcome.error;
    if (ec && !is_outcome_unknown(ec))
        co_return take_failed(batch, outcome);
    succeeded(begin);
    index_.deleted(batch);
    co_await give_out(std::move(batch), ec);
    co_return error_code();
}

/// @return an error that another listing does not remedy
error_code queue_consumer::take_failed(const std::vector<available_item>& batch,
                                       const ledger_outcome& outcome) {
    const error_code ec = outcome.error;
    if (ec == boost::asio::error::try_again) {
        index_.forget_listing();
        return error_code();
    }
    if (outcome.failed >= batch.size())
        return ec;
    if (ec == zk_errc::not_empty) {
        const std::string& name = batch[outcome.failed].name;
        index_.claimed_elsewhere(name, std::make_shared<watch_signal>(wake_));
        return error_code();
    }
    if (ec == zk_errc::no_node || ec == zk_errc::bad_version) {
        failed();
        index_.forget_listing();
        return error_code();
    }
    return ec;
}

/// Takes out of the batch what is gone.
task<error_code> queue_consumer::read(std::vector<available_item>& batch) {
    item_reads reads(batch);
    reads.send(port_, *settings_);
    error_code ec = co_await reads.finish();
    // All clients take the first items: where some are gone, more will be.
    std::size_t gone = std::erase_if(batch, [](const auto& item) { return !item.content; });
    if (!ec && gone > 0)
        index_.forget_listing();
    co_return ec;
}

/// Gives deleted items to the calls that wait; what no call waits for any more is put back.
task<> queue_consumer::give_out(std::vector<available_item> batch, error_code ec) {
    for (available_item& item : batch) {
        if (consumer_call* call = next_call(consumer_call::kind::take)) {
            queue_item result = make_item(settings_->names, std::move(item));
            call->result.get<queue_item>()->complete(ec, std::move(result));
        } else if (!ec) {
            co_await put_back(std::move(item));
        }
    }
}

/// Creates it under its old name, that is in its old place.
task<> queue_consumer::put_back(available_item item) {
    for (;;) {
        std::vector<transaction::step> steps(1);
        steps[0].kind = transaction::step_kind::create;
        steps[0].path = settings_->item_path(item.name);
        steps[0].data = item.content->data;
        steps[0].mode = item.content->ephemeral ? create_mode::ephemeral : create_mode::persistent;
        steps[0].entries = settings_->options.acl;
        ledger_outcome outcome = co_await takes_.commit(std::move(steps));
        index_.forget_listing();
        error_code ec = outcome.error;
        if (ec == zk_errc::no_node)
            ec = co_await ensure_folder(
                port_, settings_->path, settings_->options.acl, create_mode::persistent);
        if (ec == zk_errc::node_exists)
            co_return;  // an attempt whose response was lost had created it
        if (!outcome.error || (ec && !worth_another_try(ec))) {
            if (ec && port_.logs(log_level::error)) {
                port_.log(log_level::error,
                          "could not put the item " + item.name + " back into " + settings_->path +
                              ": " + ec.message());
            }
            co_return;
        }
    }
}

}  // namespace corozk::detail
