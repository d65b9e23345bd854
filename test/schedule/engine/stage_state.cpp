// SPDX-License-Identifier: Apache-2.0
// What makes two moments the same: nothing else can follow from the one than from the other.
#include "stage.hpp"
#include "virtual_time.hpp"

namespace corozk::schedule {

/// Its users have finished, and it waits for nothing: it does not matter any more
/// what it went through.
bool stage::is_at_rest(int client_index) const {
    for (const actor& a : actors_) {
        if (a.client_index() == client_index && !a.done)
            return false;
    }
    const client& zk = *clients_[static_cast<std::size_t>(client_index)];
    session_status now = zk.status();
    if (now.state != session_state::connected || !server_.sessions().contains(now.session_id))
        return false;
    for (const auto& [id, c] : server_.connections()) {
        bool quiet = c.requests.empty() && c.answers.empty() && !c.asked && !c.server_gone;
        if (client_of_connection(id) == client_index && !quiet)
            return false;
    }
    client_counters counts = zk.counters();
    return counts.in_flight == 0 && counts.queued == 0 && counts.watches == 0;
}

std::uint64_t stage::hash() const {
    model::hasher h;
    server_.add_to(h);
    for (int i = 0; i < what_.clients; ++i)
        h.add(is_at_rest(i) ? 0 : history_[static_cast<std::size_t>(i)]);
    h.add(elapsed());
    h.add(faults_done_);
    for (move_kind k : kinds_left_)
        h.add(k);
    h.add(rules_.switches >= 0 ? switches_done_ * 64 + last_client_ : 0);
    for (const actor& a : actors_) {
        h.add(a.done);
        h.add(a.waits());
    }
    for (const auto& [id, until] : silent_until_) {
        h.add(id);
        h.add(until);
    }
    for (move_kind k : happened_)
        h.add(k);
    // Those at rest have forgotten what they went through; the checks have not.
    for (const auto& [kind, all] : notes_) {
        h.add(kind);
        h.add(all);
    }
    for (int client_index : ended_sessions_)
        h.add(client_index);
    // What the check of owners asks for.
    for (const auto& zk : clients_)
        h.add(expired_sessions_.contains(zk->status().session_id));
    for (const std::string& path : erased_nodes_)
        h.add(path);
    return h.value();
}

}  // namespace corozk::schedule
