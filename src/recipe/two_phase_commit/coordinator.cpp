// SPDX-License-Identifier: Apache-2.0
// The coordinator: begins a transaction, may decide it, and cleans up.
#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/two_phase_commit/votes.hpp"

#include <deque>
#include <memory>

namespace corozk {

namespace detail {

class commit_coordinator_impl final : public commit_party {
public:
    commit_coordinator_impl(port& p, std::string path_, commit_options options)
        : commit_party(p, std::move(path_), options), form(options.form) {}

    const commit_form form;
};

namespace {

/// The size of a request besides the counted paths and data.
constexpr std::size_t decision_overhead = 1024;
constexpr std::size_t per_site_overhead = 64;

using coordinator_ptr = std::shared_ptr<commit_coordinator_impl>;

task<> begin_driver(coordinator_ptr self,
                    commit_header header,
                    handler_of<> handler,
                    time_limit limit) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<> call(*self, std::move(handler), wake, limit);
    header.guid = p.new_guid();
    this_transaction mine = self->mine;
    mine.is(header);
    transaction steps;
    steps.create(mine.path, format_header(header), mine.how());
    steps.create(mine.identity, std::string(), mine.how());
    retry attempts(p);
    while (!call.over()) {
        request create(p, steps, 0, self->path());
        create.only_for(&call.users_call());
        error_code ec = co_await create_with_parents(p, create);
        if (co_await again_with_quorum(p, attempts, ec))
            continue;
        if (ec == zk_errc::node_exists) {
            ec = errc::already_exists;
            if (attempts.doubtful()) {
                request read(p, op_code::get, self->path());
                error_code answer = co_await read_forward(p, read);
                if (retry(p).again(answer) || answer == zk_errc::no_node)
                    continue;
                auto found = parse_header(read.answer);
                if (!answer && found && found->guid == header.guid)
                    ec = error_code();
            }
        }
        if (!ec)
            self->is(std::move(header));
        call.complete(ec);
        co_return;
    }
}

task<error_code> resume_once(commit_coordinator_impl& self, commit_transaction& found) {
    port& p = self.get_port();
    std::optional<commit_header> header;
    if (error_code ec = co_await read_header(p, self.path(), header))
        co_return ec;
    outcome_slot outcome;
    this_transaction mine = self.mine;
    mine.is(*header);
    error_code ec = co_await look_for_decision(p, mine, nullptr, outcome);
    if (ec == zk_errc::no_node)
        co_return look_again;  // it was cleaned up at the same time
    if (!ec) {
        self.is(std::move(*header));
        found = self.describe(outcome);
    }
    co_return ec;
}

task<> decide_driver(coordinator_ptr self,
                     handler_of<commit_outcome> handler,
                     decision_times times) {
    port& p = self->get_port();
    signal wake(p);
    outcome_call call(*self, std::move(handler), wake, times.deadline);
    call.set_late_error(errc::in_doubt);
    alarm due(p, wake);
    times.start(due);
    session_signal session(p, wake);
    const this_transaction mine = self->mine;
    outcome_slot outcome;
    // In the form all_sites, too: the sites that vote decide, but perhaps none lives to vote.
    vote_tally votes(p, mine, self->header->sites, nullptr, wake);
    error_code ec = co_await votes.run(call, due, outcome);
    finish_call(call, ec, outcome);
}

task<error_code> abort_once(commit_coordinator_impl& self,
                            const interest& call,
                            const std::string& reason,
                            commit_outcome& decision) {
    port& p = self.get_port();
    this_transaction mine = self.mine;
    outcome_slot outcome;
    error_code ec = co_await learn_identity(p, mine);
    if (!ec)
        ec = co_await write_abort(p, mine, reason, outcome, &call);
    if (!ec)
        decision = std::move(*outcome);
    co_return ec;
}

/// One attempt.
task<error_code> clean_up_once(port& p, const interest& call, this_transaction& mine, bool force) {
    const std::string& path = mine.path;
    std::optional<commit_header> header;
    if (error_code ec = co_await read_header(p, path, header))
        co_return ec;
    if (!mine.is_known())
        mine.is(*header);
    if (mine.guid != header->guid)
        co_return zk_errc::no_node;
    outcome_slot outcome;
    if (error_code ec = co_await look_for_decision(p, mine, nullptr, outcome))
        co_return ec;
    if (!outcome) {
        // Another client may have cleaned up at the same time.
        request still_there(p, op_code::exists, mine.identity);
        error_code ec = co_await behind_sync(p, still_there);
        if (!ec)
            ec = errc::in_doubt;
        co_return ec;
    }
    request listing(p, op_code::children, path);
    if (error_code ec = co_await listing)
        co_return ec;
    auto [last, others, identified] = sort_leftovers(path, *header, listing.names);
    if (!identified)
        co_return co_await why_missing(p, mine);
    if (!force && last.size() < header->sites.size())
        co_return errc::busy;
    std::deque<request> erasures;
    for (const std::string& child : others) {
        transaction steps = mine.steps();
        steps.erase(child);
        request& erase = erasures.emplace_back(p, std::move(steps));
        erase.only_for(&call);
        erase.send();
    }
    error_code problem;
    for (request& erase : erasures) {
        error_code ec = co_await erase;
        if (ec && ec != zk_errc::no_node)
            problem = ec;
    }
    if (problem)
        co_return problem;
    transaction steps;
    for (const std::string& child : last)
        steps.erase(child);
    steps.erase(decision_node(path)).erase(mine.identity).erase(path);
    request erase_all(p, steps, 0, path);
    erase_all.only_for(&call);
    error_code ec = co_await erase_all;
    // Another client cleans up, too: try again with what is left.
    co_return ec == zk_errc::no_node ? look_again : ec;
}

/// Other clients may create nodes meanwhile.
task<error_code> clean_up_despite_newcomers(commit_coordinator_impl& self,
                                            const interest& call,
                                            this_transaction& mine,
                                            bool force,
                                            int& attempts_left) {
    error_code ec = co_await clean_up_once(self.get_port(), call, mine, force);
    if (ec == zk_errc::not_empty && --attempts_left > 0)
        ec = look_again;
    co_return ec == zk_errc::no_node ? error_code() : ec;
}

}  // namespace
}  // namespace detail

