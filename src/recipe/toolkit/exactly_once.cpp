// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/exactly_once.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/retry.hpp"

#include <limits>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::string_view prefix = "ledger-";

/// Much longer than a transaction of a live client can be in doubt. If a merely idle client loses
/// its node, it creates another one.
constexpr std::int64_t abandoned_after = 60 * 60 * 1000;

/// Each client that creates a node looks at so many on average, and so leaves fewer abandoned ones
/// than it finds, however many clients there are.
constexpr std::uint32_t looked_at = 4;

/// Deletes abandoned nodes. Of many clients, few look, but at all of them.
/// @param now   0: unknown
/// @param made  a node that was just created
task<> erase_abandoned(port& p, std::string parent, std::int64_t now, std::string made) {
    request count(p, op_code::exists, parent);
    if (co_await count)
        co_return;
    const auto children = static_cast<std::uint32_t>(count.record.num_children);
    const bool alone = children <= 1;
    if (alone || (children > looked_at && p.random_below(children) >= looked_at))
        co_return;
    if (now == 0) {
        request own(p, op_code::exists, std::move(made));
        if (co_await own)
            co_return;
        now = own.record.ctime;
    }
    request listing(p, op_code::children, parent);
    if (co_await listing)
        co_return;
    for (std::size_t i = 0; i < listing.names.size(); ++i) {
        if (listing.names[i].substr(0, prefix.size()) != prefix)
            continue;
        std::string path = join_path(parent, listing.names[i]);
        request exists(p, op_code::exists, path);
        if (co_await exists)
            continue;
        if (exists.record.mtime > now - abandoned_after)
            continue;
        request erase(p, op_code::erase, path);
        erase.version = exists.record.version;
        co_await erase;
    }
}

/// The node is persistent, so any session can delete it. Also while the client is being closed,
/// which often follows the end of an object at once.
task<> erase_node(port& p, std::string path) {
    retry attempts(p);
    for (;;) {
        request erase(p, op_code::erase, path);
        erase.owed = true;
        error_code ec = co_await erase;
        if (!co_await again_until_done(p, attempts, ec))
            co_return;
    }
}

/// The node was deleted or written by another client. Other errors of its step are due to the
/// user's ACL, which does not permit writing.
bool is_gone(error_code ec) {
    return ec == zk_errc::no_node || ec == zk_errc::bad_version;
}

}  // namespace

exactly_once::exactly_once(port& p, std::string parent, acl entries)
    : port_(p), parent_(std::move(parent)), entries_(std::move(entries)) {}

task<error_code> exactly_once::open(const interest* who) {
    std::string path = perhaps_made_.empty()
                           ? join_path(parent_, std::string(prefix) + port_.new_guid())
                           : perhaps_made_;
    for (;;) {
        request create(port_, op_code::create, path);
        create.entries = entries_;
        create.only_for(who);
        error_code ec = co_await create_with_parents(port_, create);
        retry attempt(port_, while_reachable);
        const bool again = attempt.again(ec);
        if (attempt.doubtful())
            perhaps_made_ = path;
        if (again)
            continue;
        if (ec && ec != zk_errc::node_exists)
            co_return ec;  // node_exists: created by the first attempt
        path_ = std::move(path);
        perhaps_made_.clear();
        version_ = 0;
        if (!swept_ && !ec) {
            swept_ = true;
            port_.spawn(erase_abandoned(port_, parent_, create.record.ctime, path_));
        }
        co_return error_code();
    }
}

