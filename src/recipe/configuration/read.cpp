// SPDX-License-Identifier: Apache-2.0
// Reading: readers see complete versions only.
#include "operation/path.hpp"
#include "recipe/configuration/core.hpp"
#include "recipe/toolkit/take_if.hpp"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

constexpr auto every_level = std::numeric_limits<std::size_t>::max();

}  // namespace

void configuration_core::next(std::uint64_t seen, std::unique_ptr<call_type> call) {
    followed_ = true;
    if (seen != latest_.revision && may_answer())
        return call->complete(error_code(), latest_);
    sweep_(calls_, [](const auto& c) { return !c.call->waiting(); });
    calls_.push_back({seen, std::move(call)});
    // Versions read by a driver that has ended may be old.
    start_reader();
}

void configuration_core::stop() noexcept {
    recipe_core::stop();
    if (copy_)
        copy_->retire();
    wake_.set();
}

void configuration_core::fail_all(error_code ec) {
    for (auto& [seen, call] : std::exchange(calls_, {}))
        call->fail(ec);
}

/// Not with a version before a change by this client.
bool configuration_core::may_answer() const noexcept {
    return latest_.revision != 0 && copy_ && !copy_->owes();
}

void configuration_core::answer_calls() {
    if (!may_answer())
        return;
    auto ready =
        take_if(calls_, [this](const waiting_reader& r) { return r.seen != latest_.revision; });
    for (auto& [seen, call] : ready)
        call->complete(error_code(), latest_);
}

/// After a new call or a publication, readers get the present version and none older.
void configuration_core::start_reader() {
    if (copy_ || stopped())
        return;
    copy_.emplace(port_, path(), every_level);
    copy_->owe();
    port_.spawn(run_reader(shared_from_this()));
}

void configuration_core::show(configuration_status status,
                              std::int64_t number,
                              configuration_parts parts) {
    bool same = latest_.revision != 0 && latest_.status == status && latest_.number == number;
    if (same)
        return;
    ++latest_.revision;
    latest_.status = status;
    latest_.number = number;
    latest_.parts.reset();
    if (status == configuration_status::published) {
        latest_.parts = std::make_shared<const configuration_parts>(std::move(parts));
    }
    answer_calls();
}

task<> configuration_core::run_reader(std::shared_ptr<configuration_core> self) {
    co_await self->read_versions();
    self->copy_.reset();
}

task<> configuration_core::read_versions() {
    session_signal states(port_, wake_);
    copy_watch first(*copy_, wake_);
    copy_watch second(*copy_, wake_);
    bool ready = layout_ == configuration_layout::ready;
    std::string first_path = at(ready ? ready_name : "current");
    std::string second_path = at(writer_name);
    std::uint64_t synced = 0;
    bool whole = true;  // the first time
    for (;;) {
        const session_status status = port_.status();
        if (stopped() || status.state == session_state::closed)
            break;
        if (status.state != session_state::connected && status.state != session_state::read_only) {
            co_await wake_.wait();
            continue;
        }
        if (synced != status.revision) {
            // The new server may lag behind the previous one.
            synced = status.revision;
            reading_in_ = status.generation;
            request sync(port_, op_code::sync, path(), reading_in_);
            error_code ec = co_await sync;
            if (ec == zk_errc::throttled)
                synced = 0;
            if (ec)
                continue;
        }
        // Changes from here on are seen by the reads or set the signal.
        copy_->begin_round();
        first.disarm();
        second.disarm();
        error_code ec;
        if (ready) {
            ec = co_await look_ready(first, second);
        } else {
            ec = co_await look_versioned(first, whole);
        }
        if (ec == zk_errc::bad_version || retry(port_).again(ec))
            continue;
        if (ec && ec != errc::closed) {
            // Permanent, such as a missing READ permission: fails the calls; new ones try again.
            fail_all(ec);
            break;
        }
        bool watching = first.armed() && (!ready || second.armed());
        if (watching && synced == port_.status().revision) {
            copy_->end_round();
            answer_calls();
            whole = false;
            if (!followed_)
                break;
            co_await wake_.wait();
        }
    }
    forget_watch(port_, first, first_path);
    if (ready)
        forget_watch(port_, second, second_path);
}

