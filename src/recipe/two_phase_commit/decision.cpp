// SPDX-License-Identifier: Apache-2.0
// A transaction and its decision: reading it, waiting for it, aborting.
#include "recipe/two_phase_commit/decision.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"

#include <algorithm>
#include <chrono>

namespace corozk::detail {

commit_transaction commit_party::describe(const outcome_slot& outcome) const {
    commit_transaction t;
    t.form = header->form;
    t.sites = header->sites;
    t.payload = header->payload;
    t.outcome = outcome;
    return t;
}

task<error_code> read_header(port& p,
                             const std::string& path,
                             std::optional<commit_header>& found) {
    request read(p, op_code::get, path);
    error_code ec = co_await behind_sync(p, read);
    found = ec ? std::nullopt : parse_header(read.answer);
    co_return ec || found ? ec : make_error_code(errc::foreign_data);
}

task<error_code> learn_identity(port& p, this_transaction& mine, bool with_quorum) {
    while (!mine.is_known()) {
        std::optional<commit_header> header;
        error_code ec = co_await read_header(p, mine.path, header);
        if (retry(p).again(ec))
            continue;
        if (with_quorum && ec == zk_errc::not_read_only) {
            co_await quorum_back(p);
            continue;
        }
        if (ec)
            co_return ec;
        mine.is(*header);
    }
    co_return error_code();
}

task<error_code> why_missing(port& p, const this_transaction& mine) {
    for (;;) {
        std::optional<commit_header> header;
        error_code ec = co_await read_header(p, mine.path, header);
        if (retry(p).again(ec))
            continue;
        if (ec && ec != errc::foreign_data)
            co_return ec;
        if (header && header->guid == mine.guid)
            co_return errc::foreign_data;
        co_return zk_errc::no_node;
    }
}

task<error_code> look_for_decision(port& p,
                                   const this_transaction& mine,
                                   watch_signal* watch,
                                   outcome_slot& outcome) {
    const std::string path = decision_node(mine.path);
    // With a watch the first look may be at the past: `watch_creation` catches up.
    bool missed = !watch;
    for (;;) {
        request read(p, op_code::get, path);
        error_code ec = co_await behind_sync(p, read, missed);
        if (retry(p).again(ec))
            continue;
        if (!ec) {
            std::optional<commit_decision> found = parse_decision(read.answer);
            bool strange = found && found->guid != mine.guid;
            if (strange && !missed) {
                missed = true;
                continue;
            }
            if (watch)
                forget_watch(p, *watch, path);
            if (strange)
                co_return co_await why_missing(p, mine);
            if (!found)
                co_return errc::foreign_data;
            outcome = std::move(found->outcome);
            co_return error_code();
        }
        if (ec != zk_errc::no_node)
            co_return ec;
        if (!watch || watch->armed())
            co_return error_code();
        ec = co_await watch_creation(p, path, *watch);
        if (ec != zk_errc::node_exists && !retry(p).again(ec))
            co_return ec;
    }
}

task<error_code> watch_transaction(port& p, const this_transaction& mine, watch_signal& watch) {
    const std::string& path = mine.identity;
    if (watch.armed())
        co_return error_code();
    bool missed = false;
    for (;;) {
        watch.disarm();
        request look(p, op_code::exists, path);
        look.attach(watch);
        error_code ec = co_await behind_sync(p, look, missed);
        if (retry(p).again(ec))
            continue;
        if (ec)
            forget_watch(p, watch, path);
        if (ec != zk_errc::no_node || missed)
            co_return ec;
        missed = true;
    }
}

task<error_code> write_abort(port& p,
                             const this_transaction& mine,
                             std::string reason,
                             outcome_slot& outcome,
                             const interest* call) {
    commit_outcome wish(false, std::move(reason));
    retry attempts(p);
    for (;;) {
        transaction steps = mine.steps();
        steps.create(decision_node(mine.path), format_decision(wish, mine.guid), mine.how());
        request create(p, steps, 0, mine.path);
        create.only_for(call);
        error_code ec = co_await create;
        if (co_await again_with_quorum(p, attempts, ec))
            continue;  // if it was written by this client, the next read shows that
        if (!ec) {
            outcome = wish;
            co_return ec;
        }
        if (ec == zk_errc::node_exists)
            ec = co_await look_for_decision(p, mine, nullptr, outcome);
        else if (ec != zk_errc::not_read_only)
            co_return ec;
        if (ec == zk_errc::not_read_only && (!call || attempts.doubtful())) {
            co_await quorum_back(p);
            continue;
        }
        // It is deleted only together with the transaction.
        if (!ec && !outcome)
            ec = zk_errc::no_node;
        co_return ec;
    }
}

task<error_code> abort_as_dead(port& p,
                               const this_transaction& mine,
                               const own_site& dead,
                               outcome_slot& outcome) {
    return write_abort(p, mine, "site " + dead.name + " lost its session", outcome);
}

task<error_code> await_decision(port& p,
                                const this_transaction& mine,
                                const own_site& own,
                                signal& wake,
                                outcome_call& call,
                                const alarm& due,
                                outcome_slot& outcome) {
    watch_signal watch(wake);
    watch_signal transaction_watch(wake);
    error_code ec;
    // The site, whose vote may count, waits for a server that can catch up.
    auto until_quorum = [&ec] {
        const bool waits = ec == zk_errc::not_read_only;
        if (waits)
            ec = error_code();
        return waits;
    };
    while (!outcome && !call.over() && !due.rang()) {
        ec = co_await look_for_decision(p, mine, &watch, outcome);
        bool waits = until_quorum();
        if (ec || outcome || call.over())
            break;
        if (own.is_dead(p)) {
            ec = co_await abort_as_dead(p, mine, own, outcome);
            break;
        }
        if (!waits)
            ec = co_await watch_transaction(p, mine, transaction_watch);
        waits = until_quorum() || waits;
        if (ec)
            break;
        if (!call.over() && !due.rang() && (waits || transaction_watch.armed()))
            co_await wake.wait();
    }
    forget_watch(p, watch, decision_node(mine.path));
    forget_watch(p, transaction_watch, mine.identity);
    if (!ec && !outcome && due.rang())
        ec = co_await write_abort(p, mine, "the deadline passed", outcome);
    co_return ec;
}

decision_times::decision_times(time_limit limit, time_point begin)
    : votes_due(no_deadline), deadline(limit.from(begin)) {
    using namespace std::chrono_literals;
    if (deadline == no_deadline)
        return;
    // A shorter time is not sufficient to write the decision and get the response.
    deadline = std::max(deadline, begin + 200ms);
    votes_due = deadline - std::min<time_limit::duration>((deadline - begin) / 4, 1s);
}

void finish_call(outcome_call& call, error_code ec, const outcome_slot& outcome) {
    if (ec) {
        call.fail(ec);
    } else if (outcome) {
        call.complete(error_code(), *outcome);
    }
}

}  // namespace corozk::detail