task<exactly_once_outcome> exactly_once::apply(std::vector<transaction::step> steps,
                                               const interest* who,
                                               std::uint64_t generation) {
    exactly_once_outcome outcome;
    steps.insert(steps.begin(), mark());
    retry any_session(port_, while_reachable);
    retry one_session(port_, generation, in_session_while_reachable);
    retry& attempts = generation == 0 ? any_session : one_session;
    for (;;) {
        if (path_.empty()) {
            if (error_code ec = co_await open(who)) {
                outcome.error = ec;
                co_return outcome;
            }
        }
        steps.front() = mark();
        request multi(port_, op_code::multi, std::string(), generation);
        multi.steps = steps;
        multi.owed = !who;
        multi.only_for(who);
        error_code ec = co_await multi;
        if (!ec) {
            applied(outcome, std::move(multi.results));
            co_return outcome;
        }
        if (co_await again_with_quorum(port_, attempts, ec))
            continue;
        const bool doubtful = attempts.doubtful();
        const std::size_t failed = multi.failed_step();
        const bool answered = failed < multi.results.size();
        const bool marked = !answered || failed > 0;
        if (!marked && ec == zk_errc::bad_version && doubtful) {
            moved_on();
            outcome.error = error_code();
            co_return outcome;
        }
        if (!marked) {
            bool gone = is_gone(ec);
            if (gone)
                path_.clear();
            if (gone && !doubtful)
                continue;
            outcome.error = doubtful ? make_error_code(zk_errc::connection_loss) : ec;
            co_return outcome;
        }
        // In one session nothing of earlier attempts is in flight once a later one is answered.
        const bool settled = answered && generation != 0;
        if (doubtful && ec == errc::closed) {
            ec = zk_errc::connection_loss;
        } else if (doubtful && !settled) {
            // An earlier attempt may still be in flight; without the node it fails. If the last
            // attempt was answered, the node existed at the known version, so if it does not any
            // more, this client deleted it.
            error_code erase_ec = co_await withdraw();
            if (erase_ec == zk_errc::bad_version)
                co_return outcome;
            if (erase_ec && (erase_ec != zk_errc::no_node || !answered))
                ec = zk_errc::connection_loss;
        }
        outcome.error = ec;
        if (answered && ec != zk_errc::connection_loss)
            outcome.failed = failed - 1;
        co_return outcome;
    }
}

task<error_code> exactly_once::prepare(const interest& who) {
    error_code ec;
    if (path_.empty())
        ec = co_await open(&who);
    co_return ec;
}

task<exactly_once_outcome> exactly_once::commit_now(std::vector<transaction::step> steps,
                                                    const interest& who) {
    exactly_once_outcome outcome;
    steps.insert(steps.begin(), mark());
    request multi(port_, op_code::multi, std::string());
    multi.steps = std::move(steps);
    multi.only_for(&who);
    error_code ec = co_await multi;
    if (!ec) {
        applied(outcome, std::move(multi.results));
        co_return outcome;
    }
    retry attempt(port_, while_reachable);
    const bool again = attempt.again(ec);
    if (attempt.doubtful()) {
        ec = co_await withdraw();
        if (ec == zk_errc::bad_version)
            co_return outcome;
        outcome.error = ec ? make_error_code(zk_errc::connection_loss)
                           : error_code(boost::asio::error::try_again);
        co_return outcome;
    }
    std::size_t failed = multi.failed_step();
    bool answered = failed < multi.results.size();
    if (answered && failed == 0 && is_gone(ec)) {
        path_.clear();
        outcome.error = boost::asio::error::try_again;
    } else if (answered) {
        outcome.error = ec;
        if (failed > 0)
            outcome.failed = failed - 1;
    } else {
        outcome.error = again ? error_code(boost::asio::error::try_again) : ec;
    }
    co_return outcome;
}

/// Deletes the node, so that attempts in flight fail.
/// @return no error if none was applied, `bad_version` if one was
task<error_code> exactly_once::withdraw() {
    retry attempts(port_);
    for (;;) {
        request erase(port_, op_code::erase, path_);
        erase.version = version_;
        error_code ec = co_await erase;
        if (co_await again_until_done(port_, attempts, ec))
            continue;
        if (ec == zk_errc::bad_version) {
            moved_on();
            co_return ec;
        }
        path_.clear();
        if (ec == zk_errc::no_node && attempts.doubtful())
            ec = error_code();  // deleted by this client
        co_return ec;
    }
}

/// The first step of each transaction.
transaction::step exactly_once::mark() const {
    transaction::step step;
    step.kind = transaction::step_kind::set;
    step.path = path_;
    step.version = version_;
    return step;
}

void exactly_once::applied(exactly_once_outcome& outcome, std::vector<transaction_result> results) {
    moved_on();
    results.erase(results.begin());
    outcome.results = std::move(results);
    outcome.blank = false;
}

void exactly_once::moved_on() {
    // Long before version -1, which matches any version.
    if (++version_ == std::numeric_limits<std::int32_t>::max())
        retire();
}

void exactly_once::retire() {
    for (std::string* path : {&path_, &perhaps_made_}) {
        if (!path->empty())
            port_.spawn(erase_node(port_, std::exchange(*path, std::string())));
    }
}

}  // namespace corozk::detail
