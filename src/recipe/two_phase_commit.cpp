// SPDX-License-Identifier: Apache-2.0
#include "corozk/recipe/two_phase_commit.hpp"

#include "block/behind_sync.hpp"
#include "block/janitor.hpp"
#include "block/parents.hpp"
#include "block/recipe_core.hpp"
#include "recipe/two_phase_commit_algo.hpp"
#include "session/path.hpp"
#include "session/request.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <deque>

namespace corozk {

namespace detail {

namespace {

using outcome_slot = std::optional<commit_outcome>;
using outcome_call = waiting_call<commit_outcome>;

/// Room for what a request has beside the paths and the data that are counted.
constexpr std::size_t request_overhead = 1024;
constexpr std::size_t step_overhead = 64;

/// One transaction, which a later one at the same path is not.
struct this_transaction {
    this_transaction(std::string path_, acl entries_)
        : path(std::move(path_)), entries(std::move(entries_)) {}

    void is(const commit_header& header) {
        guid = header.guid;
        identity = identity_node(path, guid);
    }

    bool is_known() const { return !guid.empty(); }

    /// What is there as long as the transaction is.
    const std::string& sign() const { return is_known() ? identity : path; }

    /// The first step of whatever changes it.
    transaction steps() const {
        transaction result;
        if (is_known())
            result.check(identity, any_version);
        return result;
    }

    create_options how() const {
        create_options result;
        if (!entries.empty())
            result.acl = &entries;
        return result;
    }

    std::string path;
    acl entries;           ///< of its nodes
    std::string guid;      ///< empty: whichever is there
    std::string identity;  ///< the node that says so
};

/// Reads the decision if there is one; if not, `watch` waits for its creation.
/// @return `no_node` if there is one, but the next transaction's (or the one's before, at a server
///         that lags behind: this is believed behind a sync only)
task<error_code> look_for_decision(port& p,
                                   const this_transaction& mine,
                                   watch_signal* watch,
                                   outcome_slot& outcome) {
    const std::string path = decision_node(mine.path);
    bool missed = false;
    for (;;) {
        const std::uint64_t generation = p.status().generation;
        request read(p, op_code::get, path);
        error_code ec;
        if (missed)
            ec = co_await behind_sync(p, read);
        else
            ec = co_await read;
        if (worth_asking_again(p, ec))
            continue;
        if (!ec) {
            std::optional<commit_decision> found = parse_decision(read.answer);
            bool strange = found && mine.is_known() && found->guid != mine.guid;
            bool sure = missed && p.status().generation == generation;
            if (strange && !sure) {
                missed = true;
                continue;
            }
            if (watch)
                forget_watch(p, *watch, watch_kind::exists, path);
            if (strange)
                co_return zk_errc::no_node;
            if (!found)
                co_return errc::foreign_data;
            outcome = std::move(found->outcome);
            co_return error_code();
        }
        if (ec != zk_errc::no_node)
            co_return ec;
        if (!watch || watch->armed())
            co_return error_code();
        request exists(p, op_code::exists, path);
        exists.attach(*watch);
        ec = co_await exists;
        if (ec == zk_errc::no_node)
            co_return error_code();
        // It has come in between: then the server watches its data for us.
        forget_watch(p, *watch, watch_kind::data, path);
        if (ec && !worth_asking_again(p, ec))
            co_return ec;
    }
}

/// Whether the transaction is there; `watch` tells of its end: without a decision none will come.
/// It was there once: that it is not is believed behind a sync only, because a server may lag behind
/// what an earlier session has seen.
task<error_code> watch_transaction(port& p, const this_transaction& mine, watch_signal& watch) {
    const std::string& path = mine.sign();
    bool missed = false;
    while (!watch.armed()) {
        const std::uint64_t generation = p.status().generation;
        request look(p, op_code::exists, path);
        look.attach(watch);
        error_code ec;
        if (missed)
            ec = co_await behind_sync(p, look);
        else
            ec = co_await look;
        if (worth_asking_again(p, ec))
            continue;
        if (ec)
            forget_watch(p, watch, watch_kind::exists, path);
        bool sure = missed && p.status().generation == generation;
        if (ec != zk_errc::no_node || sure)
            co_return ec;
        missed = true;
    }
    co_return error_code();
}

/// Learns which transaction is there, unless it is known which one is meant.
task<error_code> identify(port& p, this_transaction& mine) {
    while (!mine.is_known()) {
        request read(p, op_code::get, mine.path);
        error_code ec = co_await behind_sync(p, read);
        if (worth_asking_again(p, ec))
            continue;
        if (ec)
            co_return ec;
        std::optional<commit_header> header = parse_header(read.answer);
        if (!header)
            co_return errc::foreign_data;
        mine.is(*header);
    }
    co_return error_code();
}

/// Decides to abort, unless it has been decided.
task<error_code> write_abort(port& p,
                             const this_transaction& mine,
                             std::string reason,
                             outcome_slot& outcome) {
    commit_outcome wish(false, std::move(reason));
    for (;;) {
        request create(p, op_code::multi, mine.path);
        transaction steps = mine.steps();
        steps.create(decision_node(mine.path), format_decision(wish, mine.guid), mine.how());
        create.steps = steps.steps();
        error_code ec = co_await create;
        if (worth_asking_again(p, ec))
            continue;  // if it was ours, it is read the next time
        if (!ec) {
            outcome = wish;
            co_return ec;
        }
        if (ec != zk_errc::node_exists)
            co_return ec;
        ec = co_await look_for_decision(p, mine, nullptr, outcome);
        // It vanishes only together with the transaction.
        if (!ec && !outcome)
            ec = zk_errc::no_node;
        co_return ec;
    }
}

/// Erases what a site has made, in its session.
task<> erase_of_site(port& p, transaction erasures, std::uint64_t generation) {
    for (;;) {
        request erase(p, op_code::multi, std::string());
        erase.steps = erasures.steps();
        erase.generation = generation;
        error_code ec = co_await erase;
        if (!ec || !worth_asking_again(p, ec) || !p.alive(generation))
            co_return;
    }
}

/// Erases a site's node. There is no other one of this name in this transaction, ever.
task<> abandon_site(port& p,
                    const this_transaction& mine,
                    std::string node,
                    std::uint64_t generation) {
    transaction erasures = mine.steps();
    erasures.erase(node);
    return erase_of_site(p, std::move(erasures), generation);
}

/// Takes a `join` back that nobody waits for any more: the site has never come.
task<> undo_join(port& p,
                 const this_transaction& mine,
                 std::string node,
                 std::string joined,
                 std::uint64_t generation) {
    transaction erasures = mine.steps();
    erasures.erase(node, 0).erase(joined);
    return erase_of_site(p, std::move(erasures), generation);
}

/// One who watches all votes and decides.
class tally {
public:
    tally(port& p, const this_transaction& mine, const commit_header& header, signal& wake)
        : port_(p),
          mine_(mine),
          sites_(header.sites),
          wake_(wake),
          decision_watch_(wake),
          transaction_watch_(wake),
          states_(sites_.size(), site_state::absent) {
        for (std::size_t i = 0; i < sites_.size(); ++i)
            votes_.emplace_back(wake);
    }