commit_coordinator::commit_coordinator(const client& c, std::string path, commit_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

void commit_coordinator::start_begin(const impl_ptr& impl,
                                     std::vector<std::string> sites,
                                     std::string payload,
                                     time_limit limit,
                                     handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    error_code problem;
    std::size_t decision = detail::decision_overhead;
    for (const std::string& site : sites)
        decision += detail::done_node(impl->path(), site).size() + detail::per_site_overhead;
    detail::commit_header header;
    header.form = impl->form;
    header.guid.resize(32);
    header.sites = std::move(sites);
    header.payload = std::move(payload);
    std::size_t most = impl->get_port().max_request_size();
    if (!detail::sites_are_good(header.sites)) {
        problem = impl->reject(
            errc::bad_option,
            "there must be at least one site, and their names must be distinct, valid node names");
    } else if (decision > most || detail::format_header(header).size() + 2 * impl->path().size() +
                                          detail::decision_overhead >
                                      most) {
        problem = errc::too_large;
    }
    if (problem) {
        return detail::refuse(impl, std::move(handler), problem);
    }
    impl->get_port().spawn(
        detail::begin_driver(impl, std::move(header), std::move(handler), limit));
}

void commit_coordinator::start_resume(const impl_ptr& impl,
                                      time_limit limit,
                                      handler_of<commit_transaction> handler) {
    detail::serve_at_path(impl, std::move(handler), limit, &detail::resume_once);
}

void commit_coordinator::start_decide(const impl_ptr& impl,
                                      time_limit limit,
                                      handler_of<commit_outcome> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (!impl->header) {
        return detail::refuse(impl, std::move(handler), errc::not_a_member);
    }
    detail::port& p = impl->get_port();
    detail::decision_times times(limit, p.now());
    p.spawn(detail::decide_driver(impl, std::move(handler), times));
}

void commit_coordinator::start_abort(const impl_ptr& impl,
                                     std::string reason,
                                     time_limit limit,
                                     handler_of<commit_outcome> handler) {
    detail::serve_at_path(impl, std::move(handler), limit, &detail::abort_once, std::move(reason));
}

void commit_coordinator::start_clean_up(const impl_ptr& impl,
                                        bool force,
                                        time_limit limit,
                                        handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    constexpr int attempts = 3;
    impl->get_port().spawn(detail::serve(impl,
                                         std::move(handler),
                                         limit,
                                         &detail::clean_up_despite_newcomers,
                                         impl->mine,
                                         force,
                                         attempts));
}

}  // namespace corozk
