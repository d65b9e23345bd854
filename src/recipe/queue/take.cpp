// SPDX-License-Identifier: Apache-2.0
// Taking items: read the first ones, then delete them. The client whose delete succeeds has the
// item.
#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace corozk::detail {

namespace {

/// The maximum number of items to read ahead.
constexpr std::size_t largest_lead = 16;

constexpr std::chrono::seconds pause_of_putting_back{1};

/// The maximum number of items to look at at a time in order to find one that exists.
constexpr std::size_t largest_reach = 128;

/// Reads the first items concurrently, unless their content is known, and looks whether the others
/// exist.
class item_reads {
public:
    item_reads(port& p,
               const queue_settings& settings,
               std::vector<available_item>& items,
               std::size_t count)
        : port_(p) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            available_item& item = items[i];
            if (item.content)
                continue;
            op_code code = i < count ? op_code::get : op_code::exists;
            auto read = std::make_unique<request>(p, code, settings.item_path(item.name));
            read->send();
            reads_.emplace_back(&item, std::move(read));
        }
    }

    task<error_code> finish() {
        error_code result;
        for (auto& [item, sent] : reads_) {
            request& read = *sent;
            error_code ec = co_await read;
            item->gone = ec == zk_errc::no_node;
            if (!ec && read.code == op_code::get) {
                item_content& content = item->content.emplace();
                content.data = std::move(read.answer);
                content.version = read.record.version;
                content.ours = read.record.ephemeral_owner == port_.status().session_id;
            } else if (ec && !item->gone) {
                result = ec;
            }
        }
        co_return result;
    }

private:
    port& port_;
    std::vector<std::pair<available_item*, std::unique_ptr<request>>> reads_;
};

}  // namespace

task<error_code> queue_consumer::peek() {
    std::vector<available_item> first = index_.next(1);
    for (available_item& item : first)
        item.content.reset();  // it may have been changed since
    error_code ec = co_await read(first, 1);
    if (ec || first.empty())
        co_return ec;
    queue_item item = to_item(std::move(first.front()));
    while (batch_size(kind::peek) > 0) {
        next_call(kind::peek)->result.get<queue_item>()->complete(ec, item);
        calls_.drop_finished();
    }
    co_return ec;
}

task<error_code> queue_consumer::take() {
    if (error_code ec = co_await exactly_once_.prepare(calls_))
        co_return unless_nobody_waited(ec);
    time_point begin = port_.now();
    std::size_t count = batch_size(kind::take);
    const std::size_t passed_over = place();
    std::vector<available_item> batch = index_.next(std::max(count, reach_), passed_over);
    count = std::min(count, fitting(batch));
    if (error_code ec = co_await read(batch, count))
        co_return ec;
    // Fewer, if calls were cancelled.
    batch.resize(std::min({batch.size(), count, batch_size(kind::take)}));
    if (batch.empty() || !sure_of_parent())
        co_return error_code();

    // Read the next ones ahead, unless other clients are likely to get them.
    std::vector<available_item> lead;
    if (!settings_->names.ranked() && last_succeeded_)
        lead = index_.next(std::min(batch.size(), largest_lead), passed_over + batch.size());
    item_reads lead_reads(port_, *settings_, lead, lead.size());
    index_.round_begins();
    transaction deletes;
    for (const available_item& item : batch) {
        index_.forget_content(item);
        deletes.erase(settings_->item_path(item.name), item.content->version);
    }
    sought_ = {kind::take, batch.size()};
    // Not repeated after an outage, when the names may refer to other items.
    exactly_once_outcome outcome =
        co_await exactly_once_.commit_now(std::move(deletes).steps(), *this);
    co_await lead_reads.finish();
    for (const available_item& item : lead) {
        if (item.content)
            index_.keep_content(item);
    }

    const error_code ec = outcome.error;
    const bool deleted = !ec || fault_of(ec) == fault::unknown;
    if (deleted) {
        index_.deleted(batch);
        succeeded(begin);
        if (spent(batch.back().name))
            renew_parent();
        co_await give_out(std::move(batch), ec);
    } else if (ec == boost::asio::error::try_again || nobody_waited(ec)) {
        index_.forget_listing();
    } else if (!outcome.failed) {
        co_return ec;
    } else if (ec == zk_errc::not_empty) {
        const std::string& name = batch[*outcome.failed].name;
        index_.claimed_elsewhere(name, std::make_shared<watch_signal>(wake_));
    } else if (ec == zk_errc::no_node) {
        failed();
        index_.was_gone(batch[*outcome.failed]);
    } else if (ec == zk_errc::bad_version) {
        failed();  // the item was changed: it is read again
    } else {
        co_return ec;
    }
    co_return error_code();
}

