// SPDX-License-Identifier: Apache-2.0
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/priority_lock/attempt.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/recipe/priority_lock.hpp>

#include <algorithm>

namespace corozk {

using namespace detail;

namespace {

contention_settings make_settings(std::string path, const priority_lock_options& options) {
    contention_settings settings;
    settings.parent = std::move(path);
    // `settings_of` selects the contenders' names.
    settings.names.counts_everything = true;
    settings.entries = options.acl;
    if (!options.release_request.empty())
        settings.release_request = options.release_request;
    settings.record_suffix = record_of("");
    return settings;
}

class priority_object final : public contention_object,
                              public std::enable_shared_from_this<priority_object> {
public:
    priority_object(std::string path, priority_lock_options options)
        : contention_object(
              make_settings(std::move(path), options), options.identity, {"read", "write"}),
          options_(std::move(options)) {
        if (!problem() && options_.ageing < 0)
            refuse_all(errc::bad_option, "cannot be used: ageing is negative");
        if (!problem() && options_.compatibility != compatibility::native)
            refuse_all(errc::bad_option, "cannot be used: other libraries have no priority locks");
    }

    const priority_lock_options& options() const noexcept { return options_; }

    void enter(port& p, const acquire_request& what, handler_type handler) const override;

    const contention_settings& settings_of(const std::string& contender) const override {
        bool ours = parent_path(contender) == path() && parse_ranked(base_name(contender));
        return ours ? settings() : nowhere_;
    }

    task<error_code> look(port& p, contention_survey& found) const override;

private:
    const priority_lock_options options_;
    const contention_settings nowhere_;
};

task<> acquire_ranked(port& p,
                      std::shared_ptr<const priority_object> lock,
                      acquire_request what,
                      handler_of<ownership> handler) {
    recipe_core core(p);
    signal wake(p);
    waiting_call<ownership> call(core, std::move(handler), wake, what.deadline);
    session_signal session(p, wake);
    if (p.status().state == session_state::closed)
        call.fail(errc::closed);
    co_await session_alive(p, wake, call);
    priority_attempt attempt(p, lock->settings(), lock->options(), what, call.users_call(), wake);
    while (!call.over() && !attempt.over()) {
        bool settled = co_await attempt.advance();
        if (settled && !call.over() && !attempt.over())
            co_await wake.wait();
    }
    if (auto hold = attempt.take()) {
        // Released if the call is over.
        ownership granted(p.keep_alive(), std::move(hold));
        call.complete(error_code(), std::move(granted));
        priority_turns& turns = p.use_service<priority_turns>();
        turns.pass(lock->path(), wake);
        co_return;
    }
    co_await attempt.leave();
    call.fail(attempt.error());
}

void priority_object::enter(port& p, const acquire_request& what, handler_type handler) const {
    p.spawn(acquire_ranked(p, shared_from_this(), what, std::move(handler)));
}

/// The paths that each contender of a listing waits for. The holders' paths are shared by all.
class blocking_paths {
public:
    blocking_paths(std::string_view parent, const ranked_listing& listing, std::int32_t ageing)
        : parent_(parent), listing_(listing), nearest_(nearest_ahead(listing.places, ageing)) {
        std::vector<std::size_t> holders;
        for (std::size_t i = 0; i < listing.places.size(); ++i) {
            if (listing.places[i].holds)
                holders.push_back(i);
        }
        std::sort(holders.begin(), holders.end(), [&](std::size_t a, std::size_t b) {
            return listing.places[a].order < listing.places[b].order;
        });
        std::vector<std::string> all;
        std::vector<std::string> writers;
        for (std::size_t i : holders) {
            all.push_back(path_of(i));
            if (listing.places[i].kind == priority_write)
                writers.push_back(path_of(i));
        }
        holders_ = std::move(all);
        writers_ = std::move(writers);
    }

    /// If there is a waiter ahead, that one waits for the holders.
    path_list of(std::size_t place) const {
        if (nearest_[place])
            return std::vector<std::string>{path_of(*nearest_[place])};
        return listing_.places[place].kind == priority_read ? writers_ : holders_;
    }

private:
    std::string path_of(std::size_t place) const {
        return join_path(parent_, listing_.blocking_node(place));
    }

    std::string_view parent_;
    const ranked_listing& listing_;
    std::vector<std::optional<std::size_t>> nearest_;
    path_list holders_;
    path_list writers_;
};

/// Lists holders first, in the order of their grants, then waiters in the order of priorities.
task<error_code> priority_object::look(port& p, contention_survey& found) const {
    request parent(p, op_code::get, path());
    request children(p, op_code::children, path());
    error_code ec = co_await read_forward(p, parent);
    if (!ec)
        ec = co_await read_forward(p, children);
    if (ec)
        co_return ec == zk_errc::no_node ? error_code() : ec;
    auto ageing = parent.answer.empty() ? options_.ageing : parse_ageing(parent.answer);
    std::vector<std::string_view> names;
    std::optional<std::int32_t> origin;
    for (std::size_t i = 0; i < children.names.size(); ++i) {
        auto parsed = parse_ranked(children.names[i]);
        if (!parsed)
            continue;
        if (!origin)
            origin = parsed->sequence;
        names.push_back(children.names[i]);
    }
    if (!ageing)
        co_return names.empty() ? error_code() : make_error_code(errc::foreign_data);
    ranked_listing listing = sort_out(names, origin.value_or(0));
    std::vector<std::unique_ptr<request>> reads;
    for (std::size_t i = 0; i < listing.places.size(); ++i) {
        std::string node = join_path(path(), listing.blocking_node(i));
        reads.push_back(std::make_unique<request>(p, op_code::get, std::move(node)));
        reads.back()->send();
    }
    const blocking_paths blocking(path(), listing, *ageing);
    std::vector<std::pair<std::size_t, contender_info>> entries;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        request& read = *reads[i];
        error_code problem = co_await read;
        if (problem && problem != zk_errc::no_node)
            ec = problem;
        if (problem)
            continue;  // deleted in the meantime
        auto name = parse_ranked(base_name(read.path));
        const node_view node(read.record, std::move(read.answer));
        contender_info info = info_of(base_name(read.path), node, settings());
        info.kind = kinds()[name->kind];
        info.holds = listing.places[i].holds;
        info.priority = name->priority;
        info.sequence = name->sequence;
        if (!info.holds)
            info.waits_for = blocking.of(i);
        entries.emplace_back(i, std::move(info));
    }
    if (ec)
        co_return ec;
    std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
        if (a.second.holds != b.second.holds)
            return a.second.holds;
        if (a.second.holds)
            return a.second.fencing_token < b.second.fencing_token;
        return comes_before(listing.places[a.first], listing.places[b.first], *ageing);
    });
    for (auto& entry : entries)
        found.contenders.push_back(std::move(entry.second));
    co_return error_code();
}

}  // namespace

priority_lock::priority_lock(const client& c, std::string path, priority_lock_options options)
    : contention_recipe(
          c,
          std::make_shared<const priority_object>(std::move(path), std::move(options)),
          COROZK_CONTENTION_NAMES("priority_lock")) {}

}  // namespace corozk