/// `bad_version`: changed during the read; read again.
task<error_code> configuration_core::look_ready(watch_node& ready, watch_node& writer) {
    request ready_before(port_, op_code::exists, at(ready_name), reading_in_);
    request writer_there(port_, op_code::exists, at(writer_name), reading_in_);
    request ready_after(port_, op_code::exists, at(ready_name), reading_in_);
    request listing(port_, op_code::children, path(), reading_in_);
    ready_before.attach(ready);
    writer_there.attach(writer);
    ready_before.send();
    writer_there.send();
    ready_after.send();
    listing.send();
    error_code before_ec = co_await ready_before;
    error_code writer_ec = co_await writer_there;
    error_code after_ec = co_await ready_after;
    error_code list_ec = co_await listing;
    for (error_code ec : {before_ec, writer_ec, after_ec, list_ec}) {
        if (ec && ec != zk_errc::no_node)
            co_return ec;
    }
    if (!before_ec) {
        std::vector<std::string> names = part_names(listing.names);
        configuration_parts parts;
        stat now;
        error_code ec = co_await read_parts(path(), std::move(names), parts, &now);
        if (ec == zk_errc::no_node || (!ec && now.czxid != ready_before.record.czxid))
            co_return make_error_code(zk_errc::bad_version);
        if (!ec)
            show(configuration_status::published, now.czxid, std::move(parts));
        co_return ec;
    }
    if (!writer_ec)
        co_return error_code();  // being written: the previous version remains current
    // Were both missing at the same time? Events arrive before responses to later requests.
    if (!after_ec || !ready.armed() || !writer.armed()) {
        co_return make_error_code(zk_errc::bad_version);
    }
    bool parts = !part_names(listing.names).empty();
    show(parts ? configuration_status::broken : configuration_status::absent,
         parts ? listing.record.pzxid : 0,
         {});
    co_return error_code();
}

task<error_code> configuration_core::look_versioned(watch_node& current, bool whole) {
    request get(port_, op_code::get, at("current"), reading_in_);
    get.attach(current);
    error_code ec = co_await get;
    if (ec == zk_errc::no_node) {
        request exists(port_, op_code::exists, at("current"), reading_in_);
        exists.attach(current);
        ec = co_await exists;
        if (!ec)
            co_return make_error_code(zk_errc::bad_version);
        if (ec != zk_errc::no_node)
            co_return ec;
        show(configuration_status::absent, 0, {});
        co_return error_code();
    }
    if (ec)
        co_return ec;
    bool known = !whole && latest_.status == configuration_status::published &&
                 latest_.number == get.record.mzxid && latest_.revision != 0;
    if (known)
        co_return error_code();
    if (!version_number(get.answer))
        co_return make_error_code(errc::foreign_data);
    std::string version_path = join_path(at("versions"), get.answer);
    request listing(port_, op_code::children, version_path, reading_in_);
    ec = co_await listing;
    // Besides the parts there was the writer's node.
    bool parts_erased = !ec && erased_children(listing.record) > 1;
    configuration_parts parts;
    if (!ec && !parts_erased)
        ec = co_await read_parts(version_path, part_names(listing.names), parts);
    if (ec == zk_errc::no_node || parts_erased) {
        // Deleted because there is a newer version, or by a foreign client.
        if (!current.armed())
            co_return make_error_code(zk_errc::bad_version);
        show(configuration_status::broken, get.record.mzxid, {});
        co_return error_code();
    }
    if (ec)
        co_return ec;
    show(configuration_status::published, get.record.mzxid, std::move(parts));
    co_return error_code();
}

std::vector<std::string> configuration_core::part_names(const name_list& children) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (good_part_name(layout_, children[i]))
            names.emplace_back(children[i]);
    }
    return names;
}

/// Reads the parts, and `ready` last: all at once, if the servers can do that.
/// @param ready its stat; null: there is no such node
task<error_code> configuration_core::read_parts(std::string parent,
                                                std::vector<std::string> names,
                                                configuration_parts& parts,
                                                stat* ready) {
    if (ready)
        names.emplace_back(ready_name);
    for (std::size_t begin = 0; begin < names.size();) {
        const std::size_t count = readable_at_once(names, begin, parent, port_.max_request_size());
        std::vector<read_result> results;
        std::vector<read_set::item> reads;
        for (std::size_t i = begin; i < begin + count; ++i)
            reads.emplace_back(read_set::read_kind::data, join_path(parent, names[i]));
        error_code ec = co_await read_nodes(std::move(reads), results);
        for (read_result& part : results) {
            ec = ec ? ec : part.error;
            if (ready && begin + 1 == names.size())
                *ready = part.stat;
            else
                parts.emplace(std::move(names[begin]), std::move(part.data));
            ++begin;
        }
        if (ec)
            co_return ec;
    }
    co_return error_code();
}

/// As one snapshot, or in this order.
task<error_code> configuration_core::read_nodes(std::vector<read_set::item> reads,
                                                std::vector<read_result>& results) {
    if (!one_by_one_) {
        request snapshot(port_, op_code::read_all, path(), reading_in_);
        snapshot.reads = std::move(reads);
        error_code ec = co_await snapshot;
        results = std::move(snapshot.read_results);
        one_by_one_ = ec == zk_errc::unimplemented;
        if (!one_by_one_)
            co_return ec;
        reads = std::move(snapshot.reads);
    }
    std::vector<std::unique_ptr<request>> gets;
    for (const read_set::item& read : reads) {
        gets.push_back(std::make_unique<request>(port_, op_code::get, read.path, reading_in_));
        gets.back()->send();
    }
    results.resize(gets.size());
    for (std::size_t i = 0; i < gets.size(); ++i) {
        request& get = *gets[i];
        results[i].error = co_await get;
        results[i].data = std::move(get.answer);
        results[i].stat = get.record;
    }
    co_return error_code();
}

}  // namespace corozk::detail