/// How many of the items one transaction can delete.
std::size_t queue_consumer::fitting(const std::vector<available_item>& batch) const {
    transaction_room room(port_.max_request_size());
    auto full = std::find_if(batch.begin(), batch.end(), [&](const available_item& item) {
        return !room.take(1, settings_->item_path(item.name).size());
    });
    return static_cast<std::size_t>(full - batch.begin());
}

/// Reads the batch and removes items that do not exist.
/// @param count  how many to read; of the others it need only be known whether they are gone
task<error_code> queue_consumer::read(std::vector<available_item>& batch, std::size_t count) {
    item_reads reads(port_, *settings_, batch, count);
    error_code ec = co_await reads.finish();
    if (ec)
        co_return ec;
    std::size_t gone = std::erase_if(batch, [this](const available_item& item) {
        if (item.gone)
            index_.was_gone(item);
        return item.gone;
    });
    auto unread = std::find_if(
        batch.begin(), batch.end(), [](const available_item& item) { return !item.content; });
    batch.erase(unread, batch.end());
    // All clients take the first items: about as many will be gone the next time.
    if (settings_->options.window == 1)
        reach_ = gone > 0 ? std::min(2 * gone, largest_reach) : reach_ / 2;
    co_return ec;
}

/// Passes deleted items to pending calls; puts back the others.
task<> queue_consumer::give_out(std::vector<available_item> batch, error_code ec) {
    for (available_item& item : batch) {
        consumer_call* call = next_call(kind::take);
        if (!call && !ec)
            call = co_await return_item(item);
        if (call) {
            call->result.get<queue_item>()->complete(ec, to_item(std::move(item)));
        } else if (ec) {
            port_.report(log_level::error,
                         "the item ",
                         item.name,
                         " of ",
                         settings_->path,
                         " may have been deleted without being delivered: ",
                         ec.message());
        }
    }
}

/// Puts the item back, again while a quota or a server without a quorum prevents that.
/// @return a call that wants it in the meantime; null: done
task<consumer_call*> queue_consumer::return_item(const available_item& item) {
    for (bool reported = false;; reported = true) {
        const error_code ec = co_await put_back(item);
        if (ec && !reported) {
            port_.report(log_level::error,
                         "could not put the item ",
                         item.name,
                         " back into ",
                         settings_->path,
                         ": ",
                         ec.message());
        }
        const bool passing = ec == zk_errc::quota_exceeded || ec == zk_errc::not_read_only;
        if (!passing || port_.status().state == session_state::closed)
            co_return nullptr;
        auto wanted = [this] { return calls_.next(kind::take, consumer_calls::all) != nullptr; };
        co_await backoff::wait(port_, wake_, pause_of_putting_back, wanted);
        if (wanted())
            co_return calls_.next(kind::take, consumer_calls::all);
        calls_.fail_those_that_cannot_wait(ec);
    }
}

/// Creates the item with its previous name, and so in its previous place. One that was another session's
/// cannot be again: in this one it would end with the wrong session.
/// @return `node_exists`: another item has that name, as the parent was created anew
task<error_code> queue_consumer::put_back(const available_item& item) {
    const create_options options{
        .mode = item.content->ours ? create_mode::ephemeral : create_mode::persistent,
        .acl = &settings_->options.acl};
    for (;;) {
        transaction create;
        create.create(settings_->item_path(item.name), item.content->data, options);
        // Even while the client is being closed: the delete may have been what it waited for.
        exactly_once_outcome outcome =
            co_await exactly_once_.commit_owed(std::move(create).steps());
        index_.forget_listing();
        error_code ec = outcome.error;
        if (!ec)
            co_return ec;
        if (ec == zk_errc::no_node)
            ec = co_await create_parent(nullptr);
        // Not again if it may be there, or has been there and was taken.
        if (!ec || (is_transient(ec) && fault_of(ec) != fault::unknown))
            continue;
        co_return ec;
    }
}

}  // namespace corozk::detail