    /// The decider is a site itself, and its node belongs to this session.
    void set_own(std::string site, std::uint64_t generation) {
        own_site_ = std::move(site);
        own_generation_ = generation;
    }

    /// Until there is an outcome, or the call is over. At its deadline: abort.
    task<error_code> run(outcome_call& call, outcome_slot& outcome) {
        error_code ec;
        while (!ec && !outcome && call.waiting()) {
            if (!decision_watch_.armed()) {
                ec = co_await look_for_decision(port_, mine_, &decision_watch_, outcome);
                if (ec || outcome)
                    break;
            }
            if (call.late()) {
                ec = co_await write_abort(port_, mine_, "the deadline passed", outcome);
                break;
            }
            if (!own_site_.empty() && !port_.alive(own_generation_)) {
                ec = co_await write_abort(
                    port_, mine_, "site " + own_site_ + " lost its session", outcome);
                break;
            }
            bool again = false;
            ec = co_await read_votes(again);
            if (ec || again || !call.waiting())
                continue;
            outcome_slot verdict = decide_commit(sites_, states_);
            if (!verdict) {
                ec = co_await watch_transaction(port_, mine_, transaction_watch_);
                if (!ec && transaction_watch_.armed())
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

private:
    struct vote {
        explicit vote(signal& wake) : data_watch(wake), missing_watch(wake) {}
        watch_signal data_watch;
        watch_signal missing_watch;
        std::int64_t czxid = 0;  ///< of the node that was seen; 0: none
        std::int32_t version = 0;
    };

    task<error_code> read_votes(bool& again) {
        std::deque<std::pair<std::size_t, request>> reads;
        for (std::size_t i = 0; i < sites_.size(); ++i) {
            vote& v = votes_[i];
            if (v.data_watch.armed() || v.missing_watch.armed())
                continue;
            if (states_[i] == site_state::dead)
                continue;
            reads.emplace_back(
                std::piecewise_construct,
                std::forward_as_tuple(i),
                std::forward_as_tuple(port_, op_code::get, site_node(mine_.path, sites_[i])));
            reads.back().second.attach(v.data_watch);
            reads.back().second.send();
        }
        error_code problem;
        std::deque<std::pair<std::size_t, request>> missing;
        for (auto& [i, read] : reads) {
            vote& v = votes_[i];
            error_code ec = co_await read;
            if (worth_asking_again(port_, ec)) {
                again = true;
            } else if (ec == zk_errc::no_node && v.czxid != 0) {
                states_[i] = site_state::dead;
            } else if (ec == zk_errc::no_node) {
                missing.emplace_back(std::piecewise_construct,
                                     std::forward_as_tuple(i),
                                     std::forward_as_tuple(
                                         port_, op_code::exists, site_node(mine_.path, sites_[i])));
                missing.back().second.attach(v.missing_watch);
                missing.back().second.send();
            } else if (ec) {
                problem = ec;
            } else if (v.czxid != 0 && v.czxid != read.record.czxid) {
                states_[i] = site_state::dead;
            } else {
                v.czxid = read.record.czxid;
                v.version = read.record.version;
                states_[i] = read_vote(read.answer);
            }
        }
        for (auto& [i, exists] : missing) {
            error_code ec = co_await exists;
            if (ec == zk_errc::no_node) {
                if (!problem)
                    problem = co_await look_for_traces(i, again);
                continue;
            }
            forget_watch(
                port_, votes_[i].missing_watch, watch_kind::data, site_node(mine_.path, sites_[i]));
            again = true;
            if (ec && !worth_asking_again(port_, ec))
                problem = ec;
        }
        co_return problem;
    }

    /// There is no node of this site: has it come, and died?
    task<error_code> look_for_traces(std::size_t i, bool& again) {
        request joined(port_, op_code::exists, joined_node(mine_.path, sites_[i]));
        request node(port_, op_code::exists, site_node(mine_.path, sites_[i]));
        // In this order: a site that comes between the two has a node.
        joined.send();
        node.send();
        error_code has_come = co_await joined;
        error_code is_there = co_await node;
        if (worth_asking_again(port_, has_come) || worth_asking_again(port_, is_there)) {
            forget_watch(port_,
                         votes_[i].missing_watch,
                         watch_kind::exists,
                         site_node(mine_.path, sites_[i]));
            again = true;
        } else if (!has_come && is_there == zk_errc::no_node) {
            states_[i] = site_state::dead;
        } else if (!is_there) {
            again = true;  // the watch has fired
        } else if (has_come && has_come != zk_errc::no_node) {
            co_return has_come;
        }
        co_return error_code();
    }

    /// Only if each vote is still there as it was read.
    task<error_code> write_commit(outcome_slot& outcome) {
        transaction steps = mine_.steps();
        commit_outcome wish(true, std::string());
        steps.create(decision_node(mine_.path), format_decision(wish, mine_.guid), mine_.how());
        for (std::size_t i = 0; i < sites_.size(); ++i) {
            steps.check(site_node(mine_.path, sites_[i]), votes_[i].version);
        }
        request commit(port_, op_code::multi, mine_.path);
        commit.steps = steps.steps();
        error_code ec = co_await commit;
        if (!ec) {
            outcome = wish;
            co_return ec;
        }
        if (worth_asking_again(port_, ec) || ec == zk_errc::node_exists) {
            forget_watch(port_, decision_watch_, watch_kind::exists, decision_node(mine_.path));
            co_return error_code();
        }
        if (ec == zk_errc::bad_version || ec == zk_errc::no_node) {
            // A vote is gone, or is another one (or the whole transaction is gone).
            request exists(port_, op_code::exists, mine_.sign());
            ec = co_await exists;
            for (vote& v : votes_)
                v.data_watch.disarm();
            co_return worth_asking_again(port_, ec) ? error_code() : ec;
        }
        co_return ec;
    }

    void forget() {
        forget_watch(port_, decision_watch_, watch_kind::exists, decision_node(mine_.path));
        forget_watch(port_, transaction_watch_, watch_kind::data, mine_.sign());
        for (std::size_t i = 0; i < sites_.size(); ++i) {
            std::string path = site_node(mine_.path, sites_[i]);
            forget_watch(port_, votes_[i].missing_watch, watch_kind::exists, path);
            // Those of nodes that are there go with the nodes.
            votes_[i].data_watch.disarm();
        }
    }

    port& port_;
    const this_transaction& mine_;
    const std::vector<std::string> sites_;
    signal& wake_;
    watch_signal decision_watch_;
    watch_signal transaction_watch_;
    std::deque<vote> votes_;
    std::vector<site_state> states_;
    std::string own_site_;
    std::uint64_t own_generation_ = 0;
};

/// Waits for a decision that others make.
task<error_code> await_decision(port& p,
                                const this_transaction& mine,
                                signal& wake,
                                outcome_call& call,
                                outcome_slot& outcome) {
    watch_signal watch(wake);
    watch_signal transaction_watch(wake);
    error_code ec;
    while (!call.over()) {
        ec = co_await look_for_decision(p, mine, &watch, outcome);
        if (ec || outcome)
            break;
        ec = co_await watch_transaction(p, mine, transaction_watch);
        if (ec)
            break;
        if (!call.over() && transaction_watch.armed())
            co_await wake.wait();
    }
    forget_watch(p, watch, watch_kind::exists, decision_node(mine.path));
    forget_watch(p, transaction_watch, watch_kind::data, mine.sign());
    co_return ec;
}

/// Ends an operation that was to give an outcome.
void finish_call(outcome_call& call, error_code ec, const outcome_slot& outcome) {
    if (ec) {
        call.fail(ec);
    } else if (outcome) {
        call.complete(error_code(), *outcome);
    } else {
        call.end();
    }
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// The coordinator

class commit_coordinator_impl final : public recipe_core {
public:
    commit_coordinator_impl(port& p, std::string path_, commit_options options)
        : recipe_core(p),
          path(std::move(path_)),
          form(options.form),
          mine(path, std::move(options.acl)) {}

    void is(commit_header found) {
        mine.is(found);
        header = std::move(found);
    }

    const std::string path;
    const commit_form form;
    std::optional<commit_header> header;
    this_transaction mine;
};

namespace {

using coordinator_ptr = std::shared_ptr<commit_coordinator_impl>;

task<> begin_driver(coordinator_ptr self,
                    commit_header header,
                    any_handler<void(error_code)> handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<> call(*self, std::move(handler), wake);
    header.guid = p.new_guid();
    this_transaction mine = self->mine;
    mine.is(header);
    transaction steps;
    steps.create(mine.path, format_header(header), mine.how());
    steps.create(mine.identity, std::string(), mine.how());
    bool perhaps_ours = false;
    while (!call.over()) {
        request create(p, op_code::multi, self->path);
        create.steps = steps.steps();
        error_code ec = co_await create;
        if (worth_asking_again(p, ec)) {
            perhaps_ours = perhaps_ours || is_outcome_unknown(ec);
            continue;
        }
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(p, std::string(parent_path(self->path)), mine.entries);
            if (!ec || worth_asking_again(p, ec))
                continue;
        } else if (ec == zk_errc::node_exists) {
            ec = errc::already_exists;
            if (perhaps_ours) {
                request read(p, op_code::get, self->path);
                error_code answer = co_await read;
                if (worth_asking_again(p, answer) || answer == zk_errc::no_node)
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

task<> resume_driver(coordinator_ptr self,
                     any_handler<void(error_code, commit_transaction)> handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<commit_transaction> call(*self, std::move(handler), wake);
    while (!call.over()) {
        request read(p, op_code::get, self->path);
        error_code ec = co_await behind_sync(p, read);
        if (worth_asking_again(p, ec))
            continue;
        commit_transaction found;
        auto header = parse_header(read.answer);
        if (!ec && !header)
            ec = errc::foreign_data;
        if (!ec) {
            this_transaction mine = self->mine;
            mine.is(*header);
            ec = co_await look_for_decision(p, mine, nullptr, found.outcome);
            if (ec == zk_errc::no_node)
                continue;  // it was cleaned up in this moment
        }
        if (!ec) {
            found.form = header->form;
            found.sites = header->sites;
            found.payload = header->payload;
            self->is(std::move(*header));
        }
        call.complete(ec, std::move(found));
    }
}

task<> decide_driver(coordinator_ptr self,
                     any_handler<void(error_code, commit_outcome)> handler,
                     time_point deadline) {
    port& p = self->get_port();
    signal wake(p);
    outcome_call call(*self, std::move(handler), wake, deadline);
    call.set_late_error(errc::in_doubt);
    session_signal session(p, wake);
    const this_transaction mine = self->mine;
    outcome_slot outcome;
    error_code ec;
    if (self->header->form == commit_form::coordinator) {
        tally votes(p, mine, *self->header, wake);
        ec = co_await votes.run(call, outcome);
    } else {
        ec = co_await await_decision(p, mine, wake, call, outcome);
        if (!ec && !outcome && call.waiting())
            ec = co_await write_abort(p, mine, "the deadline passed", outcome);
    }
    finish_call(call, ec, outcome);
}

task<> abort_driver(coordinator_ptr self,
                    std::string reason,
                    any_handler<void(error_code, commit_outcome)> handler) {
    port& p = self->get_port();
    signal wake(p);
    outcome_call call(*self, std::move(handler), wake);
    this_transaction mine = self->mine;
    outcome_slot outcome;
    error_code ec = co_await identify(p, mine);
    if (!ec)
        ec = co_await write_abort(p, mine, std::move(reason), outcome);
    finish_call(call, ec, outcome);
}

/// One attempt.
task<error_code> clean_up_once(port& p, this_transaction& mine, bool force) {
    const std::string& path = mine.path;
    request read(p, op_code::get, path);
    if (error_code ec = co_await behind_sync(p, read))
        co_return ec;
    std::optional<commit_header> header = parse_header(read.answer);
    if (!header)
        co_return errc::foreign_data;
    if (!mine.is_known())
        mine.is(*header);
    if (mine.guid != header->guid)
        co_return zk_errc::no_node;
    outcome_slot outcome;
    if (error_code ec = co_await look_for_decision(p, mine, nullptr, outcome))
        co_return ec;
    if (!outcome) {
        // Somebody else may have cleaned up in this moment.
        request still_there(p, op_code::exists, mine.identity);
        error_code ec = co_await still_there;
        if (!ec)
            ec = errc::in_doubt;
        co_return ec;
    }
    request listing(p, op_code::children, path);
    if (error_code ec = co_await listing)
        co_return ec;
    std::vector<std::string> others;
    std::vector<std::string> last;
    std::size_t size = 0;
    for (std::size_t i = 0; i < listing.names.size(); ++i) {
        std::string child = join_path(path, listing.names[i]);
        if (child == decision_node(path) || child == mine.identity)
            continue;
        bool acknowledges =
            std::any_of(header->sites.begin(), header->sites.end(), [&](const std::string& site) {
                return child == done_node(path, site);
            });
        if (acknowledges) {
            size += child.size() + step_overhead;
            last.push_back(std::move(child));
        } else {
            others.push_back(std::move(child));
        }
    }
    if (!force && last.size() < header->sites.size())
        co_return errc::busy;
    if (size + request_overhead > p.max_request_size()) {
        others.insert(others.end(), last.begin(), last.end());
        last.clear();
    }
    std::deque<request> erasures;
    for (const std::string& child : others) {
        transaction steps = mine.steps();
        steps.erase(child);
        erasures.emplace_back(p, op_code::multi, std::string()).steps = steps.steps();
        erasures.back().send();
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
    request erase_all(p, op_code::multi, path);
    erase_all.steps = steps.steps();
    error_code ec = co_await erase_all;
    // Somebody else cleans up, too: what is left will be seen.
    co_return ec == zk_errc::no_node ? make_error_code(zk_errc::connection_loss) : ec;
}

task<> clean_up_driver(coordinator_ptr self, bool force, any_handler<void(error_code)> handler) {
    constexpr int attempts_against_newcomers = 3;
    port& p = self->get_port();
    signal wake(p);
    waiting_call<> call(*self, std::move(handler), wake);
    int not_empty = 0;
    this_transaction mine = self->mine;
    while (!call.over()) {
        error_code ec = co_await clean_up_once(p, mine, force);
        if (worth_asking_again(p, ec))
            continue;
        if (ec == zk_errc::not_empty && ++not_empty < attempts_against_newcomers)
            continue;
        call.complete(ec == zk_errc::no_node ? error_code() : ec);
    }
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// A site

class commit_site_impl final : public recipe_core {
public:
    commit_site_impl(port& p, std::string path_, std::string name_, commit_options options)
        : recipe_core(p),
          path(std::move(path_)),
          name(std::move(name_)),
          node(site_node(path, name)),
          joined(joined_node(path, name)),
          mine(path, std::move(options.acl)) {}

    void destroy() {
        stop();
        if (has_node && get_port().alive(generation)) {
            get_port().spawn(abandon_site(get_port(), mine, node, generation));
        }
        has_node = false;
    }

    commit_transaction describe() const {
        commit_transaction t;
        t.form = header->form;
        t.sites = header->sites;
        t.payload = header->payload;
        t.outcome = outcome;
        return t;
    }

    const std::string path;
    const std::string name;
    const std::string node;
    const std::string joined;
    std::optional<commit_header> header;
    this_transaction mine;
    outcome_slot outcome;  ///< once it is known
    bool joining = false;
    bool has_node = false;
    bool voted = false;
    std::uint64_t generation = 0;  ///< the session that owns the node
};

namespace {

using site_ptr = std::shared_ptr<commit_site_impl>;

/// Becomes a site: the node is made, or the outcome is known.
task<error_code> join_steps(commit_site_impl& self,
                            waiting_call<commit_transaction>& call,
                            signal& wake,
                            bool& perhaps_ours) {
    port& p = self.get_port();
    watch_signal begin_watch(wake);
    watch_signal decision_watch(wake);
    watch_signal node_watch(wake);
    error_code result;
    while (!call.over()) {
        request read(p, op_code::get, self.path);
        error_code ec = co_await behind_sync(p, read);
        if (worth_asking_again(p, ec))
            continue;
        if (ec == zk_errc::no_node) {
            begin_watch.disarm();
            request exists(p, op_code::exists, self.path);
            exists.attach(begin_watch);
            ec = co_await exists;
            if (!ec)
                forget_watch(p, begin_watch, watch_kind::data, self.path);
            if (ec == zk_errc::no_node && !call.over())
                co_await wake.wait();
            if (!ec || ec == zk_errc::no_node || worth_asking_again(p, ec))
                continue;
        }
        if (!ec) {
            std::optional<commit_header> header = parse_header(read.answer);
            if (!header) {
                ec = errc::foreign_data;
            } else if (std::find(header->sites.begin(), header->sites.end(), self.name) ==
                       header->sites.end()) {
                ec = errc::not_a_member;
            } else if (self.mine.guid != header->guid) {
                perhaps_ours = false;
                self.mine.is(*header);
                self.header = std::move(header);
            }
        }
        if (!ec) {
            ec = co_await look_for_decision(p, self.mine, &decision_watch, self.outcome);
            if (ec == zk_errc::no_node)
                continue;  // cleaned up in this moment
        }
        result = ec;
        if (ec || self.outcome)
            break;
        co_await session_alive(p, wake);
        if (call.over())
            break;
        const std::uint64_t generation = p.status().generation;
        if (self.generation != generation)
            perhaps_ours = false;
        self.generation = generation;
        request create(p, op_code::multi, self.path);
        transaction steps = self.mine.steps();
        create_options how = self.mine.how();
        steps.create(self.joined, std::string(), how);
        how.mode = create_mode::ephemeral;
        steps.create(self.node, std::string(), how);
        create.steps = steps.steps();
        create.generation = generation;
        ec = co_await create;
        if (!ec) {
            self.has_node = true;
            break;
        }
        if (worth_asking_again(p, ec)) {
            perhaps_ours = perhaps_ours || is_outcome_unknown(ec);
            continue;
        }
        if (ec == zk_errc::no_node)
            continue;  // cleaned up in this moment
        if (ec == zk_errc::node_exists) {
            node_watch.disarm();
            request look(p, op_code::get, self.node);
            look.attach(node_watch);
            ec = co_await look;
            if (worth_asking_again(p, ec))
                continue;
            if (ec == zk_errc::no_node) {
                // This site had come before, and died.
                ec =
                    co_await write_abort(p, self.mine, "site " + self.name + " died", self.outcome);
                if (ec == zk_errc::no_node)
                    continue;
                result = ec;
                break;
            }
            bool our_session = look.record.ephemeral_owner == p.status().session_id;
            if (!ec && our_session && perhaps_ours) {
                self.has_node = true;
                break;
            }
            if (!ec && !our_session) {
                if (!call.over())
                    co_await wake.wait();
                continue;
            }
            if (!ec)
                ec = errc::already_exists;
        }
        result = ec;
        break;
    }
    forget_watch(p, begin_watch, watch_kind::exists, self.path);
    forget_watch(p, decision_watch, watch_kind::exists, decision_node(self.path));
    forget_watch(p, node_watch, watch_kind::data, self.node);
    co_return result;
}

task<> join_driver(site_ptr self,
                   any_handler<void(error_code, commit_transaction)> handler,
                   time_point deadline) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<commit_transaction> call(*self, std::move(handler), wake, deadline);
    session_signal session(p, wake);
    bool perhaps_ours = false;
    error_code ec = co_await join_steps(*self, call, wake, perhaps_ours);
    self->joining = false;
    bool joined = !ec && (self->has_node || self->outcome);
    if (joined && !self->has_node && perhaps_ours) {
        // The answer was lost, and meanwhile all was decided without it.
        co_await undo_join(p, self->mine, self->node, self->joined, self->generation);
        perhaps_ours = false;
    }
    if (joined && !call.over()) {
        call.complete(error_code(), self->describe());
        co_return;
    }
    // Nobody waits any more, or it failed: the site's node goes.
    if (self->has_node || perhaps_ours) {
        self->has_node = false;
        co_await undo_join(p, self->mine, self->node, self->joined, self->generation);
    }
    if (ec)
        call.fail(ec);
    call.end();
}

/// Writes the vote to the site's node.
/// @return `session_expired` if the node is gone.
task<error_code> write_vote(commit_site_impl& self, commit_vote wish) {
    port& p = self.get_port();
    for (;;) {
        request write(p, op_code::multi, self.path);
        transaction steps = self.mine.steps();
        steps.set(self.node, std::string(format_vote(wish)), 0);
        if (wish == commit_vote::abort) {
            // Without this vote there is no commit: it decides, whoever else is there.
            commit_outcome abort(false, "site " + self.name + " voted to abort");
            steps.create(
                decision_node(self.path), format_decision(abort, self.mine.guid), self.mine.how());
        }
        write.steps = steps.steps();
        write.generation = self.generation;
        error_code ec = co_await write;
        if (ec == zk_errc::node_exists)
            co_return error_code();  // decided already
        if (ec == zk_errc::no_node)
            co_return zk_errc::session_expired;
        if (is_session_lost(ec) && ec != errc::closed)
            co_return zk_errc::session_expired;
        if (ec == zk_errc::bad_version) {
            // By an answer that was lost, or by a stranger.
            request read(p, op_code::get, self.node);
            read.generation = self.generation;
            ec = co_await read;
            if (!ec) {
                bool ours = read.answer == format_vote(wish) && read.record.version == 1;
                co_return ours ? error_code() : make_error_code(errc::foreign_data);
            }
            if (ec == zk_errc::no_node)
                co_return zk_errc::session_expired;
        }
        if (!worth_asking_again(p, ec))
            co_return ec;
    }
}

/// Until the decision is known, or the call is over.
task<error_code> await_outcome(commit_site_impl& self,
                               const this_transaction& mine,
                               signal& wake,
                               outcome_call& call) {
    port& p = self.get_port();
    watch_signal watch(wake);
    watch_signal transaction_watch(wake);
    error_code ec;
    while (!self.outcome && !call.over()) {
        ec = co_await look_for_decision(p, mine, &watch, self.outcome);
        if (ec || self.outcome || call.over())
            break;
        if (self.has_node && !p.alive(self.generation)) {
            // The node that carried our vote is gone: we are the dead site.
            ec = co_await write_abort(
                p, mine, "site " + self.name + " lost its session", self.outcome);
            break;
        }
        ec = co_await watch_transaction(p, mine, transaction_watch);
        if (ec)
            break;
        if (!call.over() && transaction_watch.armed())
            co_await wake.wait();
    }
    forget_watch(p, watch, watch_kind::exists, decision_node(mine.path));
    forget_watch(p, transaction_watch, watch_kind::data, mine.sign());
    co_return ec;
}

task<error_code> vote_steps(commit_site_impl& self,
                            std::optional<commit_vote> wish,
                            signal& wake,
                            outcome_call& call) {
    port& p = self.get_port();
    this_transaction mine = self.mine;
    if (wish) {
        error_code ec = co_await write_vote(self, *wish);
        if (ec == zk_errc::session_expired) {
            ec = co_await write_abort(
                p, mine, "site " + self.name + " lost its session", self.outcome);
            co_return ec;
        }
        if (ec)
            co_return ec;
        call.set_late_error(errc::in_doubt);
    } else {
        // Who may not read it would wait for a decision that the server never tells of.
        error_code ec = co_await identify(p, mine);
        if (ec && ec != zk_errc::no_node)
            co_return ec;
    }
    bool decides = self.header && self.header->form == commit_form::all_sites && self.voted &&
                   p.alive(self.generation);
    if (decides && (!wish || *wish == commit_vote::commit)) {
        tally votes(p, mine, *self.header, wake);
        votes.set_own(self.name, self.generation);
        error_code ec = co_await votes.run(call, self.outcome);
        co_return ec;
    }
    error_code ec = co_await await_outcome(self, mine, wake, call);
    if (self.outcome)
        self.mine = mine;
    co_return ec;
}

task<> vote_driver(site_ptr self,
                   std::optional<commit_vote> wish,
                   any_handler<void(error_code, commit_outcome)> handler,
                   time_point deadline) {
    port& p = self->get_port();
    signal wake(p);
    outcome_call call(*self, std::move(handler), wake, deadline);
    if (!wish)
        call.set_late_error(errc::in_doubt);
    session_signal session(p, wake);
    error_code ec = co_await vote_steps(*self, wish, wake, call);
    finish_call(call, ec, self->outcome);
}

task<> finish_driver(site_ptr self, any_handler<void(error_code)> handler) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<> call(*self, std::move(handler), wake);
    transaction steps = self->mine.steps();
    steps.create(done_node(self->path, self->name), std::string(), self->mine.how());
    bool doubtful = false;
    for (;;) {
        request create(p, op_code::multi, self->path);
        create.steps = steps.steps();
        error_code ec = co_await create;
        doubtful = doubtful || is_outcome_unknown(ec);
        if (worth_asking_again(p, ec))
            continue;
        // It may have been there, and cleaned up since.
        bool gone = doubtful && ec == zk_errc::no_node;
        if (ec && ec != zk_errc::node_exists && !gone) {
            call.fail(ec);
            co_return;
        }
        break;
    }
    if (self->has_node) {
        self->has_node = false;
        if (p.alive(self->generation))
            co_await abandon_site(p, self->mine, self->node, self->generation);
    }
    call.complete(error_code());
}

template <class Impl, class... Values>
bool ready(const std::shared_ptr<Impl>& impl, any_handler<void(error_code, Values...)>& handler) {
    if (!usable(impl, handler))
        return false;
    if (path_is_good(impl->get_port(), "two-phase commit", impl->path))
        return true;
    immediate_result<Values...>(impl->executor(), std::move(handler), errc::bad_path, Values()...);
    return false;
}

template <class Impl, class... Values>
void refuse(const std::shared_ptr<Impl>& impl,
            any_handler<void(error_code, Values...)> handler,
            error_code ec) {
    immediate_result<Values...>(impl->executor(), std::move(handler), ec, Values()...);
}

}  // namespace
}  // namespace detail

// ---------------------------------------------------------------------------------------------
// The public objects

commit_coordinator::commit_coordinator(const client& c, std::string path, commit_options options)
    : session_(c.implementation()) {
    if (session_) {
        impl_ = std::make_shared<detail::commit_coordinator_impl>(
            *session_, std::move(path), std::move(options));
    }
}

commit_coordinator::commit_coordinator() noexcept = default;
commit_coordinator::commit_coordinator(commit_coordinator&&) noexcept = default;

commit_coordinator& commit_coordinator::operator=(commit_coordinator&& other) noexcept {
    if (this != &other) {
        if (impl_)
            impl_->stop();
        impl_ = std::move(other.impl_);
        session_ = std::move(other.session_);
    }
    return *this;
}

commit_coordinator::~commit_coordinator() {
    if (impl_)
        impl_->stop();
}

std::string commit_coordinator::path() const {
    return impl_ ? impl_->path : std::string();
}

void commit_coordinator::start_begin(const impl_ptr& impl,
                                     std::vector<std::string> sites,
                                     std::string payload,
                                     handler_of<> handler) {
    if (!detail::ready(impl, handler))
        return;
    error_code problem;
    std::size_t decision = detail::request_overhead;
    for (const std::string& site : sites) {
        decision += impl->path.size() + site.size() + detail::step_overhead;
    }
    detail::commit_header header;
    header.form = impl->form;
    header.guid.resize(32);
    header.sites = std::move(sites);
    header.payload = std::move(payload);
    std::size_t limit = impl->get_port().max_request_size();
    if (!detail::sites_are_good(header.sites)) {
        problem = errc::bad_option;
    } else if (decision > limit || detail::format_header(header).size() + 2 * impl->path.size() +
                                           detail::request_overhead >
                                       limit) {
        problem = errc::too_large;
    }
    if (problem) {
        detail::refuse(impl, std::move(handler), problem);
        return;
    }
    impl->get_port().spawn(detail::begin_driver(impl, std::move(header), std::move(handler)));
}

void commit_coordinator::start_resume(const impl_ptr& impl,
                                      handler_of<commit_transaction> handler) {
    if (!detail::ready(impl, handler))
        return;
    impl->get_port().spawn(detail::resume_driver(impl, std::move(handler)));
}

void commit_coordinator::start_decide(const impl_ptr& impl,
                                      std::chrono::nanoseconds limit,
                                      handler_of<commit_outcome> handler) {
    if (!detail::ready(impl, handler))
        return;
    if (!impl->header) {
        detail::refuse(impl, std::move(handler), errc::not_a_member);
        return;
    }
    detail::port& p = impl->get_port();
    p.spawn(detail::decide_driver(impl, std::move(handler), detail::deadline_after(p, limit)));
}

void commit_coordinator::start_abort(const impl_ptr& impl,
                                     std::string reason,
                                     handler_of<commit_outcome> handler) {
    if (!detail::ready(impl, handler))
        return;
    impl->get_port().spawn(detail::abort_driver(impl, std::move(reason), std::move(handler)));
}

void commit_coordinator::start_clean_up(const impl_ptr& impl, bool force, handler_of<> handler) {
    if (!detail::ready(impl, handler))
        return;
    impl->get_port().spawn(detail::clean_up_driver(impl, force, std::move(handler)));
}

commit_site::commit_site(const client& c,
                         std::string path,
                         std::string name,
                         commit_options options)
    : session_(c.implementation()) {
    if (session_) {
        impl_ = std::make_shared<detail::commit_site_impl>(
            *session_, std::move(path), std::move(name), std::move(options));
    }
}

commit_site::commit_site() noexcept = default;
commit_site::commit_site(commit_site&&) noexcept = default;

commit_site& commit_site::operator=(commit_site&& other) noexcept {
    if (this != &other) {
        if (impl_)
            impl_->destroy();
        impl_ = std::move(other.impl_);
        session_ = std::move(other.session_);
    }
    return *this;
}

commit_site::~commit_site() {
    if (impl_)
        impl_->destroy();
}

std::string commit_site::path() const {
    return impl_ ? impl_->path : std::string();
}

std::string commit_site::name() const {
    return impl_ ? impl_->name : std::string();
}

void commit_site::start_join(const impl_ptr& impl,
                             std::chrono::nanoseconds limit,
                             handler_of<commit_transaction> handler) {
    if (!detail::ready(impl, handler))
        return;
    detail::port& p = impl->get_port();
    if (impl->joining || impl->has_node || impl->outcome) {
        detail::refuse(impl, std::move(handler), errc::busy);
    } else if (!detail::sites_are_good({impl->name})) {
        detail::refuse(impl, std::move(handler), errc::bad_path);
    } else {
        impl->joining = true;
        p.spawn(detail::join_driver(impl, std::move(handler), detail::deadline_after(p, limit)));
    }
}

void commit_site::start_vote(const impl_ptr& impl,
                             std::chrono::nanoseconds limit,
                             commit_vote wish,
                             handler_of<commit_outcome> handler) {
    if (!detail::ready(impl, handler))
        return;
    detail::port& p = impl->get_port();
    if (impl->outcome) {
        detail::immediate_result<commit_outcome>(
            impl->executor(), std::move(handler), error_code(), *impl->outcome);
    } else if (!impl->has_node) {
        detail::refuse(impl, std::move(handler), errc::not_a_member);
    } else if (impl->voted) {
        detail::refuse(impl, std::move(handler), errc::busy);
    } else {
        impl->voted = true;
        p.spawn(
            detail::vote_driver(impl, wish, std::move(handler), detail::deadline_after(p, limit)));
    }
}

void commit_site::start_outcome(const impl_ptr& impl,
                                std::chrono::nanoseconds limit,
                                handler_of<commit_outcome> handler) {
    if (!detail::ready(impl, handler))
        return;
    detail::port& p = impl->get_port();
    if (impl->outcome) {
        detail::immediate_result<commit_outcome>(
            impl->executor(), std::move(handler), error_code(), *impl->outcome);
        return;
    }
    p.spawn(detail::vote_driver(
        impl, std::nullopt, std::move(handler), detail::deadline_after(p, limit)));
}

void commit_site::start_finish(const impl_ptr& impl, handler_of<> handler) {
    if (!detail::ready(impl, handler))
        return;
    if (!impl->outcome) {
        detail::refuse(impl, std::move(handler), errc::in_doubt);
        return;
    }
    impl->get_port().spawn(detail::finish_driver(impl, std::move(handler)));
}

}  // namespace corozk
