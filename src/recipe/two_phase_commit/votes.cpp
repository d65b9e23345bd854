// SPDX-License-Identifier: Apache-2.0
#include "recipe/two_phase_commit/votes.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"

#include <map>
#include <utility>

namespace corozk::detail {

vote_tally::vote_tally(port& p,
                       const this_transaction& mine,
                       std::vector<std::string> sites,
                       const own_site* own,
                       signal& wake)
    : port_(p),
      mine_(mine),
      sites_(std::move(sites)),
      own_(own),
      wake_(wake),
      decision_watch_(wake),
      transaction_watch_(wake),
      states_(sites_.size(), site_state::absent) {
    for (std::size_t i = 0; i < sites_.size(); ++i)
        votes_.emplace_back(wake);
}

task<error_code> vote_tally::run(outcome_call& call, const alarm& due, outcome_slot& outcome) {
    error_code ec;
    while (!ec && !outcome && (call.waiting() || due.rang())) {
        if (!decision_watch_.armed()) {
            ec = co_await look_for_decision(port_, mine_, &decision_watch_, outcome);
            if (outcome || (ec && ec != zk_errc::not_read_only))
                break;
        }
        if (due.rang()) {
            ec = co_await write_abort(port_, mine_, "the deadline passed", outcome);
            break;
        }
        if (own_ && own_->is_dead(port_)) {
            ec = co_await abort_as_dead(port_, mine_, *own_, outcome);
            break;
        }
        // A server without a quorum cannot catch up: nothing follows from what it does not have.
        if (ec || !port_.connected()) {
            ec = error_code();
            if (call.waiting())
                co_await wake_.wait();
            continue;
        }
        bool again = false;
        ec = co_await read_votes(again);
        if (ec || again || !call.waiting())
            continue;
        outcome_slot verdict = decide_commit(sites_, states_);
        if (!verdict) {
            ec = co_await watch_transaction(port_, mine_, transaction_watch_);
            if (ec == zk_errc::not_read_only)
                ec = error_code();
            if (!ec && !due.rang() && transaction_watch_.armed())
                co_await wake_.wait();
        } else if (verdict->committed) {
            ec = co_await write_commit(outcome);
        } else {
            ec = co_await write_abort(port_, mine_, verdict->reason, outcome);
        }
    }
    forget();
    co_return ec;
}

task<error_code> vote_tally::read_votes(bool& again) {
    // The server of a new session may not know of a node that was seen, and then it would seem that
    // its site has died.
    error_code synced = co_await catch_up(port_, mine_.path);
    again = retry(port_).again(synced);
    if (synced)
        co_return again ? error_code() : synced;
    // One without a quorum, of a later session, has not caught up.
    const std::uint64_t generation = port_.status().generation;
    again = !port_.connected();
    if (again)
        co_return error_code();
    std::map<std::size_t, request> reads;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
        vote& v = votes_[i];
        if (v.data_watch.armed() || v.missing_watch.armed())
            continue;
        if (states_[i] == site_state::dead)
            continue;
        request& read =
            reads.try_emplace(i, port_, op_code::get, node_of(i), generation).first->second;
        read.attach(v.data_watch);
        read.send();
    }
    error_code problem;
    std::map<std::size_t, request> missing;
    for (auto& [i, read] : reads) {
        vote& v = votes_[i];
        error_code ec = co_await read;
        if (retry(port_).again(ec)) {
            again = true;
        } else if (may_lag(port_, read)) {
            v.data_watch.disarm();
            again = true;
        } else if (ec == zk_errc::no_node) {
            states_[i] = site_state::absent;
            request& exists = missing.try_emplace(i, port_, op_code::exists, node_of(i), generation)
                                  .first->second;
            exists.attach(v.missing_watch);
            exists.send();
        } else if (ec) {
            problem = ec;
        } else {
            v.version = read.record.version;
            states_[i] = read_vote(read.answer);
        }
    }
    for (auto& [i, exists] : missing) {
        error_code ec = co_await exists;
        if (ec == zk_errc::no_node) {
            if (!problem)
                problem = co_await look_for_traces(i, generation, again);
            continue;
        }
        forget_watch(port_, votes_[i].missing_watch, node_of(i));
        again = true;
        if (ec && !retry(port_).again(ec))
            problem = ec;
    }
    co_return problem;
}

/// The site's node does not exist: determines whether it has joined and died.
task<error_code> vote_tally::look_for_traces(std::size_t i, std::uint64_t generation, bool& again) {
    request joined(port_, op_code::exists, joined_node(mine_.path, sites_[i]), generation);
    request node(port_, op_code::exists, node_of(i), generation);
    // In this order, as a site that joins between the two requests has a node.
    joined.send();
    node.send();
    error_code has_come = co_await joined;
    error_code is_there = co_await node;
    const bool lags = may_lag(port_, joined) || may_lag(port_, node);
    if (lags || retry(port_).again(has_come) || retry(port_).again(is_there)) {
        forget_watch(port_, votes_[i].missing_watch, node_of(i));
        again = true;
    } else if (!has_come && is_there == zk_errc::no_node) {
        // Or its join was undone between the two requests.
        request still(port_, op_code::exists, joined_node(mine_.path, sites_[i]), generation);
        error_code ec = co_await still;
        const bool same = !ec && still.record.czxid == joined.record.czxid;
        if (same && !may_lag(port_, still)) {
            states_[i] = site_state::dead;
        } else {
            forget_watch(port_, votes_[i].missing_watch, node_of(i));
            again = true;
        }
    } else if (!is_there) {
        again = true;  // the watch has fired
    } else if (has_come && has_come != zk_errc::no_node) {
        co_return has_come;
    }
    co_return error_code();
}

/// Commits if each vote is still as it was read.
task<error_code> vote_tally::write_commit(outcome_slot& outcome) {
    transaction steps = mine_.steps();
    commit_outcome wish(true, std::string());
    steps.create(decision_node(mine_.path), format_decision(wish, mine_.guid), mine_.how());
    for (std::size_t i = 0; i < sites_.size(); ++i) {
        steps.check(node_of(i), votes_[i].version);
    }
    request commit(port_, steps, 0, mine_.path);
    error_code ec = co_await commit;
    if (!ec) {
        outcome = wish;
        co_return ec;
    }
    // After `not_read_only`, an earlier one may still have been written.
    if (retry(port_).again(ec) || ec == zk_errc::node_exists || ec == zk_errc::not_read_only) {
        forget_watch(port_, decision_watch_, decision_node(mine_.path));
        co_return error_code();
    }
    if (ec == zk_errc::bad_version || ec == zk_errc::no_node) {
        // A vote or the whole transaction was deleted, or a vote was changed.
        request exists(port_, op_code::exists, mine_.identity);
        ec = co_await behind_sync(port_, exists);
        for (vote& v : votes_)
            v.data_watch.disarm();
        const bool again = retry(port_).again(ec) || ec == zk_errc::not_read_only;
        co_return again ? error_code() : ec;
    }
    co_return ec;
}

void vote_tally::forget() {
    forget_watch(port_, decision_watch_, decision_node(mine_.path));
    forget_watch(port_, transaction_watch_, mine_.identity);
    for (std::size_t i = 0; i < sites_.size(); ++i) {
        std::string path = node_of(i);
        forget_watch(port_, votes_[i].missing_watch, path);
        // The server removes watches of existing nodes with the nodes.
        votes_[i].data_watch.disarm();
    }
}

}  // namespace corozk::detail
