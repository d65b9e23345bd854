// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/leader_latch.hpp>

namespace corozk::matrix {

namespace {

awaitable<void> probe(client& c, stage& s) {
    leader_latch next(c, s.folder(), options_of<election_options>(s));
    next.start();
    auto deadline = std::chrono::steady_clock::now() + s.patience();
    co_await next.leadership_until(deadline);
    s.check(next.has_leadership() || s.which() == fault::parent_deleted, "the next one leads");
    co_await next.close();
}

/// Who still leads after the server was asked had its node there then.
void check_term(stage& s, leader_latch& latch, client& whose) {
    std::string node = latch.term_path();
    std::int64_t token = latch.status().fencing_token;
    // Somebody has erased the node, and the latch may not have heard of it yet.
    if (node.empty() || s.owners.expired_by_force || s.deprived())
        return;
    auto record = s.stat(node);
    if (!latch.has_leadership() || latch.status().fencing_token != token)
        return;
    s.check(record.has_value(), "the leader's node is there");
    if (!record)
        return;
    s.check(record->ephemeral_owner == whose.status().session_id, "it is the session's");
    s.check(record->czxid == token, "the fencing token is the node's creation");
    for (const std::string& name : s.children(s.folder())) {
        auto other = s.stat(s.folder() + "/" + name);
        if (other && other->ephemeral_owner != 0)
            s.check(other->czxid >= token, "no candidate is older than the leader");
    }
}

awaitable<void> lead_again(stage& s, object<leader_latch>& mine, std::int64_t& last) {
    call<std::int64_t> leads(s, "leadership");
    mine->leadership(leads.token());
    std::int64_t token = co_await leads.result();
    s.check(token >= last, "fencing tokens do not go back");
    last = token;
    check_term(s, *mine, s.ours());
}

/// Leads, resigns, leads again; over lost sessions and erased nodes.
awaitable<void> lead(stage& s) {
    object<leader_latch> mine(s, s.ours(), s.folder(), options_of<election_options>(s));
    std::int64_t token = 0;
    mine->start();
    co_await lead_again(s, mine, token);
    co_await s.state("leading");
    co_await lead_again(s, mine, token);
    call<> resigned(s, "resign");
    mine->resign(resigned.token());
    error_code ec = co_await resigned.ended();
    // The term may have ended otherwise.
    if (ec != errc::ownership_lost && ec != zk_errc::session_expired)
        co_await resigned.result();
    co_await lead_again(s, mine, token);
    co_await s.state("leading again");
    call<> closed(s, "close the latch");
    mine->close(closed.token());
    co_await closed.result();
    s.check(mine->status().state == latch_state::idle, "who has closed is no candidate");
}

/// After somebody else's term.
awaitable<void> follow(stage& s) {
    election_options options = options_of<election_options>(s);
    leader_latch theirs(s.theirs(), s.folder(), options);
    theirs.start();
    co_await theirs.leadership();
    object<leader_latch> mine(s, s.ours(), s.folder(), options);
    mine->start();
    call<std::int64_t> leads(s, "leadership");
    mine->leadership(leads.token());
    co_await s.state("candidate", [&] { return s.nodes() >= 2; });
    check_term(s, theirs, s.theirs());
    if (!s.owners.expired_by_force && !s.deprived())
        s.check(!(theirs.has_leadership() && mine->has_leadership()), "there is one leader");
    co_await theirs.close();
    co_await leads.result();
    check_term(s, *mine, s.ours());
    co_await s.state("leading");
    call<> closed(s, "close the latch");
    mine->close(closed.token());
    co_await closed.result();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "leader_latch";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    s.outlives_session = true;
    return s;
}

const registered all[] = {
    registered(make("lead", lead)),
    registered(make("follow", follow)),
};

}  // namespace

}  // namespace corozk::matrix
